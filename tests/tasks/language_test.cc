// Texts whose next character follows by a rule: a network learns it, writes by it, and shows where
// it looks.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/explain/faithfulness/faithfulness.h"
#include "fovea/tasks/generate.h"
#include "fovea/tasks/pipeline.h"
#include "fovea/tasks/train.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

#ifdef FOVEA_WITH_ICU  // texts are cut into characters by it

namespace fovea::language_test {
namespace {

using testing::expect_error;
using testing::TemporaryFolder;

/// One run for all tests: lines such as "d7 d7", whose second digit is that of the first.
class Language : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TemporaryFolder;
    fovea::Setup setup("language");
    for (const char* assignment :
         {"data.pairs=1", "data.rows=1500", "data.validation_rows=50", "data.test_rows=50",
          "model.hidden=64", "model.heads=2", "model.layers=2", "model.maximum_length=18",
          "model.dropout=0", "model.attention_dropout=0", "training.steps=600",
          "training.learning_rate=0.003", "training.batch_size=32", "training.patience=0",
          "threads=1"})
      setup.set(assignment);
    RunFolder run(*folder / "run");
    TrainRequest request;
    request.folder = &run;
    const Training training = train(setup, request);
    evaluation = new Evaluation(training.evaluation);
    pipeline = new Pipeline(Pipeline::load(*folder / "run"));
  }
  static void TearDownTestSuite() {
    delete pipeline;
    delete evaluation;
    delete folder;
  }
  static GenerateOptions greedy(int64_t tokens) {
    GenerateOptions options;
    options.search.maximum_length = tokens;
    return options;
  }
  static std::string continued(const std::string& prompt, const GenerateOptions& options) {
    return TextGenerator(*pipeline).generate(pipeline->parse(prompt), options, {}).text;
  }

  static TemporaryFolder* folder;
  static Evaluation* evaluation;
  static Pipeline* pipeline;
};

TemporaryFolder* Language::folder = nullptr;
Evaluation* Language::evaluation = nullptr;
Pipeline* Language::pipeline = nullptr;

TEST_F(Language, KnowsWhatCountingCannot) {
  int right = 0;
  const std::vector<std::string> words{"a1", "b2", "c3", "d4", "e5", "f6", "g7", "h8", "i9", "j0"};
  for (const std::string& word : words)
    right += continued(word + " " + word.substr(0, 1), greedy(1)) == word.substr(1);
  EXPECT_GE(right, 9) << "of 10 digits that the line has named before";
  ASSERT_EQ(evaluation->baselines.size(), 3u);
  const double trigram = find_metric(evaluation->baselines[2].metrics, "loss")->value;
  EXPECT_LT(evaluation->find("loss")->value, 0.85 * trigram);
  // Of six characters a letter and a digit cannot be known: no network can be better.
  EXPECT_GT(evaluation->find("loss")->value, (std::log(26.0) + std::log(10.0)) / 6 - 0.02);
  EXPECT_NEAR(evaluation->find("bits_per_character")->value,
              evaluation->find("loss")->value / std::log(2.0), 1e-9);
  EXPECT_NEAR(evaluation->find("perplexity")->value, std::exp(evaluation->find("loss")->value),
              1e-9);
}

TEST_F(Language, TellsTokensAsTheyAreWritten) {
  std::string told;
  std::vector<int64_t> tokens;
  double sum = 0;
  GenerateOptions options = greedy(12);
  options.attention = true;
  const Example prompt = pipeline->parse("d7 ");
  const Decoded made =
      TextGenerator(*pipeline).generate(prompt, options, [&](const GeneratedToken& one) {
        told += one.text;
        tokens.push_back(one.token);
        sum += one.log_probability;
        ASSERT_EQ(one.attention.size(), 2u);
        for (const at::Tensor& layer : one.attention) {
          EXPECT_EQ(layer.sizes(), at::IntArrayRef({2, int64_t(2 + tokens.size())}));
          EXPECT_TRUE(layer.sum(1).allclose(at::ones({2}), 1e-4));
        }
      });
  EXPECT_EQ(told, made.text);
  EXPECT_EQ(tokens, made.tokens);
  EXPECT_NEAR(sum, made.log_probability, 1e-4);
  EXPECT_EQ(told.substr(0, 3), "d7\n");
}

