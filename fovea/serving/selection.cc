#include "fovea/serving/selection.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "fovea/serving/http_error.h"

namespace fovea::serving {

namespace {

template <class Item>
bool holds(const std::vector<Item>& list, const Item& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

void choose_maps(Explanation& explanation, const std::vector<std::string>& names) {
  std::set<std::string> there;
  for (const MapView& map : explanation.maps) there.insert(map.name);
  const std::vector<std::string> known(there.begin(), there.end());
  for (const std::string& name : names)
    if (!there.count(name))
      throw HttpError(
          422, "not_found",
          concat("maps: there is no map '", shorten_bytes(name, 64), "'",
                 suggestion(shorten_bytes(name, 64), known), "; there are: ", join(known)),
          "maps");
  std::erase_if(explanation.maps, [&](const MapView& map) { return !holds(names, map.name); });
  std::erase_if(explanation.faithfulness,
                [&](const Faithfulness& entry) { return !holds(names, entry.map); });
}

/// Keeps the maps whose layer or head is wanted; 0 stands for the only one.
void choose_numbers(Explanation& explanation, const char* field, int64_t MapView::*number,
                    const std::vector<int64_t>& wanted) {
  int64_t highest = 0;
  for (const MapView& map : explanation.maps)
    highest = std::max(highest, std::max<int64_t>(1, map.*number));
  for (const int64_t value : wanted)
    if (value > highest)
      throw HttpError(422, "not_found",
                      concat(field, ": there is no ", value, "; the last is ", highest), field);
  std::erase_if(explanation.maps, [&](const MapView& map) {
    return !holds(wanted, std::max<int64_t>(1, map.*number));
  });
}

template <class Item>
void keep_rows(std::vector<Item>& items, const std::vector<int64_t>& rows, size_t width) {
  if (items.empty()) return;
  std::vector<Item> kept;
  kept.reserve(rows.size() * width);
  for (const int64_t row : rows) {
    const auto first = items.begin() + row * static_cast<int64_t>(width);
    kept.insert(kept.end(), first, first + static_cast<int64_t>(width));
  }
  items = std::move(kept);
}

/// Only the edges i for which keep(i) holds; all lists of a map of edges have one item per edge.
template <class Keep>
void keep_edges(MapView& map, const Keep& keep) {
  std::vector<int64_t> kept;
  for (size_t edge = 0; edge < map.edge_queries.size(); ++edge)
    if (keep(edge)) kept.push_back(static_cast<int64_t>(edge));
  for (auto* list : {&map.weights, &map.spread, &map.low, &map.high}) keep_rows(*list, kept, 1);
  keep_rows(map.truth, kept, 1);
  keep_rows(map.edge_queries, kept, 1);
  keep_rows(map.edge_keys, kept, 1);
}

void cut_map(MapView& map, const std::vector<int64_t>& rows) {
  if (rows.back() >= static_cast<int64_t>(map.queries()))
    throw HttpError(422, "not_found",
                    concat("rows: the map '", map.name, "' has no row ", rows.back(), "; it has ",
                           map.queries(), ", the first is 0"),
                    "rows");
  if (map.layout == MapLayout::Edges) {
    keep_edges(map, [&](size_t edge) {
      return std::binary_search(rows.begin(), rows.end(), map.edge_queries[edge]);
    });
    for (int64_t& query : map.edge_queries)
      query = std::lower_bound(rows.begin(), rows.end(), query) - rows.begin();
  } else {
    const size_t width = map.layout == MapLayout::Points ? map.point_width : map.keys();
    for (auto* list : {&map.weights, &map.spread, &map.low, &map.high})
      keep_rows(*list, rows, width);
    keep_rows(map.truth, rows, width);
  }
  keep_rows(map.query_labels, rows, 1);
}

/// The axis with these units alone. What only makes sense for all units is left out: a grid, a
/// spectrogram.
Axis cut_axis(Axis axis, const std::vector<int64_t>& rows) {
  keep_rows(axis.labels, rows, 1);
  keep_rows(axis.spans, rows, 1);
  keep_rows(axis.values, rows, 1);
  keep_rows(axis.times, rows, 1);
  std::vector<int64_t> special;
  for (size_t i = 0; i < rows.size(); ++i)
    if (holds(axis.special, rows[i])) special.push_back(int64_t(i));
  axis.special = std::move(special);
  for (int64_t& offset : axis.offsets)
    offset = std::lower_bound(rows.begin(), rows.end(), offset) - rows.begin();
  axis.grid_rows = axis.grid_columns = 0;
  axis.media.clear();
  axis.spectrogram = at::Tensor();
  return axis;
}

/// Whether the axis is more than the queries of maps.
bool is_needed_whole(const Explanation& explanation, const std::string& name) {
  const auto looked_at = [&](const MapView& map) { return map.key_axis == name; };
  const auto grouped_by = [&](const Axis& axis) { return axis.parent == name; };
  return std::any_of(explanation.maps.begin(), explanation.maps.end(), looked_at) ||
         std::any_of(explanation.axes.begin(), explanation.axes.end(), grouped_by);
}

void choose_rows(Explanation& explanation, std::vector<int64_t> rows) {
  std::sort(rows.begin(), rows.end());
  std::set<std::string> names;
  for (MapView& map : explanation.maps) {
    cut_map(map, rows);
    names.insert(map.query_axis);
  }
  for (const std::string& name : names) {
    const auto axis = std::find_if(explanation.axes.begin(), explanation.axes.end(),
                                   [&](const Axis& one) { return one.name == name; });
    Axis cut{name, "", {}};
    if (axis != explanation.axes.end()) cut = cut_axis(*axis, rows);
    if (!is_needed_whole(explanation, name)) {
      if (axis != explanation.axes.end()) *axis = std::move(cut);
      continue;
    }
    cut.name = name + " rows";
    for (MapView& map : explanation.maps)
      if (map.query_axis == name) {
        map.query_axis = cut.name;
        if (axis == explanation.axes.end()) cut.labels = map.query_labels;
      }
    explanation.axes.push_back(std::move(cut));
  }
  explanation.notes.push_back(
      concat("only ", rows.size(), rows.size() == 1 ? " row was" : " rows were", " asked for"));
}

/// Which of the weights at `places` are not among the k of largest magnitude.
std::vector<size_t> smaller_ones(const std::vector<double>& weights, std::vector<size_t> places,
                                 size_t k) {
  std::erase_if(places, [&](size_t place) { return std::isnan(weights[place]); });
  if (places.size() <= k) return {};
  const auto larger = [&](size_t a, size_t b) {
    const double x = std::fabs(weights[a]), y = std::fabs(weights[b]);
    return x != y ? x > y : a < b;
  };
  std::nth_element(places.begin(), places.begin() + static_cast<int64_t>(k), places.end(), larger);
  places.erase(places.begin(), places.begin() + static_cast<int64_t>(k));
  return places;
}

void keep_top(MapView& map, size_t k) {
  if (map.layout == MapLayout::Points) return;  // a glimpse is one thing
  std::vector<std::vector<size_t>> places(map.queries());
  for (size_t i = 0; i < map.weights.size(); ++i)
    places[map.layout == MapLayout::Edges ? size_t(map.edge_queries[i]) : i / map.keys()].push_back(
        i);
  std::vector<char> dropped(map.weights.size(), 0);
  for (std::vector<size_t>& row : places)
    for (const size_t place : smaller_ones(map.weights, std::move(row), k)) dropped[place] = 1;
  if (map.layout == MapLayout::Edges)
    return keep_edges(map, [&](size_t edge) { return dropped[edge] == 0; });
  for (auto* list : {&map.weights, &map.spread, &map.low, &map.high})
    for (size_t i = 0; i < list->size(); ++i)
      if (dropped[i]) (*list)[i] = 0;
}

void choose_top(Explanation& explanation, int64_t k) {
  for (MapView& map : explanation.maps) {
    keep_top(map, static_cast<size_t>(k));
    if (map.kind == MapKind::Distribution) map.kind = MapKind::Partial;  // no longer sums to 1
  }
  explanation.notes.push_back(concat("only the ", k, " largest weights of each row are kept"));
}

}  // namespace

void select_parts(Explanation& explanation, const Selection& selection) {
  if (!selection.maps.empty()) choose_maps(explanation, selection.maps);
  if (!selection.layers.empty())
    choose_numbers(explanation, "layers", &MapView::layer, selection.layers);
  if (!selection.heads.empty())
    choose_numbers(explanation, "heads", &MapView::head, selection.heads);
  if (!selection.rows.empty()) choose_rows(explanation, selection.rows);
  if (selection.top_k > 0) choose_top(explanation, selection.top_k);
}

}  // namespace fovea::serving
