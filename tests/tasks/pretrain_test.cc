// The task pretrain end to end: training, answers, beginning from another run, going on exactly.
#include <gtest/gtest.h>
#include "fovea/tasks/hugging_face.h"
#include "fovea/tasks/nearest.h"
#include "fovea/tasks/pipeline.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"
#include "fovea/training/checkpoint.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/train_run.h"

namespace fovea::pretrain_test {
namespace {

using testing::expect_error;

class Pretrain : public ::testing::Test {
 protected:
  void SetUp() override {
#ifndef FOVEA_WITH_ICU
    GTEST_SKIP() << "needs ICU";
#endif
  }

  fovea::Setup small(const std::vector<std::string>& more = {}) {
    return testing::setup_of(
        "pretrain",
        {"config=tutorial", "data.rows=40", "data.validation_rows=8", "data.test_rows=4",
         "data.longest=48", "model.hidden=16", "model.layers=1", "model.heads=2",
         "model.maximum_length=64", "training.epochs=2", "training.warmup_steps=2"},
        more);
  }

  std::filesystem::path train_run(const std::string& name, fovea::Setup setup, bool resume = false,
                                  int64_t stop_after_rows = 0) {
    RunFolder run(folder / name);
    TrainRequest request;
    request.folder = &run;
    request.resume = resume;
    int64_t seen = 0;
    request.hooks.progress = [&](int64_t rows, double) { seen = rows; };
    request.hooks.should_stop = [&] { return stop_after_rows > 0 && seen >= stop_after_rows; };
    train(setup, request);
    return folder / name;
  }

