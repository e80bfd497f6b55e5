#include "fovea/data/tables/number.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "fovea/base/error.h"

namespace fovea {

namespace {

constexpr size_t kMostEdges = 4096;  // a file may ask for
constexpr double kBeyondUsual = 2;   // deviations beyond the usual range that a value may lie

/// Mean and deviation of the values, each taken into [low, high].
std::pair<double, double> mean_and_deviation(std::span<const double> values, double low,
                                             double high) {
  double sum = 0, squares = 0;
  for (const double value : values) sum += std::clamp(value, low, high);
  const double mean = sum / double(values.size());
  for (const double value : values) {
    const double away = std::clamp(value, low, high) - mean;
    squares += away * away;
  }
  return {mean, std::sqrt(squares / double(values.size()))};
}

}  // namespace

NumberEncoding NumberEncoding::fit(std::span<const double> values, const NumberFit& fit) {
  NumberEncoding encoding;
  encoding.standardised_ = fit.standardise;
  // What stays as drawn is float32 in the end; rounding first makes a file and the numbers it was
  // written from agree exactly.
  std::vector<double> all(values.begin(), values.end()), present;
  if (!fit.standardise)
    for (double& value : all) value = double(float(value));
  for (const double value : all)
    if (!std::isnan(value)) present.push_back(value);
  require(!present.empty(), ErrorKind::Internal, "a column of numbers has no values");
  const auto [low, high] = std::minmax_element(present.begin(), present.end());
  encoding.low_ = *low, encoding.high_ = *high;
  UsualRange usual{encoding.low_, encoding.high_};
  if (fit.pieces) {
    std::vector<double> sorted = present;
    std::sort(sorted.begin(), sorted.end());
    usual = usual_range(sorted);
  }
  std::tie(encoding.mean_, encoding.deviation_) =
      mean_and_deviation(present, usual.low, usual.high);
  encoding.constant_ = encoding.low_ == encoding.high_ || !(encoding.deviation_ > 0);
  if (encoding.constant_) {
    encoding.mean_ = encoding.low_, encoding.deviation_ = 1;
    encoding.means_ = {0};
    return encoding;
  }
  if (fit.pieces && fit.standardise) {
    encoding.least_ = usual.low - kBeyondUsual * encoding.deviation_;
    encoding.most_ = usual.high + kBeyondUsual * encoding.deviation_;
  }
  if (fit.pieces) encoding.edges_ = fit_edges(all, fit.target, fit.bins);
  if (encoding.edges_.size() == 2)
    encoding.edges_.clear();  // one piece says no more than the value
  encoding.means_.assign(size_t(encoding.inputs()), 0);
  if (encoding.edges_.empty()) {
    encoding.means_[0] = fit.standardise ? 0 : encoding.mean_;
    return encoding;
  }
  std::vector<float> inputs(encoding.means_.size());
  for (const double value : present) {
    std::fill(inputs.begin(), inputs.end(), 0.f);
    encoding.encode(value, inputs.data());
    for (size_t i = 0; i < inputs.size(); ++i) encoding.means_[i] += double(inputs[i]);
  }
  for (double& mean : encoding.means_) mean /= double(present.size());
  return encoding;
}

std::vector<std::string> NumberEncoding::input_names(const std::string& name) const {
  std::vector<std::string> names{name};
  for (size_t t = 1; t < edges_.size(); ++t)
    names.push_back(
        concat(name, "[", format_number(edges_[t - 1], 5), "..", format_number(edges_[t], 5), "]"));
  return names;
}

void NumberEncoding::encode(double value, float* inputs) const {
  if (constant_) return;
  value = standardised_ ? std::clamp(value, least_, most_) : double(float(value));
  inputs[0] = float(standardised_ ? (value - mean_) / deviation_ : value);
  if (edges_.empty() || value <= edges_.front()) return;
  // The pieces up to the one that holds the value are full.
  const size_t at = size_t(std::upper_bound(edges_.begin(), edges_.end(), value) - edges_.begin());
  std::fill(inputs + 1, inputs + at, 1.f);
  if (at < edges_.size())
    inputs[at] = float((value - edges_[at - 1]) / (edges_[at] - edges_[at - 1]));
}

double NumberEncoding::decode(const float* inputs) const {
  if (constant_) return mean_;
  if (!standardised_) return double(inputs[0]);
  constexpr double kRounding = 1e-5;  // of float32: what is nearly 0 is 0
  const double value = double(inputs[0]) * deviation_ + mean_;
  return std::abs(value) < kRounding * deviation_ ? 0 : value;
}

Json NumberEncoding::to_json() const {
  Json json{{"constant", constant_},
            {"standardised", standardised_},
            {"mean", mean_},
            {"deviation", deviation_}};
  if (std::isfinite(low_)) json["low"] = low_, json["high"] = high_;
  if (std::isfinite(least_)) json["clamp"] = {least_, most_};
  if (!edges_.empty()) {
    json["edges"] = edges_;
    json["input_means"] = means_;
  }
  return json;
}

NumberEncoding NumberEncoding::from_json(const Field& field) {
  NumberEncoding encoding;
  encoding.constant_ = field.at("constant").mark();
  encoding.standardised_ = field.at("standardised").mark();
  encoding.mean_ = field.at("mean").finite();
  encoding.deviation_ = field.at("deviation").deviation();
  const auto low = field.find("low"), high = field.find("high");  // runs of version 1 have neither
  encoding.low_ = low ? low->finite() : -INFINITY;
  encoding.high_ = high ? high->finite() : INFINITY;
  if (const auto clamp = field.find("clamp")) {
    const std::vector<double> bounds = clamp->finites(2);
    clamp->expect(bounds[0] < bounds[1], "two ascending numbers");
    encoding.least_ = bounds[0], encoding.most_ = bounds[1];
  }
  encoding.means_ = {encoding.standardised_ || encoding.constant_ ? 0 : encoding.mean_};
  if (const auto edges = field.find("edges")) {
    encoding.edges_ = edges->finites();
    const bool ascending = std::adjacent_find(encoding.edges_.begin(), encoding.edges_.end(),
                                              std::greater_equal<>()) == encoding.edges_.end();
    require(encoding.edges_.size() >= 3 && encoding.edges_.size() <= kMostEdges && ascending,
            ErrorKind::BadData, edges->place(), ": expected 3 to ", kMostEdges,
            " ascending numbers");
    encoding.means_ = field.at("input_means").finites(encoding.edges_.size());
  }
  return encoding;
}

}  // namespace fovea
