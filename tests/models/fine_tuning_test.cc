#include "fovea/models/fine_tuning.h"

#include <gtest/gtest.h>

#include "fovea/models/bert_classifier.h"
#include "tests/support/expect_error.h"

namespace fovea::fine_tuning_test {
namespace {

using testing::expect_error;

double rate(const FineTuningOptions& options, const std::string& name) {
  return options.rule_of(name, "encoder.", 3).rate;
}

TEST(FineTuning, FreezesFromBelow) {
  const std::string from_below[] = {
      "encoder.tokens.weight", "encoder.encoder.layers.0.linear1.weight",
      "encoder.encoder.layers.1.self_attn.in_proj_weight", "encoder.encoder.layers.2.norm2.weight",
      "encoder.pooler.weight"};
  for (int64_t freeze = 0; freeze <= 4; ++freeze)
    for (int64_t depth = 0; depth < 5; ++depth)
      EXPECT_EQ(rate({freeze, 1}, from_below[depth]), depth < freeze ? 0 : 1)
          << freeze << " " << from_below[depth];
  for (const char* name : {"encoder.segments.weight", "encoder.positions.weight",
                           "encoder.norm.weight", "encoder.norm.bias"})
    EXPECT_EQ(rate({1, 1}, name), 0) << name;
  EXPECT_EQ(rate({4, 1}, "output.weight"), 1) << "the head always learns";
}

TEST(FineTuning, LowerLayersLearnLess) {
  const FineTuningOptions options{0, 0.5};
  EXPECT_DOUBLE_EQ(rate(options, "output.weight"), 1);
  EXPECT_DOUBLE_EQ(rate(options, "encoder.pooler.bias"), 1);
  EXPECT_DOUBLE_EQ(rate(options, "encoder.encoder.layers.2.linear1.weight"), 0.5);
  EXPECT_DOUBLE_EQ(rate(options, "encoder.encoder.layers.0.linear1.weight"), 0.125);
  EXPECT_DOUBLE_EQ(rate(options, "encoder.tokens.weight"), 0.0625);
}

TEST(FineTuning, BiasesAndNormsDoNotDecay) {
  const auto decays = [](const char* name) {
    return FineTuningOptions().rule_of(name, "encoder.", 3).decays;
  };
  EXPECT_TRUE(decays("encoder.tokens.weight"));
  EXPECT_TRUE(decays("encoder.encoder.layers.0.self_attn.in_proj_weight"));
  EXPECT_TRUE(decays("output.weight"));
  EXPECT_FALSE(decays("encoder.norm.weight"));
  EXPECT_FALSE(decays("encoder.encoder.layers.0.norm1.weight"));
  EXPECT_FALSE(decays("encoder.encoder.layers.0.self_attn.in_proj_bias"));
  EXPECT_FALSE(decays("encoder.encoder.layers.0.linear1.bias"));
  EXPECT_FALSE(decays("output.bias"));
}

TEST(FineTuning, EveryParameterOfAModelHasItsRule) {
  BertClassifierOptions options;
  options.encoder.layers = 2, options.encoder.hidden = 8, options.encoder.heads = 2;
  options.encoder.maximum_length = 8;
  options.fine_tuning = {2, 0.5};  // embeddings and the first layer
  BertClassifier model(options, {12, 2, 8, {}});
  int64_t frozen = 0, all = 0;
  for (const auto& item : model.named_parameters()) {
    const bool below = item.key().starts_with("encoder.") &&
                       item.key().find("layers.1.") == std::string::npos &&
                       item.key().find("pooler") == std::string::npos;
    EXPECT_EQ(model.rule_of(item.key()).rate == 0, below) << item.key();
    frozen += below, ++all;
  }
  EXPECT_EQ(frozen, 5 + 12);  // three tables, a norm; a layer
  EXPECT_EQ(all - frozen, 12 + 2 + 2);
}

TEST(FineTuning, RefusesToFreezeMoreThanThereIs) {
  FineTuningOptions{4, 1}.check(3);
  expect_error(ErrorKind::InvalidArgument, {"model.freeze=5", "3 layers"}, [] {
    FineTuningOptions{5, 1}.check(3);
  });
}

}  // namespace
}  // namespace fovea::fine_tuning_test
