#include "fovea/tensor/example.h"

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

const Axis& Example::axis(const std::string& name) const {
  std::vector<std::string> names;
  for (const Axis& axis : axes) {
    if (axis.name == name) return axis;
    names.push_back(axis.name);
  }
  fail(ErrorKind::NotFound, "the example has no axis '", name, "'; it has: ", join(names));
}

void Example::add_cut(const std::string& unit, int64_t read, int64_t left_out) {
  if (left_out > 0) cuts.push_back({unit, read, read + left_out});
}

const at::Tensor& Batch::at(const std::string& name) const {
  const auto found = tensors.find(name);
  if (found != tensors.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [key, tensor] : tensors) names.push_back(key);
  fail(ErrorKind::NotFound, "the batch has no tensor '", name, "'; it has: ", join(names));
}

Batch Batch::to(const at::Device& device) const {
  Batch moved{{}, size};
  for (const auto& [name, tensor] : tensors) moved.tensors[name] = tensor.to(device);
  return moved;
}

}  // namespace fovea
