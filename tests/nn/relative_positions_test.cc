// T5's relative positions: which distances share a bucket, and the scores of a sequence and of its
// steps.
#include "fovea/nn/transformer/relative_positions.h"

#include <gtest/gtest.h>

#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/golden.h"

namespace fovea::relative_positions_test {
namespace {

using namespace testing;
using at::Tensor;

RelativePositions drawn(bool both_ways, RelativeOptions options = {}) {
  RelativePositions positions(options, 3, both_ways);
  positions.initialise(Random(5));
  return positions;
}

TEST(RelativePositions, DistancesShareBucketsAsInTransformers) {
  const Json right = golden("t5").at("buckets");
  const int64_t first = right.at("from");
  const Tensor distances = at::arange(first, -first + 1, at::kLong);
  for (const bool both_ways : {true, false})
    EXPECT_TRUE(relative_buckets(distances, {}, both_ways)
                    .equal(tensor_of(right.at(both_ways ? "encoder" : "decoder"), at::kLong)));
}

TEST(RelativePositions, OnlyTheDistanceCounts) {
  const Tensor scores = drawn(true).scores(6, 6, 0);  // [1, H, Q, K]
  EXPECT_EQ(scores.sizes(), (std::vector<int64_t>{1, 3, 6, 6}));
  EXPECT_TRUE(scores.slice(2, 1).slice(3, 1).equal(scores.slice(2, 0, 5).slice(3, 0, 5)));
  EXPECT_FALSE(scores.equal(scores.transpose(2, 3)));
}

TEST(RelativePositions, AStepIsARowOfTheWhole) {
  const RelativePositions positions = drawn(false);
  const Tensor whole = positions.scores(7, 7, 0);
  for (int64_t at = 0; at < 7; ++at)
    EXPECT_TRUE(positions.scores(1, at + 1, at).equal(whole.narrow(2, at, 1).narrow(3, 0, at + 1)));
}

TEST(RelativePositions, BucketsThatCannotBeSharedOut) {
  const auto refused = [](RelativeOptions options, bool both_ways) {
    expect_error(ErrorKind::InvalidArgument, "buckets cannot be shared out",
                 [&] { RelativePositions(options, 2, both_ways); });
  };
  refused({2, 128}, true);
  refused({1, 128}, false);
  refused({32, 8}, true);
  refused({32, 16}, false);
}

}  // namespace
}  // namespace fovea::relative_positions_test
