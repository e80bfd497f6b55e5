// Synthetic rows with planted truth for the task `context`: P numbers x ~ U(0, 1), a context c, and
// the target y = x[map(c)]. The sizes and the map {0:2, 1:7, 2:3, 3:5, 4:1} are those of the
// PyTorch tutorial on context attention; other sizes draw the map from the seed.
#pragma once

#include <cstdint>

#include "fovea/base/options.h"
#include "fovea/data/load_tables.h"

namespace fovea {

struct SyntheticContextOptions {
  int64_t rows = 10000;  // training rows
  int64_t positions = 8;
  int64_t contexts = 5;
  int64_t seed = 1;  // of the data; the training seed does not change them
  void describe(OptionList& list);
};

/// Draws the training rows and, from other streams, `validation_fraction` times as many validation
/// rows (0.2: 2,000). Columns: context, x0 …, y. InvalidArgument when the training rows are too few
/// to hold every context.
SyntheticTables draw_context(const SyntheticContextOptions& options,
                             double validation_fraction = 0.2);

}  // namespace fovea
