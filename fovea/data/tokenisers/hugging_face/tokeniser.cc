#include "fovea/data/tokenisers/hugging_face/tokeniser.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/tokenisers/hugging_face/added_tokens.h"
#include "fovea/data/tokenisers/hugging_face/files.h"
#include "fovea/data/tokenisers/hugging_face/length.h"
#include "fovea/data/tokenisers/kinds.h"

namespace fovea {

using hugging_face::AddedTokens;
using hugging_face::EncodedToken;
using hugging_face::Tokens;

namespace {

/// The component under `key`, or an empty one where there is none.
template <class Component>
Component make_component(const hugging_face::ComponentTable<Component>& table, const Field& root) {
  const auto field = root.find(table.key);
  return field ? table.make(*field) : Component{};
}

template <class Component>
void find_unknown_component(const hugging_face::ComponentTable<Component>& table, const Field& root,
                            std::vector<std::string>& problems) {
  if (const auto field = root.find(table.key)) table.find_unknown(*field, problems);
}

/// All components that are not known, in one error.
void check_component_types(const Field& root, const std::string& where) {
  std::vector<std::string> problems;
  find_unknown_component(hugging_face::normaliser_table(), root, problems);
  find_unknown_component(hugging_face::pre_tokeniser_table(), root, problems);
  find_unknown_component(hugging_face::post_processor_table(), root, problems);
  find_unknown_component(hugging_face::decoder_table(), root, problems);
  hugging_face::find_unknown_model(root.at("model"), problems);
  require(problems.empty(), ErrorKind::Unsupported, where, ": ", join(problems, "; "));
}

/// Where the characters of a text begin, and its end.
class CharacterPlaces {
 public:
  explicit CharacterPlaces(std::string_view text) : size_(text.size()) {
    const bool ascii = std::all_of(text.begin(), text.end(), [](char byte) {
      return static_cast<unsigned char>(byte) < 0x80;
    });
    if (ascii) return;
    for (size_t at = 0; at < text.size(); ++at) {
      if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80) bytes_.push_back(uint32_t(at));
      characters_.push_back(uint32_t(bytes_.size() - 1));
    }
    characters_.push_back(uint32_t(bytes_.size()));
    bytes_.push_back(uint32_t(size_));
  }
  int64_t character(size_t byte) const {
    byte = std::min(byte, size_);
    return characters_.empty() ? int64_t(byte) : characters_[byte];
  }
  int64_t byte(int64_t character) const {
    if (bytes_.empty()) return std::min(character, int64_t(size_));
    return bytes_[std::min(size_t(character), bytes_.size() - 1)];
  }

 private:
  size_t size_;
  std::vector<uint32_t> bytes_, characters_;  // empty: all is ASCII
};

}  // namespace

struct HuggingFaceTokeniser::Components {
  Components(const Json& json, const std::string& where)
      : Components(Field::root(json, where), where) {}
  Components(const Field& root, const std::string& where)
      : normaliser((check_component_types(root, where),
                    make_component(hugging_face::normaliser_table(), root))),
        pre_tokeniser(make_component(hugging_face::pre_tokeniser_table(), root)),
        model(hugging_face::make_model(root.at("model"))),
        model_type(hugging_face::model_type(root.at("model"))),
        post_processor(make_component(hugging_face::post_processor_table(), root)),
        decoder(make_component(hugging_face::decoder_table(), root)),
        added(root.find("added_tokens"), model->table(), normaliser) {
    if (const auto field = root.find("truncation"))
      truncation = hugging_face::Truncation::read(*field);
    if (const auto field = root.find("padding")) padding = hugging_face::Padding::read(*field);
    size = model->table().size();
    for (const auto& token : added.list()) size = std::max(size, token.id + 1);
    for (const auto& [key, value] : root.value().items())
      if (key != "model" && key != "added_tokens") description[key] = value;
  }

