#include "fovea/data/tokenisers/hugging_face/files.h"

#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/data/formats/text_lines.h"
#include "fovea/data/tokenisers/hugging_face/added_tokens.h"
#include "fovea/data/tokenisers/hugging_face/tokeniser.h"
#include "fovea/data/tokenisers/wordpiece.h"

namespace fovea {

namespace fs = std::filesystem;

namespace hugging_face {

namespace {

constexpr size_t kMostTokeniserBytes = size_t{512} << 20;

Json read_large_json(const fs::path& path) {
  JsonLimits limits;
  limits.bytes = kMostTokeniserBytes;
  limits.keys = size_t{1} << 24;  // a vocabulary is one object
  return read_json_file(path, limits);
}

/// vocab.json and merges.txt. Who has <s>, </s> and <mask> frames texts as RoBERTa does.
Json read_bpe_files(const fs::path& folder) {
  Json vocabulary = read_large_json(folder / "vocab.json");
  const std::string where = (folder / "vocab.json").string();
  const TokenTable table = TokenTable::read(Field::root(vocabulary, where));
  bool add_prefix_space = false;
  if (fs::exists(folder / "tokenizer_config.json")) {
    const Json config = read_json_file(folder / "tokenizer_config.json");
    add_prefix_space = Field::root(config, (folder / "tokenizer_config.json").string())
                           .mark_or("add_prefix_space", false);
  }
  Json merges = Json::array();
  TextLines lines(folder / "merges.txt", int64_t{kMostTokeniserBytes});
  for (std::string_view line; lines.next(line);)
    if (!line.empty() && !line.starts_with("#version")) merges.push_back(line);
  Json json = byte_level_json(add_prefix_space);
  for (const char* name : {"<|endoftext|>", "<s>", "<pad>", "</s>", "<unk>", "<mask>"})
    if (const int64_t id = table.find(name); id >= 0) {
      json["added_tokens"].push_back(special_token_json(id, name));
      if (name == std::string("<mask>")) json["added_tokens"].back()["lstrip"] = true;
    }
  const int64_t begin = table.find("<s>"), end = table.find("</s>");
  if (begin >= 0 && end >= 0 && table.find("<mask>") >= 0)
    json["post_processor"] = {{"type", "RobertaProcessing"},
                              {"sep", Json::array({"</s>", end})},
                              {"cls", Json::array({"<s>", begin})},
                              {"trim_offsets", true},
                              {"add_prefix_space", add_prefix_space}};
  json["model"] = {
      {"type", "BPE"}, {"vocab", std::move(vocabulary)}, {"merges", std::move(merges)}};
  return json;
}

[[noreturn]] void fail_without_files(const fs::path& folder) {
  std::string hint;
  for (const char* name : {"spiece.model", "tokenizer.model", "sentencepiece.bpe.model"})
    if (fs::exists(folder / name))
      hint = concat("; ", name,
                    " alone is not read: load the folder once with transformers' AutoTokenizer and "
                    "save it, which writes a tokenizer.json");
  fail(ErrorKind::NotFound, folder.string(),
       ": the folder has no tokenizer.json, nor vocab.txt, nor vocab.json with merges.txt", hint);
}

}  // namespace

Json read_tokeniser_files(const fs::path& path, std::string& where) {
  where = path.string();
  if (!fs::is_directory(path)) {
    if (path.extension() == ".txt") return wordpiece_tokenizer_json(WordPiece::load(path));
    return read_large_json(path);
  }
  if (fs::exists(path / "tokenizer.json")) {
    where = (path / "tokenizer.json").string();
    return read_large_json(path / "tokenizer.json");
  }
  if (fs::exists(path / "vocab.txt")) return wordpiece_tokenizer_json(WordPiece::load(path));
  if (fs::exists(path / "vocab.json") && fs::exists(path / "merges.txt"))
    return read_bpe_files(path);
  fail_without_files(path);
}

Json special_token_json(int64_t id, const std::string& content) {
  AddedToken token;
  token.id = id;
  token.content = content;
  token.normalized = false;
  token.special = true;
  return token.to_json();
}

Json byte_level_json(bool add_prefix_space) {
  const auto byte_level = [](bool prefix, bool trim) {
    return Json{{"type", "ByteLevel"},
                {"add_prefix_space", prefix},
                {"trim_offsets", trim},
                {"use_regex", true}};
  };
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", Json::array()},
          {"normalizer", nullptr},
          {"pre_tokenizer", byte_level(add_prefix_space, true)},
          {"post_processor", byte_level(true, false)},
          {"decoder", byte_level(true, true)}};
}

}  // namespace hugging_face

void write_tokeniser_folder(const fs::path& folder, const HuggingFaceTokeniser& tokeniser) {
  constexpr std::pair<const char*, const char*> kRoles[] = {
      {"pad_token", "[PAD]"},         {"pad_token", "<pad>"},        {"unk_token", "[UNK]"},
      {"unk_token", "<unk>"},         {"cls_token", "[CLS]"},        {"sep_token", "[SEP]"},
      {"mask_token", "[MASK]"},       {"eos_token", "</s>"},         {"eos_token", "<|endoftext|>"},
      {"bos_token", "<|endoftext|>"}, {"unk_token", "<|endoftext|>"}};
  Json config{{"tokenizer_class", "PreTrainedTokenizerFast"}};
  for (const auto& [role, name] : kRoles)
    if (tokeniser.is_special(tokeniser.id(name))) config[role] = name;
  AtomicFolder whole(folder);
  tokeniser.save(whole.path() / "tokenizer.json");
  write_json_file(whole.path() / "tokenizer_config.json", config);
  whole.commit();
}

Json wordpiece_tokenizer_json(const WordPiece& tokeniser) {
  const WordPieceOptions& o = tokeniser.options();
  std::vector<std::string> whole(std::begin(WordPiece::kSpecialNames),
                                 std::end(WordPiece::kSpecialNames));
  for (const Json& text : tokeniser.to_json()["whole"]) whole.push_back(text.get<std::string>());
  Json added = Json::array(), vocabulary = Json::object();
  for (const std::string& text : whole)
    added.push_back(hugging_face::special_token_json(tokeniser.id(text), text));
  auto& items = vocabulary.get_ref<Json::object_t&>();
  for (int64_t id = 0; id < tokeniser.size(); ++id)  // emplace_back: a search for each is too slow
    items.Container::emplace_back(tokeniser.piece(id), id);
  const WordPiece::Special& special = tokeniser.special();
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", added},
          {"normalizer",
           {{"type", "BertNormalizer"},
            {"clean_text", o.clean_text},
            {"handle_chinese_chars", o.split_ideographs},
            {"strip_accents", o.strip_accents ? Json(*o.strip_accents) : Json()},
            {"lowercase", o.lowercase}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"post_processor",
           {{"type", "BertProcessing"},
            {"sep", Json::array({"[SEP]", special.separator})},
            {"cls", Json::array({"[CLS]", special.begin})}}},
          {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
          {"model",
           {{"type", "WordPiece"},
            {"unk_token", "[UNK]"},
            {"continuing_subword_prefix", "##"},
            {"max_input_chars_per_word", o.longest_word},
            {"vocab", std::move(vocabulary)}}}};
}

}  // namespace fovea
