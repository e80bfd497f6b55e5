#include "fovea/tensor/device_product.h"

#include "fovea/kernels/column_sums/column_sums.h"
#include "fovea/tensor/device_stream.h"
#include "fovea/tensor/device_tensor.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

int64_t device_factor_width(int64_t width) {
  constexpr int64_t kOfPack = 8;  // bfloat16 in 16 bytes
  return (width + kOfPack - 1) / kOfPack * kOfPack;
}

Tensor device_factor(const Tensor& x, at::ScalarType type) {
  const int64_t width = x.size(1), whole = device_factor_width(width);
  if (type != at::kBFloat16 || width == whole) return x.to(type).contiguous();
  const Tensor factor = at::empty({x.size(0), whole}, x.options().dtype(type));
  factor.narrow(1, 0, width).copy_(x);
  factor.narrow(1, width, whole - width).zero_();
  return factor;
}

Tensor column_sums(const Tensor& x) {
  const int64_t rows = x.size(0), columns = x.size(1);
  const at::TensorOptions wide = x.options().dtype(at::kFloat);
  const Tensor sums = at::empty({columns}, wide);
  const Tensor slices = at::empty({kernels::device::column_slices(rows, columns), columns}, wide);
  kernels::device::column_sums({number_type_of(x), rows, columns, x.data_ptr(),
                                slices.data_ptr<float>(), sums.data_ptr<float>()},
                               current_device_stream());
  return sums;
}

}  // namespace fovea
