// Synthetic tables with planted truth: D columns x0, x1, …, of which only x1 … xk decide the label
// y. The default, y = 1 when x1 + x2 > 0 with x ~ U(-1, 1), is one of several laws that are
// compatible with the figures which the Keras tutorial on feature attention prints; which one it
// used is not known.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/options.h"

namespace fovea {

struct FeaturesGeneratorOptions {
  int64_t rows = 10000;
  int64_t columns = 10;     // D, unless `noise` is given
  int64_t informative = 2;  // k: x1 … xk
  int64_t noise = -1;       // when not below 0: D = informative + noise
  std::string label = "sum";
  std::string law = "uniform";
  int64_t seed = 1;  // of the data; the training seed does not change them
  void describe(OptionList& list);
};

/// y = 1 where score(x1 … xk) exceeds the threshold, or the median score of all rows.
struct LabelFunction {
  std::string name, help;
  double (*score)(std::span<const float> informative);
  double threshold = 0;
  bool median = false;
};
const std::vector<LabelFunction>& label_functions();

struct NumberTable {
  std::vector<std::string> names;
  at::Tensor inputs;  // [N, C] float32
  std::string target;
  std::vector<std::string> classes;  // two
  at::Tensor labels;                 // [N] int64, 0 or 1
};

struct FeaturesDraw {
  NumberTable table;
  std::vector<std::string> informative;  // the columns that matter
};

/// Draws the table. Each column has a stream of its own, so noise columns come and go without
/// changing the others. InvalidArgument when the options contradict each other or the label would
/// be constant.
FeaturesDraw draw_features(const FeaturesGeneratorOptions& options);

}  // namespace fovea
