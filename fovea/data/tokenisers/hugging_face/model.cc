#include "fovea/data/tokenisers/hugging_face/model.h"

namespace fovea::hugging_face {

namespace {

struct ModelKind {
  const char* type;
  std::unique_ptr<const Model> (*make)(const Field& component);
};

constexpr ModelKind kModels[] = {
    {"BPE", make_bpe},
    {"WordPiece", make_wordpiece},
    {"WordLevel", make_wordlevel},
    {"Unigram", make_unigram},
};

const ModelKind* find_model(const std::string& type) {
  for (const ModelKind& kind : kModels)
    if (kind.type == type) return &kind;
  return nullptr;
}

}  // namespace

TokenTable::TokenTable(std::vector<std::string> pieces) : pieces_(std::move(pieces)) {
  ids_.reserve(pieces_.size());
  for (size_t i = 0; i < pieces_.size(); ++i) ids_.insert_or_assign(pieces_[i], int64_t(i));
}

TokenTable TokenTable::read(const Field& vocabulary) {
  vocabulary.expect(vocabulary.value().is_object(), "an object of pieces and their ids");
  const auto count = int64_t(vocabulary.value().size());
  std::vector<std::string> pieces(size_t(count), "");
  std::vector<bool> taken(size_t(count), false);
  for (const auto& [piece, value] : vocabulary.value().items()) {
    const bool fits = value.is_number_integer() && value >= 0 && value < count;
    if (!fits) {
      const std::string place = concat(vocabulary.place(), ".", shorten_bytes(piece, 64));
      const int64_t id = Field(value, place).integer(0, INT32_MAX);
      fail(ErrorKind::BadData, place, ": has the id ", id, ", but there are ", count,
           " pieces; the ids must be 0 to ", count - 1, ", each once, without a hole");
    }
    const auto id = value.get<size_t>();
    require(!taken[id], ErrorKind::BadData, vocabulary.place(), ": the pieces '",
            shorten_bytes(pieces[id], 64), "' and '", shorten_bytes(piece, 64),
            "' have the same id ", id, "; each id may stand once");
    taken[id] = true;
    pieces[id] = piece;
  }
  return TokenTable(std::move(pieces));
}

int64_t TokenTable::find(std::string_view piece) const {
  const auto found = ids_.find(piece);
  return found == ids_.end() ? -1 : found->second;
}

Json TokenTable::to_json() const {
  Json object = Json::object();
  auto& items = object.get_ref<Json::object_t&>();
  for (size_t i = 0; i < pieces_.size(); ++i)  // emplace_back: a search for each is too slow
    items.Container::emplace_back(pieces_[i], i);
  return object;
}

std::string model_type(const Field& component) {
  if (const auto type = component.find("type")) return type->text();
  const auto vocabulary = component.find("vocab");
  if (component.find("merges")) return "BPE";
  if (vocabulary && vocabulary->value().is_array()) return "Unigram";
  return component.find("continuing_subword_prefix") ? "WordPiece" : "WordLevel";
}

void find_unknown_model(const Field& component, std::vector<std::string>& problems) {
  const std::string type = model_type(component);
  if (find_model(type) != nullptr) return;
  std::vector<std::string> known;
  for (const ModelKind& kind : kModels) known.emplace_back(kind.type);
  problems.push_back(concat("model type '", shorten_bytes(type, 64), "' is not known",
                            suggestion(type, known), "; known are ", join(known)));
}

std::unique_ptr<const Model> make_model(const Field& component) {
  return find_model(model_type(component))->make(component);
}

std::string byte_piece(unsigned char byte) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  return concat("<0x", kDigits[byte >> 4], kDigits[byte & 15], ">");
}

Json small_fields(const Field& component) {
  Json fields{{"type", model_type(component)}};
  for (const auto& [key, value] : component.value().items())
    if (key != "type" && key != "vocab" && key != "merges") fields[key] = value;
  return fields;
}

}  // namespace fovea::hugging_face
