// Rows of the copy task (kind.h) as models take them in, in S steps.
//   "inputs"  float [S, bits + marks]   a symbol's bits, or zeros; then the numbers that say "now",
//                                       how often, with what priority, …
//   "target"  float [S, outputs]        in steps in which a symbol is due its bits, else 0
//   "target.keep"  bool [S]             which steps these are; they follow each other
//   "size"    int64 [2]                 the row's length in what its kind counts, and its repeats
// Truth, of kinds that have it: "sources", bool [S, S], in which steps was heard what is due.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/copies/synthetic.h"
#include "fovea/data/dataset.h"
#include "fovea/data/source.h"
#include "fovea/tensor/random.h"

namespace fovea {

/// The map of planted truth.
constexpr const char* kCopySources = "sources";

/// Symbols that are put out, as text; an end is "end".
std::string format_output(const CopySequence& tokens, const CopyLayout& layout);

/// Axis "steps".
Example copy_example(const CopyRow& row, const CopyLayout& layout);
/// Padding stands behind the last step. "slots" [B, N], where an example has them: 1 in the others.
Batch collate_copies(std::span<const Example> examples);

class CopyDataset : public Dataset {
 public:
  /// `fresh`: every training step sees other symbols, in sequences of the same lengths.
  CopyDataset(std::vector<CopyRow> rows, const CopyLayout& layout, const CopyDraw& draw,
              bool fresh);

  int64_t size() const override { return static_cast<int64_t>(rows_.size()); }
  /// In steps.
  int64_t length(int64_t row) const override { return lengths_.at(size_t(row)); }
  Example example(int64_t row) const override { return copy_example(at(row), layout_); }
  Batch batch(std::span<const int64_t> rows) const override;
  Batch augmented_batch(std::span<const int64_t> rows, const Random& random) const override;
  Json input(int64_t row) const override { return layout_.kind->format(at(row), layout_.bits); }
  bool has_truth() const override { return layout_.kind->has_truth; }
  NamedTensors planted_truth(int64_t row) const override;

 private:
  const CopyRow& at(int64_t row) const { return rows_.at(size_t(row)); }

  std::vector<CopyRow> rows_;
  std::vector<int64_t> lengths_;
  CopyLayout layout_;
  CopyDraw draw_;
  bool fresh_;
};

/// Everything under data. for the task `copy`.
struct CopyDataOptions {
  SyntheticCopiesOptions generator;
  bool fresh = true;
  double validation_fraction = 0.1;
  void describe(OptionList& list);
};

/// Draws rows, or reads a text file or a folder of train, val and test files (.txt, perhaps .gz),
/// one row a line. The first call sets the layout, later ones must have as many bits.
Splits load_copies(const DataSource& source, const CopyDataOptions& options, CopyLayout& layout,
                   uint64_t seed);

/// Writes the synthetic data as train.txt, val.txt, test.txt and dataset.json.
void write_copies_data(const std::filesystem::path& folder, const CopyDataOptions& options);

}  // namespace fovea
