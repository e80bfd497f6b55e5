// A named result, and which way is better: what evaluation prints and early stopping reads.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

struct Metric {
  std::string name;
  double value = 0;
  bool higher_is_better = false;
};

using Metrics = std::vector<Metric>;

/// Null where there is none of this name.
inline const Metric* find_metric(const Metrics& metrics, std::string_view name) {
  const auto found = std::ranges::find(metrics, name, &Metric::name);
  return found == metrics.end() ? nullptr : &*found;
}

}  // namespace fovea
