#include "fovea/serving/costs.h"

#include <algorithm>
#include <cmath>

#include "fovea/serving/http_error.h"

namespace fovea::serving {

namespace {

int64_t units_along(const Example& example, const std::string& name) {
  for (const Axis& axis : example.axes)
    if (axis.name == name) return static_cast<int64_t>(axis.labels.size());
  return 1;
}

bool is_chosen(const std::vector<int64_t>& wanted, int64_t number) {
  return wanted.empty() || number == 0 ||
         std::find(wanted.begin(), wanted.end(), number) != wanted.end();
}

}  // namespace

void check_units(int64_t units, int64_t most, const std::string& field) {
  if (units > most)
    throw HttpError(422, "too_costly",
                    concat(field, ": more than the ", most,
                           " units that this server takes in one request; send less at a time"),
                    field);
}

void check_weights(int64_t weights, int64_t most) {
  if (weights > most)
    throw HttpError(422, "too_costly",
                    concat("input: its explanation would have ", weights,
                           " weights, this server gives at most ", most,
                           "; ask for \"heads\": \"mean\" or for some layers, without "
                           "faithfulness, or shorten the input"),
                    "input");
}

ExplanationShape::ExplanationShape(const Explanation& first) {
  for (const MapView& view : first.maps) {
    Map map{view.query_axis, view.key_axis, view.layer, view.head, false, 0};
    map.of_stack = view.name.ends_with(" rollout") || view.name.ends_with(" flow");
    if (view.layout != MapLayout::Dense)
      map.weights_per_query = static_cast<double>(view.weights.size()) /
                              static_cast<double>(std::max<size_t>(1, view.queries()));
    maps_.push_back(std::move(map));
  }
}

int64_t ExplanationShape::weights(const Example& example, const HeadChoice& choice) const {
  double sum = 0;
  const bool mean = choice.all == Heads::Mean && choice.heads.empty();
  for (const Map& map : maps_) {
    if (map.of_stack && !choice.is_everything()) continue;
    if (!is_chosen(choice.layers, map.layer) || !is_chosen(choice.heads, map.head)) continue;
    if (mean && map.head > 1) continue;
    const auto queries = static_cast<double>(units_along(example, map.query_axis));
    sum += queries * (map.weights_per_query > 0
                          ? map.weights_per_query
                          : static_cast<double>(units_along(example, map.key_axis)));
  }
  return static_cast<int64_t>(std::min(sum, 0x1p62));
}

}  // namespace fovea::serving