  testing::TemporaryFolder folder;
};

TEST_F(Pretrain, TrainingLowersThePerplexity) {
  fovea::Setup setup = small({"training.epochs=12", "training.batch_size=32", "data.rows=200",
                              "training.learning_rate=0.003"});
  std::vector<double> perplexities;
  TrainRequest request;
  request.hooks.epoch_ended = [&](const EpochReport& report) {
    for (const Metric& metric : report.validation)
      if (metric.name == "masked_perplexity") perplexities.push_back(metric.value);
  };
  const Training training = train(setup, request);
  ASSERT_EQ(perplexities.size(), 12u);
  EXPECT_LT(perplexities.back(), 0.5 * perplexities.front());
  ASSERT_EQ(training.validation.size(), 4u);
  EXPECT_EQ(training.validation[0].name, "loss");
  EXPECT_EQ(training.validation[3].name, "next_accuracy");
}

TEST_F(Pretrain, AResumedTrainingEndsWithTheSameBits) {
  const auto whole = train_run("whole", small());
  const auto part = train_run("part", small(), false, 32);
  RunFolder folder_of_part(part);
  train_run("part", setup_of_run(folder_of_part), true);
  const auto one = read_safetensors(whole / "last.safetensors").tensors,
             two = read_safetensors(part / "last.safetensors").tensors;
  ASSERT_EQ(one.size(), two.size());
  for (const auto& [name, tensor] : one) EXPECT_TRUE(tensor.equal(two.at(name))) << name;
}

TEST_F(Pretrain, AnswersAreEmbeddingsAndWordsForMasks) {
  const Pipeline pipeline = Pipeline::load(train_run("run", small()));
  const std::vector<Example> examples = {
      pipeline.parse("Anna lives in Oslo ."), pipeline.parse("Anna feeds the [MASK] ."),
      pipeline.parse(""), pipeline.parse(R"({"text": "one", "second": "two"})")};
  const auto predictions = pipeline.predict(examples);
  for (size_t i = 0; i < examples.size(); ++i) {
    const Json answer = pipeline.task().answer(examples[i], predictions[i]);
    double squares = 0;
    for (const Json& number : answer["embedding"])
      squares += number.get<double>() * number.get<double>();
    EXPECT_NEAR(squares, 1, 1e-5);
  }
  EXPECT_FALSE(pipeline.task().answer(examples[0], predictions[0]).contains("masks"));
  const Json masks = pipeline.task().answer(examples[1], predictions[1])["masks"];
  ASSERT_EQ(masks.size(), 1u);
  EXPECT_EQ(masks[0]["words"].size(), 5u);
  EXPECT_EQ(examples[3].tensors.at("segments")[-1].item<int64_t>(), 1);
  EXPECT_THROW(pipeline.parse(R"({"words": 3})"), Error);
}

TEST_F(Pretrain, ALongTextIsCut) {
  const Pipeline pipeline = Pipeline::load(train_run("run", small()));
  std::string text;
  for (int i = 0; i < 300; ++i) text += "the cat ";
  const Example example = pipeline.parse(text);
  EXPECT_EQ(example.tensors.at("tokens").numel(), 64);
  ASSERT_EQ(example.cuts.size(), 1u);
  EXPECT_EQ(example.cuts[0].unit, "tokens");
  EXPECT_GE(example.cuts[0].of - example.cuts[0].read, 600 - 62);
  EXPECT_TRUE(pipeline.parse("the cat").cuts.empty());
  EXPECT_EQ(pipeline.predict({&example, 1}).size(), 1u);
}

TEST_F(Pretrain, BeginsFromARunOrAFolderWithItsSizesAndWords) {
  const auto first = train_run("first", small());
  write_hugging_face(folder / "exported", read_pretrained(first));
  const auto weights = read_checked_weights(first / "model.safetensors");
  for (const std::string name : {"first", "exported"}) {
    fovea::Setup setup("pretrain");
    for (const char* assignment : {"data.rows=20", "data.longest=32"}) setup.set(assignment);
    setup.set_from((folder / name).string());
    const auto second = folder / ("from " + name);
    RunFolder run(second);
    TrainRequest request;
    request.folder = &run;
    request.untrained = true;
    train(setup, request);
    const auto found = read_checked_weights(second / "model.safetensors");
    ASSERT_EQ(found.size(), weights.size());
    for (const auto& [key, tensor] : weights) EXPECT_TRUE(tensor.equal(found.at(key))) << key;
    EXPECT_EQ(read_pretrained(second).tokeniser->to_json(),
              read_pretrained(first).tokeniser->to_json());
    Pipeline::load(second);
  }
}

TEST_F(Pretrain, OtherSizesThanFromAreRefused) {
  const auto first = train_run("first", small());
  fovea::Setup setup = small({"model.hidden=32"});
  setup.set_from(first.string());
  expect_error(ErrorKind::InvalidArgument, {"model.hidden=32", "16 there"},
               [&] { train_run("second", std::move(setup)); });
  fovea::Setup nowhere("pretrain");
  expect_error(ErrorKind::NotFound, "--from",
               [&] { nowhere.set_from((folder / "nothing").string()); });
}

TEST_F(Pretrain, ReadsDocumentsFromFiles) {
  std::string text;
  for (int document = 0; document < 20; ++document)
    text += "The cat sat on the mat .\nIt was warm .\nThen the dog came in .\n\n";
  fovea::Setup setup = small({"data.vocabulary_size=60"});
  setup.set_source(folder.write("text.txt", text).string(), {});
  const auto run = train_run("run", std::move(setup));
  Pipeline pipeline = Pipeline::load(run);
  const Splits splits = pipeline.load_data((folder / "text.txt").string());
  ASSERT_NE(splits.test, nullptr);
  EXPECT_EQ(pipeline.measure(*splits.test).size(), 4u);
  fovea::Setup one = small();
  one.set_source(folder.write("one.txt", "only one\ndocument here\n").string(), {});
  expect_error(ErrorKind::BadData, "", [&] { train_run("one", std::move(one)); });
}

TEST_F(Pretrain, TooLongRowsForThePositionsAreRefused) {
  expect_error(ErrorKind::InvalidArgument, {"data.longest (100)", "64"},
               [&] { train_run("run", small({"data.longest=100"})); });
}

TEST_F(Pretrain, TextsAreFoundByTheirEmbeddings) {
  const Pipeline pipeline = Pipeline::load(train_run("run", small()));
  const std::vector<std::string> corpus = {"Anna lives in Oslo .", "the goat eats rice", "{",
                                           "At noon there is fog"};
  const at::Tensor known = embed(pipeline, corpus);  // [4, D]
  const auto found = nearest_neighbours(known, known, 1);
  for (size_t i = 0; i < corpus.size(); ++i) EXPECT_EQ(found[i][0].index, int64_t(i));
  // Alone or side by side: the same numbers.
  const Example example = pipeline.parse(corpus[1]);
  EXPECT_LT((embed(pipeline, std::span(&example, 1))[0] - known[1]).abs().max().item<double>(),
            1e-5);
}

}  // namespace
}  // namespace fovea::pretrain_test