TEST_F(Language, WritesBeyondItsPositions) {
  const std::string text = continued("d7 ", greedy(100));
  EXPECT_EQ(text.size(), 100u);
  int right = 0, lines = 0;
  for (const std::string& line : split(text.substr(3), '\n')) {
    if (line.size() != 5) continue;
    ++lines;
    right += line.substr(0, 2) == line.substr(3);
  }
  EXPECT_GE(lines, 14);
  EXPECT_GE(right, lines - 3) << text;
}

TEST_F(Language, StopsAtAWordThatIsNotPartOfTheText) {
  GenerateOptions options = greedy(100);
  options.stop = {"\n"};
  std::string told;
  const Decoded made = TextGenerator(*pipeline).generate(
      pipeline->parse("d7 "), options, [&](const GeneratedToken& one) { told += one.text; });
  EXPECT_EQ(made.text, "d7");
  EXPECT_EQ(told, "d7");
  EXPECT_EQ(made.tokens.size(), 3u);
}

TEST_F(Language, SeedsDecideWhatIsDrawn) {
  GenerateOptions options = greedy(40);
  options.search.method = "sample";
  const auto drawn = [&](int64_t seed) {
    options.search.seed = seed;
    return continued("d7 ", options);
  };
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(2));
  EXPECT_EQ(drawn(1).find("<unk>"), std::string::npos);
}

TEST_F(Language, ShowsTheTextThatItWrote) {
  const Example example = pipeline->parse("d7 ");
  const Explanation explanation = pipeline->explain(example);
  ASSERT_FALSE(explanation.maps.empty());
  const MapView& view = explanation.maps[0];
  EXPECT_EQ(view.queries(), 17u) << "18 positions, and nothing looks at the last token";
  EXPECT_EQ(view.key_labels[0], "d");
  EXPECT_EQ(view.key_labels[5], "\\n");
  ASSERT_EQ(explanation.axes.size(), 1u);
  const Axis& axis = explanation.axes[0];
  EXPECT_EQ(axis.text.substr(0, 6), "d7 d7\n");
  EXPECT_EQ(axis.text.size(), 18u);
  EXPECT_EQ(axis.spans[4].begin, 4);
}

TEST_F(Language, JudgesEachGeneratedToken) {
  const Pipeline short_texts =
      Pipeline::load(*folder / "run", "cpu", {"decoding.maximum_length=3"});
  std::vector<Example> examples;
  for (const char* prompt : {"d7 ", "k2 ", "a9 "}) examples.push_back(short_texts.parse(prompt));
  FaithfulnessOptions options;
  options.permutations = 20;
  const auto judged = measure_faithfulness(short_texts, examples, options);
  ASSERT_EQ(judged.size(), 1u);
  EXPECT_EQ(judged[0].output, "probability of each unit of the answer");
  double comprehensiveness = 0;
  for (const FaithfulnessMeasure& measure : judged[0].measures)
    if (measure.name == "comprehensiveness") comprehensiveness = measure.value.value_or(0);
  EXPECT_GT(comprehensiveness, 0.1);
}

TEST_F(Language, PromptsThatCannotBeContinuedAreRefused) {
  expect_error(ErrorKind::BadData, "empty", [] { pipeline->parse(R"({"text": ""})"); });
  expect_error(ErrorKind::BadData, "leaves no room",
               [] { continued(std::string(18, 'a'), greedy(1)); });
  expect_error(ErrorKind::BadData, "one text",
               [] { pipeline->parse(R"({"text": "a", "second": "b"})"); });
}

}  // namespace
}  // namespace fovea::language_test

#endif
