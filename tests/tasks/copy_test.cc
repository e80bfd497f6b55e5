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

/// Of a kind that trains in a second.
std::vector<std::string> small_of(const std::string& kind, const std::vector<std::string>& more) {
  std::vector<std::string> options{
      "data.kind=" + kind, "data.rows=40",  "data.validation_rows=8", "data.test_rows=4",
      "model.hidden=12",   "model.slots=8", "model.width=6",          "training.epochs=1"};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

TEST(CopyTask, AMachineLearnsToRepeat) {
  const TemporaryFolder folder;
  const Training training =
      trained(folder, {"data.kind=repeat-copy", "data.rows=1600", "data.validation_rows=60",
                       "data.test_rows=10", "data.bits=2", "data.longest=2", "data.most_repeats=2",
                       "data.test_lengths=2", "data.test_repeats=2", "model.hidden=24",
                       "model.controller=lstm", "model.slots=8", "model.width=8",
                       "training.epochs=6", "training.learning_rate=0.01"});
  const Evaluation& evaluation = training.evaluation;
  EXPECT_EQ(evaluation.main, "bits");
  const double bits = metric(training.validation, "bits");
  ASSERT_EQ(evaluation.baselines.size(), 1u);
  EXPECT_LT(bits, 0.5 * metric(evaluation.baselines[0].metrics, "bits")) << "chance";
}

TEST(CopyTask, RepeatsAreMeasuredByLengthAndNumber) {
  const TemporaryFolder folder;
  trained(folder, small_of("repeat-copy", {"data.longest=3", "data.most_repeats=3", "data.bits=3",
                                           "data.test_lengths=2,4", "data.test_repeats=1,5"}));
  Pipeline pipeline = Pipeline::load(folder.path() / "run");
  const Splits splits = pipeline.load_data("");
  const Metrics metrics = pipeline.measure(*splits.test);
  double sum = 0;
  for (const char* size : {"2x1", "2x5", "4x1", "4x5"}) {
    sum += metric(metrics, concat("bits_", size));
    EXPECT_GE(metric(metrics, concat("sequence_error_", size)), 0);
  }
  EXPECT_NEAR(sum / 4, metric(metrics, "bits"), 1e-6) << "4 sequences of each";
  const LengthCurve curve = pipeline.task().measure_by_length(pipeline.model(), *splits.test);
  EXPECT_EQ(curve.buckets, (std::vector<std::string>{"2x1", "2x5", "4x1", "4x5"}));
  const Evaluation evaluation = pipeline.evaluate(*splits.test);
  const double truth = metric(evaluation.metrics, "attention_truth");
  EXPECT_TRUE(truth >= 0 && truth <= 1) << truth;
  const std::vector<Example> one{pipeline.parse("011 100 x2")};
  const Json answer = pipeline.task().answer(one[0], pipeline.predict(one)[0]);
  EXPECT_EQ(split(answer["copies"].get<std::string>(), ' ').size(), 5u) << "and the end";
}

TEST(CopyTask, GuessesStandBesideTheOptimalOnes) {
  const TemporaryFolder folder;
  trained(folder, small_of("ngrams", {"data.longest=30", "data.test_lengths=30", "data.order=3"}));
  Pipeline pipeline = Pipeline::load(folder.path() / "run");
  const Splits splits = pipeline.load_data("");
  const Evaluation evaluation = pipeline.evaluate(*splits.test);
  EXPECT_EQ(evaluation.main, "bits");
  EXPECT_EQ(find_metric(evaluation.metrics, "sequence_error"), nullptr);
  ASSERT_EQ(evaluation.baselines.size(), 2u);
  EXPECT_EQ(metric(evaluation.baselines[0].metrics, "bits"), 30);
  const BaselineResult& optimal = evaluation.baselines[1];
  EXPECT_EQ(optimal.name, "optimal");
  EXPECT_LT(metric(optimal.metrics, "bits"), 30);
  EXPECT_GT(metric(optimal.metrics, "bits"), 2) << "the first two bits cannot be known";
  for (const std::string& remark : evaluation.remarks())
    EXPECT_EQ(remark.find("optimal"), std::string::npos) << "nobody has to beat it: " << remark;
  const std::vector<Example> one{pipeline.parse("0110100")};
  const Json answer = pipeline.task().answer(one[0], pipeline.predict(one)[0]);
  EXPECT_EQ(answer["guesses"].get<std::string>().size(), 7u);
  EXPECT_EQ(pipeline.explain(one[0]).maps[0].query_labels[0].find("begin → "), 0u);
}

TEST(CopyTask, AnswersOfRecallAndSorting) {
  const TemporaryFolder folder;
  trained(folder,
          small_of("associative-recall", {"data.longest=3", "data.bits=3", "data.item_length=2",
                                          "data.test_lengths=3,5", "model.heads=2"}));
  const Pipeline recall = Pipeline::load(folder.path() / "run");
  const std::vector<Example> items{recall.parse("011 100 | 111 010 ? 011 100")};
  EXPECT_EQ(
      recall.task().answer(items[0], recall.predict(items)[0])["item"].get<std::string>().size(),
      7u);
  EXPECT_EQ(recall.explain(items[0]).maps.size(), 2u);
  expect_error(ErrorKind::BadData, "asks for nothing", [&] { recall.parse("011 100"); });
  const TemporaryFolder other;
  trained(other, small_of("priority-sort", {"data.longest=4", "data.bits=3", "data.highest=2",
                                            "data.test_lengths=4"}));
  const Pipeline sorting = Pipeline::load(other.path() / "run");
  const std::vector<Example> symbols{sorting.parse("011@1 100@-0.5 111@0.5")};
  EXPECT_EQ(sorting.task()
                .answer(symbols[0], sorting.predict(symbols)[0])["sorted"]
                .get<std::string>()
                .size(),
            7u)
      << "the highest two";
}

}  // namespace
}  // namespace fovea::copy_test
