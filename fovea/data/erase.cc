#include "fovea/data/erase.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {

namespace {

/// A copy of the tensor that the caller may change.
at::Tensor copy_of(const Example& example, const std::string& tensor) {
  const auto found = example.tensors.find(tensor);
  require(found != example.tensors.end(), ErrorKind::Internal, "the example has no tensor '",
          tensor, "' to erase units of");
  return found->second.clone();
}

void check_units(std::span<const int64_t> units, int64_t size) {
  for (const int64_t unit : units)
    require(unit >= 0 && unit < size, ErrorKind::InvalidArgument, "unit ", unit,
            " cannot be erased; there are ", size);
}

}  // namespace

Example erase_symbols(const Example& example, const std::string& tensor,
                      std::span<const int64_t> units, int64_t unknown) {
  Example erased = example;
  at::Tensor symbols = copy_of(example, tensor);  // [S]
  check_units(units, symbols.size(0));
  for (const int64_t unit : units) symbols.data_ptr<int64_t>()[unit] = unknown;
  erased.tensors[tensor] = symbols;
  return erased;
}

Example erase_nested(const Example& example, const std::string& symbols, const std::string& groups,
                     const std::string& axis, std::span<const int64_t> units) {
  if (axis == symbols) return erase_symbols(example, symbols, units);
  require(axis == groups, ErrorKind::Unsupported, "units of the axis '", axis,
          "' cannot be erased");
  const std::vector<int64_t>& offsets = example.axis(symbols).offsets;
  check_units(units, int64_t(offsets.size()) - 1);
  std::vector<int64_t> inside;
  for (const int64_t unit : units)
    for (int64_t i = offsets[size_t(unit)]; i < offsets[size_t(unit) + 1]; ++i) inside.push_back(i);
  return erase_symbols(example, symbols, inside);
}

Example erase_inputs(const Example& example, const std::string& tensor,
                     std::span<const int64_t> units, const std::vector<int64_t>& unit_of,
                     const std::vector<double>& means) {
  Example erased = example;
  at::Tensor inputs = copy_of(example, tensor);  // [I]
  require(inputs.size(0) == int64_t(means.size()) &&
              (unit_of.empty() || unit_of.size() == means.size()),
          ErrorKind::Internal, "tensor '", tensor, "' has ", inputs.size(0),
          " inputs, but there are ", means.size(), " means and ", unit_of.size(),
          " units of inputs");
  const int64_t last = unit_of.empty() ? int64_t(means.size()) - 1
                                       : *std::max_element(unit_of.begin(), unit_of.end());
  check_units(units, last + 1);
  std::vector<bool> gone(size_t(last) + 1, false);
  for (const int64_t unit : units) gone[size_t(unit)] = true;
  float* values = inputs.data_ptr<float>();
  for (size_t i = 0; i < means.size(); ++i)
    if (gone[unit_of.empty() ? i : size_t(unit_of[i])]) values[i] = float(means[i]);
  erased.tensors[tensor] = inputs;
  return erased;
}

Example erase_steps(const Example& example, const std::string& tensor,
                    std::span<const int64_t> units) {
  Example erased = example;
  at::Tensor steps = copy_of(example, tensor);  // [S, F]
  check_units(units, steps.size(0));
  for (const int64_t unit : units) steps[unit].zero_();
  erased.tensors[tensor] = steps;
  return erased;
}

}  // namespace fovea
