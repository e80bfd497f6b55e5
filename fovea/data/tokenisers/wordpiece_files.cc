// Where a WordPiece vocabulary comes from and goes to: vocab.txt, Hugging Face's tokenizer.json, a
// run's own JSON.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/base/json_field.h"
#include "fovea/data/formats/text_lines.h"
#include "fovea/data/tokenisers/hugging_face/files.h"
#include "fovea/data/tokenisers/wordpiece.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMostVocabularyBytes = size_t{256} << 20;  // of a vocabulary file

// Objects of Json keep their order and are searched from the front, far too slow for a vocabulary.
SortedJson read_sorted_json(const fs::path& path) {
  JsonLimits limits;
  limits.bytes = kMostVocabularyBytes;
  return parse_sorted_json(read_file(path), path.string(), limits);
}

/// The part `key` of a tokenizer.json, which must be an object of the type `wanted`.
const SortedJson& typed_part(const SortedJson& json, const char* key, const char* wanted,
                             const std::string& where) {
  static const SortedJson none;
  const SortedJson& part = json.contains(key) ? json[key] : none;
  const std::string found = part.is_object() && part.contains("type") && part["type"].is_string()
                                ? part["type"].get<std::string>()
                            : part.is_null() ? "none"
                                             : "no type";
  require(found == wanted, ErrorKind::Unsupported, where, ": its ", key, " is of the type ", found,
          "; only ", wanted, " is read, as BERT has it");
  return part;
}

