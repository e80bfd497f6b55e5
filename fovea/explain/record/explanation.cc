#include "fovea/explain/record/explanation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/base/data_url.h"
#include "fovea/base/error.h"
#include "fovea/base/stop.h"
#include "fovea/explain/record/query_key.h"
#include "fovea/explain/record/rollout_views.h"
#include "fovea/tensor/to_vector.h"
#include "fovea/tensor/torch.h"

namespace fovea {
namespace {

/// Of the weights, or of their source.
std::vector<int64_t> map_sizes(const AttentionMap& map) {
  if (!map.source) return map.weights.sizes().vec();
  const auto sizes = map.source->sizes();
  return {sizes.begin(), sizes.end()};
}

/// [Q, K]: the mean of the heads or one of them, and how the title says so.
at::Tensor choose_head(const AttentionMap& map, int64_t head, std::string& title) {
  const std::vector<int64_t> sizes = map_sizes(map);
  require(sizes.size() == 4 && sizes[0] == 1 && sizes[1] > 0, ErrorKind::Internal, "map '",
          map.name, "' of one example has weights ", at::IntArrayRef(sizes),
          ", expected [1, H, Q, K]");
  const int64_t heads = sizes[1];
  const auto numbers = [&](int64_t index) {
    return head_of(map, 0, index).detach().to(at::kCPU, at::kDouble);  // [Q, K]
  };
  require(head >= 0 && head <= heads, ErrorKind::InvalidArgument, "map '", map.name, "' has ",
          heads, " heads, found head ", head, "; try 1 to ", heads, ", or 0 for their mean");
  if (head > 0) {
    title += concat(" (head ", head, " of ", heads, ")");
    return numbers(head - 1);
  }
  if (heads == 1) return numbers(0);
  title += concat(" (mean of ", heads, " heads)");
  at::Tensor sum = numbers(0).clone();
  for (int64_t index = 1; index < heads; ++index) sum += numbers(index);
  return sum / heads;
}

/// index [2, E] and weights [E, H] as one list of edges.
void take_edges(const AttentionMap& map, int64_t head, MapView& view) {
  const at::Tensor index = map.index;      // [2, E]
  const at::Tensor weights = map.weights;  // [E, H]
  require(weights.dim() == 2 && index.dim() == 2 && index.size(0) == 2 &&
              index.size(1) == weights.size(0) && head <= weights.size(1),
          ErrorKind::Internal, "map '", map.name, "' has an index ", index.sizes(), " for weights ",
          weights.sizes());
  view.edge_queries = to_vector<int64_t>(index[0]);
  view.edge_keys = to_vector<int64_t>(index[1]);
  view.weights = to_vector<double>(head > 0 ? weights.select(1, head - 1)
                                            : weights.to(at::kCPU, at::kDouble).mean(1));  // [E]
}

/// Labels of the axis, whose size nothing else says.
std::vector<std::string> axis_labels(const std::string& axis_name, const Example& example) {
  return axis_name.empty() ? std::vector<std::string>{"prediction"}
                           : example.axis(axis_name).labels;
}

/// The labels of one axis of a map.
/// An example that lost units of an axis may have fewer keys than the axis has units: its tensor
/// "<axis>.left" then says which these are, and the others are gaps.
at::Tensor with_gaps(const at::Tensor& weights, const std::string& axis, const Example& example) {
  const auto left = example.tensors.find(axis + ".left");
  if (left == example.tensors.end() || left->second.numel() != weights.size(1)) return weights;
  const auto units = int64_t(example.axis(axis).labels.size());
  return at::full({weights.size(0), units}, std::numeric_limits<double>::quiet_NaN(), at::kDouble)
      .index_copy(1, left->second, weights);  // [Q, K]
}

std::vector<std::string> checked_labels(const AttentionMap& map, const std::string& axis_name,
                                        const Example& example, int64_t size) {
  if (axis_name.empty()) {
    require(size == 1, ErrorKind::Internal, "map '", map.name, "' has ", size,
            " queries but names no query axis, expected 1");
    return {"prediction"};
  }
  std::vector<std::string> names;
  for (const Axis& axis : example.axes) {
    names.push_back(axis.name);
    if (axis.name != axis_name) continue;
    require(int64_t(axis.labels.size()) == size, ErrorKind::Internal, "map '", map.name, "' has ",
            size, " weights along axis '", axis_name, "', but the example has ", axis.labels.size(),
            " labels for it");
    return axis.labels;
  }
  fail(ErrorKind::Internal, "map '", map.name, "' names axis '", axis_name, "' with ", size,
       " units, but the example has ", example.axes.size(), " other axes: ", join(names));
}

bool is_output_axis(const std::string& axis_name, const Example& described) {
  return std::ranges::any_of(
      described.axes, [&](const Axis& axis) { return axis.name == axis_name && axis.output; });
}

/// Whether the truth [Q, K] marks the weights [1, H, Q, K] of the map.
bool fits(const at::Tensor& truth, const AttentionMap& map) {
  if (!map.weights.defined() && !map.source) return false;
  const std::vector<int64_t> sizes = map_sizes(map);
  return sizes.size() == 4 && truth.dim() == 2 && truth.size(0) == sizes[2] &&
         truth.size(1) == sizes[3];
}

std::vector<char> truth_marks(const AttentionMap& map, const Example& example,
                              const MapView& view) {
  const auto found = example.truth.find(map.name);
  if (found == example.truth.end() || !found->second.defined()) return {};
  const at::Tensor keep = found->second.detach().to(at::kCPU).ne(0).contiguous();
  require(keep.numel() == int64_t(view.weights.size()), ErrorKind::Internal, "map '", map.name,
          "' has ", view.weights.size(), " weights, but its planted truth has ", keep.numel());
  const bool* values = keep.data_ptr<bool>();
  return std::vector<char>(values, values + keep.numel());
}

std::string describe_prediction(const Prediction& prediction) {
  if (prediction.scores.defined() && prediction.scores.numel() == 1)
    return concat("probability ", format_number(prediction.scores.item<double>()));
  if (prediction.scores.defined() && prediction.scores.numel() > 1) {
    const std::vector<double> scores = to_vector<double>(prediction.scores);
    const auto best = std::ranges::max_element(scores);
    return concat("class ", best - scores.begin(), " (", format_number(*best), ")");
  }
  std::vector<std::string> parts;
  if (prediction.values.defined())
    for (const double value : to_vector<double>(prediction.values))
      parts.push_back(format_number(value));
  if (!parts.empty() || prediction.outputs.empty()) return join(parts);
  const Decoded& chosen = prediction.outputs.front();
  if (!chosen.text.empty()) return chosen.text;
  for (const int64_t token : chosen.tokens) parts.push_back(std::to_string(token));
  return join(parts);
}

/// One view, or one per head, and a note where the numbers are broken.
void add_views(const Tap& tap, const AttentionMap& map, const Example& example,
               const ExplainOptions& options, Explanation& explanation) {
  const std::vector<int64_t> heads = chosen_heads(map, options.heads);
  if (heads.empty()) return;
  const AttentionMap shown = with_heads(map, heads);
  if (const std::string problem = check_map(shown); !problem.empty())
    explanation.notes.push_back(concat("map '", map.name, "' (", name_of(map.kind),
                                       ") is not what it should be: ", problem));
  const bool is_ensemble = std::ranges::count(options.ensembles, map.name) > 0;
  const bool is_mean =
      (options.heads.all == Heads::Mean || is_ensemble) && options.heads.heads.empty();
  if (is_mean || options.head > 0 || heads_of(map) == 1) {
    explanation.maps.push_back(make_view(shown, example, options));
    explanation.maps.back().has_products = has_products(tap, map, options.head);
    return;
  }
  for (size_t i = 0; i < heads.size(); ++i) {
    stop_if_asked();
    ExplainOptions one = options;
    one.head = map.layout == MapLayout::Dense ? int64_t(i) + 1 : heads[i];
    MapView view = make_view(shown, example, one);
    view.title = view.title.substr(0, view.title.rfind(" (head "));
    if (!options.heads.heads.empty())  // it stands for itself
      view.title += concat(" (head ", heads[i], " of ", heads_of(map), ")");
    view.head = heads[i];
    view.has_products = has_products(tap, map, heads[i]);
    explanation.maps.push_back(std::move(view));
  }
}

/// The input with names in the place of the files inside it: of
/// "data:image/png;name=a.png;base64,…" its name, or what it is. The file itself is a medium.
std::string without_files(const std::string& given) {
  const size_t begin = std::min(given.find("data:"), given.size());
  const auto url = split_data_url(std::string_view(given).substr(begin));
  if (!url) return given;
  const std::string shown = url->name.empty() ? url->type : url->name;
  const std::string before = given.substr(0, begin);
  const size_t end = url->base64.find('"');
  const std::string after(end == std::string_view::npos ? "" : url->base64.substr(end));
  // {"image": "…"} holds nothing but the file.
  const bool is_all =
      std::ranges::count(before, ':') <= 1 && (after.empty() || trim(after.substr(1)) == "}");
  return is_all ? shown : before + shown + after;
}

/// Those that the maps name, and their parents.
std::vector<Axis> used_axes(const std::vector<MapView>& maps, const Example& example) {
  std::vector<std::string> names;
  for (const MapView& map : maps) names.insert(names.end(), {map.query_axis, map.key_axis});
  for (size_t i = 0; i < names.size(); ++i)
    for (const Axis& axis : example.axes)
      if (axis.name == names[i] && !axis.parent.empty()) names.push_back(axis.parent);
  std::vector<Axis> axes;
  for (const Axis& axis : example.axes)
    if (std::ranges::find(names, axis.name) != names.end()) axes.push_back(axis);
  return axes;
}

}  // namespace

void check_sizes(const MapView& view) {
  const size_t expected = view.layout == MapLayout::Edges    ? view.edge_queries.size()
                          : view.layout == MapLayout::Points ? view.queries() * view.point_width
                                                             : view.queries() * view.keys();
  require(view.weights.size() == expected, ErrorKind::Internal, "map '", view.name, "' has ",
          view.weights.size(), " weights for ", view.queries(), " queries and ", view.keys(),
          " keys, expected ", expected);
  const auto check = [&](size_t size, const char* what) {
    require(size == 0 || size == expected, ErrorKind::Internal, "map '", view.name, "' has ", size,
            " ", what, " for ", expected, " weights");
  };
  check(view.spread.size(), "deviations");
  check(view.truth.size(), "truth marks");
  check(view.low.size(), "lower ends");
  check(view.high.size(), "upper ends");
  require(view.low.size() == view.high.size() && view.edge_keys.size() == view.edge_queries.size(),
          ErrorKind::Internal, "map '", view.name, "' has only half of its intervals or edges");
  for (size_t i = 0; i < view.edge_keys.size(); ++i)
    require(
        size_t(view.edge_queries[i]) < view.queries() && size_t(view.edge_keys[i]) < view.keys(),
        ErrorKind::Internal, "map '", view.name, "' has an edge ", view.edge_queries[i], " -> ",
        view.edge_keys[i], " for ", view.queries(), " queries and ", view.keys(), " keys");
}

/// The interval of each weight over the heads, which are members of an ensemble.
static void add_members(const AttentionMap& map, MapView& view) {
  const at::Tensor all = dense_weights(map)[0].detach().to(at::kCPU, at::kDouble);  // [H, Q, K]
  view.low = to_vector<double>(all.amin(0));
  view.high = to_vector<double>(all.amax(0));
  view.interval_is = "full range";
  view.interval_of = concat(all.size(0), " members");
  view.title.replace(view.title.rfind(" heads)"), std::string::npos, " members)");
}

MapView make_view(const AttentionMap& map, const Example& example, const ExplainOptions& options) {
  require(map.weights.defined() || map.source, ErrorKind::Internal, "map '", map.name,
          "' has no weights");
  MapView view;
  view.name = map.name;
  const auto title = options.map_titles.find(map.name);
  view.title = title == options.map_titles.end() ? map.name : title->second;
  view.kind = map.kind;
  view.layout = map.layout;
  view.layer = map.layer;
  view.head = options.head;
  view.total = map.total;
  view.query_axis = map.query_axis;
  view.key_axis = map.key_axis;
  if (map.layout == MapLayout::Edges) {
    take_edges(map, options.head, view);
    view.query_labels = axis_labels(map.query_axis, example);
    view.key_labels = axis_labels(map.key_axis, example);
    check_sizes(view);
    return view;
  }
  // Between two places lies a third one at which nobody looked: the first path stands for all.
  if (map.layout == MapLayout::Points && heads_of(map) > 1)
    view.head = std::max<int64_t>(1, options.head);
  const at::Tensor weights =
      with_gaps(choose_head(map, view.head, view.title), map.key_axis, example);  // [Q, K]
  view.query_labels = checked_labels(map, map.query_axis, example, weights.size(0));
  view.weights = to_vector<double>(weights);
  if (map.layout == MapLayout::Points) {
    view.point_width = size_t(weights.size(1));
    view.key_labels = axis_labels(map.key_axis, example);
    return view;
  }
  view.key_labels = checked_labels(map, map.key_axis, example, weights.size(1));
  view.truth = truth_marks(map, example, view);
  if (view.head == 0 && heads_of(map) > 1 && std::ranges::count(options.ensembles, map.name) > 0)
    add_members(map, view);
  return view;
}

void group_free_maps(std::vector<MapView>& maps) {
  for (size_t i = 0; i < maps.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      MapView &left = maps[j], &right = maps[i];
      if (left.kind != MapKind::Free || right.kind != MapKind::Free) continue;
      if (left.layout != MapLayout::Dense || right.layout != MapLayout::Dense) continue;
      if (left.head != right.head || left.layer != right.layer) continue;
      if (left.query_axis != right.query_axis || left.key_axis != right.key_axis) continue;
      if (left.query_labels != right.query_labels || left.key_labels != right.key_labels) continue;
      if (left.group.empty()) left.group = left.name;
      if (right.group.empty()) right.group = left.group;
    }
  }
}

