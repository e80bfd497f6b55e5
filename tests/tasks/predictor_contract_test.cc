// What the Predictor of every task must do for explain/ and serving/, over the whole registry. A
// new task adds one row.
#include <gtest/gtest.h>
#include <torch/cuda.h>

#include <cmath>
#include <fstream>

#include "fovea/base/error.h"
#include "fovea/explain/faithfulness/faithfulness.h"
#include "fovea/tasks/pipeline.h"
#include "fovea/tasks/run_card.h"
#include "fovea/tensor/torch.h"
#include "tests/support/small_trainings.h"
#include "tests/support/temporary_folder.h"

namespace fovea::predictor_contract_test {
namespace {

using testing::SmallTraining;

class PredictorContract : public ::testing::TestWithParam<SmallTraining> {
 protected:
  void SetUp() override {
    if (!GetParam().can_run()) GTEST_SKIP() << "needs ICU or SentencePiece";
    pipeline.emplace(trained("run"));
    const Splits splits = pipeline->load_data("");
    const Dataset& rows = splits.validation ? *splits.validation : *splits.train;
    for (int64_t row = 0; row < 3; ++row) examples.push_back(rows.example(row));
    predictions = pipeline->predict(examples);
  }

  Pipeline trained(const std::string& name, int64_t threads = 1,
                   const std::string& device = "cpu") const {
    testing::train_small(GetParam(), folder.path() / name,
                         {concat("threads=", threads), "device=" + device});
    return Pipeline::load(folder.path() / name);
  }

  /// Of the newest epoch of a run.
  double training_loss(const std::string& name) const {
    std::ifstream lines(RunFolder(folder.path() / name).metrics());
    std::string line, last;
    while (std::getline(lines, line)) last = line;
    return Json::parse(last).at("loss").get<double>();
  }

