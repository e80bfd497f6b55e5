#include "fovea/tensor/embedding_lookup.h"

#include <gtest/gtest.h>

#include "fovea/tensor/torch.h"

namespace fovea::embedding_lookup_test {
namespace {

at::Tensor table_of(int64_t rows, int64_t width) {
  return torch::linspace(-1, 1, rows * width).view({rows, width}).requires_grad_();
}

/// Numbers with a row that is used three times, and one that is not used.
at::Tensor numbers() {
  return torch::tensor({4, 0, 4, 2, 1, 4}).view({2, 3});
}

/// The gradient of a sum in which every number counts differently.
at::Tensor gradient_of(const at::Tensor& table, const at::Tensor& looked_up) {
  const at::Tensor counts = torch::arange(1, looked_up.numel() + 1, at::kFloat);
  return torch::autograd::grad({(looked_up * counts.view_as(looked_up)).sum()}, {table})[0];
}

TEST(TableRows, AreThoseOfTheTable) {
  const at::Tensor table = table_of(5, 3), rows = embedding_lookup(table, numbers());
  EXPECT_EQ(rows.sizes(), (std::vector<int64_t>{2, 3, 3}));
  EXPECT_TRUE(at::equal(rows[0][2], table[4]));
}

TEST(TableRows, GradientsOfRowsAddUpToThatOfTheTable) {
  const at::Tensor table = table_of(5, 3);
  const at::Tensor whole = gradient_of(table, embedding_lookup(table, numbers()));
  const RowGradients rows_only;
  const at::Tensor rows = gradient_of(table, embedding_lookup(table, numbers()));
  EXPECT_FALSE(whole.is_sparse());
  ASSERT_TRUE(rows.is_sparse());
  EXPECT_EQ(rows._values().size(0), 6);  // as many as were looked up
  for (const at::Tensor& gradient : {whole, rows}) {
    at::Tensor sum = torch::full({5, 3}, 7.0f);
    add_gradient(sum, gradient, 0.25, /*is_first=*/true);
    EXPECT_TRUE(at::allclose(sum, 0.25 * whole));
    add_gradient(sum, gradient, 0.5, /*is_first=*/false);
    EXPECT_TRUE(at::allclose(sum, 0.75 * whole));
  }
}

TEST(TableRows, GradientsThatGoOnAreWhole) {
  const at::Tensor table = table_of(5, 3);
  const RowGradients rows_only;
  const at::Tensor gradient = gradient_of(table, embedding_lookup(table * 2, numbers()));
  EXPECT_FALSE(gradient.is_sparse());
  EXPECT_GT(gradient.abs().sum().item<float>(), 0);
}

TEST(TableRows, ATableThatIsAlsoAFactorHasAWholeGradient) {
  const at::Tensor table = table_of(5, 3);
  const auto loss = [&] {
    return at::matmul(embedding_lookup(table, numbers()), table.t()).square().sum();
  };
  const at::Tensor expected = torch::autograd::grad({loss()}, {table})[0];
  const RowGradients rows_only;
  const at::Tensor gradient = torch::autograd::grad({loss()}, {table})[0];
  at::Tensor sum = torch::empty({5, 3});
  add_gradient(sum, gradient, 1, /*is_first=*/true);
  EXPECT_TRUE(at::allclose(sum, expected));
}

TEST(TableRows, TheScopeEnds) {
  const at::Tensor table = table_of(5, 3);
  {
    const RowGradients outer;
    { const RowGradients inner; }
    EXPECT_TRUE(gradient_of(table, embedding_lookup(table, numbers())).is_sparse());
  }
  EXPECT_FALSE(gradient_of(table, embedding_lookup(table, numbers())).is_sparse());
}

}  // namespace
}  // namespace fovea::embedding_lookup_test
