// The headline figures of the tutorials, over several seeds, with room to spare: what a change that
// makes learning worse would lose first.
#include <gtest/gtest.h>

#include "fovea/tasks/train.h"

namespace fovea::tutorials_test {
namespace {

/// Metrics on the test rows, or on the validation rows where there are none.
std::map<std::string, double> learned(const std::string& task, int64_t seed,
                                      const std::vector<std::string>& assignments = {}) {
  Setup setup(task);
  setup.use_config("tutorial");
  setup.set("seed", std::to_string(seed));
  for (const std::string& assignment : assignments) setup.set(assignment);
  const Training training = train(setup, {});
  const Dataset& rows = training.splits.test ? *training.splits.test : *training.splits.validation;
  std::map<std::string, double> values;
  for (const Metric& metric : setup.task().measure(*training.model, rows))
    values[metric.name] = metric.value;
  return values;
}

TEST(Tutorials, FeatureAttentionFindsTheColumns) {
  for (int64_t seed = 0; seed < 3; ++seed) {
    const auto metrics = learned("features", seed);
    EXPECT_GT(metrics.at("accuracy"), 0.9) << "seed " << seed;
    EXPECT_GT(metrics.at("auc"), 0.97) << "seed " << seed;
    EXPECT_GT(metrics.at("attention_truth"), 0.4) << "seed " << seed << "; chance is 0.2";
  }
}

TEST(Tutorials, ContextAttentionFindsEveryPosition) {
  for (int64_t seed = 0; seed < 3; ++seed) {
    const auto metrics = learned("context", seed);
    EXPECT_EQ(metrics.at("positions_found"), 1) << "seed " << seed;
    EXPECT_LT(metrics.at("loss"), 1e-4) << "seed " << seed;
  }
}

TEST(Tutorials, MostDatesAreExact) {
#ifndef FOVEA_WITH_ICU
  GTEST_SKIP() << "needs ICU";
#endif
  const std::vector<std::string> small{"data.rows=3000",         "data.validation_rows=100",
                                       "data.test_rows=200",     "model.hidden=48",
                                       "model.embedding=24",     "training.epochs=8",
                                       "training.batch_size=32", "training.learning_rate=0.005"};
  for (int64_t seed = 0; seed < 2; ++seed) {
    const auto metrics = learned("dates", seed, small);
    EXPECT_GT(metrics.at("exact_match"), 0.9) << "seed " << seed;
    EXPECT_GT(metrics.at("attention_truth"), 0.6) << "seed " << seed;
  }
}

}  // namespace
}  // namespace fovea::tutorials_test
