// Truncation and padding, as a tokenizer.json states them.
#pragma once

#include "fovea/data/tokenisers/hugging_face/components.h"

namespace fovea::hugging_face {

struct Truncation {
  enum class Strategy { LongestFirst, OnlyFirst, OnlySecond };
  size_t max_length = 512, stride = 0;  // stride: tokens that neighbouring windows share
  Strategy strategy = Strategy::LongestFirst;
  bool left = false;  // cut at the left end
  static Truncation read(const Field& field);

  /// Each sequence in windows, the first of which is kept; `reserved` tokens are added later.
  /// InvalidArgument where the strategy cannot make the texts short enough.
  std::vector<std::vector<Tokens>> cut(std::vector<Tokens> sequences, size_t reserved) const;

 private:
  std::vector<Tokens> windows(Tokens tokens, size_t longest) const;
};

struct Padding {
  std::optional<size_t> fixed;  // none: as long as the longest of a batch
  size_t multiple = 0;          // of which the length is one; 0: any
  EncodedToken token;
  bool left = false;
  static Padding read(const Field& field);

  /// How long texts become of which the longest has `longest` tokens.
  size_t length(size_t longest) const;
  void pad(Tokens& tokens, size_t length) const;
};

}  // namespace fovea::hugging_face
