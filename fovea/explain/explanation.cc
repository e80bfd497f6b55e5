#include "fovea/explain/explanation.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fovea/core/error.h"

namespace fovea {
namespace {

/// [Q, K]: the mean of the heads or one of them, and how the title says so.
at::Tensor choose_head(const AttentionMap& map, const ExplainOptions& options, std::string& title) {
  const at::Tensor weights = map.weights.detach().to(at::kCPU, at::kDouble);  // [1, H, Q, K]
  require(weights.dim() == 4 && weights.size(0) == 1 && weights.size(1) > 0, ErrorKind::Internal,
          "map '", map.name, "' of one example has weights ", weights.sizes(),
          ", expected [1, H, Q, K]");
  const int64_t heads = weights.size(1);
  require(options.head >= 0 && options.head <= heads, ErrorKind::InvalidArgument, "map '", map.name,
          "' has ", heads, " heads, found head ", options.head, "; try 1 to ", heads,
          ", or 0 for their mean");
  if (options.head > 0) {
    title += concat(" (head ", options.head, " of ", heads, ")");
    return weights[0][options.head - 1];  // [Q, K]
  }
  if (heads > 1) title += concat(" (mean of ", heads, " heads)");
  return weights[0].mean(0);  // [Q, K]
}

/// The labels of one axis of a map.
std::vector<std::string> labels_of(const AttentionMap& map, const std::string& axis_name,
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
    require(static_cast<int64_t>(axis.labels.size()) == size, ErrorKind::Internal, "map '",
            map.name, "' has ", size, " weights along axis '", axis_name, "', but the example has ",
            axis.labels.size(), " labels for it");
    return axis.labels;
  }
  fail(ErrorKind::Internal, "map '", map.name, "' names axis '", axis_name, "' with ", size,
       " units, but the example has ", example.axes.size(), " other axes: ", join(names));
}

/// Whether the labels of that axis were made from the output, not from the example.
bool is_of_output(const std::string& axis_name, const Example& example, const Example& described) {
  auto find = [&](const Example& from) {
    return std::find_if(from.axes.begin(), from.axes.end(),
                        [&](const Axis& axis) { return axis.name == axis_name; });
  };
  const auto now = find(described), before = find(example);
  return now != described.axes.end() &&
         (before == example.axes.end() || before->labels != now->labels);
}

/// Whether the truth [Q, K] marks the weights [1, H, Q, K] of the map.
bool fits(const at::Tensor& truth, const AttentionMap& map) {
  return map.weights.defined() && map.weights.dim() == 4 && truth.dim() == 2 &&
         truth.size(0) == map.weights.size(2) && truth.size(1) == map.weights.size(3);
}

std::vector<char> truth_of(const AttentionMap& map, const Example& example, const MapView& view) {
  const auto found = example.truth.find(map.name);
  if (found == example.truth.end() || !found->second.defined()) return {};
  const at::Tensor keep = found->second.detach().to(at::kCPU).ne(0).contiguous();
  require(keep.numel() == static_cast<int64_t>(view.weights.size()), ErrorKind::Internal, "map '",
          map.name, "' has ", view.weights.size(), " weights, but its planted truth has ",
          keep.numel());
  const bool* values = keep.data_ptr<bool>();
  return std::vector<char>(values, values + keep.numel());
}

std::string describe_prediction(const Prediction& prediction) {
  auto numbers = [](const at::Tensor& tensor) {
    const at::Tensor values = tensor.detach().to(at::kCPU, at::kDouble).flatten().contiguous();
    return std::vector<double>(values.data_ptr<double>(),
                               values.data_ptr<double>() + values.numel());
  };
  if (prediction.scores.defined() && prediction.scores.numel() == 1)
    return concat("probability ", format_number(numbers(prediction.scores)[0]));
  if (prediction.scores.defined() && prediction.scores.numel() > 1) {
    const std::vector<double> scores = numbers(prediction.scores);
    const auto best = std::max_element(scores.begin(), scores.end());
    return concat("class ", best - scores.begin(), " (", format_number(*best), ")");
  }
  std::vector<std::string> parts;
  if (prediction.values.defined())
    for (const double value : numbers(prediction.values)) parts.push_back(format_number(value));
  if (!parts.empty() || prediction.outputs.empty()) return join(parts);
  const Decoded& chosen = prediction.outputs.front();
  if (!chosen.text.empty()) return chosen.text;
  for (const int64_t token : chosen.tokens) parts.push_back(std::to_string(token));
  return join(parts);
}

}  // namespace

