// The task `tag` from files to answers, with both models.
#include <gtest/gtest.h>
#include "fovea/base/file.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/task_run.h"

namespace fovea::tag_test {
namespace {

using namespace testing;

Pipeline trained(const TemporaryFolder& folder, const std::vector<std::string>& assignments,
                 const std::filesystem::path& data = {}) {
  const Assignments small{"data.rows=100", "data.validation_rows=20", "data.test_rows=20",
                          "training.epochs=1"};
  return trained_pipeline(setup_of("tag", small, assignments), folder, data);
}

const std::vector<std::string> kLstm = {"model.hidden=8", "model.embedding=8"};
const std::vector<std::string> kBert = {"model.name=bert", "model.layers=1", "model.hidden=16",
                                        "model.heads=2"};

TEST(Tag, LearnsWhatTheContextSays) {
  const TemporaryFolder folder;
  Pipeline pipeline =
      trained(folder, {"data.rows=1500", "model.hidden=32", "model.embedding=32",
                       "training.epochs=5", "training.learning_rate=0.01", "model.dropout=0.1"});
  Splits splits = pipeline.load_data("");
  const Metrics metrics = pipeline.measure(*splits.validation);
  EXPECT_GT(metric(metrics, "f1"), 0.9);
  EXPECT_GT(metric(metrics, "token_accuracy"), metric(metrics, "f1") - 0.05);
}

TEST(Tag, EntitiesAreAsSureAsGivesTheBestF1) {
  const std::vector<std::string> weak = {"model.hidden=8",    "model.embedding=8",
                                         "data.rows=300",     "data.validation_rows=100",
                                         "training.epochs=2", "training.learning_rate=0.01"};
  const auto f1 = [&](const std::string& threshold, Json& answers) {
    const TemporaryFolder folder;
    std::vector<std::string> options = weak;
    options.push_back("output.threshold=" + threshold);
    Pipeline pipeline = trained(folder, options);
    answers = read_json_file(folder / "run" / "manifest.json")["answers"]["threshold"];
    expect_error(ErrorKind::InvalidArgument, "train again", [&] {
      Pipeline::load(folder / "run", "cpu",
                     {threshold == "f1" ? "output.threshold=none" : "output.threshold=f1"});
    });
    return metric(pipeline.measure(*pipeline.load_data("").validation), "f1");
  };
  Json none, best;
  const double before = f1("none", none), after = f1("f1", best);
  EXPECT_EQ(none["outside_shift"], 0);
  EXPECT_GT(best["outside_shift"], 0) << "few epochs find few entities";
  EXPECT_GT(after, before + 0.01);
}

TEST(Tag, AnswersHoldWordsTagsAndEntitiesWithTheirPlaces) {
  for (const auto& options : {kLstm, kBert}) {
#ifndef FOVEA_WITH_ICU
    if (options == kBert) continue;
#endif
    const TemporaryFolder folder;
    const Pipeline pipeline = trained(folder, options);
    const Json json = answer(pipeline, R"({"words": ["Übel", "Lake", "Tarn"]})");
    EXPECT_EQ(json["words"].size(), 3u);
    EXPECT_EQ(json["tags"].size(), 3u);
    const Example example = pipeline.parse(R"({"words": ["Übel", "Lake", "Tarn"]})");
    std::vector<Prediction> predictions = pipeline.predict({&example, 1});
    const Task& task = pipeline.task();
    predictions[0].outputs[0].tokens = {0, 1, 2};  // O, and the first type
    const Json entity = task.answer(example, predictions[0])["entities"].at(0);
    EXPECT_EQ(entity["text"], "Lake Tarn");
    EXPECT_EQ(entity["span"], Json::parse("[5, 14]"));
    EXPECT_NE(task.answer_line(example, predictions[0]).find("Lake Tarn ("), std::string::npos);
    predictions[0].outputs[0].tokens = {1, 0, 1};  // two entities of one word
    const std::string headline = pipeline.explain(example, predictions[0]).prediction;
    EXPECT_EQ(headline.find('\t'), std::string::npos) << headline;
    EXPECT_NE(headline.find("), Tarn ("), std::string::npos) << headline;
    predictions[0].outputs[0].tokens = {0, 1, 2};
    const Example described = task.describe_output(example, predictions[0]);
    EXPECT_EQ(described.axis("words").values[0], "");
    EXPECT_EQ(described.axis("words").values[1].substr(0, 2), "B-");
    EXPECT_TRUE(answer(pipeline, R"({"words": []})")["tags"].empty());
    expect_error(ErrorKind::BadData, "\"words\"", [&] { pipeline.parse(R"({"words": [1]})"); });
    expect_error(ErrorKind::BadData, "\"words\"", [&] { pipeline.parse(R"({"text": "a"})"); });
  }
}

#ifdef FOVEA_WITH_ICU

TEST(Tag, APlainTextIsCutIntoWords) {
  const TemporaryFolder folder;
  const Pipeline pipeline = trained(folder, kLstm);
  EXPECT_EQ(answer(pipeline, "Ada, here.")["words"], Json::parse(R"(["Ada", ",", "here", "."])"));
  EXPECT_TRUE(answer(pipeline, "")["words"].empty());
  expect_error(ErrorKind::BadData, "UTF-8", [&] { pipeline.parse("a\xff\xfe"); });
}

TEST(Tag, LongSentencesGoThroughInWindows) {
  const TemporaryFolder folder;
  std::vector<std::string> options = kBert;
  options.insert(options.end(), {"data.longest=16", "data.overlap=4"});
  const Pipeline pipeline = trained(folder, options);
  Json words = Json::array();
  for (int i = 0; i < 100; ++i) words.push_back("harbour");
  const Json json = answer(pipeline, Json{{"words", words}}.dump());
  EXPECT_EQ(json["tags"].size(), 100u);
  options.push_back("data.too_long=cut");
  const TemporaryFolder other;
  EXPECT_THROW(trained(other, options), Error) << "every word needs a tag";
}

#endif

TEST(Tag, PlainTagsHaveNoEntities) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 20; ++i) text += "dogs\tNOUN\nbark\tVERB\n\n";
  write_file(folder / "tags.tsv", text);
  std::vector<std::string> options = kLstm;
  options.insert(options.end(), {"data.scheme=plain", "training.monitor=token_accuracy"});
  Pipeline pipeline = trained(folder, options, folder / "tags.tsv");
  const Json json = answer(pipeline, R"({"words": ["dogs", "bark"]})");
  EXPECT_FALSE(json.contains("entities"));
  Splits splits = pipeline.load_data("");
  for (const Metric& one : pipeline.measure(*splits.validation)) EXPECT_NE(one.name, "f1");
}

TEST(Tag, OnlyBertCanStartFromAnotherRun) {
  expect_error(ErrorKind::InvalidArgument, "model.name=bert",
               [] { make_task("tag")->load_pretrained("nowhere"); });
}

}  // namespace
}  // namespace fovea::tag_test