/// Pieces by number. BadData unless the numbers are 0 to n-1, each once.
std::vector<std::string> pieces_of(const SortedJson& json, const SortedJson& added,
                                   const std::string& where) {
  require(json.is_object(), ErrorKind::BadData, where, ": its model has no vocabulary");
  std::vector<std::pair<int64_t, std::string>> numbered;
  SortedField(json, where + ": model.vocab")
      .each_member([&](const std::string& piece, const SortedField& id) {
        numbered.emplace_back(id.integer(0, INT32_MAX), piece);
      });
  SortedField(added, where + ": added_tokens").each({}, [&](const SortedField& token) {
    if (const std::string content = token.at("content").text(); !json.contains(content))
      numbered.emplace_back(token.at("id").integer(0, INT32_MAX), content);
  });
  std::sort(numbered.begin(), numbered.end());
  std::vector<std::string> pieces;
  for (auto& [id, piece] : numbered) {
    require(id == int64_t(pieces.size()), ErrorKind::BadData, where, ": piece '", piece,
            "' has the number ", id, ", expected ", pieces.size(),
            "; the numbers must be 0 to n-1, each once");
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

/// The added tokens, which are kept whole in a text. Their finer rules are not read.
std::vector<std::string> whole_of(const SortedJson& added, const std::string& where) {
  std::vector<std::string> whole;
  for (const SortedJson& token : added) {
    const std::string content = token.at("content").get<std::string>();
    for (const char* rule : {"single_word", "lstrip", "rstrip", "normalized"})
      require(!token.value(rule, false), ErrorKind::Unsupported, where, ": the added token '",
              content, "' has ", rule, "=true; only plain added tokens are read");
    const bool known =
        std::find(std::begin(WordPiece::kSpecialNames), std::end(WordPiece::kSpecialNames),
                  content) != std::end(WordPiece::kSpecialNames);
    if (!known) whole.push_back(content);
  }
  return whole;
}

/// Texts must be framed as [CLS] A [SEP] and [CLS] A [SEP] B [SEP], as data/packing.h does it.
void check_frame(const SortedJson& json, const std::string& where) {
  const SortedJson processor = json.value("post_processor", SortedJson());
  if (processor.is_null()) return;
  const std::string type = processor.value("type", "");
  std::string frame;
  if (type == "BertProcessing") {
    frame = concat(processor.at("cls").at(0).get<std::string>(), " A ",
                   processor.at("sep").at(0).get<std::string>());
  } else if (type == "TemplateProcessing") {
    for (const SortedJson& part : processor.at("single"))
      frame += (frame.empty() ? "" : " ") + part.begin().value().at("id").get<std::string>();
  } else {
    frame = type;
  }
  require(frame == "[CLS] A [SEP]", ErrorKind::Unsupported, where, ": its post_processor makes '",
          frame, "' of a text; only '[CLS] A [SEP]' is read, as BERT has it");
}

WordPiece read_tokenizer_json(const fs::path& path) {
  const std::string where = path.string();
  const SortedJson json = read_sorted_json(path);
  require(json.is_object(), ErrorKind::BadData, where, ": holds no JSON object");
  const SortedJson& model = typed_part(json, "model", "WordPiece", where);
  const SortedJson& normalizer = typed_part(json, "normalizer", "BertNormalizer", where);
  typed_part(json, "pre_tokenizer", "BertPreTokenizer", where);
  try {
    check_frame(json, where);
    const std::string prefix = model.value("continuing_subword_prefix", "##");
    const std::string unknown = model.value("unk_token", "[UNK]");
    require(prefix == "##" && unknown == "[UNK]", ErrorKind::Unsupported, where,
            ": found the prefix '", prefix, "' and the unknown token '", unknown,
            "'; only '##' and '[UNK]' are read");
    WordPieceOptions options;
    options.lowercase = normalizer.value("lowercase", true);
    options.clean_text = normalizer.value("clean_text", true);
    options.split_ideographs = normalizer.value("handle_chinese_chars", true);
    const SortedJson strip = normalizer.value("strip_accents", SortedJson());
    if (!strip.is_null()) options.strip_accents = strip.get<bool>();
    options.longest_word = SortedField(model, where + ": model")
                               .integer_or("max_input_chars_per_word", 100, 1, INT32_MAX);
    const SortedJson added = json.value("added_tokens", SortedJson::array());
    return WordPiece(pieces_of(model.value("vocab", SortedJson()), added, where), options, where,
                     whole_of(added, where));
  } catch (const SortedJson::exception& error) {
    fail(ErrorKind::BadData, where,
         ": is not a tokenizer.json as Hugging Face writes it: ", describe(error));
  }
}

WordPiece read_vocabulary(const fs::path& path, const WordPieceOptions& options) {
  TextLines lines(path, int64_t{kMostVocabularyBytes});
  std::vector<std::string> pieces;
  for (std::string_view line; lines.next(line);) {
    require(!line.empty(), ErrorKind::BadData, lines.place(),
            ": is empty; a vocabulary has one piece a line");
    pieces.emplace_back(line);
  }
  return WordPiece(std::move(pieces), options, path.string());
}

/// What a tokenizer_config.json says of the text, over `options`.
WordPieceOptions read_config(const fs::path& path, WordPieceOptions options) {
  const SortedJson json = read_sorted_json(path);
  const SortedField root = SortedField::root(json, path.string());
  options.lowercase = root.mark_or("do_lower_case", options.lowercase);
  options.split_ideographs = root.mark_or("tokenize_chinese_chars", options.split_ideographs);
  if (const auto strip = root.find("strip_accents")) options.strip_accents = strip->mark();
  return options;
}

}  // namespace

WordPiece WordPiece::load(const fs::path& path, const WordPieceOptions& options) {
  if (!fs::is_directory(path))
    return path.extension() == ".json" ? read_tokenizer_json(path) : read_vocabulary(path, options);
  if (fs::exists(path / "tokenizer.json")) return read_tokenizer_json(path / "tokenizer.json");
  require(fs::exists(path / "vocab.txt"), ErrorKind::NotFound, path.string(),
          ": the folder has neither tokenizer.json nor vocab.txt");
  const fs::path config = path / "tokenizer_config.json";
  return read_vocabulary(path / "vocab.txt",
                         fs::exists(config) ? read_config(config, options) : options);
}

void WordPiece::write_vocabulary(const fs::path& path) const {
  AtomicFile file(path);
  for (const std::string& piece : pieces_) file.write(piece + "\n");
  file.commit();
}

Json WordPiece::to_json() const {
  Json whole = Json::array();
  for (const Whole& each : whole_)
    if (!is_special(each.id)) whole.push_back(each.text);
  const auto& strip = options_.strip_accents;
  Json json{{"kind", "wordpiece"},
            {"lowercase", options_.lowercase},
            {"strip_accents", strip ? Json(*strip) : Json()},
            {"clean_text", options_.clean_text},
            {"split_ideographs", options_.split_ideographs},
            {"longest_word", options_.longest_word},
            {"whole", std::move(whole)},
            {"vocabulary", pieces_}};
  if (!tells_segments_) json["segments"] = false;
  return json;
}

Json WordPiece::tokenizer_json() const {
  return wordpiece_tokenizer_json(*this);
}

WordPiece WordPiece::from_json(const Json& json, const std::string& where) {
  const Field root = Field::root(json, where);
  root.at("kind").expect(root.at("kind").value() == "wordpiece", "\"wordpiece\"");
  require(json.contains("strip_accents"), ErrorKind::BadData, where,
          ": the field \"strip_accents\" is missing");  // though it may be null
  WordPieceOptions options;
  options.lowercase = root.at("lowercase").mark();
  if (const auto strip = root.find("strip_accents")) options.strip_accents = strip->mark();
  options.clean_text = root.at("clean_text").mark();
  options.split_ideographs = root.at("split_ideographs").mark();
  options.longest_word = root.at("longest_word").integer(1, INT32_MAX);
  WordPiece made(root.at("vocabulary").texts(), options, where, root.at("whole").texts());
  if (!root.mark_or("segments", true)) made.leave_out_segments();
  return made;
}

}  // namespace fovea
