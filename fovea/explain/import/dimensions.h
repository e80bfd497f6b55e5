// Which dimension of a saved tensor is what. Internal to import.h.
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
/// out. InvalidArgument, with the values of `dimensions` to choose from, for a tensor that can be
/// read in several ways.
std::vector<AttentionStack> stack_tensors(const std::map<std::string, at::Tensor>& tensors,
                                          const ImportOptions& options,
                                          std::vector<std::string>& notes);

}  // namespace fovea