Explanation mean_of_heads(const Explanation& explanation) {
  Explanation result = explanation;
  result.maps.clear();
  std::vector<int64_t> heads;  // how many each view stands for
  for (const MapView& map : explanation.maps) {
    const auto same = std::ranges::find_if(result.maps, [&](const MapView& other) {
      return map.head > 0 && map.layout == MapLayout::Dense && other.name == map.name &&
             other.title == map.title && other.layer == map.layer && other.layout == map.layout &&
             other.query_labels == map.query_labels && other.key_labels == map.key_labels;
    });
    if (same == result.maps.end()) {
      result.maps.push_back(map);
      heads.push_back(1);
      continue;
    }
    ++heads[size_t(same - result.maps.begin())];
    for (size_t i = 0; i < map.weights.size(); ++i) same->weights[i] += map.weights[i];
    same->has_products = false;
  }
  for (size_t i = 0; i < result.maps.size(); ++i) {
    MapView& map = result.maps[i];
    if (map.layer > 0) map.title += concat(", layer ", map.layer);
    if (heads[i] == 1) continue;
    for (double& weight : map.weights) weight /= double(heads[i]);
    map.title += concat(" (mean of ", heads[i], " heads)");
    map.head = 0;
  }
  return result;
}

DescribedExample describe_example(const Predictor& predictor, const Example& example,
                                  const Prediction& prediction,
                                  const std::vector<AttentionMap>& maps) {
  DescribedExample described{predictor.describe_output(example, prediction), {}};
  NamedTensors& truths = described.example.truth;
  for (const AttentionMap& map : maps) {
    const auto truth = truths.find(map.name);
    if (truth == truths.end() || !truth->second.defined() || map.layout != MapLayout::Dense)
      continue;
    if (fits(truth->second, map) || !is_output_axis(map.query_axis, described.example)) continue;
    described.notes.push_back(concat("map '", map.name, "': its planted truth of shape ",
                                     truth->second.sizes(),
                                     " is left out, since the output is another one"));
    truths.erase(truth);
  }
  return described;
}

