#include "fovea/attention/memory.h"

#include <gtest/gtest.h>

#include <limits>

#include "fovea/base/error.h"
#include "tests/attention/cases.h"

namespace fovea::memory_test {
namespace {

using testing::distance;
using testing::make_case;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Memory, KeysArePreparedOnce) {
  const auto c = make_case("additive", "softmax", "global");
  const auto memory = remember(*c.score, c.keys, c.values, KeepMask::all());
  EXPECT_TRUE(at::equal(memory.keys, c.score->prepare(c.keys)));
  EXPECT_EQ(memory.keys.size(-1), 5) << "hidden size";
  EXPECT_EQ(memory.size(), 6);
}

TEST(Memory, SelectRepeatsExamplesForBeams) {
  auto c = make_case("general", "softmax", "global");
  const auto plain = attend(c.input());
  const auto rows = at::tensor({1, 0, 1}, at::kLong);
  c.values[1][0][5].fill_(kNaN);  // masked there
  auto in = c.input();
  in.memory = in.memory.select(rows);
  in.query = c.query.index_select(0, rows);
  in.previous_weights = at::Tensor();
  EXPECT_LT(distance(attend(in).context, plain.context.index_select(0, rows)), 1e-12);
}

TEST(Memory, GrowsStepByStepAsIfItHadBeenWhole) {
  auto c = make_case("additive", "softmax", "global");
  const auto whole = attend(c.input());
  const auto part = [&](int64_t first, int64_t count) {
    return remember(*c.score, c.keys.narrow(2, first, count), c.values.narrow(2, first, count),
                    KeepMask::from_keep(c.mask.keep().narrow(3, first, count)));
  };
  auto in = c.input();
  in.memory = part(0, 2).followed_by(part(2, 1)).followed_by(part(3, 3));
  EXPECT_LT(distance(attend(in).context, whole.context), 1e-12);
  c.keys.select(2, 1).fill_(kNaN);
  in.memory = part(0, 2).followed_by(part(2, 4));
  EXPECT_TRUE(attend(in).context.isnan().all().item<bool>())
      << "a broken key that may be seen stays broken";
  auto unmasked =
      remember(*c.score, c.keys.narrow(2, 2, 2), c.values.narrow(2, 2, 2), KeepMask::all());
  EXPECT_EQ(part(0, 2).followed_by(unmasked).size(), 4);
}

TEST(Memory, RefusesWhatDoesNotFit) {
  const auto c = make_case("dot", "softmax", "global");
  EXPECT_THROW(remember(*c.score, c.keys.narrow(2, 0, 5), c.values, KeepMask::all()), Error);
  EXPECT_THROW(remember_values(c.values[0][0], KeepMask::all()), Error);
  const auto causal = remember_values(c.values, KeepMask::causal(3, 6));
  EXPECT_THROW(causal.followed_by(causal), Error) << "its mask depends on the query";
}

}  // namespace
}  // namespace fovea::memory_test
