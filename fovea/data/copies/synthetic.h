// Rows for the task `copy`: the five tasks of Graves et al. 2014 (kind.h). Training and validation
// rows have `shortest` to `longest` symbols, items or bits; those of the test have the lengths of
// `test_lengths`, of which all but the first are usually longer than anything that was trained on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/data/copies/kind.h"
#include "fovea/data/copies/symbols.h"
#include "fovea/data/load.h"
#include "fovea/tensor/random.h"

namespace fovea {

/// Zeros and empty lists stand for what the paper has for this kind.
struct SyntheticCopiesOptions {
  std::string kind = "copy";
  int64_t rows = 10000;  // training sequences of an epoch
  int64_t validation_rows = 500;
  int64_t test_rows = 100;  // of each length
  std::vector<int64_t> test_lengths = {};
  int64_t bits = 0;
  int64_t shortest = 0;
  int64_t longest = 0;
  int64_t fewest_repeats = 1, most_repeats = 10;  // repeat-copy
  std::vector<int64_t> test_repeats = {10, 20};   // repeat-copy: each with each of the lengths
  int64_t item_length = 3;                        // associative-recall
  int64_t order = 6;                              // ngrams
  int64_t highest = 16;                           // priority-sort
  int64_t seed = 1;  // of the data; the training seed does not change them
  void describe(OptionList& list);

  /// Without zeros.
  SyntheticCopiesOptions resolved() const;
  CopyDraw draw() const { return {bits, item_length, order}; }
  /// What decides the rows, resolved, without the options of other kinds.
  Json json() const;
};

/// InvalidArgument for sizes that cannot be.
SplitRows<CopyRow> draw_copies(const SyntheticCopiesOptions& options);

}  // namespace fovea
