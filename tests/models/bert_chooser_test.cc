// BERT that chooses: rows of different numbers of choices side by side, and maps of frames as one.
#include "fovea/models/bert_chooser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fovea/tensor/torch.h"
#include "tests/support/golden.h"

namespace fovea::bert_chooser_test {
namespace {

using at::Tensor;
using testing::largest_difference;

/// Two shared tokens; choices of 2 and 3 tokens, and of another row 1, 2 and 1.
Batch two_questions() {
  const Tensor tokens =
      at::tensor({1, 5, 6, 2, 7, 8, 2, 1, 4, 2, 9, 2, 2, 0}, at::kLong).view({2, 7});
  const Tensor segments =
      at::tensor({0, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0}, at::kLong).view({2, 7});
  const Tensor frames = at::tensor({0, 1, 2, 3,  -1, 0, 1, 4, 5, 6,  -1, -1, -1, -1, -1,
                                    0, 1, 2, -1, -1, 0, 1, 3, 4, -1, 0,  1,  5,  -1, -1},
                                   at::kLong)
                            .view({2, 3, 5});
  return {{{"tokens", tokens},
           {"segments", segments},
           {"tokens.keep", (tokens > 0)},
           {"frames", frames},
           {"target", at::tensor({1, 2}, at::kLong)}},
          2};
}

Batch row_of(const Batch& batch, int64_t row) {
  Batch one{{}, 1};
  for (const auto& [name, tensor] : batch.tensors) one.tensors[name] = tensor.narrow(0, row, 1);
  return one;
}

BertChooser chooser() {
  BertChooserOptions options;
  BertOptions& o = options.encoder;
  o.layers = 2, o.hidden = 8, o.heads = 2, o.feed_forward = 8, o.maximum_length = 8;
  BertChooser model(options, 10, 8);
  model.initialise(Random(3));
  torch::NoGradGuard no_gradients;
  for (auto& item : model.named_parameters()) item.value().mul_(item.value().dim() == 2 ? 20 : 1);
  model.eval();
  return model;
}

TEST(BertChooser, RowsDoNotSeeEachOther) {
  const BertChooser model = chooser();
  const Batch batch = two_questions();
  const Predictions both = model.predict(batch);
  ASSERT_EQ(both.outputs[0].size(), 2u);
  ASSERT_EQ(both.outputs[1].size(), 3u);
  for (int64_t row = 0; row < 2; ++row) {
    const Predictions alone = model.predict(row_of(batch, row));
    double sum = 0;
    for (size_t c = 0; c < alone.outputs[0].size(); ++c) {
      // By choice and not by place: two that are as good to the last bits may change places.
      const Decoded& one = alone.outputs[0][c];
      const auto other = std::ranges::find(both.outputs[size_t(row)], one.tokens, &Decoded::tokens);
      ASSERT_NE(other, both.outputs[size_t(row)].end());
      EXPECT_NEAR(one.log_probability, other->log_probability, 1e-5);
      sum += std::exp(one.log_probability);
    }
    EXPECT_NEAR(sum, 1, 1e-6);
    EXPECT_GE(alone.outputs[0][0].log_probability, alone.outputs[0][1].log_probability);
  }
}

TEST(BertChooser, MapsAreOfOneSequence) {
  const BertChooser model = chooser();
  const Batch batch = two_questions();
  const Predictions predictions = model.predict(batch);
  Tap tap;
  const Tensor log_p = model.replay(batch, predictions, &tap);  // [B, 1]
  for (int64_t row = 0; row < 2; ++row)
    EXPECT_NEAR(log_p[row][0].item<double>(), predictions.outputs[size_t(row)][0].log_probability,
                1e-5);
  ASSERT_EQ(tap.maps().size(), 2u);
  const Tensor map = tap.maps()[1].weights;  // [B, H, N, N]
  EXPECT_EQ(map.sizes(), (at::IntArrayRef{2, 2, 7, 7}));
  const Tensor real = batch.at("tokens.keep").unsqueeze(1).to(at::kFloat);
  EXPECT_LT(largest_difference(map.sum(-1), real.expand({2, 2, 7})), 1e-5);
  // A choice's tokens see nothing of the other choices; [CLS] nothing but the chosen one.
  EXPECT_EQ(map[0].narrow(1, 2, 2).narrow(2, 4, 3).abs().max().item<float>(), 0);
  const bool first = predictions.outputs[0][0].tokens[0] == 0;
  EXPECT_EQ(map[0].select(1, 0).narrow(1, first ? 4 : 2, first ? 3 : 2).abs().max().item<float>(),
            0);
  EXPECT_GT(map[0].select(1, 0).narrow(1, first ? 2 : 4, 2).min().item<float>(), 0);

  Tap on_demand(Record::OnDemand);
  model.replay(batch, predictions, &on_demand);
  for (size_t layer = 0; layer < 2; ++layer)
    EXPECT_LT(largest_difference(dense_weights(on_demand.maps()[layer]), tap.maps()[layer].weights),
              1e-5);
}

TEST(BertChooser, WhatATapReplacesCounts) {
  const BertChooser model = chooser();
  const Batch batch = two_questions();
  const Predictions predictions = model.predict(batch);
  const auto replayed = [&](const Tap::Replacement& replacement) {
    Tap tap;
    tap.replace("attention", replacement);
    return model.replay(batch, predictions, &tap);
  };
  const Tensor same = replayed([](const AttentionMap& map) { return map.weights.clone(); });
  const Tensor plain = model.replay(batch, predictions, nullptr);
  EXPECT_LT(largest_difference(same, plain), 1e-5);
  const Tensor none = replayed([](const AttentionMap& map) { return at::zeros_like(map.weights); });
  EXPECT_GT(largest_difference(none, plain), 1e-3);
}

TEST(BertChooser, GradientsReachSharedTokensOnce) {
  const BertChooser model = chooser();
  const Batch batch = two_questions();
  Tap tap;
  const Tensor log_p = model.replay(batch, model.predict(batch), &tap);
  const Tensor leaf = tap.leaves().at("tokens").values;
  EXPECT_EQ(leaf.sizes(), (at::IntArrayRef{2, 7, 8}));
  const Tensor gradient = torch::autograd::grad({log_p.sum()}, {leaf})[0];
  EXPECT_GT(gradient[0][1].abs().sum().item<double>(), 0);
  EXPECT_EQ(gradient[1][6].abs().sum().item<double>(), 0);  // padding
}

}  // namespace
}  // namespace fovea::bert_chooser_test
