// A tokenizer.json as the tokeniser of an encoder: which of its tokens is [CLS] or <s>, padding or
// mask, and what it puts around one text or two. tokenizer_config.json or special_tokens_map.json
// may name the special tokens; without them their usual names count.
#pragma once

#include "fovea/data/tokenisers/hugging_face/tokeniser.h"
#include "fovea/data/tokenisers/piece_tokeniser.h"

namespace fovea {

class HuggingFacePieces : public PieceTokeniser {
 public:
  static constexpr const char* kKind = "hugging_face";

  static HuggingFacePieces load(const std::filesystem::path& folder);
  static HuggingFacePieces from_json(const Json& json, const std::string& where);
  Json to_json() const override;
  Json tokenizer_json() const override { return tokeniser_.to_json(); }

  Pieces encode(std::string_view text) const override;
  Pieces encode_words(std::span<const std::string> words) const override;
  bool keeps_words() const override { return false; }
  std::string join(std::span<const int64_t> ids) const override { return tokeniser_.decode(ids); }
  int64_t size() const override { return tokeniser_.size(); }
  const std::string& piece(int64_t id) const override { return tokeniser_.token(id); }
  bool continues(int64_t id) const override;
  bool is_special(int64_t id) const override { return tokeniser_.is_special(id); }

 private:
  HuggingFacePieces(HuggingFaceTokeniser tokeniser, const Json& names, const std::string& where);

  HuggingFaceTokeniser tokeniser_;
};

}  // namespace fovea
