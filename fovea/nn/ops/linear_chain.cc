#include "fovea/nn/ops/linear_chain.h"

#include <vector>

#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

LinearChain::LinearChain(int64_t tags) {
  begin_ = register_parameter("begin", at::zeros({tags}));
  transition_ = register_parameter("transition", at::zeros({tags, tags}));
}

void LinearChain::initialise() {
  torch::NoGradGuard no_gradients;
  begin_.zero_();
  transition_.zero_();
}

Tensor LinearChain::log_probabilities(const Tensor& scores, const Tensor& tags,
                                      const Tensor& keep) const {
  const int64_t words = scores.size(1);
  if (words == 0) return scores.sum(2);
  // Behind each word, for each of its tags: log of the sum over all tags of the words that follow.
  std::vector<Tensor> behind(size_t(words), at::zeros_like(scores.select(1, 0)));  // [B, K]
  for (int64_t word = words - 1; word > 0; --word) {
    const Tensor next = (scores.select(1, word) + behind[size_t(word)]).unsqueeze(1);  // [B, 1, K]
    behind[size_t(word) - 1] = at::where(keep.select(1, word).unsqueeze(1),
                                         (transition_ + next).logsumexp(2), behind[size_t(word)]);
  }
  const Tensor follow = at::stack(behind, 1);                                  // [B, W, K]
  const Tensor places = tags.unsqueeze(2);                                     // [B, W, 1]
  const Tensor own = (scores + follow).gather(2, places).squeeze(2);           // [B, W]
  const Tensor all = (begin_ + scores.select(1, 0) + behind[0]).logsumexp(1);  // [B]: log Z
  const Tensor first = begin_.index_select(0, tags.select(1, 0)) - all;        // [B]
  const Tensor before = tags.narrow(1, 0, words - 1), after = tags.narrow(1, 1, words - 1);
  const Tensor moves = transition_.flatten()
                           .index_select(0, (before * begin_.size(0) + after).flatten())
                           .view_as(before);  // [B, W - 1]
  const Tensor known =
      follow.narrow(1, 0, words - 1).gather(2, before.unsqueeze(2)).squeeze(2);  // [B, W - 1]
  return (own + at::cat({first.unsqueeze(1), moves - known}, 1)).masked_fill(~keep, 0);
}

}  // namespace fovea