  /// One text, without special tokens around it.
  Tokens encode_text(std::string_view text, const CharacterPlaces& places) const;
  /// Truncated, with special tokens, padded later: the result and what overflows.
  std::vector<Tokens> finish(std::vector<Tokens> sequences, bool add_special_tokens) const;
  /// The rows of the results as columns; `places(row)` are those of the text of its offsets.
  template <class PlacesOf>
  Encoding to_encoding(std::vector<Tokens> results, size_t length, const PlacesOf& places) const;

  Json description = Json::object();  // of the file, without the model and the added tokens
  hugging_face::Normaliser normaliser;
  hugging_face::PreTokeniser pre_tokeniser;
  std::unique_ptr<const hugging_face::Model> model;
  std::string model_type;
  hugging_face::PostProcessor post_processor;
  hugging_face::Decoder decoder;
  AddedTokens added;
  int64_t size = 0;
  std::optional<hugging_face::Truncation> truncation;
  std::optional<hugging_face::Padding> padding;
};

Tokens HuggingFaceTokeniser::Components::encode_text(std::string_view text,
                                                     const CharacterPlaces& places) const {
  require_icu();
  check_text(text, "text to encode");
  hugging_face::PreTokenisedText cut = added.extract(text, normaliser);
  if (pre_tokeniser) pre_tokeniser(cut);
  const auto& aligned = cut.text().places;
  Tokens tokens;
  tokens.reserve(2 * cut.pieces().size());
  std::vector<hugging_face::ModelToken> found;
  for (size_t word = 0; word < cut.pieces().size(); ++word) {
    const auto& piece = cut.pieces()[word];
    const std::string_view view = cut.view(piece);
    found.clear();
    if (piece.token)
      found.push_back({*piece.token, 0, uint32_t(view.size()), true});
    else
      model->cut(view, found);
    for (const hugging_face::ModelToken& each : found) {
      EncodedToken token;
      token.id = each.id;
      token.text = each.shows_text ? std::string(view.substr(each.begin, each.end - each.begin))
                                   : model->table().piece(each.id);
      // A suffix that a model falls back to bytes for has no place in the text.
      const bool inside = each.begin < each.end && each.end <= view.size();
      const size_t begin = inside ? aligned[piece.begin + each.begin].begin : each.begin;
      const size_t end = inside ? aligned[piece.begin + each.end - 1].end : each.end;
      token.offsets = {places.character(begin), places.character(end)};
      token.word_id = int64_t(word);
      token.special = false;
      tokens.push_back(std::move(token));
    }
  }
  return tokens;
}

std::vector<Tokens> HuggingFaceTokeniser::Components::finish(std::vector<Tokens> sequences,
                                                             bool add_special_tokens) const {
  const bool is_pair = sequences.size() == 2;
  for (size_t i = 0; i < sequences.size(); ++i)
    for (EncodedToken& token : sequences[i]) {
      token.sequence_id = int64_t(i);
      token.type_id = int64_t(i);
    }
  const size_t reserved = !add_special_tokens ? 0
                          : is_pair           ? post_processor.added_to_pair
                                              : post_processor.added_to_one;
  std::vector<std::vector<Tokens>> windows;
  if (truncation)
    windows = truncation->cut(std::move(sequences), reserved);
  else
    for (Tokens& tokens : sequences) windows.emplace_back().push_back(std::move(tokens));
  const bool whole = std::all_of(windows.begin(), windows.end(),
                                 [](const auto& list) { return list.size() == 1; });
  const auto take = [&](Tokens& window) { return whole ? std::move(window) : window; };
  const auto join_window = [&](size_t first, size_t second) {
    std::vector<Tokens> texts;
    texts.push_back(take(windows[0][first]));
    if (is_pair) texts.push_back(take(windows[1][second]));
    if (post_processor.process) post_processor.process(texts, add_special_tokens);
    Tokens joined = std::move(texts[0]);
    for (size_t i = 1; i < texts.size(); ++i)
      joined.insert(joined.end(), std::make_move_iterator(texts[i].begin()),
                    std::make_move_iterator(texts[i].end()));
    return joined;
  };
  const size_t seconds = is_pair ? windows[1].size() : 1;
  std::vector<Tokens> results;
  results.push_back(join_window(0, 0));
  for (size_t first = 1; first < windows[0].size(); ++first)
    for (size_t second = 0; second < seconds; ++second)
      results.push_back(join_window(first, second));
  for (size_t second = 1; second < seconds; ++second) results.push_back(join_window(0, second));
  return results;
}

