#include "fovea/data/row_subset.h"

#include <algorithm>

#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"

namespace fovea {

RowSubset::RowSubset(std::shared_ptr<const Dataset> all, std::vector<int64_t> rows)
    : all_(std::move(all)), rows_(std::move(rows)) {
  if (all_->columns().empty()) return;
  const at::Tensor picked = torch::tensor(rows_, torch::kInt64);
  for (const auto& [name, column] : all_->columns())
    columns_[name] = column.index_select(0, picked.to(column.device()));  // [rows, …]
}

Batch RowSubset::batch(std::span<const int64_t> rows) const {
  std::vector<int64_t> picked;
  for (const int64_t row : rows) picked.push_back(at(row));
  return all_->batch(picked);
}

std::shared_ptr<const Dataset> sample_rows(std::shared_ptr<const Dataset> all, int64_t count) {
  if (count == 0 || all->size() <= count) return all;
  std::vector<int64_t> rows = Random(0).split("sample").permutation(all->size());
  rows.resize(size_t(count));
  std::sort(rows.begin(), rows.end());
  return std::make_shared<RowSubset>(std::move(all), std::move(rows));
}

}  // namespace fovea
