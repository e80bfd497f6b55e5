// Small speech models, and sounds for them.
#pragma once

#include <vector>

#include "fovea/models/listen_attend_spell.h"
#include "fovea/tensor/torch.h"

namespace fovea::testing {

inline constexpr int64_t kSpeechWidth = 6, kSpeechBands = 3, kSpeechSymbols = 9;

inline std::vector<double> pitches(int64_t bands) {
  std::vector<double> hertz;
  for (int64_t band = 1; band <= bands; ++band) hertz.push_back(100 * double(band));
  return hertz;
}

inline SpeechShape speech_shape() {
  SpeechShape shape;
  shape.width = kSpeechWidth;
  shape.pitches = pitches(kSpeechBands);
  shape.symbols = kSpeechSymbols;
  shape.densest = 0.5;
  return shape;
}

inline ListenAttendSpellOptions small_speech_model() {
  ListenAttendSpellOptions options;
  options.encoder_hidden = 6, options.layers = 2, options.pyramid = 1;
  options.embedding = 7, options.hidden = 12, options.readout_size = 8;
  options.dropout = 0;
  options.score.hidden_size = 8, options.score.filters = 3, options.score.kernel_width = 3;
  return options;
}

/// Sounds of one to four stretches of three frames, each of which is one of four symbols.
inline Batch speech_batch(int64_t rows, int64_t extra = 0, int64_t more_symbols = 0) {
  const Random random(7);
  int64_t longest = 3;
  std::vector<std::vector<int64_t>> texts;
  for (int64_t row = 0; row < rows; ++row) {
    const Random own = random.split(uint64_t(row));
    auto& text = texts.emplace_back();
    for (uint64_t i = 0; i <= own.below(0, 4); ++i)
      text.push_back(4 + int64_t(own.below(i + 1, 4)));
    longest = std::max(longest, 3 * int64_t(text.size()));
  }
  at::Tensor source = torch::zeros({rows, longest + extra, kSpeechWidth});
  at::Tensor keep = torch::zeros({rows, longest + extra}, at::kBool);
  at::Tensor target = torch::zeros({rows, longest / 3 + 1 + more_symbols}, at::kLong);
  const at::Tensor voices =
      random.split("voices").normal_tensor({kSpeechSymbols, kSpeechWidth}, 0, 2, at::kFloat);
  for (int64_t row = 0; row < rows; ++row) {
    const auto& text = texts[size_t(row)];
    const auto count = int64_t(text.size());
    for (int64_t i = 0; i < count; ++i) {
      target[row][i] = text[size_t(i)];
      source[row].narrow(0, 3 * i, 3).copy_(voices[text[size_t(i)]].expand({3, kSpeechWidth}));
    }
    target[row][count] = 3;
    keep[row].narrow(0, 0, 3 * count).fill_(true);
  }
  const at::Tensor noise = random.split("noise").normal_tensor(source.sizes(), 0, 0.2, at::kFloat);
  if (extra == 0) source = source + noise * keep.unsqueeze(2);
  return {
      {{"source", source}, {"source.keep", keep}, {"target", target}, {"target.keep", target != 0}},
      rows};
}

}  // namespace fovea::testing
