// The task `documents` with several labels, and with a number, from files to answers.
#include <gtest/gtest.h>
#include "fovea/base/file.h"
#include "fovea/metrics/labels.h"
#include "fovea/tasks/hugging_face.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/task_run.h"

#ifdef FOVEA_WITH_ICU

namespace fovea::documents_targets_test {
namespace {

using namespace testing;

const Assignments kFew = {"data.rows=300", "data.validation_rows=60", "data.test_rows=20"};
const Assignments kTiny = {"model.name=bert",  "data.rows=60",     "data.validation_rows=40",
                           "data.test_rows=8", "model.layers=1",   "model.hidden=16",
                           "model.heads=2",    "training.epochs=1"};

Pipeline trained(const TemporaryFolder& folder, const Assignments& usual, const Assignments& more,
                 const std::filesystem::path& data = {}) {
  return trained_pipeline(setup_of("documents", usual, more), folder, data);
}

TEST(DocumentLabels, WordsLearnSeveral) {
  const TemporaryFolder folder;
  Pipeline pipeline = trained(folder, kFew, {"data.target_kind=labels", "data.negated=0"});
  EXPECT_EQ(pipeline.task().class_names(), (std::vector<std::string>{"blame", "long", "praise"}));
  const Splits splits = pipeline.load_data("");
  const Metrics metrics = pipeline.measure(*splits.validation);
  EXPECT_GT(metric(metrics, "micro_f1"), 0.7);
  EXPECT_TRUE(has_metric(metrics, "lrap"));
  EXPECT_TRUE(has_metric(metrics, "attention_truth"));
  const Json found = answer(pipeline,
                            "I found it wonderful. We sat in the last row. "
                            "The cinema was half empty. It runs for about two hours.");
  ASSERT_EQ(found["scores"].size(), 3u);
  for (const Json& label : found["labels"]) EXPECT_TRUE(found["scores"].contains(label));
  const Example example = pipeline.parse("I found it dull.");
  const Prediction prediction = pipeline.predict({&example, 1})[0];
  const Json row = pipeline.task().answer_row(example, prediction);
  EXPECT_TRUE(row.contains("p_long"));
  EXPECT_TRUE(row["prediction"].is_string());
}

TEST(DocumentLabels, EvaluationHasATableByLabelAndBaselines) {
  const TemporaryFolder folder;
  Pipeline pipeline = trained(folder, kFew, {"data.target_kind=labels"});
  const Evaluation found = pipeline.evaluate(*pipeline.load_data("").validation);
  EXPECT_EQ(found.main, "macro_f1");
  ASSERT_TRUE(found.interval.has_value());
  EXPECT_LE(found.interval->low, found.find("macro_f1")->value);
  ASSERT_EQ(found.baselines.size(), 2u);
  EXPECT_EQ(found.baselines[0].name, "most frequent labels");
  EXPECT_EQ(found.baselines[1].name, "TF-IDF one-vs-rest");
  const Json json = found.to_json();
  ASSERT_EQ(json["by_label"].size(), 3u);
  EXPECT_EQ(json["by_label"][1]["label"], "long");
  EXPECT_NE(found.text().find("threshold"), std::string::npos);
}

TEST(DocumentLabels, ThresholdsAreChosenAndKept) {
  const TemporaryFolder one, two;
  Pipeline chosen = trained(one, kFew, {"data.target_kind=labels"});
  const Json answers = read_json_file(one / "run" / "manifest.json")["answers"];
  EXPECT_EQ(answers["thresholds"]["rule"], "f1");
  EXPECT_EQ(answers["thresholds"]["values"].size(), 3u);
  EXPECT_EQ(chosen.task().fitted_answers(), answers);
  Pipeline all = trained(two, kFew, {"data.target_kind=labels", "output.threshold=0"});
  EXPECT_EQ(answer(all, "I found it dull.")["labels"].size(), 3u);
}

TEST(DocumentLabels, FilesOfEveryForm) {
  const TemporaryFolder folder, one, two;
  std::string cells = "labels\ttext\n", columns = "text,good,short\n", lists;
  for (int i = 0; i < 40; ++i) {
    const bool good = i % 2 == 0, brief = i % 4 < 2;
    const std::string text =
        concat(good ? "a fine film " : "a dull film ", brief ? "in brief " : "at length ", i);
    std::vector<std::string> labels;
    if (good) labels.push_back("good");
    if (brief) labels.push_back("short");
    cells += join(labels, ",") + "\t" + text + "\n";
    columns += concat(text, ",", good ? 1 : 0, ",", brief ? 1 : 0, "\n");
    lists += Json{{"text", text}, {"labels", labels}}.dump() + "\n";
  }
  write_file(folder / "a.tsv", cells);
  write_file(folder / "a.csv", columns);
  write_file(folder / "a.jsonl", lists);
  Pipeline pipeline = trained(one, {}, {"training.epochs=1"}, folder / "a.tsv");
  EXPECT_EQ(pipeline.task().class_names(), (std::vector<std::string>{"good", "short"}));
  const Json expected = answer(pipeline, "a fine film in brief");
  EXPECT_EQ(expected["labels"].size(), 2u) << expected;
  // The same rows from a list, for a run that knows the cells.
  const Splits other = pipeline.load_data((folder / "a.jsonl").string());
  EXPECT_EQ(other.test->size() + (other.train ? other.train->size() : 0), 40);
  auto setup = setup_of("documents", {}, {"training.epochs=1"});
  setup.set_source((folder / "a.csv").string(), {"target=good,short"});
  train_run(std::move(setup), two / "run");
  EXPECT_EQ(Pipeline::load(two / "run").task().class_names(), pipeline.task().class_names());
}

TEST(DocumentLabels, HuggingFaceAndBack) {
  const TemporaryFolder folder;
  const Pipeline pipeline = trained(folder, kTiny, {"data.target_kind=labels"});
  write_hugging_face(folder / "net", read_pretrained(folder / "run"));
  const Json config = read_json_file(folder / "net" / "config.json");
  EXPECT_EQ(config["problem_type"], "multi_label_classification");
  EXPECT_EQ(config["id2label"]["1"], "long");
  const Pipeline opened = Pipeline::load(folder / "net");
  const Json ours = answer(pipeline, "I found it dull."),
             theirs = answer(opened, "I found it dull.");
  for (const auto& [label, score] : ours["scores"].items())
    EXPECT_NEAR(score.get<double>(), theirs["scores"][label].get<double>(), 1e-5) << label;
}

TEST(DocumentNumbers, WordsLearnOne) {
  const TemporaryFolder folder;
  Pipeline pipeline =
      trained(folder, kFew, {"data.target_kind=number", "data.negated=0", "model.loss=huber"});
  EXPECT_TRUE(pipeline.task().class_names().empty());
  const Splits splits = pipeline.load_data("");
  EXPECT_GT(metric(pipeline.measure(*splits.validation), "spearman"), 0.5);
  const Evaluation found = pipeline.evaluate(*splits.validation);
  EXPECT_EQ(found.main, "r2");
  for (const char* name : {"mae", "rmse", "pearson", "spearman"}) EXPECT_TRUE(found.find(name));
  ASSERT_EQ(found.baselines.size(), 3u);
  EXPECT_EQ(found.baselines[2].name, "TF-IDF ridge regression");
  EXPECT_GT(answer(pipeline, "I found it wonderful.")["value"].get<double>(),
            answer(pipeline, "I found it dreadful.")["value"].get<double>());
}

TEST(DocumentNumbers, PairsWithAScore) {
  const TemporaryFolder folder;
  std::string rows = "score\tsentence1\tsentence2\n";
  for (int i = 0; i < 60; ++i)
    rows += concat(i % 5 + 0.5, "\ta number ", i, "\tanother number ", i % 5, "\n");
  write_file(folder / "pairs.tsv", rows);
  Pipeline pipeline = trained(folder, kTiny, {}, folder / "pairs.tsv");
  const Json one = answer(pipeline, "a number 3\tanother number 3");
  EXPECT_TRUE(one["value"].is_number());
  EXPECT_EQ(one, answer(pipeline, R"({"text": "a number 3", "second": "another number 3"})"));
  const auto columns = pipeline.input_columns();
  EXPECT_EQ(columns.needed, (std::vector<std::string>{"sentence1", "sentence2"}))
      << "a table of inputs has the columns of the training file";
  const double value = one["value"];
  EXPECT_GT(value, -5) << "in the unit of the score";
  EXPECT_LT(value, 10);
}

TEST(DocumentNumbers, HuggingFaceAndBack) {
  const TemporaryFolder folder;
  const Pipeline pipeline = trained(folder, kTiny, {"data.target_kind=number"});
  write_hugging_face(folder / "net", read_pretrained(folder / "run"));
  const Json config = read_json_file(folder / "net" / "config.json");
  EXPECT_EQ(config["problem_type"], "regression");
  EXPECT_EQ(config["id2label"].size(), 1u);
  const Pipeline opened = Pipeline::load(folder / "net");
  EXPECT_NEAR(answer(pipeline, "I found it dull.")["value"].get<double>(),
              answer(opened, "I found it dull.")["value"].get<double>(), 1e-5);
}

}  // namespace
}  // namespace fovea::documents_targets_test

#endif
