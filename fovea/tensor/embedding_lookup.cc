#include "fovea/tensor/embedding_lookup.h"

#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

thread_local bool rows_only = false;

/// sum [V, E] += share values [N, E], each at its row.
void add_rows(at::Tensor& sum, const at::Tensor& rows, const at::Tensor& values, float share) {
  const at::Tensor from = values.contiguous();
  const int64_t width = from.size(1);
  float* to = sum.data_ptr<float>();
  for (int64_t i = 0; i < from.size(0); ++i) {
    float* row = to + rows.data_ptr<int64_t>()[i] * width;
    const float* own = from.data_ptr<float>() + i * width;
    for (int64_t column = 0; column < width; ++column) row[column] += share * own[column];
  }
}

}  // namespace

at::Tensor embedding_lookup(const at::Tensor& table, const at::Tensor& numbers) {
  // A gradient that goes on from here must be one that every operation knows.
  const bool sparse = rows_only && table.is_leaf() && table.requires_grad();
  return at::embedding(table, numbers, /*padding_idx=*/-1, /*scale_grad_by_freq=*/false, sparse);
}

RowGradients::RowGradients() : before_(rows_only) {
  rows_only = true;
}
RowGradients::~RowGradients() {
  rows_only = before_;
}

void add_gradient(at::Tensor& sum, const at::Tensor& gradient, double share, bool is_first) {
  torch::NoGradGuard no_gradients;
  if (gradient.is_sparse()) {
    if (is_first) sum.zero_();
    return add_rows(sum, gradient._indices().select(0, 0).contiguous(), gradient._values(),
                    float(share));
  }
  if (is_first)
    at::mul_out(sum, gradient, at::scalar_tensor(share));
  else
    sum.add_(gradient, share);
}

}  // namespace fovea
