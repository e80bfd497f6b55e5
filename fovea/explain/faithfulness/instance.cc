#include "fovea/explain/faithfulness/instance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/base/stop.h"
#include "fovea/tensor/torch.h"

namespace fovea::faithfulness {
namespace {

constexpr int64_t kMostBatchRows = 256;
constexpr int64_t kMostBatchWeights = int64_t{1} << 26;  // of all maps of a batch: 256 MB

/// outputs [B, U], log-probabilities unless they are values
at::Tensor to_numbers(const at::Tensor& outputs, bool values) {
  const at::Tensor plain = outputs.detach().to(at::kCPU, at::kDouble);
  return (values ? plain : plain.exp()).contiguous();
}

std::vector<Outputs> to_rows(const at::Tensor& numbers) {
  const int64_t rows = numbers.size(0), units = numbers.size(1);
  const double* place = numbers.data_ptr<double>();
  std::vector<Outputs> result;
  for (int64_t row = 0; row < rows; ++row)
    result.emplace_back(place + row * units, place + (row + 1) * units);
  return result;
}

double mean(const Outputs& outputs) {
  return std::accumulate(outputs.begin(), outputs.end(), 0.0) / double(outputs.size());
}

}  // namespace

std::vector<Outputs> Instance::replay(std::span<const Example> variants, Tap& tap) const {
  stop_if_asked();
  torch::NoGradGuard no_gradients;
  const std::vector<Prediction> same(variants.size(), prediction);
  const at::Tensor outputs = predictor.replay_batch(variants, same, tap);
  require(outputs.dim() == 2 && outputs.size(0) == int64_t(variants.size()) &&
              (original.empty() || outputs.size(1) == int64_t(original.size())),
          ErrorKind::Internal, "a replay of ", variants.size(), " variants with ", original.size(),
          " output units gave ", outputs.sizes());
  const at::Tensor numbers = to_numbers(outputs, values);
  require(numbers.isfinite().all().item<bool>(), ErrorKind::Unsupported,
          "the network put out a number that is not finite: faithfulness cannot be measured");
  return to_rows(numbers);
}

std::vector<Outputs> Instance::replay_copies(size_t count, Tap& tap) const {
  return replay(std::vector<Example>(count, example), tap);
}

double Instance::drop(int64_t unit, const Outputs& now) const {
  if (values) return change(unit, now);
  return level(unit, original) - level(unit, now);
}

double Instance::change(int64_t unit, const Outputs& now) const {
  if (values) return level(unit, now);
  return std::abs(level(unit, original) - level(unit, now));
}

double Instance::level(int64_t unit, const Outputs& now) const {
  if (!values) return unit == kAllUnits ? mean(now) : now[size_t(unit)];
  Outputs changes(now.size());
  for (size_t u = 0; u < now.size(); ++u) changes[u] = std::abs(original[u] - now[u]);
  return unit == kAllUnits ? mean(changes) : changes[size_t(unit)];
}

Instance examine(const Predictor& predictor, const Example& example, const Prediction& prediction) {
  Instance instance{predictor, example, predictor.describe_output(example, prediction), prediction};
  instance.values = prediction.values.defined() && prediction.values.numel() > 0;
  Tap tap;
  instance.original = instance.replay({&example, 1}, tap)[0];
  for (AttentionMap map : tap.maps()) {
    if (!map.weights.defined()) continue;
    map.weights = map.weights.detach();
    instance.weights += map.weights.numel();
    instance.maps.push_back(std::move(map));
  }
  instance.rows_at_once =
      size_t(std::clamp<int64_t>(kMostBatchWeights / instance.weights, 1, kMostBatchRows));
  return instance;
}

}  // namespace fovea::faithfulness
