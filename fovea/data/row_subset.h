// Some rows of a data set, in any order, as a data set: what is looked at while a training goes on,
// and, with rows that occur several times, the bootstrap.
#pragma once

#include <memory>
#include <vector>

#include "fovea/data/dataset.h"

namespace fovea {

class RowSubset : public Dataset {
 public:
  RowSubset(std::shared_ptr<const Dataset> all, std::vector<int64_t> rows);

  int64_t size() const override { return int64_t(rows_.size()); }
  Example example(int64_t row) const override { return all_->example(at(row)); }
  Batch batch(std::span<const int64_t> rows) const override;
  int64_t length(int64_t row) const override { return all_->length(at(row)); }
  int64_t input_length(int64_t row) const override { return all_->input_length(at(row)); }
  const NamedTensors& columns() const override { return columns_; }
  Json input(int64_t row) const override { return all_->input(at(row)); }
  std::vector<std::string> references(int64_t row) const override {
    return all_->references(at(row));
  }
  bool has_truth() const override { return all_->has_truth(); }
  NamedTensors planted_truth(int64_t row) const override { return all_->planted_truth(at(row)); }

 private:
  int64_t at(int64_t row) const { return rows_.at(size_t(row)); }
  std::shared_ptr<const Dataset> all_;
  std::vector<int64_t> rows_;
  NamedTensors columns_;
};

/// At most `count` rows, the same ones each time; all of them for 0.
std::shared_ptr<const Dataset> sample_rows(std::shared_ptr<const Dataset> all, int64_t count);

}  // namespace fovea
