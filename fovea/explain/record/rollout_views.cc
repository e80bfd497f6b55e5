#include "fovea/explain/record/rollout_views.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>

#include "fovea/base/text.h"
#include "fovea/explain/heads/rollout.h"
#include "fovea/tensor/to_vector.h"

namespace fovea {
namespace {

constexpr size_t kMostForFlow = 48;  // positions; flow takes time with the fourth power

/// The layers [N, N] of one family, in order; none unless they are a stack.
std::vector<at::Tensor> stacked_layers(const std::vector<MapView>& maps, const MapView& first) {
  const bool is_share = first.kind == MapKind::Distribution || first.kind == MapKind::Partial;
  if (!is_share || first.layer == 0 || first.layout != MapLayout::Dense ||
      first.query_axis != first.key_axis || first.query_labels != first.key_labels ||
      first.keys() == 0)
    return {};
  std::map<int64_t, std::vector<at::Tensor>> heads;
  for (const MapView& map : maps) {
    if (map.name != first.name) continue;
    const bool fits =
        map.layer > 0 && map.layout == first.layout && map.key_labels == first.key_labels;
    const bool positive =
        std::ranges::all_of(map.weights, [](double weight) { return weight >= 0; });  // nor NaN
    if (!fits || !positive || map.weights.size() != first.weights.size()) return {};
    const auto size = int64_t(map.keys());
    heads[map.layer].push_back(
        at::from_blob(const_cast<double*>(map.weights.data()), {size, size}, at::kDouble));
  }
  std::vector<at::Tensor> layers;
  for (const auto& [layer, weights] : heads)
    layers.push_back(at::stack(weights).mean(0));  // [N, N]
  return layers.size() > 1 ? layers : std::vector<at::Tensor>();
}

MapView stack_view(const MapView& first, const char* what, MapKind kind,
                   const at::Tensor& weights) {
  MapView view = first;
  view.name = concat(first.name, " ", what);
  view.title = concat(first.title, ", all layers together (", what, ")");
  view.kind = kind;
  view.layer = view.head = 0;
  view.spread.clear();
  view.truth.clear();
  view.low.clear();
  view.high.clear();
  view.weights = to_vector<double>(weights);
  return view;
}

}  // namespace

void add_rollout(std::vector<MapView>& maps) {
  std::vector<MapView> added;
  std::vector<std::string> done;
  for (const MapView& map : maps) {
    if (std::ranges::find(done, map.name) != done.end()) continue;
    done.push_back(map.name);
    const std::string together = concat(map.name, " rollout");
    const bool is_there =
        std::ranges::any_of(maps, [&](const MapView& other) { return other.name == together; });
    if (is_there) continue;  // a file that was written with it
    const std::vector<at::Tensor> layers = stacked_layers(maps, map);
    if (layers.empty()) continue;
    added.push_back(stack_view(map, "rollout", MapKind::Distribution,
                               rollout(layers)[int64_t(layers.size()) - 1]));
    if (map.keys() <= kMostForFlow)
      added.push_back(stack_view(map, "flow", MapKind::Gate, attention_flow(layers)));
  }
  maps.insert(maps.end(), added.begin(), added.end());
}

}  // namespace fovea
