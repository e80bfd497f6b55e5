// Small caption models, and pictures and captions for them.
#pragma once

#include <string>

#include "fovea/models/show_attend_tell.h"
#include "fovea/tensor/torch.h"

namespace fovea::testing {

inline constexpr int64_t kCaptionSide = 16, kCaptionSymbols = 12;

inline ShowAttendTellOptions small_caption_model(const std::string& attention = "soft",
                                                 const std::string& score = "additive") {
  ShowAttendTellOptions options;
  options.encoder.channels = {6, 8};
  options.encoder.convolutions = 1;
  options.embedding = 10;
  options.hidden = score == "dot" ? 8 : 12;
  options.attention = attention;
  options.dropout = options.word_dropout = options.label_smoothing = 0;
  options.score.name = score;
  options.score.hidden_size = 8;
  options.semi_sampling = 0;
  return options;
}

inline CaptionShape caption_shape() {
  CaptionShape shape;
  shape.symbols = kCaptionSymbols;
  shape.image_size = kCaptionSide;
  shape.longest = 8;
  return shape;
}

/// Pictures with a bright quarter, captions of 1 to 4 words that depend on which one it is.
inline Batch caption_batch(int64_t rows, int64_t extra = 0) {
  Batch batch{{}, rows};
  at::Tensor images = Random(3)
                          .uniform_tensor({rows, 3, kCaptionSide, kCaptionSide}, 0, 60, at::kFloat)
                          .to(at::kByte);
  at::Tensor target = torch::zeros({rows, 5 + extra}, at::kLong);
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t quarter = row % 4, half = kCaptionSide / 2;
    images[row].narrow(1, quarter / 2 * half, half).narrow(2, quarter % 2 * half, half).fill_(220);
    for (int64_t t = 0; t <= quarter; ++t) target[row][t] = 4 + (quarter + t + row / 4) % 8;
    target[row][quarter + 1] = 3;
  }
  batch.tensors = {{"image", images}, {"target", target}, {"target.keep", target != 0}};
  return batch;
}

}  // namespace fovea::testing
