// Sequences of symbols as models of the copy task take them in: S = 2 L + 1 steps for L symbols.
//   "inputs"  float [S, bits + 1]   the symbols, then a step with only the last number 1, which
//                                   says "now", then L steps of zeros
//   "target"  float [S, bits]       in these last steps the symbols again, else 0
//   "target.keep"  bool [S]         which steps these are
// As text a symbol is its bits, the first one first, with blanks between symbols: "0110 1011".
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/augmentation.h"
#include "fovea/data/copies/synthetic.h"
#include "fovea/data/dataset.h"
#include "fovea/data/source.h"

namespace fovea {

std::string format_symbol(int64_t symbol, int64_t bits);
std::string format_sequence(const CopySequence& sequence, int64_t bits);
/// BadData, beginning with `where`, for what is no symbol of so many bits; 0: as many as the first
/// one has, which `bits` is then set to.
CopySequence parse_sequence(std::string_view text, int64_t& bits, const std::string& where);

/// Axis "steps".
Example copy_example(const CopySequence& sequence, int64_t bits);
/// Padding stands behind the last step. "slots" [B, N], where an example has them: 1 in the others.
Batch collate_copies(std::span<const Example> examples);

class CopyDataset : public Dataset, public AugmentedRows {
 public:
  /// `fresh`: every training step sees other symbols, in sequences of the same lengths.
  CopyDataset(std::vector<CopySequence> sequences, int64_t bits, bool fresh);

  int64_t size() const override { return static_cast<int64_t>(sequences_.size()); }
  int64_t length(int64_t row) const override;  // in steps
  Example example(int64_t row) const override { return copy_example(sequence(row), bits_); }
  Batch batch(std::span<const int64_t> rows) const override;
  Batch augmented_batch(std::span<const int64_t> rows, const Random& random) const override;
  Json input(int64_t row) const override { return format_sequence(sequence(row), bits_); }

 private:
  const CopySequence& sequence(int64_t row) const { return sequences_.at(size_t(row)); }

  std::vector<CopySequence> sequences_;
  int64_t bits_;
  bool fresh_;
};

/// Everything under data. for the task `copy`.
struct CopyDataOptions {
  SyntheticCopiesOptions generator;
  bool fresh = true;
  double validation_fraction = 0.1;
  void describe(OptionList& list);
};

/// Draws sequences, or reads a text file or a folder of train, val and test files (.txt, perhaps
/// .gz), one sequence a line. The first call sets `bits`, later ones must have as many.
Splits load_copies(const DataSource& source, const CopyDataOptions& options, int64_t& bits,
                   uint64_t seed);

/// Writes the synthetic data as train.txt, val.txt, test.txt and dataset.json.
void write_copies_data(const std::filesystem::path& folder, const CopyDataOptions& options);

}  // namespace fovea
