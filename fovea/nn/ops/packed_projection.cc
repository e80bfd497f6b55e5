#include "fovea/nn/ops/packed_projection.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/kernels/best_symbols/best_symbols.h"
#include "fovea/kernels/instruction_set.h"
#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/product.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

Tensor finished(const Tensor& u, Finish finish) {
  return finish == Finish::Relu ? u.relu() : finish == Finish::Tanh ? u.tanh() : u;
}

}  // namespace

PackedProjection::PackedProjection(const Tensor& weight, const Tensor& bias)
    : weight_(weight.detach()),
      bias_(bias.defined() ? bias.detach() : bias),
      shape_{weight.size(1), weight.size(0)} {
  if (!kernels_take({weight_, bias_})) return;
  shape_.rounded = current_precision() == Precision::BFloat16 &&
                   shape_.inputs <= kernels::kMostRoundedInputs && kernels::multiplies_bf16();
  const Tensor rows = weight_.contiguous();
  packed_ = at::empty({shape_.packed()}, weight_.options());
  kernels::pack_matrix(shape_, rows.data_ptr<float>(),
                       bias_.defined() ? bias_.contiguous().data_ptr<float>() : nullptr,
                       packed_.data_ptr<float>());
}

Tensor PackedProjection::forward(const Tensor& x, Finish finish) const {
  require(x.size(-1) == shape_.inputs, ErrorKind::InvalidArgument, "a projection of ",
          shape_.inputs, " numbers was given a tensor of shape ", x.sizes());
  if (!is_fused(x)) return finished(torch::linear(x, weight_, bias_), finish);
  const Tensor rows = x.contiguous();
  auto sizes = x.sizes().vec();
  sizes.back() = shape_.outputs;
  const Tensor y = at::empty(sizes, x.options());
  const kernels::PackedRows at{rows.numel() / shape_.inputs, rows.data_ptr<float>(), shape_.inputs,
                               y.data_ptr<float>(),          shape_.outputs,         finish};
  run_parallel(shape_.slices(), [&](int64_t slice) {
    kernels::packed_product(shape_, slice, packed_.data_ptr<float>(), at);
  });
  return y;
}

bool PackedProjection::is_fused(const Tensor& x) const {
  return packed_.defined() && kernels_take({x});
}

BestSymbols PackedProjection::best(const Tensor& x, int64_t count,
                                   const std::vector<int64_t>& forbidden) const {
  require(x.dim() == 2 && x.size(1) == shape_.inputs && is_fused(x), ErrorKind::InvalidArgument,
          "an output layer of ", shape_.inputs, " numbers was given a tensor of shape ", x.sizes());
  count = std::min(count, shape_.outputs);
  const Tensor rows = x.contiguous();
  const BestSymbols best{at::empty({x.size(0), count}, x.options()),
                         at::empty({x.size(0), count}, at::kLong)};
  kernels::BestSymbolsShape shape{shape_, x.size(0), count, forbidden.data(),
                                  int64_t(forbidden.size())};
  const kernels::BestSymbolsRows at{packed_.data_ptr<float>(), rows.data_ptr<float>(),
                                    best.log_probabilities.data_ptr<float>(),
                                    best.symbols.data_ptr<int64_t>()};
  run_parallel(shape.slices(), [&](int64_t slice) { kernels::best_symbols(shape, slice, at); });
  return best;
}

}  // namespace fovea
