// Rows of different lengths as one tensor, padding behind the shorter ones.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "fovea/tensor/example.h"

namespace fovea {

/// bool [B, longest]: the first lengths[row] places of each row are real.
inline at::Tensor keep_mask(const std::vector<int64_t>& lengths) {
  const int64_t longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  return at::arange(longest).unsqueeze(0) < at::tensor(lengths, at::kLong).unsqueeze(1);
}

/// `row_of(row)` gives a list of numbers: [rows, longest].
template <class Number, class RowOf>
at::Tensor pad_rows(int64_t rows, const RowOf& row_of, Number padding = 0) {
  int64_t longest = 0;
  for (int64_t row = 0; row < rows; ++row) longest = std::max(longest, int64_t(row_of(row).size()));
  const at::Tensor all =
      at::full({rows, longest}, padding, c10::CppTypeToScalarType<Number>::value);
  for (int64_t row = 0; row < rows; ++row) {
    const auto& own = row_of(row);
    std::copy(own.begin(), own.end(), all.data_ptr<Number>() + row * longest);
  }
  return all;
}

/// Which of these numbers are real: bool [rows, longest].
template <class RowOf>
at::Tensor keep_rows(int64_t rows, const RowOf& row_of) {
  std::vector<int64_t> lengths;
  for (int64_t row = 0; row < rows; ++row) lengths.push_back(int64_t(row_of(row).size()));
  return keep_mask(lengths);
}

/// The tensor `name`, [S, …], of each example: [B, longest, …].
inline at::Tensor pad_tensors(std::span<const Example> examples, const std::string& name,
                              int64_t padding = 0) {
  if (examples.empty()) return at::empty({0, 0}, at::kLong);
  std::vector<at::Tensor> rows;
  for (const Example& example : examples) rows.push_back(example.tensors.at(name));
  return at::pad_sequence(rows, /*batch_first=*/true, double(padding));
}

/// Which places of it are real: bool [B, longest].
inline at::Tensor keep_tensors(std::span<const Example> examples, const std::string& name) {
  std::vector<int64_t> lengths;
  for (const Example& example : examples) lengths.push_back(example.tensors.at(name).size(0));
  return keep_mask(lengths);
}

}  // namespace fovea
