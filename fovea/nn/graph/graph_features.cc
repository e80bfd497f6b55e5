#include "fovea/nn/graph/graph_features.h"

#include "fovea/base/error.h"
#include "fovea/kernels/sparse_rows/sparse_rows.h"
#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;
using kernels::SparseRows;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kElementsOfRow = 64;

SparseRows rows_of(const Tensor& begin, const Tensor& index, const Tensor& value) {
  return {begin.size(0) - 1, begin.data_ptr<int64_t>(), index.data_ptr<int64_t>(),
          value.data_ptr<float>()};
}

/// X W by the kernel; only W has a gradient.
class SparseTimes : public torch::autograd::Function<SparseTimes> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& weight, const Tensor& begin,
                        const Tensor& index, const Tensor& value) {
    context->save_for_backward({begin, index, value});
    context->saved_data["features"] = weight.size(0);
    const SparseRows x = rows_of(begin, index, value);
    const int64_t columns = weight.size(1);
    const Tensor y = at::empty({x.rows, columns}, weight.options());
    run_parallel(x.slices(), [&](int64_t slice) {
      kernels::sparse_times(x, slice, weight.data_ptr<float>(), columns, y.data_ptr<float>());
    });
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const SparseRows x = rows_of(saved[0], saved[1], saved[2]);
    const Tensor dy = gradients[0].contiguous();  // [N, C]
    const int64_t columns = dy.size(1);
    const Tensor dw = at::zeros({context->saved_data["features"].toInt(), columns}, dy.options());
    run_parallel(SparseRows::column_slices(columns), [&](int64_t slice) {
      kernels::sparse_gradient(x, slice, dy.data_ptr<float>(), columns, dw.data_ptr<float>());
    });
    return {dw, Tensor(), Tensor(), Tensor()};
  }
};

}  // namespace

NodeFeatures NodeFeatures::of(const Batch& batch) {
  if (batch.has("features")) return {batch.at("features"), {}, {}, {}};
  return {{}, batch.at("feature_begin"), batch.at("feature_index"), batch.at("feature_value")};
}

Tensor NodeFeatures::times(const Tensor& weight) const {
  if (dense.defined()) return at::mm(dense, weight);
  const Tensor own = value.to(weight.dtype());
  if (kernels_take({weight, value}))
    return SparseTimes::apply(weight.contiguous(), begin.contiguous(), index.contiguous(),
                              own.contiguous());
  const Tensor row = at::repeat_interleave(begin.diff());  // [n]
  const Tensor terms = weight.index_select(0, index.narrow(0, 0, row.size(0))) *
                       own.narrow(0, 0, row.size(0)).unsqueeze(1);  // [n, C]
  return at::zeros({begin.size(0) - 1, weight.size(1)}, weight.options()).index_add(0, row, terms);
}

NodeFeatures NodeFeatures::rows(int64_t count, const Tensor& own) const {
  if (dense.defined())
    return {own.defined() ? dense.index_select(0, own) : dense.narrow(0, 0, count), {}, {}, {}};
  if (!own.defined()) return {{}, begin.narrow(0, 0, count + 1), index, value};
  const Tensor from = begin.index_select(0, own), lengths = begin.index_select(0, own + 1) - from;
  const Tensor ends = at::cat({at::zeros({1}, begin.options()), lengths.cumsum(0)});  // [T + 1]
  const Tensor row = at::repeat_interleave(lengths);                                  // [n]
  const Tensor places = from.index_select(0, row) + at::arange(row.size(0), begin.options()) -
                        ends.index_select(0, row);
  return {{}, ends, index.index_select(0, places), value.index_select(0, places)};
}

NodeFeatures NodeFeatures::dropped(double rate, const Random& random) const {
  if (rate == 0) return *this;
  if (dense.defined()) return {dropout(dense, rate, random), {}, {}, {}};
  return {{}, begin, index, dropout_of_elements(value, rate, random)};
}

Tensor dropout_of_elements(const Tensor& x, double rate, const Random& random) {
  if (rate == 0) return x;
  const int64_t count = x.numel(), rows = (count + kElementsOfRow - 1) / kElementsOfRow;
  const Tensor padded = at::zeros({rows * kElementsOfRow}, x.options());
  padded.narrow(0, 0, count).copy_(x.flatten());
  return dropout(padded.view({rows, kElementsOfRow}), rate, random)
      .flatten()
      .narrow(0, 0, count)
      .view(x.sizes());
}

}  // namespace fovea
