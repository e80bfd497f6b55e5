// The task `documents` from files to answers.
#include <gtest/gtest.h>
#include "fovea/base/file.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/task_run.h"

#ifdef FOVEA_WITH_ICU

namespace fovea::documents_test {
namespace {

using namespace testing;

const Assignments kSmall = {"model.name=bert",   "data.rows=200",    "data.validation_rows=20",
                            "data.test_rows=20", "model.layers=1",   "model.hidden=16",
                            "model.heads=2",     "training.epochs=1"};
const Assignments kSmallHan = {"model.name=han",    "data.rows=200",      "data.validation_rows=20",
                               "data.test_rows=20", "model.embedding=16", "model.hidden=8",
                               "training.epochs=1"};

Pipeline trained(const TemporaryFolder& folder, const Assignments& assignments,
                 const std::filesystem::path& data = {}) {
  return trained_pipeline(setup_of("documents", kSmall, assignments), folder, data);
}

Pipeline trained_han(const TemporaryFolder& folder, const Assignments& assignments,
                     const std::filesystem::path& data = {}) {
  return trained_pipeline(setup_of("documents", kSmallHan, assignments), folder, data);
}

TEST(Documents, LearnsWhoJudges) {
  const TemporaryFolder folder;
  Pipeline pipeline =
      trained(folder, {"data.rows=2000", "data.negated=0", "model.layers=2", "model.hidden=32",
                       "training.epochs=12", "training.learning_rate=0.002", "model.dropout=0",
                       "model.attention_dropout=0"});
  Splits splits = pipeline.load_data("");
  const Metrics metrics = pipeline.measure(*splits.validation);
  EXPECT_EQ(metrics[1].name, "accuracy");
  EXPECT_GT(metrics[1].value, 0.9);
  EXPECT_EQ(answer(pipeline, "My brother found it dull. I found it wonderful.")["class"], "praise");
}

TEST(Documents, AnswersTextsAndObjects) {
  const TemporaryFolder folder;
  const Pipeline pipeline = trained(folder, {});
  const Json plain = answer(pipeline, "I found it dull.");
  EXPECT_EQ(plain, answer(pipeline, R"({"text": "I found it dull."})"));
  EXPECT_NEAR(plain["scores"]["praise"].get<double>() + plain["scores"]["blame"].get<double>(), 1,
              1e-6);
  EXPECT_TRUE(answer(pipeline, "").contains("class")) << "an empty text has an answer too";
  EXPECT_TRUE(answer(pipeline, std::string(5000, 'x')).contains("class"));
  expect_error(ErrorKind::BadData, "\"text\"", [&] { pipeline.parse(R"({"texts": "a"})"); });
  expect_error(ErrorKind::BadData, "UTF-8", [&] { pipeline.parse("a\xff\xfe"); });
}

TEST(Documents, PairsComeWithATabOrAsAnObject) {
  const TemporaryFolder folder;
  std::string text = "text\tsecond\tlabel\n";
  for (int i = 0; i < 20; ++i)
    text += concat("a number ", i, "\ta number ", i % 2 ? i : i + 1, "\t", i % 2 ? "same" : "other",
                   "\n");
  write_file(folder / "pairs.tsv", text);
  const Pipeline pipeline = trained(folder, {}, folder / "pairs.tsv");
  EXPECT_EQ(answer(pipeline, "a\tb"), answer(pipeline, R"({"text": "a", "second": "b"})"));
  EXPECT_EQ(pipeline.task().input_schema()["type"], "object");
  expect_error(ErrorKind::BadData, "tab", [&] { pipeline.parse("only one"); });
  expect_error(ErrorKind::BadData, "second", [&] { pipeline.parse(R"({"text": "a"})"); });
}

TEST(Documents, LongTextsAreCutReadInWindowsOrRefused) {
  const std::string text =
      "I found it wonderful. We sat in the last row. The critics called it dull.";
  for (const std::string too_long : {"cut", "windows", "refuse"}) {
    const TemporaryFolder folder;
    const std::vector<std::string> options = {"data.longest=12", "data.overlap=2",
                                              "data.too_long=" + too_long};
    if (too_long == "refuse") {
      expect_error(ErrorKind::BadData, "too_long", [&] { trained(folder, options); });
      continue;
    }
    const Pipeline pipeline = trained(folder, options);
    const Example example = pipeline.parse(text);
    const auto tokens = int64_t(example.axis("tokens").labels.size());
    EXPECT_EQ(tokens > 12, too_long == "windows");
    const Explanation explanation = pipeline.explain(example, Heads::All);
    EXPECT_EQ(int64_t(explanation.maps.at(0).keys()), tokens);
    const std::vector<Prediction> answers = pipeline.predict({&example, 1});
    Tap tap;
    EXPECT_NEAR(pipeline.replay(example, answers[0], tap)[0].item<double>(),
                answers[0].scores.max().log().item<double>(), 1e-4);
  }
}

TEST(Documents, FrozenPartsStay) {
  const TemporaryFolder folder;
  const Pipeline pipeline = trained(folder, {"model.freeze=1"});
  const auto fresh = pipeline.task().make_model();
  fresh->initialise(Random(0).split("weights"));
  const auto parameter = [](const Model& model, const std::string& name) {
    return model.named_parameters()[name];
  };
  EXPECT_TRUE(parameter(pipeline.model(), "encoder.tokens.weight")
                  .equal(parameter(*fresh, "encoder.tokens.weight")));
  EXPECT_FALSE(
      parameter(pipeline.model(), "output.weight").equal(parameter(*fresh, "output.weight")));
}

TEST(Documents, RefusesSizesThatContradictEachOther) {
  const TemporaryFolder folder;
  expect_error(ErrorKind::InvalidArgument, "data.longest", [&] {
    trained(folder, {"model.maximum_length=64", "data.longest=65"});
  });
}

TEST(DocumentsHan, FindsSentencesAndWordsThatDecide) {
  const TemporaryFolder folder;
  Pipeline pipeline =
      trained_han(folder, {"data.rows=4000", "data.validation_rows=200", "training.epochs=3",
                           "model.embedding=200", "model.hidden=50"});
  const Metrics metrics = pipeline.measure(*pipeline.load_data("").validation);
  EXPECT_GT(metric(metrics, "accuracy"), 0.95);
  EXPECT_GT(metric(metrics, "attention_truth_sentences"), 0.8);
  EXPECT_GT(metric(metrics, "attention_truth_words"), 0.8);
  EXPECT_EQ(answer(pipeline,
                   "The guide calls the soup dreadful every year. We found the wine "
                   "superb this time.")["class"],
            "praise");
}

TEST(DocumentsHan, ExplainsBothLevels) {
  const TemporaryFolder folder;
  const Pipeline pipeline = trained_han(folder, {});
  const Example example = pipeline.parse("We found the soup superb. It rained 😀.");
  const Explanation explanation = pipeline.explain(example, Heads::All);
  ASSERT_EQ(explanation.maps.size(), 2u);
  EXPECT_TRUE(explanation.notes.empty());
  ASSERT_EQ(explanation.axes.size(), 3u);
  EXPECT_EQ(explanation.axes[0].labels[0], explanation.answer["class"].get<std::string>());
  EXPECT_EQ(explanation.axes[2].parent, "sentences");
  for (const MapView& map : explanation.maps)
    EXPECT_EQ(map.keys(), map.name == "words" ? 10u : 2u) << map.name;
}

TEST(DocumentsHan, OddTextsHaveAnAnswerToo) {
  const TemporaryFolder folder;
  const Pipeline pipeline = trained_han(folder, {});
  std::string endless;
  for (int i = 0; i < 100000; ++i) endless += i % 20 == 0 ? "end. " : "word ";
  for (const std::string& text : {std::string(), std::string("word"), std::string("😀😀"), endless})
    EXPECT_TRUE(answer(pipeline, text).contains("class")) << text.substr(0, 20);
  const std::vector<Cut> cuts = pipeline.parse(endless).cuts;
  ASSERT_EQ(cuts.size(), 1u);
  EXPECT_EQ(cuts[0].unit, "words");
  EXPECT_GT(cuts[0].of - cuts[0].read, 80000);
  EXPECT_TRUE(pipeline.explain(pipeline.parse(""), Heads::All).maps.empty());
  expect_error(ErrorKind::BadData, "UTF-8", [&] { pipeline.parse("a\xff\xfe"); });
}

TEST(DocumentsHan, BeginsWithWordVectors) {
  const TemporaryFolder folder;
  write_file(folder / "vectors.txt", "superb 1 2 3\nabsent 4 5 6\n");
  const std::string vectors = "data.vectors=" + (folder / "vectors.txt").string();
  expect_error(ErrorKind::InvalidArgument, {"3 numbers", "model.embedding=16"},
               [&] { trained_han(folder, {vectors}); });
  const Pipeline pipeline =
      trained_han(folder, {vectors, "model.embedding=200", "training.learning_rate=1e-9"});
  const at::Tensor words = pipeline.model().named_parameters()["words.weight"];
  EXPECT_EQ(words.size(1), 3) << "the vectors set it";
  const auto superb = pipeline.parse("superb").tensors.at("words")[0].item<int64_t>();
  EXPECT_TRUE(words[superb].allclose(torch::tensor({1.0f, 2.0f, 3.0f}), 1e-4, 1e-4));
}

TEST(DocumentsHan, RefusesWhatItCannotRead) {
  const TemporaryFolder folder;
  write_file(folder / "pairs.tsv", "text\tsecond\tlabel\na\tb\t1\nc\td\t0\ne\tf\t1\ng\th\t0\n");
  expect_error(ErrorKind::BadData, "pairs", [&] { trained_han(folder, {}, folder / "pairs.tsv"); });
  fovea::Setup setup("documents");
  setup.set("model.name=han");
  expect_error(ErrorKind::InvalidArgument, "data.vectors",
               [&] { setup.task().load_pretrained(folder.path()); });
}

}  // namespace
}  // namespace fovea::documents_test

#endif
