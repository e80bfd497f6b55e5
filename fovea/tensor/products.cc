#include "fovea/tensor/products.h"

#include "fovea/tensor/torch.h"

namespace fovea {

ProductRow spread_keys(ProductRow row, const at::Tensor& kept, const at::Tensor& columns,
                       int64_t count) {
  const auto spread = [&](at::Tensor& x) {
    if (!x.defined()) return;
    std::vector<int64_t> sizes = x.sizes().vec();
    sizes[0] = count;
    x = at::zeros(sizes, x.options()).index_copy(0, columns, x.index_select(0, kept));
  };
  for (at::Tensor* x : {&row.keys, &row.keep, &row.factor, &row.scores, &row.weights}) spread(*x);
  for (ScoreTerm& term : row.terms) spread(term.values);
  return row;
}

}  // namespace fovea
