// Columns of numbers among the tensors that a run keeps, checked before they are used.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {

/// A tensor of one dimension, contiguous. BadData, beginning with `where`, where it is missing or
/// of another type.
inline at::Tensor checked_column(const std::map<std::string, at::Tensor>& tensors,
                                 const std::string& name, at::ScalarType type,
                                 const std::string& where) {
  const auto found = tensors.find(name);
  require(found != tensors.end(), ErrorKind::BadData, where, ": the tensor '", name,
          "' is missing");
  const at::Tensor& column = found->second;
  require(column.dim() == 1 && column.scalar_type() == type, ErrorKind::BadData, where,
          ": the tensor '", name, "' is ", column.scalar_type(), " ", column.sizes(),
          ", expected one dimension of ", type);
  return column.contiguous();
}

/// Its numbers; `type` is that of Value.
template <class Value>
std::vector<Value> column_values(const std::map<std::string, at::Tensor>& tensors,
                                 const std::string& name, at::ScalarType type,
                                 const std::string& where) {
  const at::Tensor all = checked_column(tensors, name, type, where);
  const Value* first = all.data_ptr<Value>();
  return {first, first + all.numel()};
}

}  // namespace fovea
