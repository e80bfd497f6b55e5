#include "fovea/metrics/mcnemar.h"

#include <algorithm>
#include <cmath>

namespace fovea {

double mcnemar_exact(int64_t only_first, int64_t only_second) {
  const auto rows = double(only_first + only_second);
  double sum = 0;
  for (int64_t k = 0; k <= std::min(only_first, only_second); ++k) {
    const auto few = double(k);
    sum += std::exp(std::lgamma(rows + 1) - std::lgamma(few + 1) - std::lgamma(rows - few + 1) -
                    rows * std::log(2.0));
  }
  return std::min(1.0, 2 * sum);
}

}  // namespace fovea
