// Explanations for the tests, made by formulas so that they never change.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "fovea/base/text.h"
#include "fovea/explain/draw/chart.h"
#include "fovea/explain/record/explanation.h"

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

inline std::vector<std::string> words_of(const std::string& sentence) {
  return split(sentence, ' ');
}

/// A map of soft rows: each query looks mostly at `centres[query]` and a little around it; a
/// negative centre looks everywhere alike.
inline MapView soft_alignment(std::vector<std::string> target, std::vector<std::string> source,
                              const std::vector<double>& centres) {
  MapView map;
  map.name = map.title = "alignment";
  map.query_axis = "output";
  map.key_axis = "source";
  map.query_labels = std::move(target);
  map.key_labels = std::move(source);
  for (const double centre : centres) {
    std::vector<double> row(map.keys());
    double sum = 0;
    for (size_t key = 0; key < row.size(); ++key) {
      const double distance = static_cast<double>(key) - centre;
      row[key] = centre < 0 ? 1 : 0.004 + std::exp(-1.2 * distance * distance);
      sum += row[key];
    }
    for (const double weight : row) map.weights.push_back(weight / sum);
  }
  return map;
}

/// A date letter by letter, with the planted truth: 11 x 19.
inline Explanation sample_date() {
  std::vector<std::string> source, target;
  for (const char letter : std::string("Saturday 9 May 2018")) source.emplace_back(1, letter);
  for (const char letter : std::string("2018-05-09")) target.emplace_back(1, letter);
  target.emplace_back("<end>");
  MapView map = soft_alignment(target, source, {15, 16, 17, 18, 14.4, 12, 12, 10.5, 9, 9, -1});
  map.truth.assign(map.weights.size(), 0);
  const std::pair<size_t, size_t> planted[] = {
      {15, 15}, {16, 16}, {17, 17}, {18, 18}, {1, 0},  // a dash: none
      {11, 13}, {11, 13}, {1, 0},   {9, 9},   {9, 9}};
  for (size_t query = 0; query < 10; ++query)
    for (size_t key = planted[query].first; key <= planted[query].second; ++key)
      map.truth[query * map.keys() + key] = 1;
  return {"date", "Where each output letter looks", "2018-05-09", {map}, {}};
}

/// A sentence word by word: 12 x 14, long words and umlauts.
inline Explanation sample_translation() {
  const MapView map = soft_alignment(
      words_of("the very large houses across the street were sold yesterday . <end>"),
      words_of("Die außergewöhnlich großen Häuser gegenüber auf der anderen Straßenseite wurden "
               "gestern nachmittag verkauft ."),
      {0, 1, 2, 3, 4, 6, 8, 9, 12, 10, 13, 13});
  return {"translation", "Where each word looks", "the very large houses …", {map}, {}};
}

inline Explanation sample_arabic() {
  const MapView map =
      soft_alignment(words_of("I read the new book in the library . <end>"),
                     words_of("قرأت الكتاب الجديد في المكتبة ."), {0, 0, 1, 2, 1, 3, 4, 4, 5, 5});
  MapView back =
      soft_alignment(words_of("قرأت الكتاب الجديد في المكتبة ."),
                     words_of("I read the new book in the library ."), {1, 4, 3, 5, 7, 8});
  back.name = back.title = "and back";
  return {"arabic", "Right to left", "", {map, back}, {}};
}

inline Explanation sample_chinese() {
  std::vector<std::string> source;
  for (const char* letter :
       {"我", "昨", "天", "在", "图", "书", "馆", "看", "了", "新", "书", "。"})
    source.emplace_back(letter);
  const MapView map =
      soft_alignment(words_of("I read the new book in the library yesterday . <end>"), source,
                     {0, 7, 9, 9, 10, 3, 5, 5, 1.5, 11, 11});
  MapView back = soft_alignment(source, words_of("I read the new book in the library yesterday ."),
                                {0, 8, 8, 5, 7, 7, 7, 1, 1, 3, 4, 9});
  back.name = back.title = "and back";
  return {"chinese", "Wide letters", "", {map, back}, {}};
}

/// 60 x 80 words.
inline Explanation sample_document() {
  std::vector<std::string> source, target;
  std::vector<double> centres;
  for (int i = 0; i < 80; ++i) source.push_back("word" + std::to_string(i));
  for (int i = 0; i < 60; ++i) {
    target.push_back("Wort" + std::to_string(i));
    centres.push_back(i * 79 / 59.0 + 2 * std::sin(i));
  }
  return {"document", "A whole paragraph", "", {soft_alignment(target, source, centres)}, {}};
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

/// BLEU over the length of the source, with and without attention, with a gap.
inline LineChart sample_chart() {
  LineChart chart;
  chart.title = "Translation by length of the source";
  chart.x_label = "words of the source";
  chart.y_label = "BLEU";
  chart.x_ticks = {"1-5", "6-10", "11-15", "16-20", "21-30", "31-40", "41-50", "51+"};
  chart.series = {{"with attention",
                   {36.1, 34.8, 34.2, 33.5, 32.9, 32.4, 31.8, 30.6},
                   {1.2, 0.8, 0.7, 0.7, 0.9, 1.4, 2.2, 3.1}},
                  {"without attention",
                   {35.2, 33.1, 30.0, 26.4, 21.3, 16.0, std::nan(""), 9.8},
                   {1.3, 0.9, 0.8, 0.8, 1.0, 1.5, std::nan(""), 2.6}}};
  chart.counts = {412, 1893, 2210, 1644, 1102, 377, 98, 41};
  chart.notes = {"intervals: 95 % over 5 seeds"};
  return chart;
}

}  // namespace fovea
