#include "fovea/data/erase.h"

#include <gtest/gtest.h>
#include "fovea/data/tokenisers/vocabulary.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"

namespace fovea::erase_test {
namespace {

using testing::expect_error;

TEST(Erase, SymbolsBecomeUnknown) {
  Example example;
  example.tensors["source"] = torch::tensor({7, 8, 9});
  const std::vector<int64_t> units{0, 2};
  const Example erased = erase_symbols(example, "source", units);
  const int64_t unknown = Vocabulary::kUnknown;
  EXPECT_TRUE(erased.tensors.at("source").equal(torch::tensor({unknown, int64_t{8}, unknown})));
  EXPECT_TRUE(example.tensors.at("source").equal(torch::tensor({7, 8, 9}))) << "the original stays";
  const std::vector<int64_t> outside{3};
  expect_error(ErrorKind::InvalidArgument, "unit 3",
               [&] { erase_symbols(example, "source", outside); });
}

TEST(Erase, ColumnsBecomeTheirMeans) {
  Example example;
  example.tensors["inputs"] = torch::tensor({1.0f, 0.0f, 1.0f, 5.0f});
  const std::vector<int64_t> units{1};
  const Example erased = erase_inputs(example, "inputs", units, {0, 1, 1, 2}, {0.5, 0.25, 0.75, 2});
  EXPECT_TRUE(erased.tensors.at("inputs").equal(torch::tensor({1.0f, 0.25f, 0.75f, 5.0f})));
  const Example plain = erase_inputs(example, "inputs", units, {}, {0.5, 0.25, 0.75, 2});
  EXPECT_TRUE(plain.tensors.at("inputs").equal(torch::tensor({1.0f, 0.25f, 1.0f, 5.0f})));
  const std::vector<int64_t> outside{3};
  expect_error(ErrorKind::InvalidArgument, "there are 3", [&] {
    erase_inputs(example, "inputs", outside, {0, 1, 1, 2}, {0.5, 0.25, 0.75, 2});
  });
}

TEST(Erase, StepsBecomeTheMean) {
  Example example;
  example.tensors["source"] = torch::ones({3, 2});
  const std::vector<int64_t> units{1};
  const Example erased = erase_steps(example, "source", units);
  EXPECT_EQ(erased.tensors.at("source").sum().item<float>(), 4);
  EXPECT_EQ(erased.tensors.at("source")[1].sum().item<float>(), 0);
  expect_error(ErrorKind::Internal, "no tensor 'x'", [&] { erase_steps(example, "x", units); });
}

}  // namespace
}  // namespace fovea::erase_test
