// The share of rows whose answer is one of their references, from the answers themselves: what the
// metric exact_match must be.
#pragma once

#include <algorithm>

#include "fovea/tasks/pipeline.h"

namespace fovea::testing {

inline double exact_share(const Pipeline& pipeline, const Dataset& rows) {
  std::vector<Example> examples;
  for (int64_t row = 0; row < rows.size(); ++row) examples.push_back(rows.example(row));
  const std::vector<Prediction> predictions = pipeline.predict(examples);
  double exact = 0;
  for (int64_t row = 0; row < rows.size(); ++row)
    exact +=
        std::ranges::count(rows.references(row), predictions[size_t(row)].outputs.at(0).text) > 0;
  return exact / double(rows.size());
}

}  // namespace fovea::testing
