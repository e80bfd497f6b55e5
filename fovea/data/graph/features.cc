// How features become numbers, columns in a fixed order and their scale; and what a run keeps of
// it.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/graph/graph.h"

namespace fovea {

namespace {

/// Whole numbers by value, then texts: feature 10 comes after feature 9.
bool comes_before(const std::string& left, const std::string& right) {
  int64_t a = 0, b = 0;
  const bool left_is_number = parse_integer(left, a), right_is_number = parse_integer(right, b);
  if (left_is_number && right_is_number && a != b) return a < b;
  if (left_is_number != right_is_number) return left_is_number;
  return left < right;
}

void fit_columns(const RawFeatures& raw, const std::vector<char>& seen, FeatureCoding& coding) {
  const size_t width = raw.columns.size();
  std::vector<double> sums(width), squares(width);
  double count = 0;
  for (size_t node = 0; node < seen.size(); ++node) {
    if (!seen[node]) continue;
    ++count;
    for (size_t c = 0; c < width; ++c) sums[c] += double(raw.value[node * width + c]);
  }
  for (size_t c = 0; c < width; ++c) coding.means.push_back(count > 0 ? sums[c] / count : 0);
  for (size_t node = 0; node < seen.size(); ++node)
    for (size_t c = 0; c < width && seen[node]; ++c)
      squares[c] += std::pow(double(raw.value[node * width + c]) - coding.means[c], 2);
  for (size_t c = 0; c < width; ++c) {
    const double deviation = count > 0 ? std::sqrt(squares[c] / count) : 0;
    coding.deviations.push_back(deviation > 0 ? deviation : 1);  // a constant says nothing
  }
}

/// The columns that some node which training sees has; all of dense features.
std::vector<std::string> seen_columns(const RawFeatures& raw, const std::vector<char>& seen) {
  if (raw.dense) return raw.columns;
  std::vector<char> used(raw.columns.size(), 0);
  for (size_t node = 0; node < seen.size(); ++node)
    for (int64_t n = raw.begin[node]; seen[node] && n < raw.begin[node + 1]; ++n)
      used[size_t(raw.index[size_t(n)])] = 1;
  std::vector<std::string> columns;
  for (size_t c = 0; c < used.size(); ++c)
    if (used[c]) columns.push_back(raw.columns[c]);
  std::sort(columns.begin(), columns.end(), comes_before);
  return columns;
}

}  // namespace

FeatureCoding fit_features(const RawFeatures& raw, const std::vector<char>& seen,
                           const std::string& scaling) {
  FeatureCoding coding;
  coding.dense = raw.dense;
  coding.scaling = scaling != "auto" ? scaling : raw.dense ? "columns" : "rows";
  require(raw.dense || coding.scaling != "columns", ErrorKind::InvalidArgument,
          "data.scaling=columns: features that are mostly 0 would not be so any more; use rows or "
          "none");
  coding.columns = seen_columns(raw, seen);
  require(!coding.columns.empty(), ErrorKind::BadData,
          "no node that training sees has any feature");
  coding.number_columns();
  if (coding.scaling == "columns") fit_columns(raw, seen, coding);
  return coding;
}

void FeatureCoding::number_columns() {
  places_.clear();
  for (size_t c = 0; c < columns.size(); ++c) places_.emplace(columns[c], int64_t(c));
}

int64_t FeatureCoding::find(const std::string& name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? -1 : found->second;
}

void FeatureCoding::scale(FeatureRow& row) const {
  if (scaling == "columns")
    for (size_t c = 0; c < row.value.size(); ++c)
      row.value[c] = float((double(row.value[c]) - means[c]) / deviations[c]);
  if (scaling != "rows") return;
  double total = 0;
  for (const float value : row.value) total += std::abs(double(value));
  for (float& value : row.value)
    if (total > 0) value = float(double(value) / total);
}

Json FeatureCoding::to_json() const {
  return {{"dense", dense},
          {"columns", columns},
          {"scaling", scaling},
          {"means", means},
          {"deviations", deviations}};
}

FeatureCoding FeatureCoding::from_json(const Json& json, const std::string& where) {
  FeatureCoding coding;
  const Field root = Field::root(json, where);
  coding.dense = root.at("dense").mark();
  coding.columns = root.at("columns").texts();
  coding.scaling = root.at("scaling").text();
  coding.means = root.at("means").finites();
  root.at("deviations").each({}, [&](const Field& field) {
    coding.deviations.push_back(field.deviation());
  });
  const size_t scales = coding.scaling == "columns" ? coding.columns.size() : 0;
  require(!coding.columns.empty() && coding.means.size() == scales &&
              coding.deviations.size() == scales,
          ErrorKind::BadData, where, ": ", coding.columns.size(), " columns with ",
          coding.means.size(), " means and ", coding.deviations.size(), " deviations");
  coding.number_columns();
  return coding;
}

EdgeCoding fit_edges(const ReadGraph& graph) {
  EdgeCoding coding;
  coding.columns = graph.edge_columns;
  const size_t width = coding.columns.size(), edges = graph.edges.size();
  for (size_t c = 0; c < width; ++c) {
    double sum = 0, squares = 0;
    for (size_t e = 0; e < edges; ++e) sum += double(graph.edge_values[e * width + c]);
    const double mean = edges > 0 ? sum / double(edges) : 0;
    for (size_t e = 0; e < edges; ++e)
      squares += std::pow(double(graph.edge_values[e * width + c]) - mean, 2);
    const double deviation = edges > 0 ? std::sqrt(squares / double(edges)) : 0;
    coding.means.push_back(mean);
    coding.deviations.push_back(deviation > 0 ? deviation : 1);
  }
  return coding;
}

Json EdgeCoding::to_json() const {
  return {{"columns", columns}, {"means", means}, {"deviations", deviations}};
}

EdgeCoding EdgeCoding::from_json(const Json& json, const std::string& where) {
  EdgeCoding coding;
  const Field root = Field::root(json, where);
  coding.columns = root.at("columns").texts();
  coding.means = root.at("means").finites(coding.columns.size());
  root.at("deviations").each({}, [&](const Field& field) {
    coding.deviations.push_back(field.deviation());
  });
  root.at("deviations")
      .expect(coding.deviations.size() == coding.columns.size(), "a number for each column");
  return coding;
}

Json GraphCoding::to_json() const {
  Json json{{"classes", classes}, {"class_counts", class_counts}, {"features", features.to_json()}};
  if (edges.width() > 0) json["edges"] = edges.to_json();
  if (kind == AnswerKind::Labels) json["labels"] = {{"separator", separator}, {"rows", rows}};
  return json;
}

GraphCoding GraphCoding::from_json(const Json& json, const std::string& where) {
  GraphCoding coding;
  const Field root = Field::root(json, where);
  coding.classes = root.at("classes").texts();
  coding.class_counts = root.at("class_counts").integers(0, INT64_MAX);
  coding.features = FeatureCoding::from_json(root.at("features").value(), where + ": features");
  if (const auto edges = root.find("edges"))
    coding.edges = EdgeCoding::from_json(edges->value(), where + ": edges");
  if (const auto labels = root.find("labels")) {
    coding.kind = AnswerKind::Labels;
    coding.separator = labels->at("separator").text();
    coding.rows = labels->at("rows").integer(0, INT64_MAX);
  }
  require(coding.classes.size() == coding.class_counts.size() && coding.classes.size() > 1,
          ErrorKind::BadData, where, ": ", coding.classes.size(), " classes with ",
          coding.class_counts.size(), " counts");
  return coding;
}

}  // namespace fovea
