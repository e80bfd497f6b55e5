// What counting does: the next token by how often it followed the one or two before it, smoothed by
// interpolated absolute discounting (Ney, Essen, Kneser 1994) with d = 0.75:
//   p_n(w | h) = max(c(h w) - d, 0) / c(h) + d N(h) / c(h) p_{n-1}(w | h'),   p_0 = 1 / V
// c counts, N(h) is the number of different tokens seen after h, h' is h without its first token.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>

#include "fovea/tensor/example.h"

namespace fovea {

class NgramModel {
 public:
  static constexpr int64_t kOrder = 3;

  explicit NgramModel(int64_t vocabulary) : vocabulary_(vocabulary) {}

  /// Counts each token but the first after those before it.
  void add(std::span<const int64_t> tokens);
  int64_t tokens() const { return contexts_[0].empty() ? 0 : contexts_[0].at(0).count; }

  /// -ln p of the last token after those before it, of which order - 1 are looked at. order 1 … 3.
  double nats(std::span<const int64_t> tokens, int64_t order) const;

  NamedTensors to_tensors() const;
  static NgramModel from_tensors(const NamedTensors& tensors);

 private:
  struct Context {
    int64_t count = 0, kinds = 0;
  };
  /// The last `length` of the tokens as one number.
  int64_t key(std::span<const int64_t> tokens, int64_t length) const;
  void add(int64_t order, int64_t context, int64_t whole, int64_t count);
  double probability(std::span<const int64_t> tokens, int64_t order) const;

  int64_t vocabulary_;
  std::array<std::unordered_map<int64_t, int64_t>, kOrder> counts_;    // by the n-gram
  std::array<std::unordered_map<int64_t, Context>, kOrder> contexts_;  // by its tokens but the last
};

}  // namespace fovea
