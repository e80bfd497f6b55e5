#include "fovea/tensor/kernel_path.h"

#include <algorithm>

namespace fovea {

namespace {

using at::Tensor;

thread_local bool readable_only = false;

}  // namespace

bool kernels_take(const std::vector<Tensor>& tensors) {
  return !readable_only && std::all_of(tensors.begin(), tensors.end(), [](const Tensor& x) {
    return !x.defined() || (x.is_cpu() && x.scalar_type() == at::kFloat);
  });
}

ReadableOnly::ReadableOnly() : before_(readable_only) {
  readable_only = true;
}

ReadableOnly::~ReadableOnly() {
  readable_only = before_;
}

bool ReadableOnly::is_asked_for() {
  return readable_only;
}

}  // namespace fovea
