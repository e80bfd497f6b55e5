#include "fovea/tensor/example.h"

#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"

namespace fovea::example_test {
namespace {

using testing::expect_error;

TEST(Example, FindsAnAxisOrListsThoseThereAre) {
  Example example;
  example.axes = {{"columns", "column", {"age"}, "", {}}, {"source", "token", {"a", "b"}, "", {}}};
  EXPECT_EQ(example.axis("source").labels.size(), 2u);
  expect_error(ErrorKind::NotFound, {"'target'", "columns, source"},
               [&] { example.axis("target"); });
}

TEST(Batch, FindsATensorOrListsThoseThereAre) {
  const Batch batch{{{"inputs", torch::ones({2, 3})}, {"target", torch::zeros({2})}}, 2};
  EXPECT_EQ(batch.at("inputs").size(1), 3);
  EXPECT_TRUE(batch.has("target"));
  EXPECT_FALSE(batch.has("mask"));
  expect_error(ErrorKind::NotFound, {"'mask'", "inputs, target"}, [&] { batch.at("mask"); });
}

TEST(Batch, MovesWithItsSize) {
  const Batch batch{{{"inputs", torch::ones({2, 3})}}, 2};
  const Batch moved = batch.to(torch::kCPU);
  EXPECT_EQ(moved.size, 2);
  EXPECT_TRUE(torch::equal(moved.at("inputs"), batch.at("inputs")));
}

}  // namespace
}  // namespace fovea::example_test
