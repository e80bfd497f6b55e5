#include "tests/data/tokenisers/hugging_face/samples.h"

namespace fovea::bad_files_test {
namespace {

void refused(ErrorKind kind, const Strings& words, const Json& json) {
  expect_error(kind, words, [&] { tokeniser_of(json); });
}

TEST(BadTokenizerJson, AllUnknownComponentsAreNamedAtOnce) {
  Json file = file_with({{"type", "WordPieces"}, {"vocab", Json::object()}});
  file["normalizer"] = {
      {"type", "Sequence"},
      {"normalizers", Json::array({Json{{"type", "NFX"}}, Json{{"type", "NFC"}}})}};
  file["pre_tokenizer"] = {{"type", "Magic"}};
  file["post_processor"] = {{"type", "Around"}};
  file["decoder"] = {{"type", "Back"}};
  refused(ErrorKind::Unsupported,
          {"tokenizer.json: normalizer type 'NFX' is not known", "known are BertNormalizer",
           "pre_tokenizer type 'Magic'", "post_processor type 'Around'", "decoder type 'Back'",
           "model type 'WordPieces'", "did you mean 'WordPiece'"},
          file);
}

TEST(BadTokenizerJson, IdsMustBeEachOnceAndWithoutHoles) {
  Json file = file_with(word_level({"a", "b"}));
  file["model"]["vocab"] = {{"a", 0}, {"b", 0}};
  refused(ErrorKind::BadData, {"model.vocab", "'a' and 'b'", "id 0"}, file);
  file["model"]["vocab"] = {{"a", 0}, {"b", 2}};
  refused(ErrorKind::BadData, {"model.vocab.b", "id 2", "without a hole"}, file);
  for (const Json& id : {Json(-1), Json("x"), Json(1.5), Json(), Json(1e300)}) {
    file["model"]["vocab"] = {{"a", id}};
    refused(ErrorKind::BadData, {"model.vocab.a"}, file);
  }
  file["model"]["vocab"] = {{"a", 0}, {"b", 1}};
  file["added_tokens"] = Json::array({added_token(3, "c")});
  refused(ErrorKind::BadData, {"added_tokens", "hole", "from 2 to 2"}, file);
  file["added_tokens"] = Json::array({added_token(1, "c")});
  refused(ErrorKind::BadData, {"added_tokens[0]", "belongs to 'b'"}, file);
  file["added_tokens"] = Json::array({added_token(2, "b")});
  refused(ErrorKind::BadData, {"added_tokens[0]", "in the vocabulary it has 1"}, file);
  file["added_tokens"] = Json::array({added_token(2, "c"), added_token(2, "d")});
  refused(ErrorKind::BadData, {"added_tokens[1]", "twice"}, file);
}

TEST(BadTokenizerJson, Merges) {
  const auto with = [](const Json& merges) { return file_with(bpe({"a", "b"}, merges)); };
  refused(ErrorKind::BadData, {"model.merges[0]", "'ab'", "not in the vocabulary"}, with({"a b"}));
  refused(ErrorKind::BadData, {"model.merges[0]", "'x'"}, with({"x b"}));
  for (const Json& merge : {Json("ab"), Json("a b c"), Json(" b"), Json(3), Json::array({"a"})})
    refused(ErrorKind::BadData, {"model.merges[0]", "two pieces"}, with(Json::array({merge})));
  refused(ErrorKind::BadData, {"model.merges"}, with("a b"));
  Json prefixed = with({"a b"});
  prefixed["model"]["continuing_subword_prefix"] = "##";
  refused(ErrorKind::BadData, {"shorter than the prefix"}, prefixed);
}

TEST(BadTokenizerJson, WrongTypesNameTheirPlace) {
  Json file = file_with(word_level({"a"}));
  const auto broken = [&](const char* key, const Json& value, const Strings& words) {
    Json copy = file;
    copy[key] = value;
    refused(ErrorKind::BadData, words, copy);
  };
  broken("model", 3, {"model"});
  broken("model", Json::object(), {"vocab"});
  broken("normalizer", Json::array(), {"normalizer"});
  broken("normalizer", {{"type", 5}}, {"normalizer.type"});
  broken("normalizer", {{"type", "Sequence"}, {"normalizers", 1}}, {"normalizers"});
  broken("normalizer", {{"type", "Replace"}, {"pattern", "x"}, {"content", "y"}}, {"pattern"});
  broken("normalizer", {{"type", "BertNormalizer"}, {"lowercase", "yes"}}, {"lowercase"});
  broken("pre_tokenizer", {{"type", "Split"}, {"pattern", {{"String", "x"}}}, {"behavior", "Drop"}},
         {"behavior", "Removed"});
  broken("post_processor", {{"type", "BertProcessing"}, {"sep", "x"}, {"cls", 1}}, {"sep"});
  broken("truncation", {{"max_length", -1}}, {"max_length"});
  broken("truncation", {{"max_length", 5}, {"strategy", "All"}}, {"strategy"});
  broken("padding", {{"strategy", "Long"}}, {"strategy"});
  broken("padding", {{"strategy", {{"Fixed", 1e18}}}}, {"Fixed"});
  broken("added_tokens", {{"a", 1}}, {"added_tokens"});
  broken("added_tokens", Json::array({Json{{"id", 1}}}), {"content"});
  refused(ErrorKind::BadData, {"tokenizer.json"}, Json::array());
  refused(ErrorKind::BadData, {"model"}, Json::object());
  Json unigram =
      file_with({{"type", "Unigram"}, {"unk_id", 5}, {"vocab", Json::array({{"a", 0.0}})}});
  unigram["model"]["vocab"] = Json::array({Json::array({"a", 0.0})});
  refused(ErrorKind::BadData, {"unk_id"}, unigram);
  unigram["model"]["vocab"] = Json::array({Json::array({"a"})});
  refused(ErrorKind::BadData, {"model.vocab[0]"}, unigram);
}

TEST(BadTokenizerJson, FilesAndFolders) {
  const TemporaryFolder folder;
  const auto load = [&](const std::string& name) { HuggingFaceTokeniser::load(folder / name); };
  expect_error(ErrorKind::NotFound, "nothing", [&] { load("nothing.json"); });
  expect_error(ErrorKind::NotFound, {"tokenizer.json", "vocab.txt", "merges.txt"},
               [&] { load(""); });
  folder.write("spiece.model", "x");
  expect_error(ErrorKind::NotFound, "spiece.model alone is not read", [&] { load(""); });
  folder.write("tokenizer.json", "{\"model\": ");
  expect_error(ErrorKind::BadData, {"tokenizer.json:1", "not valid JSON"}, [&] { load(""); });
  folder.write("deep.json", std::string(100000, '['));
  expect_error(ErrorKind::BadData, "nested more than", [&] { load("deep.json"); });
}

TEST(BadTokenizerJson, DamagedFilesNeverCrash) {
  const std::string whole = read_file(golden_tokeniser("bert") / "tokenizer.json");
  const TemporaryFolder folder;
  for (size_t i = 0; i < 300; ++i) {
    std::string damaged = whole;
    const size_t at = i * 7919 % whole.size();
    if (i % 3 == 0) damaged.resize(at);
    if (i % 3 == 1) damaged[at] = "\"[]{}:,0-n"[i % 10];
    if (i % 3 == 2) damaged.erase(at, 1 + i % 5);
    try {
      HuggingFaceTokeniser::load(folder.write("tokenizer.json", damaged))
          .encode("A man's œuvre [MASK]");
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace fovea::bad_files_test
