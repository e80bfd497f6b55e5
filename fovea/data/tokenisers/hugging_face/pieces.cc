#include "fovea/data/tokenisers/hugging_face/pieces.h"

#include <algorithm>
#include <array>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/base/text.h"

namespace fovea {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMostTokenizerBytes = size_t{512} << 20;

/// A name, or {"content": name, …} as older files have it; empty where there is none.
std::string token_name(const Json& names, const char* role) {
  if (!names.is_object() || !names.contains(role)) return "";
  const Json& value = names[role];
  if (value.is_string()) return value.get<std::string>();
  const bool is_token = value.is_object() && value.contains("content");
  return is_token && value["content"].is_string() ? value["content"].get<std::string>() : "";
}

/// The token that plays `role`; where nobody says which, that of a usual name. -1: there is none.
int64_t special_id(const HuggingFaceTokeniser& tokeniser, const Json& names, const char* role,
                   const std::vector<std::string>& usual) {
  std::vector<std::string> tried{token_name(names, role)};
  tried.insert(tried.end(), usual.begin(), usual.end());
  for (const std::string& name : tried)
    if (const int64_t id = name.empty() ? -1 : tokeniser.id(name); id >= 0) return id;
  return -1;
}

/// As the post-processor does it. Unsupported where a text is not there exactly once.
InputTemplate template_of(const HuggingFaceTokeniser& tokeniser, bool pair,
                          const std::string& where) {
  const Encoding around = tokeniser.surroundings(pair);
  InputTemplate made;
  std::array<int64_t, 2> times{0, 0};
  for (size_t i = 0; i < around.size(); ++i) {
    const int64_t text = around.sequence_ids[i];
    made.items.push_back({text, text < 0 ? around.ids[i] : -1, around.type_ids[i]});
    if (text >= 0) ++times[size_t(text)];
  }
  require(times[0] == 1 && times[1] == (pair ? 1 : 0), ErrorKind::Unsupported, where,
          ": its post_processor does not put each text of ", pair ? "a pair" : "one",
          " exactly once");
  return made;
}

}  // namespace

HuggingFacePieces::HuggingFacePieces(HuggingFaceTokeniser tokeniser, const Json& names,
                                     const std::string& where)
    : tokeniser_(std::move(tokeniser)) {
  tokeniser_.set_truncation(nullptr);  // packing.h cuts, and says so
  tokeniser_.set_padding(nullptr);
  one_ = template_of(tokeniser_, false, where);
  two_ = template_of(tokeniser_, true, where);
  const auto find = [&](const char* role, const std::vector<std::string>& usual) {
    return special_id(tokeniser_, names, role, usual);
  };
  special_.padding = std::max<int64_t>(0, find("pad_token", {"[PAD]", "<pad>"}));
  special_.unknown = find("unk_token", {"[UNK]", "<unk>"});
  special_.mask = find("mask_token", {"[MASK]", "<mask>"});
  special_.begin = special_.separator = -1;
  bool behind_text = false;
  for (const InputTemplate::Item& item : one_.items) {
    if (item.text >= 0) behind_text = true;
    int64_t& role = behind_text ? special_.separator : special_.begin;
    if (item.text < 0 && role < 0) role = item.id;
  }
}

HuggingFacePieces HuggingFacePieces::load(const fs::path& folder) {
  Json names = Json::object();
  for (const char* file : {"special_tokens_map.json", "tokenizer_config.json"})
    if (fs::exists(folder / file)) {
      const Json found = read_json_file(folder / file);
      require(found.is_object(), ErrorKind::BadData, (folder / file).string(),
              ": holds no JSON object");
      for (const char* role : {"pad_token", "unk_token", "mask_token"})
        if (const std::string name = token_name(found, role); !name.empty()) names[role] = name;
    }
  return HuggingFacePieces(HuggingFaceTokeniser::load(folder), names, folder.string());
}

HuggingFacePieces HuggingFacePieces::from_json(const Json& json, const std::string& where) {
  const Field root = Field::root(json, where);
  root.at("kind").expect(root.at("kind").value() == kKind, "\"hugging_face\"");
  JsonLimits limits;
  limits.bytes = kMostTokenizerBytes;
  limits.keys = size_t{1} << 24;  // a vocabulary is one object
  const Json inner = parse_json(root.at("tokenizer").text(), where + ": tokenizer", limits);
  HuggingFacePieces made(HuggingFaceTokeniser::from_json(inner, where), root.at("names").value(),
                         where);
  if (!root.at("segments").mark()) made.leave_out_segments();
  return made;
}

Json HuggingFacePieces::to_json() const {
  Json names = Json::object();
  const auto add = [&](const char* role, int64_t id) {
    if (id >= 0) names[role] = tokeniser_.token(id);
  };
  add("pad_token", special_.padding);
  add("unk_token", special_.unknown);
  add("mask_token", special_.mask);
  // As a text: an object of a run's own files has fewer keys than a vocabulary.
  return {{"kind", kKind},
          {"names", names},
          {"segments", tells_segments_},
          {"tokenizer", tokeniser_.to_json().dump()}};
}

Pieces HuggingFacePieces::encode(std::string_view text) const {
  Encoding encoding = tokeniser_.encode(text, {}, /*add_special_tokens=*/false);
  Pieces pieces;
  pieces.ids = std::move(encoding.ids);
  int64_t word = -1;
  for (size_t i = 0; i < pieces.ids.size(); ++i) {
    pieces.spans.push_back({encoding.offsets[i].begin, encoding.offsets[i].end});
    if (i == 0 || encoding.word_ids[i] != encoding.word_ids[i - 1]) ++word;
    pieces.words.push_back(word);
  }
  return pieces;
}

Pieces HuggingFacePieces::encode_words(std::span<const std::string> words) const {
  return encode(fovea::join(std::vector<std::string>(words.begin(), words.end()), " "));
}

bool HuggingFacePieces::continues(int64_t id) const {
  const std::string& token = piece(id);
  if (tokeniser_.model_type() == "WordPiece") return token.starts_with("##");
  return !token.starts_with("\u0120") && !token.starts_with("\u2581");  // a blank before the word
}

}  // namespace fovea
