#include "fovea/explain/record/query_key.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/explain/record/json.h"
#include "fovea/explain/record/labels.h"
#include "fovea/tensor/to_vector.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

std::string place_of(const AttentionMap& map) {
  return map.layer > 0 ? concat(map.name, ".", map.layer) : map.name;
}

/// The recorded map of that name and layer.
const AttentionMap& find_recorded(const Tap& tap, const WeightPlace& place) {
  std::vector<std::string> there;
  const AttentionMap* found = nullptr;
  for (const AttentionMap& map : tap.maps()) {
    if (place.map.empty() ? !tap.products(map) : map.name != place.map) continue;
    if (place.layer > 0 && map.layer != place.layer) continue;
    there.push_back(place_of(map));
    found = &map;
  }
  if (there.size() == 1) return *found;
  require(there.empty(), ErrorKind::InvalidArgument, "there are several of them: ", join(there),
          "; say which map and layer");
  std::vector<std::string> with;
  for (const AttentionMap& map : tap.maps())
    if (tap.products(map)) with.push_back(place_of(map));
  require(!with.empty(), ErrorKind::Unsupported,
          "no weights of this model are made of dot products of a query and a key");
  fail(ErrorKind::NotFound, "there is no map ",
       place.layer > 0 ? concat(place.map, place.map.empty() ? "" : ", ", "layer ", place.layer)
                       : place.map,
       " made of queries and keys; there is: ", join(with));
}

/// From 0.
int64_t head_index(const AttentionMap& map, int64_t head) {
  const int64_t heads = heads_of(map);
  require(head > 0 || heads == 1, ErrorKind::InvalidArgument, "map '", map.name, "' has ", heads,
          " heads, each with queries and keys of its own; say which");
  require(head <= heads, ErrorKind::InvalidArgument, "map '", map.name, "' has ", heads,
          " heads, found head ", head);
  return std::max<int64_t>(head, 1) - 1;
}

void check_unit(const AttentionMap& map, const char* what, int64_t unit, int64_t count) {
  require(unit >= 0 && unit < count, ErrorKind::InvalidArgument, "there is no ", what, " ",
          unit + 1, "; map '", map.name, "' has ", count);
}

std::string label_of(const Example& example, const std::string& axis, int64_t unit) {
  return axis.empty() ? "prediction" : example.axis(axis).labels.at(size_t(unit));
}

/// By dimension. keys [K, D], of those that may be seen.
std::vector<double> lifts(const ProductRow& row) {
  const at::Tensor seen = row.keep.nonzero().squeeze(1);
  if (seen.numel() == 0) return std::vector<double>(size_t(row.query.size(0)), 0);
  const at::Tensor keys = row.keys.index_select(0, seen);             // [k, D]
  const at::Tensor weights = row.weights.index_select(0, seen);       // [k]
  const at::Tensor share = weights / weights.sum().clamp_min(1e-30);  // gates do not sum to 1
  return to_vector<double>(row.scale * row.query * (share.matmul(keys) - keys.mean(0)));
}

}  // namespace

bool has_products(const Tap& tap, const AttentionMap& map, int64_t head) {
  return (head > 0 || heads_of(map) == 1) && tap.products(map) != nullptr;
}

