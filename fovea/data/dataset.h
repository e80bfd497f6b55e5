// What training and evaluation see of data: rows of one split, as examples with labels or as
// collated batches. A data set that fits in memory also hands out its columns whole, so that the
// fused path never touches a tensor per step.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/tensor/example.h"

namespace fovea {

/// Rows of one split.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;
  virtual Example example(
      int64_t row) const = 0;  // with labelled axes and, where it is known, planted truth
  virtual Batch batch(std::span<const int64_t> rows) const = 0;  // collated, in the given order
  virtual int64_t length(int64_t /*row*/) const {
    return 1;
  }                                             // its longest sequence: what it costs
  virtual const NamedTensors& columns() const;  // resident columns [N, …]; empty when not resident
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

/// What a loader gives. A split that the source does not have is null.
struct Splits {
  std::shared_ptr<Dataset> train, validation, test;
  std::string hash;  // ContentHash of the files' bytes, or of the generator's options and seed
  std::vector<std::string> notes;  // what was inferred, one sentence each
};

}  // namespace fovea
