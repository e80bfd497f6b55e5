#include "tests/data/tokenisers/hugging_face/samples.h"

namespace fovea::models_test {
namespace {

class HuggingFaceModels : public ::testing::Test {
 protected:
  void SetUp() override { NEEDS_ICU(); }
};

Strings cut(const Json& model, const std::string& text) {
  return shown(tokeniser_of(file_with(model)).encode(text));
}

const Strings kPieces = {"u",  "n",  "r",  "e",  "l",    "a",   "t",       "d",
                         "re", "at", "ed", "un", "ated", "rel", "related", "unrelated"};
const Json kMerges = {"r e", "a t", "e d", "u n", "at ed", "re l", "rel ated", "un related"};

TEST_F(HuggingFaceModels, BpeMergesWhatWasLearnedFirst) {
  EXPECT_EQ(cut(bpe(kPieces, kMerges), "unrelated"), (Strings{"unrelated[0-9]"}));
  EXPECT_EQ(cut(bpe(kPieces, kMerges), "lated"), (Strings{"l[0-1]", "ated[1-5]"}));
  Json pairs = Json::array();  // as newer files write merges
  for (const Json& merge : kMerges) pairs.push_back(split(merge.get<std::string>(), ' '));
  EXPECT_EQ(cut(bpe(kPieces, pairs), "unrelated"), (Strings{"unrelated[0-9]"}));
  // Older files begin with a line of merges.txt and do not name the model.
  Json old = bpe(kPieces, kMerges);
  old["merges"].insert(old["merges"].begin(), "#version: 0.2");
  old.erase("type");
  EXPECT_EQ(cut(old, "unrelated"), (Strings{"unrelated[0-9]"}));
  // The same pair stands twice: from the left.
  EXPECT_EQ(cut(bpe({"a", "aa"}, {"a a"}), "aaaaa"), (Strings{"aa[0-2]", "aa[2-4]", "a[4-5]"}));
}

TEST_F(HuggingFaceModels, BpeWithoutAPieceForACharacter) {
  Json model = bpe({"<unk>", "a", "b"}, Json::array());
  EXPECT_EQ(cut(model, "axb"), (Strings{"a[0-1]", "b[1-2]"}));  // left out, and places move up
  model["unk_token"] = "<unk>";
  EXPECT_EQ(cut(model, "axyb"), (Strings{"a[0-1]", "<unk>[1-2]", "<unk>[2-3]", "b[3-4]"}));
  model["fuse_unk"] = true;
  EXPECT_EQ(cut(model, "aéyb"), (Strings{"a[0-1]", "<unk>[1-3]", "b[3-4]"}));
  Json bytes = bpe({"<unk>", "a", "<0xC3>", "<0xA9>"}, Json::array());
  bytes["unk_token"] = "<unk>";
  bytes["byte_fallback"] = true;
  EXPECT_EQ(cut(bytes, "aé"), (Strings{"a[0-1]", "<0xC3>[1-2]", "<0xA9>[1-2]"}));
  EXPECT_EQ(cut(bytes, "ax"), (Strings{"a[0-1]", "<unk>[1-2]"}));  // no piece for its byte
  Json missing = model;
  missing["unk_token"] = "[UNK]";
  expect_error(ErrorKind::BadData, {"'x'", "[UNK]"}, [&] { cut(missing, "ax"); });
}

TEST_F(HuggingFaceModels, BpePrefixSuffixAndWholeWords) {
  Json prefixed = bpe({"a", "##b", "ab"}, {"a ##b"});
  prefixed["continuing_subword_prefix"] = "##";
  EXPECT_EQ(cut(prefixed, "ab"), (Strings{"ab[0-2]"}));
  Json suffixed = bpe({"a", "b", "b</w>", "ab</w>"}, {"a b</w>"});
  suffixed["end_of_word_suffix"] = "</w>";
  EXPECT_EQ(cut(suffixed, "ab"), (Strings{"ab</w>[0-2]"}));
  EXPECT_EQ(cut(suffixed, "bab"), (Strings{"b[0-1]", "ab</w>[1-3]"}));
  Json whole = bpe({"a", "b", "ab"}, Json::array());
  EXPECT_EQ(cut(whole, "ab"), (Strings{"a[0-1]", "b[1-2]"}));
  whole["ignore_merges"] = true;
  EXPECT_EQ(cut(whole, "ab"), (Strings{"ab[0-2]"}));
  whole["dropout"] = 0.5;  // of training; a text is always cut the same way
  EXPECT_EQ(cut(whole, "ab"), (Strings{"ab[0-2]"}));
}

TEST_F(HuggingFaceModels, WordPieceTakesTheLongest) {
  Json model = word_level({"[UNK]", "un", "##aff", "##able", "##a", "hug"});
  model["type"] = "WordPiece";
  EXPECT_EQ(cut(model, "unaffable"), (Strings{"un[0-2]", "##aff[2-5]", "##able[5-9]"}));
  EXPECT_EQ(cut(model, "unaffables"), (Strings{"[UNK][0-10]"}));
  model["max_input_chars_per_word"] = 2;
  EXPECT_EQ(cut(model, "hug"), (Strings{"[UNK][0-3]"}));
  model["unk_token"] = "<unk>";
  expect_error(ErrorKind::BadData, {"cannot spell", "<unk>"}, [&] { cut(model, "x"); });
}

Json unigram(const std::vector<std::pair<std::string, double>>& pieces) {
  Json vocabulary = Json::array();
  for (const auto& [piece, score] : pieces) vocabulary.push_back(Json::array({piece, score}));
  return {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", vocabulary}};
}

TEST_F(HuggingFaceModels, UnigramTakesTheBestWay) {
  const Json model = unigram({{"<unk>", 0.0},
                              {"a", 0.0},
                              {"b", 0.0},
                              {"c", 0.0},
                              {"d", 0.0},
                              {"cd", 1.0},
                              {"ab", 2.0},
                              {"abc", 5.0},
                              {"abcd", 10.0}});
  EXPECT_EQ(cut(model, "abcdacdxx"),
            (Strings{"abcd[0-4]", "a[4-5]", "cd[5-7]", "xx[7-9]"}));  // unknown ones together
  EXPECT_EQ(tokeniser_of(file_with(model)).encode("abcdacdxx").ids,
            (std::vector<int64_t>{8, 1, 5, 0}));
  // An unknown character costs 10 more than the worst piece: -5 beats (-5 - 10) + 3.
  EXPECT_EQ(cut(unigram({{"<unk>", 0.0}, {"b", 3.0}, {"xb", -5.0}}), "xb"), (Strings{"xb[0-2]"}));
  Json bytes = unigram({{"<unk>", 0.0}, {"a", -1.0}, {"<0xC3>", 0.0}, {"<0xA9>", 0.0}});
  bytes["byte_fallback"] = true;
  EXPECT_EQ(cut(bytes, "aé"), (Strings{"a[0-1]", "<0xC3>[1-2]", "<0xA9>[1-2]"}));
  EXPECT_EQ(cut(bytes, "ax"), (Strings{"a[0-1]", "x[1-2]"}));
  Json strict = model;
  strict["unk_id"] = nullptr;
  expect_error(ErrorKind::BadData, {"'x'", "unk_id"}, [&] { cut(strict, "abx"); });
}

TEST_F(HuggingFaceModels, WordLevelKnowsWholeWords) {
  Json file = file_with(word_level({"<unk>", "hey", "you"}));
  file["pre_tokenizer"] = {{"type", "WhitespaceSplit"}};
  EXPECT_EQ(shown(tokeniser_of(file).encode("hey du you")),
            (Strings{"hey[0-3]", "<unk>[4-6]", "you[7-10]"}));
  file["model"]["unk_token"] = "[UNK]";
  expect_error(ErrorKind::BadData, {"'du'", "[UNK]"}, [&] { tokeniser_of(file).encode("du"); });
}

}  // namespace
}  // namespace fovea::models_test
