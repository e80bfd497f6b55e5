#include "fovea/attention/mask.h"

#include <gtest/gtest.h>
#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea::mask_test {
namespace {

at::Tensor rows(std::vector<std::vector<int>> values) {
  std::vector<at::Tensor> all;
  for (const auto& row : values) all.push_back(at::tensor(row, at::kInt));
  return at::stack(all) != 0;
}

TEST(KeepMask, LengthsKeepTheFirstKeys) {
  const auto mask = KeepMask::from_lengths(at::tensor({2, 0, 3}, at::kLong), 3);
  EXPECT_EQ(mask.keep().sizes(), (std::vector<int64_t>{3, 1, 1, 3}));
  EXPECT_TRUE(at::equal(mask.keep().view({3, 3}), rows({{1, 1, 0}, {0, 0, 0}, {1, 1, 1}})));
}

TEST(KeepMask, CausalSeesItselfAndThePast) {
  EXPECT_TRUE(
      at::equal(KeepMask::causal(3, 3).keep()[0][0], rows({{1, 0, 0}, {1, 1, 0}, {1, 1, 1}})));
  EXPECT_TRUE(at::equal(KeepMask::causal(1, 4, 2).keep()[0][0], rows({{1, 1, 1, 0}})))
      << "one step of a decoder";
}

TEST(KeepMask, WindowIsSymmetric) {
  EXPECT_TRUE(at::equal(KeepMask::window(3, 4, 1).keep()[0][0],
                        rows({{1, 1, 0, 0}, {1, 1, 1, 0}, {0, 1, 1, 1}})));
  EXPECT_TRUE(at::equal(KeepMask::window(1, 4, 1, 3).keep()[0][0], rows({{0, 0, 1, 1}})));
}

TEST(KeepMask, LocalIncludesBothEnds) {
  const auto mask = KeepMask::local(at::tensor({1.0, 1.5}, at::kDouble).view({1, 1, 2}), 5, 1.0);
  EXPECT_TRUE(at::equal(mask.keep()[0][0], rows({{1, 1, 1, 0, 0}, {0, 1, 1, 0, 0}})));
}

TEST(KeepMask, AndKeepsWhatBothKeep) {
  const auto padding = KeepMask::from_lengths(at::tensor({2}, at::kLong), 3);
  const auto both = padding & KeepMask::causal(3, 3);
  EXPECT_TRUE(at::equal(both.keep()[0][0], rows({{1, 0, 0}, {1, 1, 0}, {1, 1, 0}})));
  EXPECT_TRUE((KeepMask::all() & KeepMask::all()).is_all());
  EXPECT_TRUE(at::equal((KeepMask::all() & padding).keep(), padding.keep()));
  EXPECT_THROW(padding & KeepMask::causal(3, 4), Error);
}

TEST(KeepMask, SaysWhoSeesAndWhoIsSeen) {
  const auto mask = KeepMask::from_keep(rows({{1, 0, 0}, {0, 0, 0}}).unsqueeze(0));
  EXPECT_TRUE(at::equal(mask.seeing_queries().flatten(), at::tensor({1, 0}, at::kInt) != 0));
  EXPECT_TRUE(at::equal(mask.seen_keys().flatten(), at::tensor({1, 0, 0}, at::kInt) != 0));
  const auto queries = KeepMask::from_queries(rows({{1, 0}}));
  EXPECT_TRUE(at::equal(queries.expand({1, 1, 2, 2})[0][0], rows({{1, 1}, {0, 0}})));
}

TEST(KeepMask, RefusesOtherTensors) {
  EXPECT_THROW(KeepMask::from_keep(at::ones({2, 3})), Error) << "a float mask may mean anything";
  EXPECT_THROW(KeepMask::from_keep(at::ones({3}, at::kBool)), Error);
  EXPECT_THROW(KeepMask::from_queries(at::ones({3}, at::kBool)), Error);
  EXPECT_THROW(KeepMask::from_lengths(at::ones({2}), 3), Error);
  EXPECT_THROW(KeepMask::causal(2, 3).expand({1, 1, 2, 4}), Error);
}

}  // namespace
}  // namespace fovea::mask_test
