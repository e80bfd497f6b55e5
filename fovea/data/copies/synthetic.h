// Sequences of random symbols for the task `copy` (Graves et al. 2014). Training and validation
// sequences have `shortest` to `longest` symbols; those of the test have the lengths of
// `test_lengths`, of which all but the first are usually longer than anything that was trained on.
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/data/load.h"
#include "fovea/tensor/random.h"

namespace fovea {

using CopySequence = std::vector<int64_t>;  // symbols, each 0 … 2^bits - 1

struct SyntheticCopiesOptions {
  int64_t rows = 10000;  // training sequences of an epoch
  int64_t validation_rows = 500;
  int64_t test_rows = 100;  // of each length
  std::vector<int64_t> test_lengths = {20, 30, 50, 120};
  int64_t bits = 8;
  int64_t shortest = 1;
  int64_t longest = 20;
  int64_t seed = 1;  // of the data; the training seed does not change them
  void describe(OptionList& list);
};

/// InvalidArgument for sizes that cannot be.
SplitRows<CopySequence> draw_copies(const SyntheticCopiesOptions& options);

/// `length` symbols of `bits` random bits.
CopySequence draw_sequence(int64_t length, int64_t bits, const Random& random);

}  // namespace fovea