  testing::TemporaryFolder folder;
  std::optional<Pipeline> pipeline;
  std::vector<Example> examples;
  std::vector<Prediction> predictions;
};

TEST_P(PredictorContract, ABatchReplaysAsEachAlone) {
  Tap together;
  const at::Tensor all = pipeline->replay_batch(examples, predictions, together);  // [B, U]
  for (int64_t i = 0; i < 3; ++i) {
    Tap tap;
    const at::Tensor one = pipeline->replay(examples[size_t(i)], predictions[size_t(i)], tap);
    EXPECT_TRUE(all[i].narrow(0, 0, one.size(0)).allclose(one, 1e-4, 1e-5)) << i;
    EXPECT_EQ(all[i].narrow(0, one.size(0), all.size(1) - one.size(0)).abs().sum().item<float>(),
              0);
  }
}

TEST_P(PredictorContract, TheNumberOfThreadsChangesNoBitOfATraining) {
  const Pipeline other = trained("other", 2);
  const auto weights = state_of(pipeline->model());
  for (const auto& [name, tensor] : state_of(other.model()))
    EXPECT_TRUE(tensor.equal(weights.at(name))) << name;
}

TEST_P(PredictorContract, GpuAnswersAndLearnsAsTheCpu) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  const Pipeline there = Pipeline::load(folder.path() / "run", "cuda");
  Tap tap, other;
  const at::Tensor expected = pipeline->replay_batch(examples, predictions, tap);
  EXPECT_TRUE(
      there.replay_batch(examples, predictions, other).cpu().allclose(expected, 1e-3, 1e-4));
  ASSERT_EQ(tap.maps().size(), other.maps().size());
  for (size_t i = 0; i < tap.maps().size(); ++i) {
    const at::Tensor own = tap.maps()[i].weights, others = other.maps()[i].weights;
    if (!own.defined() || !others.defined()) continue;
    EXPECT_TRUE(others.cpu().allclose(own, 1e-3, 1e-4)) << tap.maps()[i].name;
  }
  EXPECT_EQ(there.predict(examples).size(), examples.size());
  const Pipeline learned = trained("there", 1, "cuda");
  for (const auto& [name, tensor] : state_of(learned.model()))
    EXPECT_TRUE(!tensor.is_floating_point() || tensor.isfinite().all().item<bool>()) << name;
  // A GPU drops and draws other elements, so that more than rounding lies between the two.
  const double loss = training_loss("run");
  EXPECT_NEAR(training_loss("there"), loss, 0.25 * std::abs(loss) + 0.05);
}

TEST_P(PredictorContract, ErasingChangesTheOutputAndKeepsTheSizes) {
  const Example& example = examples[0];
  const auto units = int64_t(example.axis(GetParam().axis).labels.size());
  std::vector<int64_t> all(static_cast<size_t>(units));
  for (int64_t i = 0; i < units; ++i) all[size_t(i)] = i;
  const Example erased = pipeline->erase(example, GetParam().axis, all);
  EXPECT_EQ(erased.axis(GetParam().axis).labels, example.axis(GetParam().axis).labels);
  Tap tap;
  const at::Tensor before = pipeline->replay(example, predictions[0], tap),
                   after = pipeline->replay(erased, predictions[0], tap);
  EXPECT_EQ(before.sizes(), after.sizes());
  EXPECT_FALSE(before.equal(after));
  EXPECT_TRUE(pipeline->replay(pipeline->erase(example, GetParam().axis, {}), predictions[0], tap)
                  .equal(before))
      << "nothing erased, nothing changed";
  EXPECT_THROW(pipeline->erase(example, "no such axis", all), Error);
}

TEST_P(PredictorContract, ItsResultHasAnIntervalAndABaseline) {
  const Splits splits = pipeline->load_data("");
  const Dataset& rows = splits.validation ? *splits.validation : *splits.train;
  const Evaluation evaluation = pipeline->evaluate(rows);
  const Metric* main = evaluation.find(evaluation.main);
  ASSERT_NE(main, nullptr);
  if (const auto& interval = evaluation.interval) {
    EXPECT_LE(interval->low, interval->high);
    EXPECT_TRUE(std::isfinite(interval->half()));
    if (std::string(interval->method) == "wilson") {
      EXPECT_LE(interval->low, main->value + 1e-9);
      EXPECT_GE(interval->high, main->value - 1e-9);
    }
  } else {  // of very few rows of a class, which is said
    EXPECT_NE(join(evaluation.remarks()).find("too few for an interval"), std::string::npos)
        << evaluation.main;
  }
  const Json card = evaluation_card(evaluation, "validation", rows.size());
  ASSERT_FALSE(card["baselines"].empty()) << "no baseline has " << evaluation.main;
  for (const Json& baseline : card["baselines"]) EXPECT_TRUE(baseline["value"].is_number());
}

TEST_P(PredictorContract, TheUntrainedNetworkIsAnother) {
  const auto untrained = pipeline->randomised(7);
  ASSERT_NE(untrained, nullptr);
  Tap tap, other, again;
  pipeline->replay(examples[0], predictions[0], tap);
  untrained->replay(examples[0], predictions[0], other);
  pipeline->randomised(7)->replay(examples[0], predictions[0], again);
  ASSERT_EQ(tap.maps().size(), other.maps().size());
  EXPECT_FALSE(tap.maps()[0].weights.equal(other.maps()[0].weights));
  EXPECT_TRUE(again.maps()[0].weights.equal(other.maps()[0].weights)) << "the same for a seed";
}

TEST_P(PredictorContract, GradientsReachTheUnitsThatTheMapLooksAt) {
  Tap tap;
  pipeline->replay(examples[0], predictions[0], tap).sum().backward();
  ASSERT_EQ(tap.leaves().count(GetParam().axis), 1u);
  const Leaf& leaf = tap.leaves().at(GetParam().axis);
  EXPECT_GT(leaf.values.grad().abs().sum().item<double>(), 0);
  const int64_t units = leaf.unit_of.empty() ? leaf.values.size(1) : leaf.unit_of.back() + 1;
  // What was put out may be looked at, too.
  const Example described = pipeline->describe_output(examples[0], predictions[0]);
  EXPECT_EQ(units, int64_t(described.axis(GetParam().axis).labels.size()));
}

TEST_P(PredictorContract, FaithfulnessIsMeasured) {
  FaithfulnessOptions options;
  options.permutations = 5;
  const auto judged = measure_faithfulness(*pipeline, examples, options);
  ASSERT_FALSE(judged.empty());
  for (const Faithfulness& one : judged) {
    EXPECT_EQ(one.examples, 3);
    EXPECT_FALSE(one.verdict.empty());
    const bool refused = std::any_of(one.notes.begin(), one.notes.end(), [](const auto& note) {
      return note.find("are not judged") != std::string::npos ||  // places and edges say so
             note.find("cannot be erased") != std::string::npos;  // and what was written
    });
    EXPECT_EQ(one.curves.empty(), refused) << one.map;
    for (const FaithfulnessMeasure& measure : one.measures)
      EXPECT_TRUE(!measure.value || std::isfinite(*measure.value)) << measure.name;
  }
}

TEST_P(PredictorContract, ExampleInputsCanBeGivenBack) {
  const Json inputs = pipeline->folder().read_asset("examples.json");
  ASSERT_GT(inputs.size(), 0u);
  std::vector<Example> parsed;
  for (const Json& input : inputs)
    parsed.push_back(pipeline->parse(input.is_string() ? input.get<std::string>() : input.dump()));
  EXPECT_EQ(pipeline->predict(parsed).size(), inputs.size());
  // Numbers were shortened for people, texts were not. Usually a tensor is called as its axis.
  std::string name = GetParam().axis;
  for (const char* known : {"words", "units", "tokens", "source", "inputs", "user_words", "image",
                            "nodes", "codes", "pages"})
    if (examples[0].tensors.count(known)) name = known;
  ASSERT_TRUE(examples[0].tensors.count(name)) << "no tensor is called as the axis, " << name;
  const at::Tensor tensor = examples[0].tensors.at(name);
  if (tensor.is_floating_point())
    EXPECT_TRUE(parsed[0].tensors.at(name).allclose(tensor, 1e-2, 1e-2));
  else
    EXPECT_TRUE(parsed[0].tensors.at(name).equal(tensor));
}

TEST_P(PredictorContract, ExplanationsFitTheirAxes) {
  const Explanation explanation = pipeline->explain(examples[0], Heads::All);
  ASSERT_FALSE(explanation.maps.empty());
  EXPECT_FALSE(explanation.answer.is_null());
  for (const MapView& map : explanation.maps)
    for (const std::string& name : {map.query_axis, map.key_axis}) {
      const bool known = std::any_of(explanation.axes.begin(), explanation.axes.end(),
                                     [&](const Axis& axis) { return axis.name == name; });
      EXPECT_TRUE(known || name.empty()) << name;
    }
}

INSTANTIATE_TEST_SUITE_P(Tasks, PredictorContract, ::testing::ValuesIn(testing::kSmallTrainings),
                         [](const auto& row) { return row.param.name(); });

}  // namespace
}  // namespace fovea::predictor_contract_test
