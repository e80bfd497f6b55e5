// What training and evaluation see of data: rows of one split, as examples with labels or as
// collated batches. A data set that fits in memory also hands out its columns whole, so that the
// fused path never touches a tensor per step.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/tensor/example.h"

namespace fovea {

class PreparedWriter;
class Random;

/// Rows of one split.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;
  /// With labelled axes and, where it is known, planted truth.
  virtual Example example(int64_t row) const = 0;
  virtual Batch batch(std::span<const int64_t> rows) const = 0;  // collated, in the given order
  /// The same to train on. Rows that look different every time, as pictures that are shifted, cut
  /// or cluttered, look as the random numbers of the training step say: a resumed training repeats
  /// it.
  virtual Batch augmented_batch(std::span<const int64_t> rows, const Random& random) const {
    return batch(rows);
  }
  /// Its longest sequence: what it costs.
  virtual int64_t length(int64_t row) const { return 1; }
  /// Of what is read, where outputs are sequences too.
  virtual int64_t input_length(int64_t row) const { return length(row); }
  virtual const NamedTensors& columns() const;  // resident columns [N, …]; empty when not resident
  /// The row as a user would give it for an answer; null where it is not known here.
  virtual Json input(int64_t row) const { return nullptr; }
  /// Texts that are right answers, where answers are texts.
  virtual std::vector<std::string> references(int64_t row) const { return {}; }
  /// Whether of some rows it is known what really matters (Example::truth).
  virtual bool has_truth() const { return false; }
  /// Example::truth, for who needs nothing else of the row.
  virtual NamedTensors planted_truth(int64_t row) const { return example(row).truth; }
  /// Of one map: bool [Q, K]; undefined where it is not known.
  at::Tensor map_truth(int64_t row, const std::string& map) const;
  /// Adds what a prepared file (prepared.h) holds of this split. InvalidArgument for data sets of
  /// which there are no such files.
  virtual void prepare(PreparedWriter& writer, int split) const;
  /// The first `count` rows, each `times` times one after the other, as longer rows; null where
  /// rows cannot be joined.
  virtual std::shared_ptr<Dataset> repeated(int64_t count, int64_t times) const { return nullptr; }
};

/// A data set that is nothing but tensors in memory, each [N, …] with the rows first.
class ColumnDataset : public Dataset {
 public:
  explicit ColumnDataset(NamedTensors columns);
  int64_t size() const override { return size_; }
  Batch batch(std::span<const int64_t> rows) const override;
  const NamedTensors& columns() const override { return columns_; }

 protected:
  /// The tensors of one row, without axes.
  Example row_example(int64_t row) const;

 private:
  void check_row(int64_t row) const;
  NamedTensors columns_;
  int64_t size_ = 0;
};

/// The splits of a data set.
enum Split { kTrain, kValidation, kTest, kSplitCount };
constexpr const char* kSplitNames[kSplitCount] = {"training", "validation", "test"};
constexpr const char* kSplitFileNames[kSplitCount] = {"train", "val", "test"};

/// What a loader gives. A split that the source does not have is null.
struct Splits {
  std::shared_ptr<Dataset> train, validation, test;
  std::shared_ptr<Dataset>& operator[](int split) {
    return split == kTrain ? train : split == kValidation ? validation : test;
  }
  const std::shared_ptr<Dataset>& operator[](int split) const {
    return split == kTrain ? train : split == kValidation ? validation : test;
  }
  std::string hash;  // ContentHash of the files' bytes, or of the generator's options and seed
  std::vector<std::string> notes;  // what was inferred, one sentence each
};

/// Every row as an example.
std::vector<Example> all_examples(const Dataset& rows);

/// All resident columns as one batch, without copying.
Batch whole(const Dataset& rows);

/// Examples side by side, for models whose examples need no padding.
Batch stack(std::span<const Example> examples);

}  // namespace fovea
