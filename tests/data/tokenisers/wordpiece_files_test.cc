#include "fovea/data/tokenisers/wordpiece.h"
#include "tests/data/wordpiece_samples.h"

namespace fovea::wordpiece_files_test {
namespace {

std::string vocabulary_text() {
  std::string text;
  for (const std::string& piece : small_vocabulary()) text += piece + "\n";
  return text;
}

/// A tokenizer.json as Hugging Face writes it for a BERT.
Json tokenizer_json() {
  Json vocabulary = Json::object(), added = Json::array();
  int64_t id = 0;
  for (const std::string& piece : small_vocabulary()) vocabulary[piece] = id++;
  for (int64_t i = 0; i < 5; ++i)
    added.push_back({{"id", i},
                     {"special", true},
                     {"content", WordPiece::kSpecialNames[i]},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false}});
  const auto part = [](const char* kind, const char* name) {
    return Json{{kind, {{"id", name}, {"type_id", 0}}}};
  };
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", added},
          {"normalizer",
           {{"type", "BertNormalizer"},
            {"clean_text", true},
            {"handle_chinese_chars", true},
            {"strip_accents", nullptr},
            {"lowercase", true}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"post_processor",
           {{"type", "TemplateProcessing"},
            {"single", Json::array({part("SpecialToken", "[CLS]"), part("Sequence", "A"),
                                    part("SpecialToken", "[SEP]")})}}},
          {"decoder", {{"type", "WordPiece"}}},
          {"model",
           {{"type", "WordPiece"},
            {"unk_token", "[UNK]"},
            {"continuing_subword_prefix", "##"},
            {"max_input_chars_per_word", 100},
            {"vocab", vocabulary}}}};
}

WordPiece load_json(const Json& json) {
  const TemporaryFolder folder;
  return WordPiece::load(folder.write("tokenizer.json", json.dump()));
}

void refused(ErrorKind kind, const Texts& words, const Json& json) {
  expect_error(kind, words, [&] { load_json(json); });
}

TEST(WordPieceFiles, VocabularyThereAndBack) {
  const TemporaryFolder folder;
  for (const std::string& text : {vocabulary_text(), "\uFEFF" + vocabulary_text()}) {
    const WordPiece tokeniser = WordPiece::load(folder.write("vocab.txt", text), cased());
    EXPECT_EQ(tokeniser.to_json()["vocabulary"], Json(small_vocabulary()));
    EXPECT_FALSE(tokeniser.options().lowercase);
    tokeniser.write_vocabulary(folder / "again.txt");
    EXPECT_EQ(read_file(folder / "again.txt"), vocabulary_text());
  }
  std::string windows;
  for (const char c : vocabulary_text())
    windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(WordPiece::load(folder.write("vocab.txt", windows)).id("cat"), 12);
}

TEST(WordPieceFiles, VocabulariesThatAreRefused) {
  const TemporaryFolder folder;
  expect_error(ErrorKind::BadData, {"vocab.txt:2", "empty"},
               [&] { WordPiece::load(folder.write("vocab.txt", "[PAD]\n\n[UNK]\n")); });
  expect_error(ErrorKind::BadData, {"vocab.txt:2", "UTF-8"},
               [&] { WordPiece::load(folder.write("vocab.txt", "[PAD]\n\xE9\n")); });
  expect_error(ErrorKind::BadData, {"vocab.txt", "'[PAD]'"},
               [&] { WordPiece::load(folder.write("vocab.txt", "")); });
  expect_error(ErrorKind::NotFound, {"none.txt"}, [&] { WordPiece::load(folder / "none.txt"); });
  // Any cut-off copy lacks something or is still a vocabulary; none crashes.
  const std::string whole = vocabulary_text();
  for (size_t size = 0; size < whole.size(); size += 3) {
    try {
      WordPiece::load(folder.write("vocab.txt", whole.substr(0, size)));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::BadData) << error.what();
    }
  }
}

TEST(WordPieceFiles, TokenizerJsonGivesTheSameAsTheVocabulary) {
  NEEDS_ICU();
  const WordPiece tokeniser = load_json(tokenizer_json());
  EXPECT_EQ(tokeniser.to_json(), small_wordpiece().to_json());
  Json json = tokenizer_json();
  json["normalizer"] = {{"type", "BertNormalizer"},
                        {"clean_text", false},
                        {"handle_chinese_chars", false},
                        {"strip_accents", true},
                        {"lowercase", false}};
  json["model"]["max_input_chars_per_word"] = 3;
  const WordPieceOptions options = load_json(json).options();
  EXPECT_FALSE(options.clean_text);
  EXPECT_FALSE(options.split_ideographs);
  EXPECT_FALSE(options.lowercase);
  EXPECT_EQ(options.strip_accents, true);
  EXPECT_EQ(options.longest_word, 3);
}

TEST(WordPieceFiles, AddedTokensAreKeptWhole) {
  NEEDS_ICU();
  Json json = tokenizer_json();
  const auto next = int64_t(small_vocabulary().size());
  json["added_tokens"].push_back({{"id", next}, {"content", "<user>"}, {"normalized", false}});
  const WordPiece tokeniser = load_json(json);
  EXPECT_EQ(tokeniser.size(), next + 1);
  EXPECT_EQ(cut(tokeniser, "cat<user>s"), (Texts{"cat", "<user>", "[UNK]"}));
  EXPECT_EQ(WordPiece::from_json(tokeniser.to_json(), "here").to_json(), tokeniser.to_json());
  json["added_tokens"].back()["lstrip"] = true;
  refused(ErrorKind::Unsupported, {"'<user>'", "lstrip"}, json);
  json["added_tokens"].back()["lstrip"] = false;
  json["added_tokens"].back()["id"] = next + 1;
  refused(ErrorKind::BadData, {"'<user>'", "expected"}, json);
}

