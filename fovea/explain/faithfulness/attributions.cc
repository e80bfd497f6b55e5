#include "fovea/explain/faithfulness/attributions.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/explain/heads/rollout.h"
#include "fovea/tensor/to_vector.h"
#include "fovea/tensor/torch.h"

namespace fovea::faithfulness {
namespace {

using at::Tensor;

bool is_signed(MapKind kind) {
  return kind == MapKind::Free || kind == MapKind::Contribution;
}

/// [Q, K], doubles: the mean over layers and heads, of magnitudes where weights have signs.
Tensor mean_of_layers(std::span<const AttentionMap> layers) {
  std::vector<Tensor> means;
  for (const AttentionMap& layer : layers) {
    const Tensor weights = layer.weights.detach().to(at::kCPU, at::kDouble);  // [1, H, Q, K]
    require(weights.dim() == 4 && weights.size(0) == 1 && weights.size(1) > 0 &&
                (means.empty() || weights[0][0].sizes() == means[0].sizes()),
            ErrorKind::Internal, "map '", layer.name, "' of one example has weights ",
            weights.sizes(), ", expected [1, H, Q, K] alike in all layers");
    means.push_back((is_signed(layer.kind) ? weights.abs() : weights)[0].mean(0));  // [Q, K]
  }
  return torch::stack(means).mean(0).abs();  // [Q, K]
}

Tensor attribution_matrix(std::span<const AttentionMap> layers, std::vector<std::string>& notes) {
  const bool finite = std::ranges::all_of(layers, [](const AttentionMap& layer) {
    return layer.weights.isfinite().all().item<bool>();
  });
  if (finite && is_stack(layers)) {
    notes.push_back("several layers: judged by their rollout");
    return rollout_map(layers).weights[0][0];  // [N, N]
  }
  if (layers.size() > 1) notes.push_back("several layers: judged by their mean");
  const Tensor mean = mean_of_layers(layers);  // [Q, K]
  if (!finite) notes.push_back("weights that are no numbers count as 0");
  return mean.nan_to_num(0, 0, 0);
}

/// The marks [Q, K] of what is known to matter, or nothing where they do not fit the map.
Tensor find_truth(const Instance& instance, const std::string& map, const Tensor& weights,
                  std::vector<std::string>& notes) {
  const auto found = instance.described.truth.find(map);
  if (found == instance.described.truth.end() || !found->second.defined()) return {};
  const Tensor truth = found->second.detach().to(at::kCPU).ne(0);
  if (truth.sizes() == weights.sizes()) return truth;
  if (truth.numel() == weights.numel()) return truth.reshape(weights.sizes());
  notes.push_back("what is known to matter belongs to another output and is left out");
  return {};
}

/// row [K], booleans; nothing where no unit is marked.
std::vector<char> marks_in(const Tensor& row) {
  if (!row.any().item<bool>()) return {};
  const Tensor marks = row.contiguous();
  const bool* values = marks.data_ptr<bool>();
  return {values, values + marks.numel()};
}

Attribution make_attribution(const Tensor& row, const Tensor& truth, int64_t unit) {
  Attribution attribution{to_vector<double>(row), unit, {}};
  if (truth.defined()) attribution.truth = marks_in(truth);
  return attribution;
}

bool is_output(const Instance& instance, const std::string& axis_name) {
  const auto& axes = instance.described.axes;
  return std::ranges::any_of(
      axes, [&](const Axis& axis) { return axis.name == axis_name && axis.output; });
}

/// The class token in front of the cells of a picture, from which the answer is read; else -1.
int64_t class_token(const Instance& instance, const std::string& axis_name) {
  for (const Axis& axis : instance.described.axes)
    if (axis.name == axis_name && axis.grid_rows > 0 && axis.special.size() == 1)
      return axis.special[0];
  return -1;
}

/// How much another map looks at each of the units that are this one's rows, shares of 1: [Q].
/// Undefined where none does.
Tensor looked_at(const AttentionMap& map, std::span<const AttentionMap> all, int64_t rows,
                 std::vector<std::string>& notes) {
  for (const AttentionMap& other : all) {
    const bool looks = other.key_axis == map.query_axis && other.query_axis != other.key_axis &&
                       other.layout == MapLayout::Dense && other.weights.defined() &&
                       other.weights.size(-1) == rows;
    if (!looks || other.name == map.name) continue;
    const Tensor weights = mean_of_layers({&other, 1}).mean(0).nan_to_num(0, 0, 0);  // [Q]
    const Tensor sum = weights.sum();
    if (sum.item<double>() <= 0) continue;
    notes.push_back(concat("its rows count as much as the map '", other.name, "' looks at them"));
    return weights / sum;
  }
  return {};
}

/// `count` of the rows 0 … rows-1, rising.
std::vector<int64_t> draw_rows(int64_t rows, int64_t count, const Random& random) {
  std::vector<int64_t> drawn = random.split("rows").permutation(rows);
  drawn.resize(size_t(std::min(rows, count)));
  std::ranges::sort(drawn);
  return drawn;
}

}  // namespace

Attributions make_attributions(const Instance& instance, std::span<const AttentionMap> layers,
                               std::span<const AttentionMap> all, int64_t most_rows,
                               const Random& random) {
  Attributions attributions;
  const AttentionMap& map = layers.front();
  const Tensor weights = attribution_matrix(layers, attributions.notes);  // [Q, K]
  const int64_t rows = weights.size(0);
  attributions.units = weights.size(1);
  if (rows == 0 || attributions.units == 0) return attributions;
  const Tensor truth = find_truth(instance, map.name, weights, attributions.notes);  // [Q, K]
  const auto outputs = int64_t(instance.original.size());
  const bool of_output = is_output(instance, map.query_axis);
  // A text that goes on looks at itself: its last rows say the output, the others were given.
  const bool goes_on = of_output && map.query_axis == map.key_axis && rows > outputs;
  const int64_t given = goes_on ? rows - outputs : 0;
  attributions.by_row = of_output && rows - given == outputs;
  if (!attributions.by_row) {
    if (of_output)
      attributions.notes.push_back(
          "its rows are not the units of the output: judged by their mean");
    const int64_t token = class_token(instance, map.query_axis);
    if (token >= 0 && token < rows) {
      attributions.notes.push_back("judged by what the class token looks at in the picture");
      const Tensor row = weights[token].clone();
      row[token] = 0;  // it is no part of the picture and cannot be taken away
      const Tensor own = truth.defined() ? truth[token] : truth;
      attributions.list.push_back(make_attribution(row, own, kAllUnits));
      attributions.list.back().row = token;
      return attributions;
    }
    const Tensor shares = looked_at(map, all, rows, attributions.notes);              // [Q]
    const Tensor mean = shares.defined() ? shares.matmul(weights) : weights.mean(0);  // [K]
    attributions.list.push_back(
        make_attribution(mean, truth.defined() ? truth.any(0) : truth, kAllUnits));
    return attributions;
  }
  if (outputs > most_rows)
    attributions.notes.push_back(concat("of longer outputs ", most_rows, " units were judged"));
  for (const int64_t unit : draw_rows(outputs, most_rows, random)) {
    const int64_t row = given + unit;
    attributions.list.push_back(
        make_attribution(weights[row], truth.defined() ? truth[row] : truth, unit));
    attributions.list.back().row = row;
  }
  return attributions;
}

Ranking rank_units(std::span<const double> weights, const Random& random) {
  Ranking ranking = random.permutation(int64_t(weights.size()));
  std::ranges::stable_sort(ranking, [&](int64_t left, int64_t right) {
    return weights[size_t(left)] > weights[size_t(right)];
  });
  return ranking;
}

}  // namespace fovea::faithfulness
