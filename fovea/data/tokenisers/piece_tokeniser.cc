#include "fovea/data/tokenisers/piece_tokeniser.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/tokenisers/hugging_face/pieces.h"
#include "fovea/data/tokenisers/wordpiece.h"

namespace fovea {

int64_t InputTemplate::special() const {
  return std::count_if(items.begin(), items.end(), [](const Item& item) { return item.text < 0; });
}

int64_t PieceTokeniser::erased() const {
  if (special_.mask >= 0) return special_.mask;
  return special_.unknown >= 0 ? special_.unknown : special_.padding;
}

void PieceTokeniser::leave_out_segments() {
  tells_segments_ = false;
  for (InputTemplate* each : {&one_, &two_})
    for (InputTemplate::Item& item : each->items) item.segment = 0;
}

namespace {

std::shared_ptr<PieceTokeniser> load_pieces_of(const std::filesystem::path& folder) {
  try {  // BERT's own, which is quicker
    return std::make_shared<WordPiece>(WordPiece::load(folder));
  } catch (const Error& error) {
    const bool other = error.kind() == ErrorKind::Unsupported ||
                       std::filesystem::exists(folder / "tokenizer.json") ||
                       std::filesystem::exists(folder / "vocab.json");
    if (!other) throw;
  }
  return std::make_shared<HuggingFacePieces>(HuggingFacePieces::load(folder));
}

/// As transformers decides it: by model_input_names, and without them the class TokenizersBackend
/// of transformers 5 tells none.
bool tells_segments_in(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "tokenizer_config.json";
  if (!std::filesystem::exists(path)) return true;
  const Json config = read_json_file(path);
  const Field root = Field::root(config, path.string());
  if (const auto names = root.find("model_input_names")) {
    const std::vector<std::string> all = names->texts();
    return std::find(all.begin(), all.end(), "token_type_ids") != all.end();
  }
  return root.text_or_empty("tokenizer_class") != "TokenizersBackend";
}

}  // namespace

std::shared_ptr<const PieceTokeniser> PieceTokeniser::load(const std::filesystem::path& folder) {
  const std::shared_ptr<PieceTokeniser> tokeniser = load_pieces_of(folder);
  if (!tells_segments_in(folder)) tokeniser->leave_out_segments();
  return tokeniser;
}

std::shared_ptr<const PieceTokeniser> PieceTokeniser::from_json(const Json& json,
                                                                const std::string& where) {
  if (json.is_object() && json.value("kind", "") == HuggingFacePieces::kKind)
    return std::make_shared<const HuggingFacePieces>(HuggingFacePieces::from_json(json, where));
  return std::make_shared<const WordPiece>(WordPiece::from_json(json, where));
}

}  // namespace fovea