QueryKey explain_weight(const Predictor& predictor, const Example& example,
                        const Prediction& prediction, const WeightPlace& place,
                        const ExplainOptions& options) {
  torch::NoGradGuard no_gradients;
  Tap tap(Record::OnDemand);
  tap.want_products();
  predictor.replay(example, prediction, tap);
  const AttentionMap& map = find_recorded(tap, place);
  const auto products = tap.products(map);
  require(products != nullptr, ErrorKind::Unsupported, "the weights of map '", map.name,
          "' are not made of dot products of a query and a key alone");
  const int64_t head = head_index(map, place.head);
  const at::Tensor weights = head_of(map, 0, head);  // [Q, K]
  check_unit(map, "query", place.query, weights.size(0));
  check_unit(map, "key", place.key, weights.size(1));
  const ProductRow row = products->row(0, head, place.query);
  const Example described = describe_example(predictor, example, prediction, tap.maps()).example;

  QueryKey made;
  made.place = {map.name, map.layer, heads_of(map) > 1 ? head + 1 : 0, place.query, place.key};
  const auto title = options.map_titles.find(map.name);
  made.title = title == options.map_titles.end() ? map.name : title->second;
  made.query_label = label_of(described, map.query_axis, place.query);
  made.key_label = label_of(described, map.key_axis, place.key);
  const at::Tensor key = row.keys[place.key];
  made.query = to_vector<double>(row.query);
  made.key = to_vector<double>(key);
  made.product = to_vector<double>(row.query * key);
  made.scale = row.scale;
  made.dot = std::accumulate(made.product.begin(), made.product.end(), 0.0);
  for (const ScoreTerm& term : row.terms)
    made.terms.emplace_back(term.name, term.values[place.key].item<double>());
  made.visible = row.keep[place.key].item<bool>();
  made.normaliser = row.normaliser;
  made.score = row.scores[place.key].item<double>();
  made.weight = row.weights[place.key].item<double>();
  if (row.factor.defined()) made.factor = row.factor[place.key].item<double>();
  made.scores = to_vector<double>(row.scores.masked_fill(~row.keep, std::nan("")));
  made.weights = to_vector<double>(row.weights);
  made.lift = lifts(row);
  return made;
}

Json query_key_to_json(const QueryKey& made) {
  Json json{{"map", valid_utf8(made.place.map)}, {"title", valid_utf8(made.title)}};
  if (made.place.layer > 0) json["layer"] = made.place.layer;
  if (made.place.head > 0) json["head"] = made.place.head;
  json["query"] = {{"index", made.place.query},
                   {"label", valid_utf8(made.query_label)},
                   {"vector", numbers_to_json(made.query)}};
  json["key"] = {{"index", made.place.key},
                 {"label", valid_utf8(made.key_label)},
                 {"vector", numbers_to_json(made.key)}};
  json["products"] = numbers_to_json(made.product);
  json["dot"] = made.dot;
  json["scale"] = made.scale;
  json["terms"] = Json::array();
  for (const auto& [name, value] : made.terms)
    json["terms"].push_back({{"name", name}, {"value", value}});
  json["visible"] = made.visible;
  json["score"] = made.score;
  json["normaliser"] = made.normaliser;
  if (made.factor != 1) json["factor"] = made.factor;
  json["weight"] = made.weight;
  json["row"] = {{"scores", numbers_to_json(made.scores)},
                 {"weights", numbers_to_json(made.weights)},
                 {"lift", numbers_to_json(made.lift)}};
  return json;
}

std::vector<size_t> largest_first(const std::vector<double>& numbers) {
  std::vector<size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(
      order, [&](size_t a, size_t b) { return std::abs(numbers[a]) > std::abs(numbers[b]); });
  return order;
}

MapView products_view(const QueryKey& made, size_t most) {
  MapView view;
  view.name = made.place.map;
  view.kind = MapKind::Contribution;
  view.total = "score";
  view.title =
      concat("What the score of ", made.query_label, " to ", made.key_label, " is made of (score ",
             format_number(made.score), ", weight ", format_number(made.weight), ")");
  view.query_axis = "score";
  view.key_axis = "dimension";
  view.query_labels = {concat(made.query_label, " to ", made.key_label)};
  const std::vector<size_t> order = largest_first(made.product);
  double rest = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const double part = made.scale * made.product[order[i]];
    if (i >= most) {
      rest += part;
      continue;
    }
    view.key_labels.push_back(concat("dimension ", order[i] + 1));
    view.weights.push_back(part);
  }
  const auto add = [&](const std::string& label, double value) {
    view.key_labels.push_back(label);
    view.weights.push_back(value);
  };
  if (order.size() > most) add(concat("the other ", order.size() - most), rest);
  for (const auto& [name, value] : made.terms) add(name, value);
  return view;
}

}  // namespace fovea
