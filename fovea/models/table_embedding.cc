#include "fovea/models/table_embedding.h"

#include "fovea/models/initialise.h"
#include "fovea/nn/graph/graph_features.h"
#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

static constexpr double kEmbeddingDeviation = 0.2;  // at first

ColumnEmbedding::ColumnEmbedding(const FeatureShape& shape, int64_t width)
    : column_of_input_(shape.column_of_input) {
  weight = register_parameter("weight", torch::zeros({int64_t(column_of_input_.size()), width}));
  bias = register_parameter("bias", torch::zeros({int64_t(shape.columns.size()), width}));
}

void ColumnEmbedding::initialise(const Random& random) {
  initialise_normal(weight, kEmbeddingDeviation, random.split("weight"));
  initialise_normal(bias, kEmbeddingDeviation, random.split("bias"));
}

Tensor ColumnEmbedding::block_diagonal() const {
  const Tensor column = torch::tensor(column_of_input_, torch::kInt64).to(weight.device());
  const Tensor owns =
      torch::arange(bias.size(0), column.options()) == column.unsqueeze(1);  // [I, C]
  return (weight.unsqueeze(1) * owns.unsqueeze(2)).flatten(1);               // [I, C d]
}

Tensor ColumnEmbedding::forward(const Tensor& x) const {
  const bool sparse =
      kernels_take({x, weight}) && !(x.requires_grad() && at::GradMode::is_enabled());
  const Tensor sums = sparse ? forward_sparse(x) : torch::matmul(x, block_diagonal());
  return sums.view({x.size(0), bias.size(0), bias.size(1)}) + bias;  // [B, C, d]
}

/// Row b C + c of a sparse matrix [B C, I] has the inputs of column c that are not 0.
Tensor ColumnEmbedding::forward_sparse(const Tensor& x) const {
  const Tensor rows = x.contiguous();
  const int64_t batch = x.size(0), inputs = x.size(1), columns = bias.size(0);
  const auto* numbers = rows.data_ptr<float>();
  Tensor begin = torch::empty({batch * columns + 1}, torch::kInt64);
  std::vector<int64_t> index;
  std::vector<float> value;
  index.reserve(size_t(batch * columns * 4));
  value.reserve(index.capacity());
  auto* starts = begin.data_ptr<int64_t>();
  for (int64_t b = 0; b < batch; ++b) {
    int64_t next = 0;  // column whose start is not known yet
    const auto begin_columns = [&](int64_t end) {
      for (; next < end; ++next) starts[b * columns + next] = int64_t(index.size());
    };
    for (int64_t i = 0; i < inputs; ++i) {
      begin_columns(column_of_input_[size_t(i)] + 1);
      const float number = numbers[b * inputs + i];
      if (number == 0) continue;
      index.push_back(i);
      value.push_back(number);
    }
    begin_columns(columns);
  }
  starts[batch * columns] = int64_t(index.size());
  return NodeFeatures{
      {}, begin, torch::tensor(index, torch::kInt64), torch::tensor(value, torch::kFloat32)}
      .times(weight);  // [B C, d]
}

}  // namespace fovea
