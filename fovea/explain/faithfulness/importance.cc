#include "fovea/explain/faithfulness/importance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/stop.h"
#include "fovea/tensor/to_vector.h"
#include "fovea/tensor/torch.h"

namespace fovea::faithfulness {
namespace {

using at::Tensor;

// A graph holds every step of every row, and of each weight as much as hundreds of numbers.
constexpr int64_t kMostRowsWithGraph = 32, kMostWeightsWithGraph = int64_t{1} << 20;

/// The output units whose gradients are wanted: one per attribution; one attribution about several
/// values is the mean of theirs.
std::vector<int64_t> output_units(const Instance& instance, const Attributions& attributions) {
  std::vector<int64_t> units;
  if (instance.values && !attributions.by_row) {
    units.resize(instance.original.size());
    std::iota(units.begin(), units.end(), int64_t{0});
  } else {
    for (const Attribution& attribution : attributions.list) units.push_back(attribution.unit);
  }
  return units;
}

/// The sum over rows of what each row's gradient is asked of. outputs [B, U]
Tensor objective(const Instance& instance, const Tensor& outputs, std::span<const int64_t> units) {
  const Tensor numbers = instance.values ? outputs : outputs.exp();
  Tensor sum = numbers.new_zeros({});
  for (size_t row = 0; row < units.size(); ++row) {
    const Tensor own = numbers[int64_t(row)];  // [U]
    sum = sum + (units[row] == kAllUnits ? own.mean() : own[units[row]]);
  }
  return sum;
}

/// gradient * value summed over the features of each unit [B, K], magnitudes, or nothing where the
/// leaf does not fit the axis.
Tensor per_unit(const Leaf& leaf, const Tensor& gradient, int64_t units) {
  Tensor products = (gradient * leaf.values).detach().to(at::kCPU, at::kDouble);  // [B, N, …]
  if (products.dim() > 2) products = products.flatten(2).sum(2);                  // [B, N]
  if (leaf.unit_of.empty()) return products.size(1) == units ? products.abs() : Tensor();
  for (const int64_t unit : leaf.unit_of)
    if (unit < 0 || unit >= units) return {};
  return torch::zeros({products.size(0), units}, torch::kFloat64)
      .index_add(1, torch::tensor(leaf.unit_of), products)  // [B, K]
      .abs();
}

/// One batch of copies, each asked for the gradient of its own output unit [B, K].
Tensor gradient_batch(const Instance& instance, const AttentionMap& map, int64_t keys,
                      std::span<const int64_t> units) {
  stop_if_asked();
  const torch::AutoGradMode gradients(true);
  QuietTap tap;
  if (map.kind != MapKind::Contribution)  // behind which nothing flows but the contributions
    tap.replace(map.name, [](const AttentionMap& live) { return live.weights.detach(); });
  const std::vector<Example> examples(units.size(), instance.example);
  const std::vector<Prediction> predictions(units.size(), instance.prediction);
  const Tensor outputs = instance.predictor.replay_batch(examples, predictions, tap);  // [B, U]
  const auto leaf = tap.leaves().find(map.key_axis);
  if (leaf == tap.leaves().end() || !outputs.requires_grad()) return {};
  const Tensor gradient =
      torch::autograd::grad({objective(instance, outputs, units)}, {leaf->second.values}, {},
                            /*retain_graph=*/false, /*create_graph=*/false,
                            /*allow_unused=*/true)[0];
  return gradient.defined() ? per_unit(leaf->second, gradient, keys) : Tensor();
}

/// Outputs have the precision of floats: changes that differ by less are ties.
void round_to_precision(std::vector<double>& changes, double largest_output) {
  constexpr double kPrecision = 1e-6;
  for (const double change : changes) largest_output = std::max(largest_output, change);
  const double step = kPrecision * largest_output;
  if (step > 0)
    for (double& change : changes) change = step * std::round(change / step);
}

}  // namespace

std::optional<Importances> gradient_times_input(const Instance& instance, const AttentionMap& map,
                                                const Attributions& attributions) {
  const std::vector<int64_t> all = output_units(instance, attributions);
  const std::span<const int64_t> units(all);
  const auto step =
      size_t(std::clamp<int64_t>(kMostWeightsWithGraph / instance.weights, 1, kMostRowsWithGraph));
  std::vector<Tensor> parts;
  for (size_t begin = 0; begin < units.size(); begin += step) {
    const size_t count = std::min(step, units.size() - begin);
    parts.push_back(gradient_batch(instance, map, attributions.units, units.subspan(begin, count)));
    if (!parts.back().defined()) return {};
  }
  if (parts.empty()) return {};
  Tensor rows = torch::cat(parts);                                  // [units, K]
  if (!attributions.by_row) rows = rows.mean(0, /*keepdim=*/true);  // [1, K]
  rows = rows.nan_to_num(0, 0, 0);
  Importances result;
  for (int64_t row = 0; row < rows.size(0); ++row) result.push_back(to_vector<double>(rows[row]));
  return result;
}

Importances leave_one_out(const Instance& instance, const Erasures& erasures,
                          const Attributions& attributions) {
  Importances result(attributions.list.size());
  for (int64_t unit = 0; unit < attributions.units; ++unit) {
    const Outputs& outputs = erasures.without({&unit, 1});
    for (size_t attribution = 0; attribution < result.size(); ++attribution)
      result[attribution].push_back(instance.change(attributions.list[attribution].unit, outputs));
  }
  double largest = 0;
  for (const double output : instance.original) largest = std::max(largest, std::abs(output));
  for (std::vector<double>& changes : result) round_to_precision(changes, largest);
  return result;
}

}  // namespace fovea::faithfulness
