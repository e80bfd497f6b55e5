#include "fovea/data/dataset.h"

#include <cstring>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

const NamedTensors& Dataset::columns() const {
  static const NamedTensors none;
  return none;
}

at::Tensor Dataset::map_truth(int64_t row, const std::string& map) const {
  const NamedTensors known = planted_truth(row);
  const auto found = known.find(map);
  return found == known.end() ? at::Tensor() : found->second;
}

void Dataset::prepare(PreparedWriter&, int) const {
  fail(ErrorKind::InvalidArgument,
       "only pairs of texts, captions and speech can be prepared; this data set is none of them");
}

ColumnDataset::ColumnDataset(NamedTensors columns) : columns_(std::move(columns)) {
  require(!columns_.empty(), ErrorKind::Internal, "a data set needs at least one column");
  size_ = columns_.begin()->second.size(0);
  for (auto& [name, column] : columns_) {
    require(column.size(0) == size_, ErrorKind::Internal, "column '", name, "' has ",
            column.size(0), " rows, the others have ", size_);
    column = column.contiguous();
  }
}

void ColumnDataset::check_row(int64_t row) const {
  require(row >= 0 && row < size_, ErrorKind::InvalidArgument, "row ", row, " is not in 0 … ",
          size_ - 1);
}

Batch ColumnDataset::batch(std::span<const int64_t> rows) const {
  for (const int64_t row : rows) check_row(row);
  Batch batch;
  batch.size = static_cast<int64_t>(rows.size());
  for (const auto& [name, column] : columns_) {
    std::vector<int64_t> shape = column.sizes().vec();
    shape[0] = batch.size;
    at::Tensor gathered = torch::empty(shape, column.options());  // [B, …]
    const size_t row_bytes = size_ == 0 ? 0 : column.nbytes() / static_cast<size_t>(size_);
    const char* from = static_cast<const char*>(column.data_ptr());
    char* to = static_cast<char*>(gathered.data_ptr());
    for (const int64_t row : rows) {
      std::memcpy(to, from + static_cast<size_t>(row) * row_bytes, row_bytes);
      to += row_bytes;
    }
    batch.tensors[name] = gathered;
  }
  return batch;
}

Example ColumnDataset::row_example(int64_t row) const {
  check_row(row);
  Example example;
  for (const auto& [name, column] : columns_) example.tensors[name] = column.select(0, row).clone();
  return example;
}

std::vector<Example> all_examples(const Dataset& rows) {
  std::vector<Example> examples;
  for (int64_t row = 0; row < rows.size(); ++row) examples.push_back(rows.example(row));
  return examples;
}

Batch whole(const Dataset& rows) {
  require(!rows.columns().empty(), ErrorKind::Internal, "these rows are not resident");
  return {rows.columns(), rows.size()};
}

Batch stack(std::span<const Example> examples) {
  Batch batch{{}, static_cast<int64_t>(examples.size())};
  if (examples.empty()) return batch;
  for (const auto& [name, first] : examples[0].tensors) {
    std::vector<at::Tensor> rows;
    for (const Example& example : examples) {
      const auto found = example.tensors.find(name);
      if (found == example.tensors.end()) break;
      rows.push_back(found->second);
    }
    if (rows.size() == examples.size()) batch.tensors[name] = torch::stack(rows);  // [B, …]
  }
  return batch;
}

}  // namespace fovea
