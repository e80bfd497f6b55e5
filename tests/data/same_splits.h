// Two ways to the same data: drawn and read, kept and read again, prepared and not.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/data/dataset.h"
#include "fovea/tensor/torch.h"

namespace fovea {

inline void expect_same_tensors(const NamedTensors& one, const NamedTensors& other) {
  ASSERT_EQ(one.size(), other.size());
  for (const auto& [name, tensor] : one) {
    ASSERT_TRUE(other.contains(name)) << name;
    EXPECT_TRUE(torch::equal(tensor, other.at(name))) << name;
  }
}

/// Rows, batches, planted truth and right answers; of very many rows an even choice, whole where
/// the data set has columns.
inline void expect_same_rows(const Dataset& one, const Dataset& other) {
  constexpr int64_t kMostRows = 1000;
  ASSERT_EQ(one.size(), other.size());
  expect_same_tensors(one.columns(), other.columns());
  EXPECT_EQ(one.has_truth(), other.has_truth());
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < std::min(one.size(), kMostRows); ++i)
    rows.push_back(i * one.size() / std::min(one.size(), kMostRows));
  if (rows.empty()) return;
  expect_same_tensors(one.batch(rows).tensors, other.batch(rows).tensors);
  for (const int64_t row : rows) {
    SCOPED_TRACE(row);
    const Example left = one.example(row), right = other.example(row);
    expect_same_tensors(left.tensors, right.tensors);
    expect_same_tensors(left.truth, right.truth);
    EXPECT_EQ(one.references(row), other.references(row));
    EXPECT_EQ(one.input(row), other.input(row));
  }
}

inline void expect_same_splits(const Splits& one, const Splits& other) {
  for (int split = 0; split < kSplitCount; ++split) {
    SCOPED_TRACE(kSplitNames[split]);
    ASSERT_EQ(one[split] == nullptr, other[split] == nullptr);
    if (one[split]) expect_same_rows(*one[split], *other[split]);
  }
}

}  // namespace fovea
