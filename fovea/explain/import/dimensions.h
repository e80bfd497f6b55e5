// Which dimension of a saved tensor is what. Internal to outside.h.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

#include "fovea/explain/import/import.h"

namespace fovea {

/// One tensor with its dimensions in order.
struct AttentionStack {
  std::string name;
  at::Tensor weights;      // [L, H, Q, K], of any number type
  bool prediction = true;  // there is no dimension of queries: one prediction looks
  std::string shape;       // as it was saved
};

/// The tensors as stacks, sorted by name. Notes say which row of a batch is shown and what was left
/// out.
std::vector<AttentionStack> stack_tensors(const std::map<std::string, at::Tensor>& tensors,
                                          const OutsideOptions& options,
                                          std::vector<std::string>& notes);

}  // namespace fovea
