// Post-processors, truncation, padding, decoders and added tokens.
#include "tests/data/tokenisers/hugging_face/samples.h"

namespace fovea::components_test {
namespace {

using Ids = std::vector<int64_t>;

/// Words [PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, then a to h from 4 on.
Json letters_file() {
  Json file = file_with(word_level({"[UNK]"}));
  file["model"] =
      word_level({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "c", "d", "e", "f", "g", "h"});
  file["model"]["unk_token"] = "[UNK]";
  file["pre_tokenizer"] = {{"type", "WhitespaceSplit"}};
  return file;
}

Json bert_processing() {
  return {{"type", "BertProcessing"},
          {"sep", Json::array({"[SEP]", 3})},
          {"cls", Json::array({"[CLS]", 2})}};
}

Ids encode_ids(const Json& file, const std::string& text, std::optional<std::string> pair = {}) {
  return tokeniser_of(file).encode(text, pair).ids;
}

class Components : public ::testing::Test {
 protected:
  void SetUp() override { NEEDS_ICU(); }
};

TEST_F(Components, WithoutAProcessorTheTextsStandSideBySide) {
  const Encoding pair = tokeniser_of(letters_file()).encode("a b", "c");
  EXPECT_EQ(pair.ids, (Ids{4, 5, 6}));
  EXPECT_EQ(pair.type_ids, (Ids{0, 0, 1}));
  EXPECT_EQ(pair.sequence_ids, (Ids{0, 0, 1}));
  EXPECT_EQ(pair.word_ids, (Ids{0, 1, 0}));
}

TEST_F(Components, BertProcessing) {
  Json file = letters_file();
  file["post_processor"] = bert_processing();
  const Encoding pair = tokeniser_of(file).encode("a b", "c");
  EXPECT_EQ(pair.ids, (Ids{2, 4, 5, 3, 6, 3}));
  EXPECT_EQ(pair.type_ids, (Ids{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(pair.special, (std::vector<bool>{true, false, false, true, false, true}));
  EXPECT_EQ(pair.word_ids, (Ids{-1, 0, 1, -1, 0, -1}));
  EXPECT_EQ(tokeniser_of(file).encode("a", {}, /*add_special_tokens=*/false).ids, (Ids{4}));
  EXPECT_EQ(encode_ids(file, ""), (Ids{2, 3}));
}

TEST_F(Components, RobertaHasOneTypeAndTwoSeparators) {
  Json file = letters_file();
  file["post_processor"] = bert_processing();
  file["post_processor"]["type"] = "RobertaProcessing";
  const Encoding pair = tokeniser_of(file).encode("a", "b");
  EXPECT_EQ(pair.ids, (Ids{2, 4, 3, 3, 5, 3}));
  EXPECT_EQ(pair.type_ids, (Ids(6, 0)));
}

Json template_piece(const char* kind, const char* id, int type) {
  return {{kind, {{"id", id}, {"type_id", type}}}};
}

Json template_processing() {
  const Json a = template_piece("Sequence", "A", 0), b = template_piece("Sequence", "B", 2);
  const Json mark = template_piece("SpecialToken", "[M]", 5);
  return {
      {"type", "TemplateProcessing"},
      {"single", Json::array({mark, a, mark})},
      {"pair", Json::array({b, mark, a, a})},
      {"special_tokens",
       {{"[M]", {{"id", "[M]"}, {"ids", {2, 3}}, {"tokens", Json::array({"[CLS]", "[SEP]"})}}}}}};
}

TEST_F(Components, TemplatesMayHoldSeveralTokensAndATextTwice) {
  Json file = letters_file();
  file["post_processor"] = template_processing();
  EXPECT_EQ(encode_ids(file, "a"), (Ids{2, 3, 4, 2, 3}));
  const Encoding pair = tokeniser_of(file).encode("a", "b");
  EXPECT_EQ(pair.ids, (Ids{5, 2, 3, 4, 4}));
  EXPECT_EQ(pair.type_ids, (Ids{2, 5, 5, 0, 0}));
  file["post_processor"] = {
      {"type", "Sequence"},
      {"processors", Json::array({Json{{"type", "ByteLevel"}}, template_processing()})}};
  EXPECT_EQ(encode_ids(file, "a"), (Ids{2, 3, 4, 2, 3}));
  Json missing = template_processing();
  missing["special_tokens"] = Json::object();
  file["post_processor"] = missing;
  expect_error(ErrorKind::BadData, {"[M]", "special_tokens"}, [&] { tokeniser_of(file); });
}

TEST_F(Components, TruncationShortensTheLongerTextFirst) {
  Json file = letters_file();
  const auto lengths = [&](size_t first, size_t second, const Json& truncation) {
    file["truncation"] = truncation;
    std::string a, b;
    for (size_t i = 0; i < first; ++i) a += "a ";
    for (size_t i = 0; i < second; ++i) b += "b ";
    const Encoding pair = tokeniser_of(file).encode(a, b);
    const auto count = [&](int64_t id) { return std::count(pair.ids.begin(), pair.ids.end(), id); };
    return std::pair<int64_t, int64_t>(count(4), count(5));
  };
  const auto to = [](int longest, const char* strategy) {
    return Json{
        {"max_length", longest}, {"strategy", strategy}, {"stride", 0}, {"direction", "Right"}};
  };
  using Lengths = std::pair<int64_t, int64_t>;
  EXPECT_EQ(lengths(2, 4, to(7, "LongestFirst")), Lengths(2, 4));
  EXPECT_EQ(lengths(2, 8, to(7, "LongestFirst")), Lengths(2, 5));
  EXPECT_EQ(lengths(4, 4, to(7, "LongestFirst")), Lengths(3, 4));
  EXPECT_EQ(lengths(4, 8, to(7, "LongestFirst")), Lengths(3, 4));
  EXPECT_EQ(lengths(8, 2, to(7, "LongestFirst")), Lengths(5, 2));
  EXPECT_EQ(lengths(8, 4, to(7, "LongestFirst")), Lengths(4, 3));
  EXPECT_EQ(lengths(8, 8, to(7, "LongestFirst")), Lengths(3, 4));
  EXPECT_EQ(lengths(8, 8, to(0, "LongestFirst")), Lengths(0, 0));
  EXPECT_EQ(lengths(8, 2, to(7, "OnlyFirst")), Lengths(5, 2));
  EXPECT_EQ(lengths(2, 8, to(7, "OnlySecond")), Lengths(2, 5));
  expect_error(ErrorKind::InvalidArgument, {"OnlySecond", "LongestFirst"},
               [&] { lengths(8, 2, to(7, "OnlySecond")); });
}

TEST_F(Components, TruncationKeepsRoomForSpecialTokensAndGivesWindows) {
  Json file = letters_file();
  file["post_processor"] = bert_processing();
  file["truncation"] = {{"max_length", 5}, {"strategy", "LongestFirst"}, {"stride", 1}};
  const Encoding right = tokeniser_of(file).encode("a b c d e f");
  EXPECT_EQ(right.ids, (Ids{2, 4, 5, 6, 3}));
  ASSERT_EQ(right.overflowing.size(), 2u);
  EXPECT_EQ(right.overflowing[0].ids, (Ids{2, 6, 7, 8, 3}));
  EXPECT_EQ(right.overflowing[1].ids, (Ids{2, 8, 9, 3}));
  EXPECT_EQ(right.overflowing[1].offsets[1], (Offsets{8, 9}));
  file["truncation"]["direction"] = "Left";
  const Encoding left = tokeniser_of(file).encode("a b c d e f");
  EXPECT_EQ(left.ids, (Ids{2, 7, 8, 9, 3}));
  EXPECT_EQ(left.overflowing[0].ids, (Ids{2, 5, 6, 7, 3}));
  EXPECT_EQ(left.overflowing[1].ids, (Ids{2, 4, 5, 3}));
  file["truncation"]["stride"] = 3;
  expect_error(ErrorKind::InvalidArgument, "stride",
               [&] { tokeniser_of(file).encode("a b c d e f"); });
  file["truncation"] = {{"max_length", 7}, {"strategy", "OnlySecond"}, {"stride", 0}};
  const Encoding pair = tokeniser_of(file).encode("a b", "c d e f g");
  EXPECT_EQ(pair.ids, (Ids{2, 4, 5, 3, 6, 7, 3}));
  ASSERT_EQ(pair.overflowing.size(), 2u);
  EXPECT_EQ(pair.overflowing[1].ids, (Ids{2, 4, 5, 3, 10, 3}));
}

TEST_F(Components, Padding) {
  Json file = letters_file();
  file["padding"] = {{"strategy", {{"Fixed", 4}}},
                     {"direction", "Right"},
                     {"pad_to_multiple_of", nullptr},
                     {"pad_id", 0},
                     {"pad_type_id", 7},
                     {"pad_token", "[PAD]"}};
  const Encoding right = tokeniser_of(file).encode("a b");
  EXPECT_EQ(right.ids, (Ids{4, 5, 0, 0}));
  EXPECT_EQ(right.type_ids, (Ids{0, 0, 7, 7}));
  EXPECT_EQ(right.attention, (std::vector<bool>{true, true, false, false}));
  EXPECT_EQ(right.special, (std::vector<bool>{false, false, true, true}));
  file["padding"]["direction"] = "Left";
  file["padding"]["pad_to_multiple_of"] = 3;
  EXPECT_EQ(encode_ids(file, "a b"), (Ids{0, 0, 0, 0, 4, 5}));
  file["padding"]["strategy"] = "BatchLongest";
  const Strings texts{"a", "a b c d"};
  const auto batch = tokeniser_of(file).encode_batch(texts);
  EXPECT_EQ(batch[0].ids, (Ids{0, 0, 0, 0, 0, 4}));
  EXPECT_EQ(batch[1].ids, (Ids{0, 0, 4, 5, 6, 7}));
}

TEST_F(Components, TruncationAndPaddingMayBeSet) {
  HuggingFaceTokeniser tokeniser = tokeniser_of(letters_file());
  const Json shorter{{"max_length", 1}, {"strategy", "LongestFirst"}, {"stride", 0}};
  tokeniser.set_truncation(shorter);
  tokeniser.set_padding({{"strategy", {{"Fixed", 2}}}});
  EXPECT_EQ(tokeniser.encode("a b").ids, (Ids{4, 0}));
  EXPECT_EQ(tokeniser.to_json()["truncation"], shorter);
  tokeniser.set_truncation(nullptr);
  tokeniser.set_padding(nullptr);
  EXPECT_EQ(tokeniser.encode("a b").ids, (Ids{4, 5}));
  expect_error(ErrorKind::BadData, "truncation.max_length", [&] {
    tokeniser.set_truncation({{"max_length", "x"}});
  });
}

TEST_F(Components, WordsThatAreCutAlready) {
  Json file = letters_file();
  file["post_processor"] = bert_processing();
  const Strings words{"a b", "", "c"};
  const Encoding encoding = tokeniser_of(file).encode_words(words);
  EXPECT_EQ(encoding.ids, (Ids{2, 4, 5, 6, 3}));
  EXPECT_EQ(encoding.word_ids, (Ids{-1, 0, 0, 2, -1}));
  EXPECT_EQ(encoding.offsets[2], (Offsets{2, 3}));  // within its word
  EXPECT_EQ(encoding.offsets[3], (Offsets{0, 1}));
}

TEST(Decoders, EachKind) {
  const auto of_type = [](const char* type) { return Json{{"type", type}}; };
  EXPECT_EQ(decoded(of_type("ByteLevel"), {"Hello", "Ġmy", "Ã", "©", "Ã"}),
            (Strings{"Hello myé\uFFFD"}));
  EXPECT_EQ(decoded(of_type("ByteLevel"), {"ð", "Ł", "a", "ÿ"}), (Strings{"\uFFFDa\uFFFD"}));
  EXPECT_EQ(decoded(of_type("ByteLevel"), {"a b", "Ġc"}), (Strings{"a b c"}));  // an added token
  EXPECT_EQ(decoded({{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", false}},
                    {"##uelo", "Ara", "##új", "##o", "."}),
            (Strings{"##uelo", " Ara", "új", "o", " ."}));
  EXPECT_EQ(decoded(of_type("WordPiece"), {"do", "n't", "!", "'s"}),
            (Strings{"do", "n't", "!", "'s"}));
  EXPECT_EQ(decoded({{"type", "Metaspace"}, {"replacement", "▁"}}, {"▁Hey", "▁friend!"}),
            (Strings{"Hey", " friend!"}));
  EXPECT_EQ(
      decoded({{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "never"}}, {"▁Hey"}),
      (Strings{" Hey"}));
  EXPECT_EQ(decoded({{"type", "BPEDecoder"}, {"suffix", "</w>"}}, {"a", "b</w>", "c</w>"}),
            (Strings{"a", "b ", "c"}));
  EXPECT_EQ(decoded(of_type("ByteFallback"), {"a", "<0xE5>", "<0x8f>", "<0xab>", "b", "<0xE5>"}),
            (Strings{"a", "叫", "b", "\uFFFD"}));
  EXPECT_EQ(decoded(of_type("Fuse"), {"a", "b"}), (Strings{"ab"}));
  EXPECT_EQ(decoded({{"type", "Replace"}, {"pattern", {{"String", "▁"}}}, {"content", " "}},
                    {"▁a▁", "b"}),
            (Strings{" a ", "b"}));
  EXPECT_EQ(decoded({{"type", "Strip"}, {"content", "H"}, {"start", 1}, {"stop", 1}},
                    {"Hey", " friend!", "HHH"}),
            (Strings{"ey", " friend!", "H"}));
  const Json ctc{
      {"type", "CTC"}, {"pad_token", "<pad>"}, {"word_delimiter_token", "|"}, {"cleanup", true}};
  EXPECT_EQ(decoded(ctc, {"<pad>", "h", "e", "e", "l", "l", "<pad>", "l", "|", "|", "o"}),
            (Strings{"h", "e", "l", "l", " ", "o"}));
  const Json sequence{{"type", "Sequence"},
                      {"decoders", Json::array({of_type("ByteFallback"), of_type("Fuse")})}};
  EXPECT_EQ(decoded(sequence, {"<0x61>", "b"}), (Strings{"ab"}));
  EXPECT_EQ(decoded(of_type("ByteFallback"), {}), Strings{});
}

/// Lower case; "my" takes blanks along and is normalised, "ony" stands alone only, [CLS] is raw.
Json added_file() {
  Json file = file_with(word_level({"[UNK]", "is"}));
  file["normalizer"] = {{"type", "Lowercase"}};
  file["pre_tokenizer"] = {{"type", "WhitespaceSplit"}};
  const Json plain{{"special", false}, {"normalized", true}};
  Json strips = plain, single = plain;
  strips.update(Json{{"lstrip", true}, {"rstrip", true}});
  single["single_word"] = true;
  file["added_tokens"] = Json::array({added_token(2, "my", strips), added_token(3, "Name", plain),
                                      added_token(4, "ony", single), added_token(5, "[CLS]")});
  return file;
}

TEST_F(Components, AddedTokensAreFoundFirst) {
  const auto tokeniser = tokeniser_of(added_file());
  EXPECT_EQ(shown(tokeniser.encode("[CLS] My name is Anthony [cls]")),
            (Strings{"[CLS][0-5]", " my [5-9]", "name[9-13]", "is[14-16]", "[UNK][17-24]",
                     "[UNK][25-30]"}));
  EXPECT_EQ(shown(tokeniser.encode("ony,ony xony")),
            (Strings{"ony[0-3]", "[UNK][3-4]", "ony[4-7]", "[UNK][8-12]"}));
  EXPECT_EQ(shown(tokeniser.encode("x[CLS]x")),
            (Strings{"[UNK][0-1]", "[CLS][1-6]", "[UNK][6-7]"}));
  const Encoding encoding = tokeniser.encode("[CLS]");
  EXPECT_FALSE(encoding.special[0]);  // it stands in the text
  EXPECT_TRUE(tokeniser.is_special(5));
  EXPECT_EQ(tokeniser.decode(Ids{5, 3, 1}), "Name is");
  EXPECT_EQ(tokeniser.decode(Ids{5, 3, 1}, false), "[CLS] Name is");
  EXPECT_EQ(tokeniser.id("[CLS]"), 5);
  EXPECT_EQ(tokeniser.id("nothing"), -1);
  EXPECT_EQ(tokeniser.size(), 6);
  EXPECT_EQ(tokeniser.token(3), "Name");
  expect_error(ErrorKind::InvalidArgument, "no token 6", [&] { tokeniser.token(6); });
}

TEST_F(Components, OfAddedTokensTheLongestCounts) {
  Json file = file_with(word_level({"[UNK]"}));
  file["added_tokens"] =
      Json::array({added_token(1, "<a>"), added_token(2, "<a><b>"), added_token(3, "  ")});
  EXPECT_EQ(tokeniser_of(file).encode("<a><b><a>    ").ids, (Ids{2, 1, 3, 3}));
}

TEST_F(Components, MetaspacePrependsToTheFirstPieceOnly) {
  Json vocabulary = Json::array();
  for (const char* piece : {"<unk>", "▁a", "a"}) vocabulary.push_back(Json::array({piece, -1.0}));
  Json file = file_with({{"type", "Unigram"}, {"unk_id", 0}, {"vocab", vocabulary}});
  file["pre_tokenizer"] = {
      {"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "first"}};
  file["added_tokens"] = Json::array({added_token(3, "<s>")});
  EXPECT_EQ(tokeniser_of(file).encode("a<s>a").ids, (Ids{1, 3, 2}));
  file["pre_tokenizer"]["prepend_scheme"] = "always";
  EXPECT_EQ(tokeniser_of(file).encode("a<s>a").ids, (Ids{1, 3, 1}));
}

TEST_F(Components, ByteLevelTrimsOffsets) {
  Json file = file_with(bpe({"Ġ", "a", "Ġa"}, {"Ġ a"}));
  file["pre_tokenizer"] = {{"type", "ByteLevel"},
                           {"add_prefix_space", true},
                           {"trim_offsets", true},
                           {"use_regex", true}};
  file["post_processor"] = file["pre_tokenizer"];
  EXPECT_EQ(shown(tokeniser_of(file).encode("a a  ")),
            (Strings{"Ġa[0-1]", "Ġa[2-3]", "Ġ[4-4]", "Ġ[5-5]"}));
  file["post_processor"]["trim_offsets"] = false;
  EXPECT_EQ(shown(tokeniser_of(file).encode("a a")), (Strings{"Ġa[0-1]", "Ġa[1-3]"}));
}

}  // namespace
}  // namespace fovea::components_test
