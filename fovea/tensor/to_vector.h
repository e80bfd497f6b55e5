// The numbers of a tensor as a plain list.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace fovea {

/// Row by row, from whichever device, converted to `Number`.
template <class Number>
std::vector<Number> to_vector(const at::Tensor& tensor) {
  const at::Tensor plain =
      tensor.detach().to(at::kCPU, c10::CppTypeToScalarType<Number>::value).contiguous();
  return {plain.data_ptr<Number>(), plain.data_ptr<Number>() + plain.numel()};
}

}  // namespace fovea
