// Explanations for the tests, made by formulas so that they never change.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "fovea/explain/explanation.h"

namespace fovea {

/// Ten columns, two of them planted, with spread.
inline Explanation sample_features() {
  MapView map;
  map.name = "features";
  map.title = "Feature attention";
  map.key_axis = "columns";
  map.query_labels = {"prediction"};
  map.key_labels = {"age",          "income (EUR)", "years of education",
                    "weekly hours", "capital gain", "household",
                    "region",       "sector",       "height",
                    "weight"};
  map.weights = {0.031, 0.312, 0.027, 0.044, 0.402, 0.058, 0.036, 0.029, 0.033, 0.028};
  map.spread = {0.006, 0.041, 0.004, 0.012, 0.035, 0.021, 0.005, 0.002, 0.008, 0.003};
  map.truth = {0, 1, 0, 0, 1, 0, 0, 0, 0, 0};
  return {"features", "What the prediction rests on", "mean over 2,000 examples", {map}, {}};
}

/// Five contexts over eight positions: A and A * w, with truth.
inline Explanation sample_contexts() {
  const size_t planted[] = {2, 7, 3, 5, 1};
  MapView a;
  a.name = "attention";
  a.title = "A";
  a.kind = MapKind::Free;
  a.group = "context";
  a.query_axis = "context";
  a.key_axis = "position";
  for (size_t key = 0; key < 8; ++key) a.key_labels.push_back(std::to_string(key));
  MapView aw = a;
  aw.name = "effect";
  aw.title = "A * w";
  for (size_t query = 0; query < 5; ++query) {
    a.query_labels.push_back("context " + std::to_string(query));
    for (size_t key = 0; key < 8; ++key) {
      const bool is_true = key == planted[query];
      const double noise = std::sin(static_cast<double>(3 * query + 5 * key));
      a.weights.push_back(is_true ? -1.9 : 0.2 * noise);
      aw.weights.push_back(is_true ? 1.0 : 0.01 * noise);
      a.truth.push_back(is_true ? 1 : 0);
    }
  }
  aw.query_labels = a.query_labels;
  aw.truth = a.truth;
  return {"context", "Which position each context reads", "mean over 10,000 examples", {a, aw}, {}};
}

/// Twelve outputs over twenty inputs, near the diagonal.
inline Explanation sample_matrix() {
  MapView map;
  map.name = "alignment";
  map.title = "Alignment (mean of 4 heads)";
  map.query_axis = "target";
  map.key_axis = "source";
  const char* source[] = {"Thursday", ",",   " ",         "the", "2nd",    "of", "January",
                          ",",        "two", "thousand",  "and", "twenty", "-",  "five",
                          "in",       "the", "afternoon", "at",  "3",      "."};
  for (const char* word : source) map.key_labels.emplace_back(word);
  for (const char* letter : {"2", "0", "2", "5", "-", "0", "1", "-", "0", "2", "T", "<end>"})
    map.query_labels.emplace_back(letter);
  for (size_t query = 0; query < 12; ++query) {
    double sum = 0;
    for (size_t key = 0; key < 20; ++key) {
      const double distance = static_cast<double>(key) - 19.0 * static_cast<double>(query) / 11;
      map.weights.push_back(std::exp(-0.5 * distance * distance));
      map.truth.push_back(std::abs(distance) < 0.5 && query % 3 == 0 ? 1 : 0);
      sum += map.weights.back();
    }
    for (size_t key = 0; key < 20; ++key) map.weights[query * 20 + key] /= sum;
  }
  return {"dates", "Where each output letter looks", "2025-01-02", {map}, {}};
}

/// Forty columns with long names.
inline Explanation sample_long() {
  MapView map;
  map.name = "features";
  map.title = "Feature attention";
  map.key_axis = "columns";
  map.query_labels = {"prediction"};
  double sum = 0;
  for (size_t key = 0; key < 40; ++key) {
    map.key_labels.push_back("average daily measurement of quantity number " + std::to_string(key) +
                             " over the preceding week");
    map.weights.push_back(std::exp(2 * std::sin(static_cast<double>(7 * key))));
    sum += map.weights.back();
  }
  for (double& weight : map.weights) weight /= sum;
  return {"features", "Forty columns", "probability 0.93", {map}, {}};
}

/// Labels and weights as bad as they come.
inline Explanation sample_odd() {
  MapView map;
  map.name = "odd";
  map.title = "Odd <labels> & \"weights\"";
  map.kind = MapKind::Free;
  map.key_axis = "token";
  map.query_labels = {"prediction"};
  map.key_labels = {"line\nbreak",   "esc\x1b[31m", "<b>&\"'", "日本語",
                    "e\xCC\x81tude", "bad\xFFutf8", "",        "\xE2\x80\xAEright"};
  map.weights = {0.5, -0.25, std::numeric_limits<double>::quiet_NaN(), 0.1,
                 0.0, 1e-9,  std::numeric_limits<double>::infinity(),  -1};
  return {"odd", "Odd input", "value -3", {map}, {"a note with <markup>"}};
}

}  // namespace fovea
