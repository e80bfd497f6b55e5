#include "fovea/nn/ops/addressing.h"

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kSquaredLength = 1e-6;    // added under the root
constexpr double kSmallestWeight = 1e-16;  // so that its logarithm is finite

Tensor length_of(const Tensor& x) {
  return (x.square().sum(-1, /*keepdim=*/true) + kSquaredLength).sqrt();
}

}  // namespace

Tensor address_by_content(const Tensor& memory, const Tensor& key, const Tensor& strength) {
  const Tensor products = key.matmul(memory.transpose(1, 2));                 // [B, H, N]
  const Tensor lengths = length_of(key) * length_of(memory).transpose(1, 2);  // [B, H, N]
  return (strength * (products / lengths)).softmax(-1);
}

Tensor gate_address(const Tensor& content, const Tensor& before, const Tensor& gate) {
  return before + gate * (content - before);
}

Tensor shift_address(const Tensor& weights, const Tensor& shifts) {
  const int64_t range = shifts.size(-1) / 2;
  require(shifts.size(-1) % 2 == 1, ErrorKind::InvalidArgument, "shifts of shape ", shifts.sizes(),
          " have no middle; expected an odd number");
  Tensor shifted = weights * shifts.narrow(-1, range, 1);
  for (int64_t by = 1; by <= range; ++by)
    shifted = shifted + weights.roll(by, -1) * shifts.narrow(-1, range + by, 1) +
              weights.roll(-by, -1) * shifts.narrow(-1, range - by, 1);
  return shifted;
}

Tensor sharpen_address(const Tensor& weights, const Tensor& sharpness) {
  return (sharpness * (weights + kSmallestWeight).log()).softmax(-1);
}

AddressParameters AddressParameters::split(const Tensor& raw, int64_t width, int64_t range) {
  require(raw.size(-1) == size(width, range), ErrorKind::Internal, "heads of ", width,
          " numbers need ", size(width, range), " parameters, found ", raw.sizes());
  return {raw.narrow(-1, 0, width), raw.narrow(-1, width, 1), raw.narrow(-1, width + 1, 1),
          raw.narrow(-1, width + 2, 2 * range + 1), raw.narrow(-1, width + 3 + 2 * range, 1)};
}

AddressParameters AddressParameters::take(const Tensor& raw, int64_t width, int64_t range) {
  const AddressParameters said = split(raw, width, range);
  return {said.key.tanh(), at::softplus(said.strength), said.gate.sigmoid(),
          said.shifts.softmax(-1), 1 + at::softplus(said.sharpness)};
}

Tensor address(const Tensor& memory, const AddressParameters& parameters, const Tensor& before) {
  const Tensor content = address_by_content(memory, parameters.key, parameters.strength);
  const Tensor gated = gate_address(content, before, parameters.gate);
  return sharpen_address(shift_address(gated, parameters.shifts), parameters.sharpness);
}

}  // namespace fovea
