#include "fovea/explain/record/json.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>

#include "fovea/base/base64.h"
#include "fovea/base/file.h"
#include "fovea/base/stop.h"
#include "fovea/explain/record/labels.h"
#include "fovea/tensor/to_vector.h"

namespace fovea {
namespace {

Json number_to_json(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

/// A number where the text is one.
Json value_to_json(const std::string& text) {
  if (text.empty()) return nullptr;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(number) ? Json(number) : Json(valid_utf8(text));
}

Json axis_to_json(const Axis& axis, ChunkWriter& chunks) {
  Json json;
  json["name"] = valid_utf8(axis.name);
  json["kind"] = valid_utf8(axis.kind);
  json["labels"] = texts_to_json(axis.labels);
  if (axis.output) json["output"] = true;
  if (!axis.spans.empty()) {
    json["text"] = valid_utf8(axis.text);
    json["spans"] = Json::array();
    for (const Span& span : axis.spans)
      json["spans"].push_back(span.begin < 0 ? Json(nullptr) : Json{span.begin, span.end});
  }
  if (!axis.special.empty()) json["special"] = axis.special;
  if (!axis.parent.empty()) {
    json["parent"] = valid_utf8(axis.parent);
    json["offsets"] = axis.offsets;
  }
  if (axis.grid_rows > 0)
    json["grid"] = {{"rows", axis.grid_rows},
                    {"columns", axis.grid_columns},
                    {"media", valid_utf8(axis.media)}};
  else if (!axis.media.empty())
    json["media"] = valid_utf8(axis.media);
  if (!axis.times.empty()) {
    json["times"] = axis.times;
    json["time_unit"] = valid_utf8(axis.time_unit);
  }
  if (!axis.values.empty()) {
    json["values"] = Json::array();
    for (const std::string& value : axis.values) json["values"].push_back(value_to_json(value));
  }
  if (axis.spectrogram.defined()) {
    const at::Tensor& sound = axis.spectrogram;
    json["spectrogram"] =
        matrix_to_json({size_t(sound.size(0)), size_t(sound.size(1)), to_vector<double>(sound)},
                       Packing::Packed, chunks);
  }
  return json;
}

Json medium_to_json(const Medium& medium) {
  Json json{{"name", valid_utf8(medium.name)}, {"type", medium.type}};
  if (medium.width > 0) json["width"] = medium.width, json["height"] = medium.height;
  if (!medium.alt.empty()) json["alt"] = valid_utf8(medium.alt);
  json["data"] = base64_encode(medium.bytes);
  return json;
}

/// The axes of the file: those of the explanation, and one for each other list of labels that a map
/// has. Names are made unique.
class AxisTable {
 public:
  explicit AxisTable(const std::vector<Axis>& known) : axes_(known) {}

  std::string name_for(const std::string& wanted, const std::vector<std::string>& labels) {
    const std::string base = wanted.empty() ? "prediction" : wanted;
    std::string name = base;
    for (int number = 2;; ++number) {
      const auto found =
          std::ranges::find_if(axes_, [&](const Axis& axis) { return axis.name == name; });
      if (found == axes_.end()) break;
      if (found->labels == labels) return name;
      name = concat(base, "-", number);
    }
    Axis axis;
    axis.name = name;
    axis.kind = wanted.empty() ? "prediction" : known_kind(wanted);
    axis.labels = labels;
    axes_.push_back(std::move(axis));
    return name;
  }
  const std::vector<Axis>& axes() const { return axes_; }

 private:
  /// Of the axis that already has the name, with other labels.
  std::string known_kind(const std::string& name) const {
    for (const Axis& axis : axes_)
      if (axis.name == name) return axis.kind;
    return "";
  }
  std::vector<Axis> axes_;
};

SparseMatrix to_sparse(const MapView& view) {
  SparseMatrix matrix{view.queries(), view.keys(), {}, {}, {}};
  std::vector<size_t> order(view.weights.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return std::pair(view.edge_queries[a], view.edge_keys[a]) <
           std::pair(view.edge_queries[b], view.edge_keys[b]);
  });
  matrix.starts.assign(view.queries() + 1, 0);
  for (const size_t edge : order) {
    ++matrix.starts[size_t(view.edge_queries[edge]) + 1];
    matrix.keys.push_back(uint32_t(view.edge_keys[edge]));
    matrix.values.push_back(view.weights[edge]);
  }
  std::partial_sum(matrix.starts.begin(), matrix.starts.end(), matrix.starts.begin());
  return matrix;
}

Json map_to_json(const MapView& view, Packing packing, AxisTable& axes, ChunkWriter& chunks) {
  stop_if_asked();
  check_sizes(view);
  const auto matrix = [&](const std::vector<double>& values) {
    return matrix_to_json({view.queries(), view.keys(), values}, packing, chunks);
  };
  Json map;
  map["name"] = valid_utf8(view.name);
  map["title"] = valid_utf8(view.title);
  map["kind"] = name_of(view.kind);
  if (view.layout != MapLayout::Dense) map["layout"] = name_of(view.layout);
  if (view.layer > 0) map["layer"] = view.layer;
  if (view.head > 0) map["head"] = view.head;
  if (!view.group.empty()) map["group"] = valid_utf8(view.group);
  map["query_axis"] = valid_utf8(axes.name_for(view.query_axis, view.query_labels));
  map["key_axis"] = valid_utf8(axes.name_for(view.key_axis, view.key_labels));
  if (view.layout == MapLayout::Edges)
    map["weights"] = matrix_to_json(to_sparse(view), chunks);
  else if (view.layout == MapLayout::Points)
    map["weights"] =
        matrix_to_json({view.queries(), view.point_width, view.weights}, Packing::Plain, chunks);
  else
    map["weights"] = matrix(view.weights);
  if (!view.spread.empty()) map["spread"] = matrix(view.spread);
  if (!view.low.empty())
    map["interval"] = {{"low", matrix(view.low)},
                       {"high", matrix(view.high)},
                       {"of", valid_utf8(view.interval_of)}};
  if (!view.low.empty() && !view.interval_is.empty())
    map["interval"]["is"] = valid_utf8(view.interval_is);
  if (!view.truth.empty()) {
    map["truth"] = Json::array();
    for (size_t i = 0; i < view.truth.size(); ++i)
      if (view.truth[i] != 0) map["truth"].push_back(Json{i / view.keys(), i % view.keys()});
  }
  if (view.has_products) map["products"] = true;
  if (!view.total.empty()) map["total"] = valid_utf8(view.total);
  return map;
}

Json measure_to_json(const FaithfulnessMeasure& measure) {
  Json json{{"name", measure.name},
            {"value", measure.value ? number_to_json(*measure.value) : Json(nullptr)}};
  if (measure.interval && std::isfinite((*measure.interval)[0] + (*measure.interval)[1]))
    json["interval"] = {number_to_json((*measure.interval)[0]),
                        number_to_json((*measure.interval)[1])};
  if (measure.baseline) json["baseline"] = number_to_json(*measure.baseline);
  json["better"] = measure.better;
  json["about"] = measure.about;
  return json;
}

double with_four_digits(double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value,
                                          std::chars_format::scientific, 3);
  std::from_chars(text.data(), end, value);
  return value;
}

/// To four digits: they are looked at, and of long inputs there are many.
Json importances_to_json(const UnitImportances& units) {
  Json json;
  if (units.row) json["row"] = *units.row;
  json["series"] = Json::array();
  for (const auto& series : units.series) {
    std::vector<double> values = series.values;
    std::ranges::transform(values, values.begin(), with_four_digits);
    json["series"].push_back({{"name", series.name}, {"values", numbers_to_json(values)}});
  }
  return json;
}

Json curve_to_json(const FaithfulnessCurve& curve) {
  Json json{{"name", curve.name}, {"about", curve.about}, {"x", curve.x}};
  json["series"] = Json::array();
  for (const auto& series : curve.series)
    json["series"].push_back({{"name", series.name}, {"values", numbers_to_json(series.values)}});
  return json;
}

Json faithfulness_to_json(const Faithfulness& judged) {
  Json json{{"map", valid_utf8(judged.map)}, {"verdict", valid_utf8(judged.verdict)},
            {"trust", judged.trust},         {"examples", judged.examples},
            {"output", judged.output},       {"measures", Json::array()},
            {"curves", Json::array()},       {"notes", texts_to_json(judged.notes)}};
  if (!judged.judged_as.empty()) json["judged_as"] = judged.judged_as;
  for (const auto& measure : judged.measures) json["measures"].push_back(measure_to_json(measure));
  for (const auto& curve : judged.curves) json["curves"].push_back(curve_to_json(curve));
  for (const auto& units : judged.importances)
    json["importances"].push_back(importances_to_json(units));
  return json;
}

Json answer_to_json(const GivenAnswer& given) {
  Json json{{"text", valid_utf8(given.text)}};
  if (!given.answer.is_null()) json["answer"] = given.answer;
  if (given.shares.empty()) return json;
  json["shares"] = Json::array();
  for (const AnswerShare& share : given.shares) {
    if (!std::isfinite(share.probability)) continue;
    Json entry{{"label", valid_utf8(share.label)}, {"probability", share.probability}};
    if (share.given) entry["given"] = true;
    json["shares"].push_back(std::move(entry));
  }
  json["answers"] = given.answers;
  return json;
}

Json taken_away_to_json(const TakenAway& without) {
  Json json{{"units", Json::array()}, {"before", answer_to_json(without.before)}};
  for (const TakenAway::Units& some : without.units)
    json["units"].push_back({{"axis", valid_utf8(some.axis)},
                             {"units", some.units},
                             {"labels", texts_to_json(some.labels)}});
  if (without.predictions > 0) json["predictions"] = without.predictions;
  return json;
}

/// What is said of the answer besides its text.
Json prediction_to_json(const Explanation& explanation) {
  Json json = answer_to_json(
      {explanation.prediction, explanation.answer, explanation.shares, explanation.answers});
  if (explanation.truth) {
    const KnownTruth& truth = *explanation.truth;
    json["truth"] = {{"text", valid_utf8(truth.text)}};
    if (truth.right) json["truth"]["right"] = *truth.right;
    if (!truth.remark.empty()) json["truth"]["remark"] = valid_utf8(truth.remark);
  }
  return json;
}

Json cuts_to_json(const std::vector<Cut>& cuts) {
  Json list = Json::array();
  for (const Cut& cut : cuts)
    list.push_back({{"unit", valid_utf8(cut.unit)}, {"read", cut.read}, {"of", cut.of}});
  return list;
}

size_t count_weights(const Explanation& explanation) {
  size_t sum = 0;
  for (const MapView& map : explanation.maps) sum += map.weights.size();
  return sum;
}

}  // namespace

