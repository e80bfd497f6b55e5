// The sections of tests/golden/metrics.json.
#pragma once

#include "tests/support/golden.h"

namespace fovea {

inline Json golden(const std::string& section) {
  return testing::golden("metrics").at(section);
}

inline at::Tensor tensor_of(const Json& value) {
  return testing::tensor_of(value, at::kDouble);
}

}  // namespace fovea