TEST(WordPieceFiles, TokenizersOfAnotherKindAreNamed) {
  const auto with = [](const char* part, const char* type) {
    Json json = tokenizer_json();
    json[part]["type"] = type;
    return json;
  };
  refused(ErrorKind::Unsupported, {"model", "BPE", "WordPiece"}, with("model", "BPE"));
  refused(ErrorKind::Unsupported, {"normalizer", "NFKC", "BertNormalizer"},
          with("normalizer", "NFKC"));
  refused(ErrorKind::Unsupported, {"pre_tokenizer", "ByteLevel"},
          with("pre_tokenizer", "ByteLevel"));
  refused(ErrorKind::Unsupported, {"post_processor", "RobertaProcessing"},
          with("post_processor", "RobertaProcessing"));
  Json json = tokenizer_json();
  json["normalizer"] = nullptr;
  refused(ErrorKind::Unsupported, {"normalizer", "none"}, json);
  json = tokenizer_json();
  json["model"]["continuing_subword_prefix"] = "@@";
  refused(ErrorKind::Unsupported, {"'@@'"}, json);
  json = tokenizer_json();
  json["post_processor"]["single"].erase(0);
  refused(ErrorKind::Unsupported, {"'A [SEP]'", "[CLS] A [SEP]"}, json);
  json["post_processor"] = {
      {"type", "BertProcessing"}, {"sep", {"[SEP]", 3}}, {"cls", {"[CLS]", 2}}};
  EXPECT_NO_THROW(load_json(json));
}

TEST(WordPieceFiles, DamagedTokenizerJson) {
  Json json = tokenizer_json();
  json["model"]["vocab"]["cat"] = 11;
  refused(ErrorKind::BadData, {"number 11", "expected 12"}, json);
  json["model"]["vocab"]["cat"] = "x";
  refused(ErrorKind::BadData, {"tokenizer.json"}, json);
  json["model"]["vocab"] = {"a", "b"};
  refused(ErrorKind::BadData, {"vocabulary"}, json);
  refused(ErrorKind::BadData, {"no JSON object"}, Json::array());
  const TemporaryFolder folder;
  const std::string whole = tokenizer_json().dump();
  for (size_t size = 0; size < whole.size(); size += 41)
    expect_error(ErrorKind::BadData, {"tokenizer.json", "not valid JSON"},
                 [&] { WordPiece::load(folder.write("tokenizer.json", whole.substr(0, size))); });
  // Any one changed byte is read or refused, never more.
  for (size_t at = 0; at < whole.size(); at += 17) {
    std::string changed = whole;
    changed[at] = char(changed[at] ^ 0x10);
    try {
      WordPiece::load(folder.write("tokenizer.json", changed));
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::Internal) << error.what();
    }
  }
}

TEST(WordPieceFiles, Folders) {
  const TemporaryFolder folder;
  expect_error(ErrorKind::NotFound, {"neither tokenizer.json nor vocab.txt"},
               [&] { WordPiece::load(folder.path()); });
  folder.write("vocab.txt", vocabulary_text());
  EXPECT_TRUE(WordPiece::load(folder.path()).options().lowercase);
  EXPECT_FALSE(WordPiece::load(folder.path(), cased()).options().lowercase);
  folder.write(
      "tokenizer_config.json",
      R"({"do_lower_case": false, "strip_accents": true, "tokenize_chinese_chars": false})");
  const WordPieceOptions options = WordPiece::load(folder.path()).options();
  EXPECT_FALSE(options.lowercase);
  EXPECT_EQ(options.strip_accents, true);
  EXPECT_FALSE(options.split_ideographs);
  folder.write("tokenizer_config.json", R"({"do_lower_case": "no"})");
  expect_error(ErrorKind::BadData, {"tokenizer_config.json"},
               [&] { WordPiece::load(folder.path()); });
  folder.write("tokenizer.json", tokenizer_json().dump());
  EXPECT_TRUE(WordPiece::load(folder.path()).options().lowercase);
}

TEST(WordPieceFiles, ComesBackFromItsJson) {
  WordPieceOptions options = cased();
  options.strip_accents = true;
  options.longest_word = 7;
  const WordPiece tokeniser(small_vocabulary(), options, "here", {"cat"});
  const Json json = parse_json(tokeniser.to_json().dump(), "here");
  EXPECT_EQ(WordPiece::from_json(json, "here").to_json(), json);
  for (const auto& [key, value] : json.items()) {
    Json damaged = json;
    damaged.erase(key);
    expect_error(ErrorKind::BadData, {"run"}, [&] { WordPiece::from_json(damaged, "run"); });
    damaged[key] = Json::object();
    expect_error(ErrorKind::BadData, {"run"}, [&] { WordPiece::from_json(damaged, "run"); });
  }
  expect_error(ErrorKind::BadData, {"run"}, [] { WordPiece::from_json(Json(), "run"); });
}

}  // namespace
}  // namespace fovea::wordpiece_files_test
