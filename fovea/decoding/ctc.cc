#include "fovea/decoding/ctc.h"

#include <vector>

#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kNever = -1e30;  // a logarithm of 0 that can be added to

}  // namespace

Tensor summed_ctc_loss(const Tensor& log_probabilities, const Tensor& lengths,
                       const Tensor& targets, const Tensor& target_lengths, int64_t blank) {
  return at::ctc_loss(log_probabilities.transpose(0, 1).contiguous(), targets.contiguous(), lengths,
                      target_lengths, blank, at::Reduction::Sum, /*zero_infinity=*/true);
}

CtcPrefixes::CtcPrefixes(const Tensor& log_probabilities, const Tensor& keep, int64_t blank,
                         int64_t end)
    : blank_(blank), end_(end) {
  // Behind its end a row says nothing, for certain: what was spelt stays as it is.
  frames_ = log_probabilities.masked_fill(keep.logical_not().unsqueeze(2), kNever);  // [R, K, V]
  frames_.select(2, blank_).masked_fill_(keep.logical_not(), 0);
  silent_ = frames_.select(2, blank_).cumsum(1);  // [R, K]
  spelt_ = at::full_like(silent_, kNever);
  last_ = at::full({frames_.size(0)}, blank_, keep.options().dtype(at::kLong));
  known_ = at::zeros({frames_.size(0)}, frames_.options());
}

Tensor CtcPrefixes::scores() {
  const int64_t rows = frames_.size(0), steps = frames_.size(1), symbols = frames_.size(2);
  const Tensor both = at::logaddexp(silent_, spelt_);  // [R, K]
  Tensor before = both.unsqueeze(2).expand({rows, steps, symbols}).clone();
  before.scatter_(2, last_.view({rows, 1, 1}).expand({rows, steps, 1}), silent_.unsqueeze(2));
  // One frame later; in front of the first only the empty text has been spelt.
  const Tensor first =
      at::where(last_.eq(blank_), at::zeros_like(known_), at::full_like(known_, kNever));  // [R]
  before =
      at::cat({first.view({rows, 1, 1}).expand({rows, 1, symbols}), before.narrow(1, 0, steps - 1)},
              1);                                  // [R, K, V]
  const Tensor quiet = frames_.select(2, blank_);  // [R, K]
  Tensor spelt = at::full({rows, symbols}, kNever, frames_.options()), silent = spelt;
  std::vector<Tensor> all_spelt, all_silent;
  for (int64_t t = 0; t < steps; ++t) {
    const Tensor still = at::logaddexp(silent, spelt) + quiet.select(1, t).unsqueeze(1);
    spelt = at::logaddexp(spelt, before.select(1, t)) + frames_.select(1, t);
    silent = still;
    all_spelt.push_back(spelt);
    all_silent.push_back(silent);
  }
  next_spelt_ = at::stack(all_spelt, 1);          // [R, K, V]
  next_silent_ = at::stack(all_silent, 1);        // [R, K, V]
  next_known_ = (before + frames_).logsumexp(1);  // [R, V]
  next_known_.select(1, end_).copy_(both.select(1, steps - 1));
  next_known_.select(1, blank_).fill_(kNever);
  return (next_known_ - known_.unsqueeze(1)).clamp_max(0);
}

void CtcPrefixes::extend(const Tensor& origin, const Tensor& symbols) {
  const Tensor chosen = symbols.to(frames_.device());
  const auto moved = [&](const Tensor& x) {
    return origin.defined() ? x.index_select(0, origin.to(x.device())) : x;
  };
  const Tensor column = chosen.view({-1, 1, 1}).expand({-1, frames_.size(1), 1});
  spelt_ = moved(next_spelt_).gather(2, column).squeeze(2);
  silent_ = moved(next_silent_).gather(2, column).squeeze(2);
  known_ = moved(next_known_).gather(1, chosen.unsqueeze(1)).squeeze(1);
  frames_ = moved(frames_);
  last_ = chosen;
}

}  // namespace fovea