template <class PlacesOf>
Encoding HuggingFaceTokeniser::Components::to_encoding(std::vector<Tokens> results, size_t length,
                                                       const PlacesOf& places) const {
  Encoding encoding;
  for (size_t i = 0; i < results.size(); ++i) {
    if (padding) padding->pad(results[i], length);
    Encoding& into = i == 0 ? encoding : encoding.overflowing.emplace_back();
    into.reserve(results[i].size());
    for (EncodedToken& token : results[i]) {
      into.ids.push_back(token.id);
      const bool in_text = token.sequence_id >= 0;
      into.bytes.push_back(in_text ? Offsets{places(token).byte(token.offsets.begin),
                                             places(token).byte(token.offsets.end)}
                                   : Offsets{});
      into.tokens.push_back(std::move(token.text));
      into.offsets.push_back(token.offsets);
      into.type_ids.push_back(token.type_id);
      into.word_ids.push_back(token.word_id);
      into.sequence_ids.push_back(token.sequence_id);
      into.special.push_back(token.special);
      into.attention.push_back(token.attention);
    }
  }
  return encoding;
}

HuggingFaceTokeniser::HuggingFaceTokeniser(std::unique_ptr<Components> components)
    : components_(std::move(components)) {}
HuggingFaceTokeniser::HuggingFaceTokeniser(HuggingFaceTokeniser&&) noexcept = default;
HuggingFaceTokeniser& HuggingFaceTokeniser::operator=(HuggingFaceTokeniser&&) noexcept = default;
HuggingFaceTokeniser::~HuggingFaceTokeniser() = default;

HuggingFaceTokeniser HuggingFaceTokeniser::from_json(const Json& json, const std::string& where) {
  return HuggingFaceTokeniser(std::make_unique<Components>(json, where));
}

HuggingFaceTokeniser HuggingFaceTokeniser::load(const std::filesystem::path& path) {
  std::string where;
  const Json json = hugging_face::read_tokeniser_files(path, where);
  return from_json(json, where);
}

Json HuggingFaceTokeniser::to_json() const {
  Json json{{"version", "1.0"}, {"truncation", nullptr}, {"padding", nullptr}};
  json["added_tokens"] = Json::array();
  for (const auto& token : components_->added.list())
    json["added_tokens"].push_back(token.to_json());
  for (const char* key : {"normalizer", "pre_tokenizer", "post_processor", "decoder"})
    json[key] = nullptr;
  for (const auto& [key, value] : components_->description.items()) json[key] = value;
  json["model"] = components_->model->to_json();
  return json;
}

void HuggingFaceTokeniser::save(const std::filesystem::path& path) const {
  write_json_file(path, to_json());
}

void HuggingFaceTokeniser::set_truncation(const Json& truncation) {
  components_->truncation.reset();
  if (!truncation.is_null())
    components_->truncation = hugging_face::Truncation::read(Field(truncation, "truncation"));
  components_->description["truncation"] = truncation;
}

void HuggingFaceTokeniser::set_padding(const Json& padding) {
  components_->padding.reset();
  if (!padding.is_null())
    components_->padding = hugging_face::Padding::read(Field(padding, "padding"));
  components_->description["padding"] = padding;
}

