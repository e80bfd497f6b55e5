// What the tests of faithfulness share: networks of known figures, and ways to look a figure up.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "fovea/explain/faithfulness/faithfulness.h"
#include "fovea/tensor/random.h"
#include "tests/explain/faithfulness/linear_predictor.h"

namespace fovea {

using Numbers = std::vector<double>;

// The example of most tests: 1.6 = 0.4 * 1 + 0.3 * 2 + 0.2 * 1 + 0.1 * 4, parts 0.4 0.6 0.2 0.4.
inline const Numbers kWeights{0.4, 0.3, 0.2, 0.1}, kInput{1, 2, 1, 4};

inline LinearPredictor four_units() {
  return {to_numbers(kWeights), torch::ones({4}, torch::kFloat64)};
}

/// The same as a probability: the parts are a tenth.
inline LinearPredictor four_units_of_probability() {
  LinearPredictor predictor{to_numbers(kWeights), torch::full({4}, 0.1, torch::kFloat64)};
  predictor.numbers = false;
  return predictor;
}

inline FaithfulnessOptions options_of_tests() {
  FaithfulnessOptions options;
  options.bins = {0.25, 0.5};
  options.curve_points = 5;
  return options;
}

inline Faithfulness measure(const LinearPredictor& predictor, const Example& example,
                            const FaithfulnessOptions& options = options_of_tests()) {
  const auto results = measure_faithfulness(predictor, {&example, 1}, options);
  EXPECT_EQ(results.size(), 1u);
  return results.at(0);
}

inline const FaithfulnessMeasure& find(const Faithfulness& result, const std::string& name) {
  for (const FaithfulnessMeasure& measure : result.measures)
    if (measure.name == name) return measure;
  throw std::out_of_range(name);
}

inline double value_of(const Faithfulness& result, const std::string& name) {
  return find(result, name).value.value();
}

inline Numbers series_of(const Faithfulness& result, size_t curve, const std::string& name) {
  for (const auto& series : result.curves.at(curve).series)
    if (series.name == name) return series.values;
  throw std::out_of_range(name);
}

inline void expect_near(const Numbers& found, const Numbers& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-9) << i;
}

inline bool has_note(const Faithfulness& result, const std::string& words) {
  return std::any_of(result.notes.begin(), result.notes.end(), [&](const std::string& note) {
    return note.find(words) != std::string::npos;
  });
}

inline std::vector<Example> random_examples(size_t count, size_t units) {
  const Random random(11);
  std::vector<Example> examples;
  for (size_t i = 0; i < count; ++i) {
    Numbers x;
    for (size_t k = 0; k < units; ++k) x.push_back(random.split(i).uniform(k));
    examples.push_back(example_of(x));
  }
  return examples;
}

}  // namespace fovea
