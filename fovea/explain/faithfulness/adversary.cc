#include "fovea/explain/faithfulness/adversary.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/base/stop.h"
#include "fovea/tensor/torch.h"

namespace fovea::faithfulness {
namespace {

using at::Tensor;

constexpr double kRate = 0.05, kMomentum = 0.9, kSecond = 0.999, kSmall = 1e-8;  // of Adam
constexpr double kPenalty = 500;                                                 // of a change
constexpr double kSpread = 3;          // of where the restarts begin
constexpr double kImpossible = -1e30;  // score of a key that is not looked at

/// As much of each row as the network gives, wherever it looks at all. z [R, H, Q, K]
Tensor weights_of(const Tensor& z, const Tensor& own) {
  const Tensor shares = z.masked_fill(own <= 0, kImpossible).softmax(-1);
  return shares * own.sum(-1, /*keepdim=*/true);
}

/// One pass with these weights in place of the map's: outputs [R, U], probabilities.
Tensor replay_with(const Instance& instance, const AttentionMap& map, const Tensor& weights) {
  const auto copies = size_t(weights.size(0));
  const std::vector<Example> examples(copies, instance.example);
  const std::vector<Prediction> predictions(copies, instance.prediction);
  int64_t row = 0;  // a decoder asks once per step, for the row of that step
  QuietTap tap;
  tap.replace(map.name, [&](const AttentionMap& live) {
    const int64_t rows = live.weights.size(2), first = row;
    row += rows;
    const bool fits = row <= weights.size(2) && live.weights.size(3) == weights.size(3);
    return fits ? weights.narrow(2, first, rows).to(live.weights.scalar_type()) : live.weights;
  });
  return instance.predictor.replay_batch(examples, predictions, tap).to(at::kDouble).exp();
}

/// Adam with one step size, on one tensor.
class Climber {
 public:
  explicit Climber(const Tensor& at) : mean_(at::zeros_like(at)), square_(at::zeros_like(at)) {}
  Tensor step(const Tensor& at, const Tensor& gradient) {
    ++steps_;
    mean_ = kMomentum * mean_ + (1 - kMomentum) * gradient;
    square_ = kSecond * square_ + (1 - kSecond) * gradient.square();
    const double first = 1 - std::pow(kMomentum, steps_), second = 1 - std::pow(kSecond, steps_);
    return at - kRate * (mean_ / first) / ((square_ / second).sqrt() + kSmall);
  }

 private:
  Tensor mean_, square_;
  double steps_ = 0;
};

}  // namespace

Tensor jensen_shannon(const Tensor& one, const Tensor& other) {
  const Tensor middle = (one + other) / 2;
  const auto divergence = [&](const Tensor& from) {
    const Tensor ratio = from.clamp_min(1e-30) / middle.clamp_min(1e-30);
    return (from * ratio.log()).sum(-1);
  };
  return (divergence(one) + divergence(other)) / 2;
}

std::optional<double> most_different_weights(const Instance& instance, const AttentionMap& map,
                                             const AdversaryOptions& options) {
  const bool shares = map.kind == MapKind::Distribution || map.kind == MapKind::Partial;
  const auto same_name =
      std::count_if(instance.maps.begin(), instance.maps.end(),
                    [&](const AttentionMap& one) { return one.name == map.name; });
  if (options.steps == 0 || !shares || instance.values || same_name != 1 ||
      map.weights.size(-1) < 2)
    return {};
  const Tensor own = map.weights.detach().to(at::kDouble);  // [1, H, Q, K]
  const Tensor whole = own.sum(-1);                         // [1, H, Q]
  const Tensor original = torch::tensor(instance.original, at::kDouble).to(own.device());  // [U]
  std::vector<int64_t> sizes = own.sizes().vec();
  sizes[0] = options.restarts;
  const Tensor noise = options.random.normal_tensor(sizes, 0, kSpread, at::kDouble);
  Tensor z = (own.clamp_min(1e-12).log() + noise.to(own.device())).detach();  // [R, H, Q, K]
  Climber climber(z);
  double most = 0;
  torch::AutoGradMode with_gradients(true);
  for (int64_t step = 0; step <= options.steps; ++step) {
    stop_if_asked();
    z = z.detach().requires_grad_();
    const Tensor weights = weights_of(z, own);
    const Tensor now = replay_with(instance, map, weights);  // [R, U]
    if (!now.requires_grad()) return {};
    const Tensor rows = whole > 0;  // rows of nothing say nothing
    const Tensor each = jensen_shannon(weights, own.expand_as(weights)) / whole.clamp_min(1e-12) *
                        rows;                                                    // [R, H, Q]
    const Tensor divergence = each.flatten(1).sum(1) / rows.sum().clamp_min(1);  // [R]
    const Tensor change = (now - original).abs();                                // [R, U]
    const Tensor allowed = std::get<0>(change.max(1)) <= options.epsilon;        // [R]
    const Tensor found = divergence.detach().masked_fill(~allowed, 0).max();
    if (std::isfinite(found.item<double>())) most = std::max(most, found.item<double>());
    const Tensor loss = -divergence.sum() + kPenalty * (change - options.epsilon).relu().sum();
    z = climber.step(z.detach(), torch::autograd::grad({loss}, {z})[0]);
  }
  return most;
}

}  // namespace fovea::faithfulness
