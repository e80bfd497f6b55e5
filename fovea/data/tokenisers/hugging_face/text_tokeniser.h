// A tokenizer.json as the tokeniser of both sides of a task on pairs of texts, with the numbers of
// the network that it came with: T5 begins an output with padding, and reads "</s>" behind a
// source.
#pragma once

#include "fovea/data/tokenisers/hugging_face/tokeniser.h"
#include "fovea/data/tokenisers/tokeniser.h"

namespace fovea {

class HuggingFaceText : public Tokeniser {
 public:
  static constexpr const char* kKind = "hugging_face";

  /// `symbols`: rows of the network's embedding, as many as the tokeniser has tokens at least;
  /// those beyond it are written "<row N>". InvalidArgument for fewer, and for special symbols that
  /// are no rows.
  HuggingFaceText(HuggingFaceTokeniser tokeniser, int64_t symbols,
                  const Vocabulary::Special& special);

  TokeniserState state() const override;
  std::vector<Token> encode(std::string_view text) const override;
  std::vector<Token> encode_input(std::string_view text) const override;
  bool stands_around(int64_t id) const override;
  std::string join(std::span<const std::string> pieces) const override;
  /// As transformers does it: without special tokens.
  std::string decode(std::span<const int64_t> ids) const override;
  bool joins_any_text() const override { return false; }

  const HuggingFaceTokeniser& tokeniser() const { return tokeniser_; }

 private:
  std::vector<Token> encode(std::string_view text, bool add_special_tokens) const;
  HuggingFaceTokeniser tokeniser_;
  std::vector<int64_t> around_;  // tokens that stand around a text
};

}  // namespace fovea