Json texts_to_json(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(valid_utf8(text));
  return list;
}

Json numbers_to_json(const std::vector<double>& numbers) {
  Json list = Json::array();
  for (const double number : numbers) list.push_back(number_to_json(number));
  return list;
}

Json explanation_to_json(const Explanation& explanation, Exactness exactness, ChunkWriter& chunks) {
  const Packing packing = count_weights(explanation) <= kPlainWeights ? Packing::Plain
                          : exactness == Exactness::Exact             ? Packing::Exact
                                                                      : Packing::Packed;
  Json value;
  value["format"] = "fovea-explanation";
  value["version"] = kExplanationVersion;
  value["task"] = valid_utf8(explanation.task);
  value["title"] = valid_utf8(explanation.title);
  if (!explanation.input.empty()) value["input"] = valid_utf8(explanation.input);
  value["prediction"] = prediction_to_json(explanation);
  if (!explanation.cuts.empty()) value["cuts"] = cuts_to_json(explanation.cuts);
  if (explanation.without) value["without"] = taken_away_to_json(*explanation.without);
  if (!explanation.model.is_null()) value["model"] = explanation.model;
  AxisTable axes(explanation.axes);
  Json maps = Json::array();
  for (const MapView& map : explanation.maps)
    maps.push_back(map_to_json(map, packing, axes, chunks));
  value["axes"] = Json::array();
  for (const Axis& axis : axes.axes()) value["axes"].push_back(axis_to_json(axis, chunks));
  if (!explanation.media.empty()) {
    value["media"] = Json::array();
    for (const Medium& medium : explanation.media) value["media"].push_back(medium_to_json(medium));
  }
  value["maps"] = std::move(maps);
  if (!explanation.faithfulness.empty()) {
    value["faithfulness"] = Json::array();
    for (const Faithfulness& judged : explanation.faithfulness)
      value["faithfulness"].push_back(faithfulness_to_json(judged));
  }
  if (!explanation.query_keys.is_null()) value["query_keys"] = explanation.query_keys;
  value["notes"] = texts_to_json(explanation.notes);
  return value;
}

Json explanation_to_json(const Explanation& explanation, Exactness exactness) {
  ChunkWriter chunks;
  Json value = explanation_to_json(explanation, exactness, chunks);
  if (!chunks.chunks().empty()) value["chunks"] = chunks.take();
  return value;
}

void write_explanation(const std::filesystem::path& path, const Explanation& explanation,
                       Exactness exactness) {
  write_file(path, explanation_to_json(explanation, exactness).dump() + "\n");
}

Explanation read_explanation(const std::filesystem::path& path) {
  return explanation_from_json(read_json_file(path), path.string());
}

}  // namespace fovea
