// Connectionist temporal classification (Graves et al. 2006): each frame says a symbol or nothing
// (blank); a path through the frames spells what is left when repetitions are joined and blanks
// taken out. p(text) is the sum over all paths that spell it.
//   forward, of a text g that frames 1 ... t have spelt, its last symbol being c:
//     n_t = (n_{t-1} + phi_{t-1}) p_t(c),  b_t = (b_{t-1} + n_{t-1}) p_t(blank)
//     phi = b of g without c, and n of it too unless that ends in c
//   beginning  p(g c ...) = sum_t phi_{t-1} p_t(c);  the whole text g: n_K + b_K
// Beside attention in a search each symbol counts with log p(g c ...) - log p(g ...) (Hori,
// Watanabe and Hershey 2017).
#pragma once

#include <ATen/core/Tensor.h>

namespace fovea {

/// Sum over the rows of -log p(text). log_probabilities [B, K, V]; lengths int64 [B] of the frames;
/// targets int64 [B, T], of which target_lengths [B] count. A text that does not fit into its
/// frames counts 0.
at::Tensor summed_ctc_loss(const at::Tensor& log_probabilities, const at::Tensor& lengths,
                           const at::Tensor& targets, const at::Tensor& target_lengths,
                           int64_t blank);

/// The beginnings of a search, row by row.
class CtcPrefixes {
 public:
  /// log_probabilities [B, K, V], keep bool [B, K]: the real frames, which stand first. Row b
  /// begins with nothing over the frames of b.
  CtcPrefixes(const at::Tensor& log_probabilities, const at::Tensor& keep, int64_t blank,
              int64_t end);

  /// log p(the beginning goes on with each symbol), for `end` that it is the whole text: [R, V], at
  /// most 0.
  at::Tensor scores();

  /// Rows `origin` (int64 [R]; undefined: all) go on with `symbols` (int64 [R]), after scores().
  void extend(const at::Tensor& origin, const at::Tensor& symbols);

 private:
  int64_t blank_, end_;
  at::Tensor frames_;                                 // [R, K, V]
  at::Tensor spelt_, silent_;                         // n and b of each row's beginning [R, K]
  at::Tensor last_;                                   // int64 [R]: its last symbol, blank at first
  at::Tensor known_;                                  // log p(the beginning) [R]
  at::Tensor next_spelt_, next_silent_, next_known_;  // for each symbol [R, K, V], [R, V]
};

}  // namespace fovea
