// The task `translate`: what becomes of words that its vocabulary lacks, and answers in large
// numbers.
#include <gtest/gtest.h>

#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"
#include "tests/support/task_run.h"

namespace fovea::translate_test {
namespace {

using namespace testing;

Pipeline untrained(const TemporaryFolder& folder, const std::string& model,
                   const std::vector<std::string>& decoding = {}) {
  if (!std::filesystem::exists(folder / "run"))
    train_run(setup_of("translate", {"data.rows=50", "data.validation_rows=5", "data.test_rows=5",
                                     "training.steps=1", "data.tokens=words", "model.hidden=16",
                                     "model.name=" + model}),
              folder / "run");
  return Pipeline::load(folder / "run", "cpu", decoding);
}

/// What the task makes of outputs with unknown words at places 0 and 2.
std::vector<Prediction> finished(const Pipeline& pipeline, const std::vector<Example>& examples) {
  std::vector<Prediction> predictions(examples.size());
  const int64_t known = 4, unknown = 1, end = 3;
  for (Prediction& prediction : predictions)
    prediction.outputs = {{{unknown, known, unknown, known, end}, -1, ""}, {{known, end}, -2, ""}};
  pipeline.task().finish(pipeline.model(), examples, predictions);
  return predictions;
}

TEST(Translate, UnknownWordsAreCopiedFromWhereTheDecoderLooked) {
  for (const char* model : {"seq2seq", "transformer"}) {
    const TemporaryFolder folder;
    const Pipeline copies = untrained(folder, model);
    std::vector<Example> examples;  // more than are looked at together, of several lengths
    for (int i = 0; i < 40; ++i)
      examples.push_back(copies.parse(i % 2 == 0 ? "kwyx" : "kwyx kwyx kwyx"));
    for (const Prediction& prediction : finished(copies, examples)) {
      EXPECT_EQ(prediction.outputs[0].text.rfind("kwyx", 0), 0u) << prediction.outputs[0].text;
      EXPECT_NE(prediction.outputs[0].text.find(" kwyx", 4), std::string::npos);
      EXPECT_EQ(prediction.outputs[1].text.find("kwyx"), std::string::npos);
    }
    const Pipeline keeps = untrained(folder, model, {"decoding.copy_unknown=no"});
    EXPECT_EQ(finished(keeps, examples)[0].outputs[0].text.rfind("<unk>", 0), 0u) << model;
  }
}

TEST(Translate, AnswersStandInTheOrderOfTheInputsAtAnyNumberOfThreads) {
  const TemporaryFolder folder;
  const Pipeline pipeline = untrained(folder, "transformer", {"decoding.maximum_length=6"});
  std::vector<Example> examples;
  for (int i = 0; i < 300; ++i) {  // three batches
    std::string text = "the";
    for (int word = 0; word < i % 7; ++word) text += " man";
    examples.push_back(pipeline.parse(text));
  }
  std::vector<std::vector<int64_t>> alone;
  for (int i = 0; i < 7; ++i)
    alone.push_back(pipeline.predict({&examples[size_t(i)], 1})[0].outputs[0].tokens);
  for (const int64_t threads : {1, 2}) {
    set_threads(threads);
    const auto predictions = pipeline.predict(examples);
    ASSERT_EQ(predictions.size(), examples.size());
    for (size_t i = 0; i < predictions.size(); ++i)
      EXPECT_EQ(predictions[i].outputs[0].tokens, alone[i % 7]) << i;
  }
  set_threads(1);
}

}  // namespace
}  // namespace fovea::translate_test
