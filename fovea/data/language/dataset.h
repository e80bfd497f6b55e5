// A text as one array of tokens, in windows: row i predicts the tokens i W + 1 … (i + 1) W, each
// from those of the window before it. While training a window begins up to W tokens later, another
// place at every step. Tensors of a batch:
//   tokens [B, W + 1] int64, tokens.keep [B, W + 1] bool
//   bytes [B], characters [B] double   of the text that is predicted; an average where the tokens
//                                      of a text differ in length
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "fovea/data/dataset.h"
#include "fovea/data/tokenisers/hugging_face/tokeniser.h"
#include "fovea/data/traces/store.h"
#include "fovea/tensor/random.h"

namespace fovea {

struct EncodedText {
  std::shared_ptr<const ScratchArray<int32_t>> tokens;
  double bytes = 0, characters = 0;  // of the text
  int64_t unknown = 0;               // tokens that the tokeniser has no name for
};

/// A prompt: tokens [P] and the axis "tokens" over its text.
Example prompt_example(const HuggingFaceTokeniser& tokeniser, const std::string& text);
/// The same for tokens alone.
Example prompt_example(const HuggingFaceTokeniser& tokeniser, std::span<const int64_t> tokens);

/// Prompts side by side; "erased" [B, N] bool where some of them, or of what follows, are not seen.
Batch collate_prompts(std::span<const Example> examples);
/// These units of the axis "tokens", of the prompt or behind it, are not seen: the tensor "erased".
Example erase_places(const Example& example, std::span<const int64_t> units);

class TextDataset : public Dataset {
 public:
  /// At least 2 tokens.
  TextDataset(EncodedText text, std::shared_ptr<const HuggingFaceTokeniser> tokeniser,
              int64_t window);

  int64_t size() const override;
  int64_t length(int64_t row) const override;  // tokens, with the first
  int64_t input_length(int64_t row) const override { return prompt_length(row); }
  /// The first half of the window, as a prompt.
  Example example(int64_t row) const override;
  Batch batch(std::span<const int64_t> rows) const override;
  Batch augmented_batch(std::span<const int64_t> rows, const Random& random) const override;
  /// The text of that prompt.
  Json input(int64_t row) const override;

 private:
  int64_t tokens() const { return text_.tokens->size(); }
  int64_t prompt_length(int64_t row) const { return std::max<int64_t>(1, length(row) / 2); }
  std::vector<int64_t> prompt(int64_t row) const;
  Batch windows(std::span<const int64_t> begins) const;

  EncodedText text_;
  std::shared_ptr<const HuggingFaceTokeniser> tokeniser_;
  int64_t window_;
};

}  // namespace fovea