void check_sizes(const MapView& view) {
  const size_t expected = view.queries() * view.keys();
  require(view.weights.size() == expected, ErrorKind::Internal, "map '", view.name, "' has ",
          view.weights.size(), " weights for ", view.queries(), " queries and ", view.keys(),
          " keys, expected ", expected);
  require(view.spread.empty() || view.spread.size() == expected, ErrorKind::Internal, "map '",
          view.name, "' has ", view.spread.size(), " deviations for ", expected, " weights");
  require(view.truth.empty() || view.truth.size() == expected, ErrorKind::Internal, "map '",
          view.name, "' has ", view.truth.size(), " truth marks for ", expected, " weights");
}

MapView view_of(const AttentionMap& map, const Example& example, const ExplainOptions& options) {
  require(map.layout == MapLayout::Dense, ErrorKind::Unsupported, "map '", map.name,
          "' has the layout ", name_of(map.layout), "; only dense maps can be drawn");
  require(map.weights.defined(), ErrorKind::Internal, "map '", map.name, "' has no weights");
  MapView view;
  view.name = map.name;
  const auto title = options.map_titles.find(map.name);
  view.title = title == options.map_titles.end() ? map.name : title->second;
  view.kind = map.kind;
  view.query_axis = map.query_axis;
  view.key_axis = map.key_axis;
  const at::Tensor weights = choose_head(map, options, view.title).contiguous();  // [Q, K]
  view.query_labels = labels_of(map, map.query_axis, example, weights.size(0));
  view.key_labels = labels_of(map, map.key_axis, example, weights.size(1));
  const double* values = weights.data_ptr<double>();
  view.weights.assign(values, values + weights.numel());
  view.truth = truth_of(map, example, view);
  return view;
}

void group_free_maps(std::vector<MapView>& maps) {
  for (size_t i = 0; i < maps.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      MapView &left = maps[j], &right = maps[i];
      if (left.kind != MapKind::Free || right.kind != MapKind::Free) continue;
      if (left.query_axis != right.query_axis || left.key_axis != right.key_axis) continue;
      if (left.query_labels != right.query_labels || left.key_labels != right.key_labels) continue;
      if (left.group.empty()) left.group = left.name;
      if (right.group.empty()) right.group = left.group;
    }
  }
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
    if (fits(truth->second, map) || !is_of_output(map.query_axis, example, described.example))
      continue;
    described.notes.push_back(concat("map '", map.name, "': its planted truth of shape ",
                                     truth->second.sizes(),
                                     " is left out, since the output is another one"));
    truths.erase(truth);
  }
  return described;
}

Explanation explain_example(const Predictor& predictor, const Example& example,
                            const ExplainOptions& options) {
  const std::vector<Prediction> predictions = predictor.predict({&example, 1});
  require(predictions.size() == 1, ErrorKind::Internal, "one example gave ", predictions.size(),
          " predictions");
  Tap tap;
  predictor.replay(example, predictions[0], tap);

  Explanation explanation;
  explanation.task = options.task;
  explanation.title = options.title;
  explanation.prediction =
      options.describe ? options.describe(predictions[0]) : describe_prediction(predictions[0]);
  DescribedExample described = describe_example(predictor, example, predictions[0], tap.maps());
  explanation.notes = std::move(described.notes);
  for (const AttentionMap& map : tap.maps()) {
    if (map.layout != MapLayout::Dense) {
      explanation.notes.push_back(
          concat("map '", map.name, "' is not drawn: its layout is ", name_of(map.layout)));
      continue;
    }
    explanation.maps.push_back(view_of(map, described.example, options));
    if (const std::string problem = check_map(map); !problem.empty())
      explanation.notes.push_back(concat("map '", map.name, "' (", name_of(map.kind),
                                         ") is not what it should be: ", problem));
  }
  group_free_maps(explanation.maps);
  return explanation;
}

}  // namespace fovea
