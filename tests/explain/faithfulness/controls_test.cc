#include "fovea/explain/faithfulness/controls.h"

#include <gtest/gtest.h>
#include "fovea/tensor/torch.h"

namespace fovea::faithfulness::controls_test {
namespace {

using at::Tensor;

const std::vector<MapKind> kKinds{MapKind::Distribution, MapKind::Partial, MapKind::Gate,
                                  MapKind::Free, MapKind::Contribution};

/// [3, 2, 4, 5] as the kind promises.
Tensor weights_of(MapKind kind) {
  torch::manual_seed(1);
  const Tensor scores = torch::randn({3, 2, 4, 5}, torch::kFloat64);
  switch (kind) {
    case MapKind::Distribution:
      return scores.softmax(-1);
    case MapKind::Partial:
      return 0.5 * scores.softmax(-1);
    case MapKind::Gate:
      return scores.sigmoid();
    default:
      return scores;
  }
}

AttentionMap map_of(MapKind kind, const Tensor& weights) {
  AttentionMap map;
  map.kind = kind;
  map.weights = weights;
  return map;
}

TEST(Controls, EveryChangeKeepsWhatTheKindPromises) {
  for (const MapKind kind : kKinds) {
    const Tensor weights = weights_of(kind);
    for (const Tensor& changed :
         {permuted_weights(weights, Random(1)), uniform_weights(weights),
          top_zeroed_weights(weights, kind), random_zeroed_weights(weights, kind, Random(1))}) {
      ASSERT_EQ(changed.sizes(), weights.sizes());
      EXPECT_EQ(check_map(map_of(kind, changed)), "") << name_of(kind);
    }
  }
}

TEST(Controls, PermutedRowsHoldTheSameWeightsInAnOrderOfTheirOwn) {
  const Tensor weights = torch::arange(6, torch::kFloat64).expand({50, 2, 3, 6}).contiguous();
  const Tensor changed = permuted_weights(weights, Random(3));
  EXPECT_TRUE(std::get<0>(changed.sort(-1)).equal(weights));
  // Every place gets every weight about equally often: 300 rows, 50 expected.
  for (int64_t weight = 0; weight < 6; ++weight) {
    const Tensor counts = changed.eq(weight).flatten(0, 2).sum(0);  // [6]
    EXPECT_GT(counts.min().item<int64_t>(), 25);
    EXPECT_LT(counts.max().item<int64_t>(), 80);
  }
  EXPECT_TRUE(changed.equal(permuted_weights(weights, Random(3))));
  EXPECT_FALSE(changed.equal(permuted_weights(weights, Random(4))));
}

TEST(Controls, ZeroedWeightsAreSharedOutAmongTheOthers) {
  const Tensor row = torch::tensor({0.5, 0.3, 0.2}, torch::kFloat64).view({1, 1, 1, 3});
  EXPECT_TRUE(torch::allclose(top_zeroed_weights(row, MapKind::Distribution).flatten(),
                              torch::tensor({0.0, 0.6, 0.4}, torch::kFloat64)));
  EXPECT_TRUE(torch::allclose(top_zeroed_weights(row, MapKind::Gate).flatten(),
                              torch::tensor({0.0, 0.3, 0.2}, torch::kFloat64)));
  const Tensor all = torch::tensor({0.0, 1.0, 0.0}, torch::kFloat64).view({1, 1, 1, 3});
  EXPECT_TRUE(torch::allclose(top_zeroed_weights(all, MapKind::Distribution).flatten(),
                              torch::tensor({0.5, 0.0, 0.5}, torch::kFloat64)));
  const Tensor none = torch::zeros({1, 1, 1, 3}, torch::kFloat64);
  EXPECT_TRUE(top_zeroed_weights(none, MapKind::Partial).equal(none));
}

TEST(Controls, TheRandomKeyIsNeverTheTopOneAndEachOtherSometimes) {
  const Tensor rows =
      torch::tensor({0.1, 0.2, 0.6, 0.1}, torch::kFloat64).expand({300, 1, 1, 4}).contiguous();
  const Tensor zero = random_zeroed_weights(rows, MapKind::Free, Random(2)).eq(0).flatten(1);
  EXPECT_TRUE(zero.sum(1).eq(1).all().item<bool>());
  const Tensor counts = zero.sum(0);  // [4]
  EXPECT_EQ(counts[2].item<int64_t>(), 0);
  for (const int64_t key : {0, 1, 3}) EXPECT_GT(counts[key].item<int64_t>(), 70);
}

}  // namespace
}  // namespace fovea::faithfulness::controls_test
