// Small batches of tokens and of tagged words, for models that read one sequence.
#pragma once

#include <algorithm>
#include <vector>

#include "fovea/nn/transformer/bert_encoder.h"
#include "fovea/tensor/example.h"
#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"

namespace fovea::testing {

constexpr int64_t kPieces = 12, kClasses = 3, kTags = 5;

inline BertOptions small_bert_encoder() {
  BertOptions options;
  options.layers = 2, options.hidden = 8, options.heads = 2;
  options.feed_forward = 12, options.maximum_length = 16;
  options.dropout = options.attention_dropout = 0;
  return options;
}

/// 1 where position i of row b is real: lengths 2 to `longest`, drawn by row, `extra` columns of
/// padding.
inline at::Tensor keep_of(int64_t rows, int64_t longest, int64_t extra) {
  const Random random = Random(7).split("lengths");
  std::vector<int64_t> lengths;
  for (int64_t row = 0; row < rows; ++row)
    lengths.push_back(2 + int64_t(random.below(uint64_t(row), uint64_t(longest - 1))));
  const int64_t width = *std::max_element(lengths.begin(), lengths.end()) + extra;
  return torch::arange(width).unsqueeze(0) < torch::tensor(lengths).unsqueeze(1);
}

/// Integers low … high-1 for each place of [rows, columns], the same however many columns there
/// are.
inline at::Tensor drawn(const char* name, at::IntArrayRef shape, int64_t low, int64_t high) {
  const Random random = Random(8).split(name);
  at::Tensor numbers = torch::zeros(shape, torch::kLong);
  at::Tensor flat = numbers.view({shape[0], -1});
  for (int64_t row = 0; row < flat.size(0); ++row)
    for (int64_t i = 0; i < flat.size(1); ++i)
      flat[row][i] =
          low + int64_t(random.split(uint64_t(row)).below(uint64_t(i), uint64_t(high - low)));
  return numbers;
}

/// Texts of 2 to `longest` tokens; the class is that of the second token.
inline Batch token_batch(int64_t rows, int64_t longest = 7, int64_t extra = 0) {
  const at::Tensor keep = keep_of(rows, longest, extra);
  const at::Tensor tokens = drawn("tokens", keep.sizes(), 1, kPieces).masked_fill(~keep, 0);
  const at::Tensor segments = (torch::arange(keep.size(1)) > 2).to(torch::kLong) * keep;
  return {{{"tokens", tokens},
           {"segments", segments},
           {"tokens.keep", keep},
           {"target", tokens.select(1, 1) % kClasses}},
          rows};
}

/// Sentences of 1 to `longest` - 1 words; a word's tag depends on itself and the word before it.
/// Holds what both taggers read: words begin at tokens 1, 2, …; letters are those of a number.
inline Batch word_batch(int64_t rows, int64_t longest = 7, int64_t extra = 0) {
  Batch batch = token_batch(rows, longest, extra);
  const at::Tensor& tokens = batch.at("tokens");
  const int64_t words = tokens.size(1) - 1;
  const at::Tensor own = tokens.narrow(1, 1, words), before = tokens.narrow(1, 0, words);
  const at::Tensor keep = own != 0;
  at::Tensor letters = torch::stack({own % 4 + 1, own % 3 + 1, (own > 6).to(torch::kLong)}, -1);
  batch.tensors.erase("segments");
  batch.tensors["words.keep"] = keep;
  batch.tensors["letters"] = letters.masked_fill(~keep.unsqueeze(-1), 0);
  batch.tensors["target"] = ((own + before) % kTags).masked_fill(~keep, 0);
  return batch;
}

}  // namespace fovea::testing
