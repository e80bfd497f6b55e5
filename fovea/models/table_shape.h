// What networks for tables must know of the data: which inputs belong to which column, and what is
// asked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/kernels/tabular_net/tabular_net.h"

namespace fovea {

struct FeatureShape {
  std::vector<std::string> columns;
  std::vector<int64_t> column_of_input;  // [I], ascending
  int64_t outputs = 1;                   // classes when there are several, else 1
  kernels::TabularLoss loss = kernels::TabularLoss::BinaryCrossEntropy;
  std::vector<int64_t> plain_inputs = {};  // values and categories, no pieces; empty: all inputs
  std::vector<int64_t> class_counts = {};  // training rows of each class; empty: not known
  int64_t rows = 0;                        // of the training split; 0: not known
  std::vector<double> input_means = {};    // [I], over the training rows; empty: zeros
};

}  // namespace fovea
