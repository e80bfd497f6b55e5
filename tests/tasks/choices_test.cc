// The task choices: Hugging Face folders with a head for multiple choice, and what is measured.
#include <gtest/gtest.h>

#include "fovea/models/bert_names.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/hugging_face.h"
#include "fovea/tasks/pipeline.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/golden.h"
#include "tests/support/tiny_networks.h"
#include "tests/support/train_run.h"

#ifdef FOVEA_WITH_ICU
#define NEEDS_ICU() static_cast<void>(0)
#else
#define NEEDS_ICU() GTEST_SKIP() << "built without ICU"
#endif

namespace fovea::choices_test {
namespace {

using testing::largest_difference;
using testing::TinyNetwork;

/// A tiny classifier as multiple choice: its head is the first row of the classifier's.
TinyNetwork tiny_chooser(const std::string& family) {
  TinyNetwork network(family + "-classifier");
  const std::string name = network.config["architectures"][0];
  network.config["architectures"] = {name.substr(0, name.find("For")) + "ForMultipleChoice"};
  for (const char* key : {"id2label", "label2id", "num_labels"}) network.config.erase(key);
  const std::string old = encoder_family(family).classifier;
  for (const char* part : {".weight", ".bias"}) {
    const at::Tensor whole = network.weights.extract(old + part).mapped();
    network.weights[std::string("classifier") + part] = whole.narrow(0, 0, 1).clone();
  }
  if (family == "bert")  // tells segments
    network.tokeniser_config = {{"tokenizer_class", "BertTokenizer"}};
  if (family == "roberta")  // a pooler of the encoder's own
    for (const char* part : {".weight", ".bias"}) {
      auto node = network.weights.extract(std::string("classifier.dense") + part);
      node.key() = std::string("roberta.pooler.dense") + part;
      network.weights.insert(std::move(node));
    }
  return network;
}

class ChoiceFolder : public ::testing::TestWithParam<std::string> {};

TEST_P(ChoiceFolder, AnswersAsPlainPyTorchDoes) {
  NEEDS_ICU();
  const testing::TemporaryFolder folder;
  tiny_chooser(GetParam()).write(folder / "net");
  const Pipeline pipeline = Pipeline::load(folder / "net");
  EXPECT_EQ(pipeline.task_name(), "choices");
  EXPECT_TRUE(pipeline.notes().empty());
  const Json golden = testing::golden("choices");
  for (size_t row = 0; row < golden["rows"].size(); ++row) {
    const Json& expected = golden[GetParam()][row];
    const Example example = pipeline.parse(golden["rows"][row].dump());
    const at::Tensor choice = example.tensors.at("choice"), tokens = example.tensors.at("tokens");
    const Prediction prediction = pipeline.predict({&example, 1}).front();
    const Json answer = pipeline.task().answer(example, prediction);
    EXPECT_EQ(answer["index"], expected["index"]);
    EXPECT_EQ(answer["choice"], golden["rows"][row]["choices"][expected["index"].get<size_t>()]);
    Tap tap;
    pipeline.replay_batch({&example, 1}, {&prediction, 1}, tap);
    const at::Tensor map = tap.maps().back().weights[0];  // [H, N, N]
    for (size_t c = 0; c < expected["inputs"].size(); ++c) {
      EXPECT_NEAR(answer["probabilities"][c], expected["probabilities"][c].get<double>(), 1e-5);
      const at::Tensor own =
          ((choice == 0) | (choice == int64_t(c) + 1)).nonzero().squeeze(1);  // places of the input
      const auto ids = expected["inputs"][c].get<std::vector<int64_t>>();
      EXPECT_TRUE(tokens.index_select(0, own).equal(at::tensor(ids, at::kLong))) << row << " " << c;
      if (int64_t(c) != expected["index"]) continue;
      for (size_t head = 0; head < expected["first_row"].size(); ++head) {
        const auto weights = expected["first_row"][head].get<std::vector<float>>();
        EXPECT_LT(
            largest_difference(map[int64_t(head)][0].index_select(0, own), at::tensor(weights)),
            1e-5);
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Tiny, ChoiceFolder, ::testing::Values("bert", "distilbert"),
                         [](const auto& info) { return info.param; });

class ChoiceNames : public ::testing::TestWithParam<std::string> {};

TEST_P(ChoiceNames, FoldersComeBackAsTheyWereRead) {
  NEEDS_ICU();
  const testing::TemporaryFolder folder;
  const TinyNetwork network = tiny_chooser(GetParam());
  network.write(folder / "net");
  write_hugging_face(folder / "copy", read_pretrained(folder / "net"));
  const auto written = read_safetensors(folder / "copy" / "model.safetensors").tensors;
  EXPECT_EQ(written.size(), network.weights.size());
  for (const auto& [name, tensor] : network.weights)
    EXPECT_TRUE(written.count(name) > 0 && written.at(name).equal(tensor)) << name;
  EXPECT_EQ(read_json_file(folder / "copy" / "config.json")["architectures"],
            network.config["architectures"]);
  const std::string input = "{\"question\": \"Who?\", \"choices\": [\"a man\", \"a dog\"]}";
  const auto answer_of = [&](const char* name) {
    const Pipeline pipeline = Pipeline::load(folder / name);
    const Example example = pipeline.parse(input);
    return pipeline.task().answer(example, pipeline.predict({&example, 1}).front());
  };
  EXPECT_EQ(answer_of("net"), answer_of("copy"));
}
INSTANTIATE_TEST_SUITE_P(Tiny, ChoiceNames, ::testing::Values("bert", "distilbert", "roberta"),
                         [](const auto& info) { return info.param; });

TEST(ChoicesTask, MeasuresBesideSimpleRules) {
  NEEDS_ICU();
  const testing::TemporaryFolder folder;
  tiny_chooser("bert").write(folder / "net");
  const auto data = folder.write(
      "test.jsonl",
      "{\"question\": \"a man and a dog\", \"choices\": [\"a dog\", \"an apple\"], \"answer\": 0}\n"
      "{\"question\": \"who?\", \"choices\": [\"he\", \"she\", \"everybody\"], \"answer\": 2}\n");
  Pipeline pipeline = Pipeline::load(folder / "net");
  const Evaluation evaluation = pipeline.evaluate(*pipeline.load_data(data.string()).test);
  EXPECT_EQ(evaluation.main, "accuracy");
  ASSERT_EQ(evaluation.baselines.size(), 3u);
  EXPECT_NEAR(evaluation.baselines[0].metrics[0].value, (1.0 / 2 + 1.0 / 3) / 2, 1e-9);
  EXPECT_NEAR(evaluation.baselines[1].metrics[0].value, 0.5, 1e-9);  // the longest: of the second
  EXPECT_NEAR(evaluation.baselines[2].metrics[0].value, (1 + 1.0 / 3) / 2, 1e-9);  // all alike
  for (const char* name : {"loss", "log_loss", "brier", "calibration_error"})
    EXPECT_NE(evaluation.find(name), nullptr) << name;
  ASSERT_TRUE(evaluation.interval.has_value());
}

TEST(ChoicesTask, LearnsWhichWordIsRight) {
  NEEDS_ICU();
  const testing::TemporaryFolder folder;
  std::string content;
  for (int i = 0; i < 300; ++i) {
    Json choices{concat("a bad thing ", i % 7), concat("an old thing ", i % 5)};
    choices.insert(choices.begin() + i % 3, concat("a good thing ", i % 6));
    content +=
        Json{{"question", concat("Which of ", i)}, {"choices", choices}, {"answer", i % 3}}.dump();
    content += '\n';
  }
  auto setup =
      testing::setup_of("choices", {"model.hidden=16", "model.heads=2", "training.epochs=6",
                                    "training.batch_size=16", "training.learning_rate=0.005"});
  setup.set_source(folder.write("train.jsonl", content).string(), {});
  const Training training = testing::train_run(std::move(setup), folder / "run");
  double accuracy = 0;
  for (const Metric& metric : training.validation)
    if (metric.name == "accuracy") accuracy = metric.value;
  EXPECT_GT(accuracy, 0.9);  // chance: .33
}

}  // namespace
}  // namespace fovea::choices_test
