#include "fovea/explain/faithfulness/controls.h"

#include <algorithm>
#include <functional>

#include "fovea/explain/faithfulness/measures.h"
#include "fovea/tensor/torch.h"

namespace fovea::faithfulness {
namespace {

using at::Tensor;

/// Rows of a batch that are changed in one way.
struct Change {
  size_t rows = 0;
  std::function<Tensor(const Tensor& weights, MapKind kind, const Random& random)> make;
};

/// The rows first … of the list of changes, as many as `live` has. live.weights [B, H, Q, K]
Tensor changed(const AttentionMap& live, const std::vector<Change>& changes, size_t first,
               const Random& random) {
  std::vector<Tensor> parts;
  const size_t last = first + size_t(live.weights.size(0));
  size_t begin = 0;  // of the current change
  for (size_t i = 0; i < changes.size(); begin += changes[i].rows, ++i) {
    const size_t from = std::max(begin, first), to = std::min(begin + changes[i].rows, last);
    if (from >= to) continue;
    const Tensor rows = live.weights.narrow(0, int64_t(from - first), int64_t(to - from));
    parts.push_back(changes[i].make(rows, live.kind, random.split(i)));
  }
  return torch::cat(parts);  // [B, H, Q, K]
}

/// One row of outputs per row of the changes.
std::vector<Outputs> replay_changed(const Instance& instance, const std::string& map,
                                    const std::vector<Change>& changes, const Random& random) {
  size_t total = 0;
  for (const Change& change : changes) total += change.rows;
  std::vector<Outputs> result;
  while (result.size() < total) {
    const size_t first = result.size();
    uint64_t calls = 0;  // a decoder asks once per step, a stack once per layer
    QuietTap tap;
    tap.replace(map, [&](const AttentionMap& live) {
      return changed(live, changes, first, random.split(first).split(calls++));
    });
    for (Outputs& outputs :
         instance.replay_copies(std::min(instance.rows_at_once, total - first), tap))
      result.push_back(std::move(outputs));
  }
  return result;
}

/// key [B, H, Q, 1]
Tensor zeroed(const Tensor& weights, const Tensor& key, MapKind kind) {
  const Tensor rest = weights.scatter(-1, key, 0);  // [B, H, Q, K]
  if (kind != MapKind::Distribution && kind != MapKind::Partial) return rest;
  const Tensor sums = weights.sum(-1, /*keepdim=*/true), left = rest.sum(-1, true);
  const Tensor even = (sums / double(weights.size(-1) - 1))
                          .expand_as(weights)
                          .scatter(-1, key, 0);  // where nothing is left that could grow
  return torch::where(left > 1e-6 * sums, rest * (sums / left), even);
}

double median_change(const Instance& instance, int64_t unit, std::span<const Outputs> rows) {
  std::vector<double> changes;
  for (const Outputs& outputs : rows) changes.push_back(instance.change(unit, outputs));
  return summarize(changes).median;
}

double mean_change(const Instance& instance, int64_t unit, std::span<const Outputs> rows) {
  double sum = 0;
  for (const Outputs& outputs : rows) sum += instance.change(unit, outputs);
  return sum / double(rows.size());
}

}  // namespace

Tensor permuted_weights(const Tensor& weights, const Random& random) {
  const Tensor keys = random.uniform_tensor(weights.sizes(), 0, 1, torch::kFloat32);
  return weights.gather(-1, keys.argsort(-1, /*descending=*/false).to(weights.device()));
}

Tensor uniform_weights(const Tensor& weights) {
  return weights.mean(-1, /*keepdim=*/true).expand_as(weights).contiguous();
}

Tensor top_zeroed_weights(const Tensor& weights, MapKind kind) {
  return zeroed(weights, weights.abs().argmax(-1, /*keepdim=*/true), kind);
}

Tensor random_zeroed_weights(const Tensor& weights, MapKind kind, const Random& random) {
  const int64_t keys = weights.size(-1);
  const Tensor top = weights.abs().argmax(-1, /*keepdim=*/true);  // [B, H, Q, 1]
  const Tensor steps = random.uniform_tensor(top.sizes(), 1, double(keys), torch::kFloat32);
  const Tensor other = top + steps.floor().clamp(1, keys - 1).to(top.device(), torch::kInt64);
  return zeroed(weights, other.remainder(keys), kind);
}

Controls change_weights(const Instance& instance, const AttentionMap& map,
                        const Attributions& attributions, const ControlOptions& options) {
  if (attributions.units < 2 || attributions.list.empty()) return {};
  const auto permutations = size_t(options.permutations), random_keys = size_t(options.random_keys);
  const std::vector<Change> changes{
      {1, [](const Tensor& w, MapKind, const Random&) { return uniform_weights(w); }},
      {1, [](const Tensor& w, MapKind kind, const Random&) { return top_zeroed_weights(w, kind); }},
      {random_keys, random_zeroed_weights},
      {permutations,
       [](const Tensor& w, MapKind, const Random& random) { return permuted_weights(w, random); }}};
  const std::vector<Outputs> all = replay_changed(instance, map.name, changes, options.random);
  const std::span<const Outputs> rows(all);

  Mean permuted, uniform, top, random;
  for (const Attribution& attribution : attributions.list) {
    uniform.add(instance.change(attribution.unit, rows[0]));
    top.add(instance.change(attribution.unit, rows[1]));
    if (random_keys > 0)
      random.add(mean_change(instance, attribution.unit, rows.subspan(2, random_keys)));
    if (permutations > 0)
      permuted.add(median_change(instance, attribution.unit, rows.subspan(2 + random_keys)));
  }
  return {permuted.value(), uniform.value(), top.value(), random.value()};
}

}  // namespace fovea::faithfulness