Encoding HuggingFaceTokeniser::encode(std::string_view text, std::optional<std::string_view> pair,
                                      bool add_special_tokens) const {
  std::vector<CharacterPlaces> places{CharacterPlaces(text)};
  std::vector<Tokens> sequences;
  sequences.push_back(components_->encode_text(text, places[0]));
  if (pair) {
    places.emplace_back(*pair);
    sequences.push_back(components_->encode_text(*pair, places[1]));
  }
  auto results = components_->finish(std::move(sequences), add_special_tokens);
  const size_t length = components_->padding ? components_->padding->length(results[0].size()) : 0;
  return components_->to_encoding(
      std::move(results), length, [&](const EncodedToken& token) -> auto& {
        return places[size_t(token.sequence_id)];
      });
}

Encoding HuggingFaceTokeniser::encode_words(std::span<const std::string> words,
                                            bool add_special_tokens) const {
  Tokens all;
  std::vector<CharacterPlaces> places;
  for (size_t i = 0; i < words.size(); ++i) {
    places.emplace_back(words[i]);
    for (EncodedToken& token : components_->encode_text(words[i], places[i])) {
      token.word_id = int64_t(i);
      all.push_back(std::move(token));
    }
  }
  std::vector<Tokens> sequences;
  sequences.push_back(std::move(all));
  auto results = components_->finish(std::move(sequences), add_special_tokens);
  const size_t length = components_->padding ? components_->padding->length(results[0].size()) : 0;
  return components_->to_encoding(
      std::move(results),
      length, [&](const EncodedToken& token) -> auto& { return places[size_t(token.word_id)]; });
}

std::vector<Encoding> HuggingFaceTokeniser::encode_batch(std::span<const std::string> texts,
                                                         bool add_special_tokens) const {
  std::vector<std::vector<Tokens>> results;
  std::vector<CharacterPlaces> places;
  size_t longest = 0;
  for (const std::string& text : texts) {
    places.emplace_back(text);
    std::vector<Tokens> sequences;
    sequences.push_back(components_->encode_text(text, places.back()));
    results.push_back(components_->finish(std::move(sequences), add_special_tokens));
    longest = std::max(longest, results.back()[0].size());
  }
  const size_t length = components_->padding ? components_->padding->length(longest) : 0;
  std::vector<Encoding> encodings;
  for (size_t i = 0; i < texts.size(); ++i) {
    encodings.push_back(components_->to_encoding(
        std::move(results[i]), length, [&](const EncodedToken&) -> auto& { return places[i]; }));
  }
  return encodings;
}

Encoding HuggingFaceTokeniser::surroundings(bool pair) const {
  const CharacterPlaces places("x");
  EncodedToken text;
  text.text = "x";
  text.offsets = {0, 1};
  text.word_id = 0;
  text.special = false;
  return components_->to_encoding(
      components_->finish(std::vector<Tokens>(pair ? 2 : 1, Tokens{text}), true),
      0, [&](const EncodedToken&) -> auto& { return places; });
}

std::string HuggingFaceTokeniser::decode(std::span<const int64_t> ids,
                                         bool skip_special_tokens) const {
  std::vector<std::string> tokens;
  for (const int64_t id : ids) {
    if (id < 0 || id >= size() || (skip_special_tokens && is_special(id))) continue;
    tokens.push_back(token(id));
  }
  if (!components_->decoder) return join(tokens, " ");
  components_->decoder(tokens);
  return join(tokens, "");
}

int64_t HuggingFaceTokeniser::size() const {
  return components_->size;
}

const std::string& HuggingFaceTokeniser::token(int64_t id) const {
  if (const auto* token = components_->added.find(id)) return token->content;
  require(id >= 0 && id < components_->model->table().size(), ErrorKind::InvalidArgument,
          "tokeniser: there is no token ", id, "; expected 0 to ", size() - 1);
  return components_->model->table().piece(id);
}

int64_t HuggingFaceTokeniser::id(std::string_view token) const {
  if (const auto* added = components_->added.find(token)) return added->id;
  return components_->model->table().find(token);
}

bool HuggingFaceTokeniser::is_special(int64_t id) const {
  const auto* token = components_->added.find(id);
  return token != nullptr && token->special;
}

const std::string& HuggingFaceTokeniser::model_type() const {
  return components_->model_type;
}

}  // namespace fovea
