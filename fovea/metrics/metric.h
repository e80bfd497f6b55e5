// A named result, and which way is better: what evaluation prints and early stopping reads.
#pragma once

#include <string>
#include <vector>

namespace fovea {

struct Metric {
  std::string name;
  double value = 0;
  bool higher_is_better = false;
};

using Metrics = std::vector<Metric>;

}  // namespace fovea
