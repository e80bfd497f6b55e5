// What a weight is made of: the products of query and key, scaled, with what is added, give the
// weights that the tap sees, whichever path computed them.
#include "fovea/attention/products.h"

#include <gtest/gtest.h>

#include "fovea/attention/multi_head.h"
#include "tests/attention/cases.h"

namespace fovea::products_test {
namespace {

using namespace testing;

constexpr int64_t kWidth = 8, kHeads = 4, kQueries = 5;
const at::Tensor kX = numbers({2, kQueries, kWidth}, "x");

std::shared_ptr<MultiHeadAttention> made(MultiHeadOptions options) {
  options.width = kWidth, options.heads = kHeads;
  auto module = std::make_shared<MultiHeadAttention>(options, Random(1));
  module->to(at::kDouble);
  return module;
}

/// The largest difference between the map's weights and those of the products.
double difference(const Tap& tap) {
  const AttentionMap& map = tap.maps().at(0);
  const auto products = tap.products(map);
  if (!products) return 1;
  double most = 0;
  for (int64_t example = 0; example < 2; ++example)
    for (int64_t head = 0; head < heads_of(map); ++head) {
      const at::Tensor weights = head_of(map, example, head);  // [Q, K]
      for (int64_t query = 0; query < weights.size(0); ++query) {
        const ProductRow row = products->row(example, head, query);
        most = std::max(most, (row.weights - weights[query]).abs().max().item<double>());
      }
    }
  return most;
}

/// Of a sequence that looks at itself, by the readable and by the fused path.
double difference(const MultiHeadOptions& options, const KeepMask& mask,
                  const at::Tensor& bias = {}) {
  torch::NoGradGuard no_gradients;
  const auto module = made(options);
  double most = 0;
  for (const Record record : {Record::Live, Record::OnDemand}) {
    Tap tap(record);
    tap.want_products();
    MultiHeadInput in;
    in.query = kX, in.mask = mask, in.bias = bias;
    in.keep_weights = record == Record::Live;
    module->forward_self(in, &tap);
    most = std::max(most, difference(tap));
  }
  return most;
}

TEST(Products, MakeTheWeightsOfEveryKindOfMultiHeadAttention) {
  const KeepMask padding = KeepMask::from_lengths(at::tensor({5, 3}, at::kLong), kQueries);
  const KeepMask causal = KeepMask::causal(kQueries, kQueries);
  EXPECT_LT(difference({}, KeepMask::all()), 1e-9);
  EXPECT_LT(difference({}, padding), 1e-9);
  EXPECT_LT(difference({}, padding & causal), 1e-9);
  MultiHeadOptions grouped;
  grouped.key_heads = 2;
  EXPECT_LT(difference(grouped, causal), 1e-9);
  for (const char* positions : {"rotary", "alibi"}) {
    MultiHeadOptions options;
    options.positions = positions;
    EXPECT_LT(difference(options, causal), 1e-9) << positions;
  }
  EXPECT_LT(difference({}, causal, numbers({1, kHeads, kQueries, kQueries}, "bias")), 1e-9);
  for (const char* normaliser : {"smoothing", "temperature", "top-k", "sparsemax", "gate"}) {
    MultiHeadOptions options;
    options.normaliser.name = normaliser;
    options.normaliser.top_k = 2;
    EXPECT_LT(difference(options, padding), 1e-9) << normaliser;
  }
  for (const char* score : {"dot", "general"}) {
    MultiHeadOptions options;
    options.score.name = score;
    EXPECT_LT(difference(options, padding), 1e-9) << score;
  }
}

TEST(Products, TellTheTermsApart) {
  torch::NoGradGuard no_gradients;
  MultiHeadOptions options;
  options.positions = "alibi";
  Tap tap;
  tap.want_products();
  MultiHeadInput in;
  in.query = kX, in.bias = numbers({1, kHeads, kQueries, kQueries}, "bias");
  made(options)->forward_self(in, &tap);
  const ProductRow row = tap.products(tap.maps()[0])->row(1, 2, 3);
  ASSERT_EQ(row.terms.size(), 2u);
  EXPECT_EQ(row.terms[0].name, "position bias");
  EXPECT_TRUE(row.terms[0].values.allclose(in.bias[0][2][3]));
  EXPECT_EQ(row.terms[1].name, "distance");
  EXPECT_TRUE(row.terms[1].values.allclose(at::tensor({3., 2., 1., 0., 1.}) *
                                           -alibi_slopes(kHeads)[2].item<double>()));
  EXPECT_NEAR(row.scale, 1 / std::sqrt(2.), 1e-12);
}

TEST(Products, AreNotKeptWithoutBeingAskedForOrWhereThereAreNone) {
  torch::NoGradGuard no_gradients;
  Tap silent;
  MultiHeadInput in;
  in.query = kX;
  made({})->forward_self(in, &silent);
  EXPECT_EQ(silent.products(silent.maps()[0]), nullptr);
  MultiHeadOptions additive, drawn;
  additive.score.name = "additive";
  drawn.normaliser.name = "hard";
  for (const MultiHeadOptions& options : {additive, drawn}) {
    Tap tap;
    tap.want_products();
    made(options)->forward_self(in, &tap);
    EXPECT_EQ(tap.products(tap.maps()[0]), nullptr) << options.score.name;
  }
}

TEST(Products, StepsArePutTogether) {
  torch::NoGradGuard no_gradients;
  const auto module = made({});
  Tap whole;
  whole.want_products();
  StepTap steps(whole);
  const Memory memory = module->remember(kX, kX, KeepMask::all());
  for (int64_t step = 0; step < 3; ++step) {
    MultiHeadInput in;
    in.query = kX.narrow(1, step, 1), in.memory = memory, in.first_position = step;
    module->forward(in, &steps);
  }
  steps.finish();
  EXPECT_LT(difference(whole), 1e-9);
}

TEST(Products, KeysSpreadOverMoreAreHiddenElsewhere) {
  ProductRow row;
  row.query = at::ones({2}), row.keys = at::ones({3, 2});
  row.keep = at::ones({3}, at::kBool);
  row.scores = row.weights = at::tensor({1., 2., 3.}, at::kDouble);
  const ProductRow wide =
      spread_keys(row, at::tensor({0, 2}, at::kLong), at::tensor({1, 4}, at::kLong), 6);
  EXPECT_TRUE(wide.weights.equal(at::tensor({0., 1., 0., 0., 3., 0.}, at::kDouble)));
  EXPECT_EQ(wide.keep.sum().item<int64_t>(), 2);
  EXPECT_EQ(wide.keys.size(0), 6);
}

}  // namespace
}  // namespace fovea::products_test
