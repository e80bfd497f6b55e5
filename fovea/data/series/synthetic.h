// Synthetic series with planted truth for the task `forecast`: the output copies the input of `lag`
// steps ago,
//   x_t = c x_{t-1} + sqrt(1 - c^2) e_t,   y_t = x_{t-lag} + noise e'_t,   e, e' ~ N(0, 1).
// With horizon < lag <= window, y_{t+h} stands at one place of the window of x, and with c = 0
// (white noise) nothing else in it says anything about y_{t+h}: a forecast is right only as far as
// it looks there. Distractors are further inputs like x that nothing depends on.
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/data/load_tables.h"

namespace fovea {

struct SyntheticSeriesOptions {
  int64_t rows = 10000;  // steps, all splits together
  int64_t lag = 12;
  double correlation = 0;  // c: of x with its own past; 0: white noise
  double noise = 0;        // deviation of what is added to the copy
  int64_t distractors = 0;
  int64_t seed = 1;  // of the data; the training seed does not change them
  void describe(OptionList& list);
};

/// Columns x, n0 …, y; splits in time order. Each series has a random stream of its own: more
/// distractors do not change the others. Values are whole millionths, so that text of a few digits
/// gives them back exactly. InvalidArgument for sizes that cannot be.
SyntheticTables draw_series(const SyntheticSeriesOptions& options, double validation_fraction = 0.2,
                            double test_fraction = 0.1);

/// "7,000 training, 2,000 validation and 1,000 test steps, in time order; …"
std::string note_steps(const TimeSplit& steps);

/// For each of the `horizon` outputs the position in the window that stands `lag` steps before it:
/// window - 1 + h - lag for h = 1 …; -1 where that is outside.
std::vector<int64_t> lagged_positions(int64_t lag, int64_t window, int64_t horizon);

}  // namespace fovea
