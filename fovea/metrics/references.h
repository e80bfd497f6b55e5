// What every metric over references demands of its input. Private to this folder.
#pragma once

#include <span>

#include "fovea/base/error.h"
#include "fovea/metrics/translation.h"

namespace fovea {

inline void check_references(size_t outputs, std::span<const References> references) {
  require(outputs == references.size(), ErrorKind::InvalidArgument, "there are ", outputs,
          " outputs but references for ", references.size());
  require(outputs > 0, ErrorKind::InvalidArgument,
          "a metric needs at least one output, found none");
  for (size_t row = 0; row < references.size(); ++row)
    require(!references[row].empty(), ErrorKind::InvalidArgument, "output ", row,
            " has no reference, expected at least one");
}

}  // namespace fovea
