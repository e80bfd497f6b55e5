// A linear chain of tags, Lafferty et al. 2001 (CRF): tags that stand beside each other have a
// score as well. For scores e [B, W, K] of the words, b [K] of a first tag and T [K, K] from tag to
// tag:
//   score(y)  b[y_1] + sum_w e_w[y_w] + sum_w T[y_w-1, y_w]
//   p(y)      exp(score(y)) / Z,   Z the sum of exp(score) over all sequences of tags
// Z is summed word by word, from the last one on, as logarithms.
#pragma once

#include <torch/nn/module.h>

#include <cstdint>

namespace fovea {

class LinearChain : public torch::nn::Module {
 public:
  explicit LinearChain(int64_t tags);
  void initialise();  // every neighbour is as likely

  /// log p(y_w | the tags before it), [B, W]: the sum over a row is log p(y). `keep`, bool [B, W],
  /// marks the real words, the first ones of each row; 0 elsewhere. tags [B, W].
  at::Tensor log_probabilities(const at::Tensor& scores, const at::Tensor& tags,
                               const at::Tensor& keep) const;

  const at::Tensor& begin() const { return begin_; }            // [K]
  const at::Tensor& transition() const { return transition_; }  // [K, K]: [before, after]

 private:
  at::Tensor begin_, transition_;
};

}  // namespace fovea
