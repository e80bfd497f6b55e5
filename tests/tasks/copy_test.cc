// The task copy from its command line's side: built-in data, runs, inputs, answers.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/task_run.h"

namespace fovea::copy_test {
namespace {

using namespace testing;

Training trained(const TemporaryFolder& folder, const std::vector<std::string>& more = {}) {
  return train_run(setup_of("copy", more), folder / "run");
}

const std::vector<std::string> kSmall = {
    "data.rows=40",  "data.validation_rows=20", "data.test_rows=4", "data.longest=4",
    "data.bits=3",   "data.test_lengths=4,7",   "model.hidden=12",  "model.slots=8",
    "model.width=6", "training.epochs=1"};

TEST(CopyTask, AMachineLearnsToCopyShortSequences) {
  const TemporaryFolder folder;
  const Training training = trained(
      folder, {"data.rows=1600", "data.validation_rows=60", "data.test_rows=20", "data.bits=2",
               "data.longest=3", "data.test_lengths=3", "model.hidden=24", "model.slots=8",
               "model.width=8", "training.epochs=6", "training.learning_rate=0.01"});
  EXPECT_LT(metric(training.validation, "bit_error"), 0.1) << "chance is 0.5";
}

TEST(CopyTask, MeasuresEveryLength) {
  const TemporaryFolder folder;
  trained(folder, kSmall);
  Pipeline pipeline = Pipeline::load(folder.path() / "run");
  const Splits splits = pipeline.load_data("");
  const Metrics metrics = pipeline.measure(*splits.test);
  const double all = metric(metrics, "bit_error");
  EXPECT_NEAR(all, (4 * metric(metrics, "bit_error_4") + 7 * metric(metrics, "bit_error_7")) / 11,
              1e-9)
      << "4 sequences of each";
  EXPECT_NEAR(metric(metrics, "sequence_error"),
              (metric(metrics, "sequence_error_4") + metric(metrics, "sequence_error_7")) / 2,
              1e-9);
  EXPECT_NEAR(metric(metrics, "bits"), metric(metrics, "loss") / std::log(2.0) * 3 * 5.5, 1e-6);
  const LengthCurve curve = pipeline.task().measure_by_length(pipeline.model(), *splits.test);
  EXPECT_EQ(curve.buckets, (std::vector<std::string>{"4", "7"}));
  EXPECT_EQ(curve.counts, (std::vector<int64_t>{4, 4}));
  EXPECT_EQ(curve.length, "symbols");
}

TEST(CopyTask, AnswersInSymbols) {
  const TemporaryFolder folder;
  trained(folder, kSmall);
  const Pipeline pipeline = Pipeline::load(folder.path() / "run");
  const std::vector<Example> examples{pipeline.parse("011 100 111"),
                                      pipeline.parse("{\"symbols\": \"011 100 111\"}")};
  const auto answers = pipeline.predict(examples);
  const Json json = pipeline.task().answer(examples[0], answers[0]);
  EXPECT_EQ(json, pipeline.task().answer(examples[1], answers[1]));
  EXPECT_EQ(json["copy"].get<std::string>().size(), 11u);
  EXPECT_LT(json["log_probability"].get<double>(), 0);
  expect_error(ErrorKind::BadData, {"'01'", "no symbol of 3 bits"},
               [&] { pipeline.parse("011 01"); });
  expect_error(ErrorKind::BadData, {"symbols"}, [&] { pipeline.parse("{\"bits\": 3}"); });
  expect_error(ErrorKind::BadData, {"no symbol"}, [&] { pipeline.parse(""); });
}

TEST(CopyTask, ExplanationsShowBothKindsOfHeads) {
  const TemporaryFolder folder;
  trained(folder, kSmall);
  const Pipeline pipeline = Pipeline::load(folder.path() / "run");
  const Example example = pipeline.parse("011 100");
  const Explanation explanation = pipeline.explain(example);
  ASSERT_EQ(explanation.maps.size(), 2u);
  EXPECT_TRUE(explanation.notes.empty());
  for (const MapView& map : explanation.maps) {
    EXPECT_EQ(map.queries(), 5u);
    EXPECT_EQ(map.keys(), 8u);
    EXPECT_EQ(map.query_labels[0], "011");
    EXPECT_EQ(map.query_labels[2], "now");
    EXPECT_TRUE(map.query_labels[3].starts_with("→ "));
  }
  const std::vector<int64_t> slots{0, 1, 2, 3, 4, 5, 6, 7}, none{8};
  const auto answers = pipeline.predict(std::vector<Example>{example});
  Tap tap;
  EXPECT_FALSE(pipeline.replay(pipeline.erase(example, "slots", slots), answers[0], tap)
                   .allclose(pipeline.replay(example, answers[0], tap)));
  expect_error(ErrorKind::InvalidArgument, "slot 8",
               [&] { pipeline.erase(example, "slots", none); });
}

TEST(CopyTask, AnLstmHasNothingToShow) {
  const TemporaryFolder folder;
  trained(folder, {"model.name=lstm", "data.rows=40", "data.validation_rows=20", "data.test_rows=4",
                   "data.longest=4", "data.test_lengths=4,7", "model.hidden=12", "model.layers=1",
                   "training.epochs=1"});
  Pipeline pipeline = Pipeline::load(folder.path() / "run");
  const Splits splits = pipeline.load_data("");
  EXPECT_EQ(pipeline.predict(std::vector<Example>{splits.test->example(0)}).size(), 1u);
  expect_error(ErrorKind::Unsupported, {"model.name=ntm"},
               [&] { pipeline.overview(*splits.test); });
}

}  // namespace
}  // namespace fovea::copy_test