Explanation explain_prediction(const Predictor& predictor, const Example& example,
                               const Prediction& prediction, const ExplainOptions& options) {
  torch::NoGradGuard no_gradients;
  Tap tap(Record::OnDemand);
  tap.want_products();
  predictor.replay(example, prediction, tap);

  Explanation explanation;
  explanation.task = options.task;
  explanation.title = options.title;
  explanation.prediction =
      options.describe ? options.describe(example, prediction) : describe_prediction(prediction);
  DescribedExample described = describe_example(predictor, example, prediction, tap.maps());
  explanation.notes = std::move(described.notes);
  check_choice(options.heads, tap.maps());
  for (const AttentionMap& map : tap.maps()) {
    stop_if_asked();
    add_views(tap, map, described.example, options, explanation);
  }
  if (options.heads.is_everything()) add_rollout(explanation.maps);
  explanation.input = without_files(example.given);
  if (options.answer) explanation.answer = options.answer(example, prediction);
  explanation.axes = used_axes(explanation.maps, described.example);
  explanation.media = described.example.media;
  group_free_maps(explanation.maps);
  if (tap.maps().empty()) explanation.notes.push_back("this model has no attention to show");
  return explanation;
}

Explanation explain_example(const Predictor& predictor, const Example& example,
                            const ExplainOptions& options) {
  const std::vector<Prediction> predictions = predictor.predict({&example, 1});
  require(predictions.size() == 1, ErrorKind::Internal, "one example gave ", predictions.size(),
          " predictions");
  return explain_prediction(predictor, example, predictions[0], options);
}

}  // namespace fovea
