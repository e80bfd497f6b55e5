// The task visits from its command line's side: built-in data, runs, inputs, answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "fovea/base/file.h"
#include "fovea/explain/faithfulness/faithfulness.h"
#include "fovea/models/retain.h"
#include "fovea/tasks/code_ranking.h"
#include "fovea/tensor/torch.h"
#include "tests/support/change_asset.h"
#include "tests/support/expect_error.h"
#include "tests/support/task_run.h"

namespace fovea::visits_test {
namespace {

using namespace testing;

Training trained(const TemporaryFolder& folder, const std::vector<std::string>& more = {},
                 const std::string& name = "run") {
  return train_run(setup_of("visits", more), folder / name);
}

const std::vector<std::string> kSmall = {
    "data.rows=200",        "data.validation_rows=40", "data.test_rows=40", "model.embedding=8",
    "model.visit_hidden=8", "model.code_hidden=8",     "training.epochs=1"};

TEST(VisitsTask, PlantedCausesRankFirst) {
  const TemporaryFolder folder;
  const Training retain = trained(
      folder,
      {"data.rows=2000", "model.embedding=24", "model.visit_hidden=24", "model.code_hidden=24",
       "model.dropout=0.2", "training.epochs=10", "training.learning_rate=0.005"},
      "retain");
  const Training logistic =
      trained(folder, {"model.name=logistic", "data.rows=2000", "training.epochs=15"}, "logistic");
  for (const Metrics& metrics : {retain.validation, logistic.validation}) {
    EXPECT_EQ(metric(metrics, "planted_first"), 1);
    EXPECT_GT(metric(metrics, "average_precision"), 0.7);
    EXPECT_LT(metric(metrics, "brier"), 0.25);
    EXPECT_LT(metric(metrics, "calibration_error"), 0.15);
  }
  EXPECT_GT(metric(retain.validation, "auc"), metric(logistic.validation, "auc"))
      << "causes of long ago do nothing, which counts cannot know";
  EXPECT_GT(metric(retain.validation, "contribution_truth"),
            metric(logistic.validation, "contribution_truth"));
}

TEST(VisitsTask, ARunAnswersRecordsInEveryForm) {
  const TemporaryFolder folder;
  trained(folder, kSmall);
  const Pipeline pipeline = Pipeline::load(folder.path() / "run");
  const auto same = [&](const std::vector<std::string>& lines) {
    std::vector<Example> examples;
    for (const std::string& line : lines) examples.push_back(pipeline.parse(line));
    const auto answers = pipeline.predict(examples);
    for (const Prediction& answer : answers)
      EXPECT_TRUE(answer.scores.allclose(answers[0].scores, 1e-4, 1e-5));
    return answers[0];
  };
  const Prediction answer =
      same({"smoking D_101; statin", "{\"visits\": [[\"smoking\", \"D_101\"], [\"statin\"]]}",
            "{\"visits\": [{\"codes\": \"smoking D_101\"}, {\"codes\": [\"statin\", \"statin\"]}]}",
            "smoking D_101 never_seen; statin"});
  const Json json = pipeline.task().answer(pipeline.parse("smoking"), answer);
  EXPECT_NEAR(json["scores"]["yes"].get<double>() + json["scores"]["no"].get<double>(), 1, 1e-6);
  const double yes = json["scores"]["yes"].get<double>();
  EXPECT_NEAR(json["log_odds"].get<double>(), std::log(yes / (1 - yes)), 1e-4);
  same({"{\"visits\": [{\"time\": 3, \"codes\": [\"smoking\"]}, {\"time\": 10, \"codes\": []}]}",
        "{\"visits\": [{\"time\": 10, \"codes\": []}, {\"time\": 3, \"codes\": [\"smoking\"]}]}",
        "{\"visits\": [{\"time\": \"2001-01-03\", \"codes\": [\"smoking\"]}, {\"time\": "
        "\"2001-01-10\", \"codes\": []}]}"});
  same({"{\"visits\": []}"});
}

TEST(VisitsTask, AnswersATableOfVisitsPatientByPatient) {
  const TemporaryFolder folder;
  const auto data = folder.write(
      "train.csv", "who,days,codes,sex,label\n" + std::string("a,1,x y,f,no\nb,1,z,m,yes\n"));
  fovea::Setup setup = setup_of("visits", {"model.name=logistic", "data.minimum_count=1",
                                           "training.epochs=1", "data.validation_fraction=0"});
  setup.set_source(data.string(), {"patient=who", "time=days", "code=sex"});
  train_run(std::move(setup), folder / "run");
  const Pipeline pipeline = Pipeline::load(folder.path() / "run");
  const Task& task = pipeline.task();
  const InputColumns& columns = pipeline.input_columns();
  EXPECT_EQ(columns.needed, (std::vector<std::string>{"who", "codes", "days", "sex"}));
  EXPECT_TRUE(has_header("ward\twho\tdays\tcodes\tsex\n", "new", columns));
  for (const char* line : {"x y; z", "who codes", "{\"visits\": []}", ""})
    EXPECT_FALSE(has_header(line, "new", columns)) << line;
  EXPECT_THROW(has_header("patient,codes", "new", columns), Error);
  const std::vector<Example> rows = task.parse_table(
      parse_csv("who,days,codes,sex\nq,9,z,f\np,1,x y,\nq,3,y,f\nnew,1,,\n", "new.csv"), columns);
  ASSERT_EQ(rows.size(), 3u) << "q, p, and one without codes";
  const std::vector<std::string> same = {"y sex=f; z sex=f", "x y", "{\"visits\": [[]]}"};
  for (int64_t row = 0; row < 3; ++row) {
    const std::vector<Example> both{rows[size_t(row)], pipeline.parse(same[size_t(row)])};
    const auto answers = pipeline.predict(both);
    EXPECT_TRUE(answers[0].scores.allclose(answers[1].scores)) << same[size_t(row)];
  }
}

TEST(VisitsTask, ContributionsAreJudgedByWhatTheyAdd) {
  const TemporaryFolder folder;
  trained(folder, kSmall);
  Pipeline pipeline = Pipeline::load(folder.path() / "run");
  const Example example = pipeline.load_data("").test->example(0);
  const auto judged = measure_faithfulness(pipeline, {&example, 1}, {});
  ASSERT_EQ(judged.size(), 2u) << "visits, contributions";
  const std::set<std::string> shuffled = {"permuted attention", "uniform attention"},
                              others = {"tau with gradient x input", "top weight zeroed"};
  for (const FaithfulnessMeasure& measure : judged[1].measures) {
    EXPECT_FALSE(shuffled.contains(measure.name) && measure.value) << "a sum has no order";
    EXPECT_FALSE(others.contains(measure.name) && !measure.value) << measure.name;
  }
}

TEST(VisitsTask, RefusesInputsThatCannotBe) {
  const TemporaryFolder folder;
  trained(folder, kSmall);
  const Pipeline pipeline = Pipeline::load(folder.path() / "run");
  const auto refuse = [&](const std::string& line, const std::vector<std::string>& words) {
    expect_error(ErrorKind::BadData, words, [&] { pipeline.parse(line); });
  };
  refuse("", {"empty"});
  refuse("[[\"a\"]]", {"\"visits\""});
  refuse(std::string(100'000, '[').c_str(), {"\"visits\""});
  refuse("{}", {"\"visits\""});
  refuse("{\"visits\": 3}", {"\"visits\""});
  refuse("{\"visits\": [3]}", {"codes"});
  refuse("{\"visits\": [{\"time\": 3}]}", {"codes"});
  refuse("{\"visits\": [[[1]]]}", {"a code is array"});
  refuse("{\"visits\": [{\"time\": \"soon\", \"codes\": []}]}", {"soon", "date"});
  refuse("{\"visits\": [{\"time\": 1, \"codes\": []}, [\"x\"]]}", {"1 of 2 visits", "all or none"});
}

TEST(VisitsTask, ExplanationsAddUpToTheAnswer) {
  const TemporaryFolder folder;
  trained(folder, kSmall);
  Pipeline pipeline = Pipeline::load(folder.path() / "run");
  const Splits splits = pipeline.load_data("");
  const Example example = splits.test->example(0);
  const Explanation explanation = pipeline.explain(example);
  ASSERT_EQ(explanation.maps.size(), 3u) << "visits, contributions, absent";
  EXPECT_TRUE(explanation.notes.empty());
  const MapView& contributions = explanation.maps[1];
  EXPECT_EQ(contributions.kind, MapKind::Contribution);
  EXPECT_FALSE(contributions.truth.empty());
  double sum = dynamic_cast<const Retain&>(pipeline.model()).bias();
  for (const double weight : contributions.weights) sum += weight;
  EXPECT_NEAR(sum, explanation.answer["log_odds"].get<double>(), 1e-4);
  const MapView& absent = explanation.maps[2];
  const std::vector<int64_t> first{0};
  const std::vector<Example> erased{pipeline.erase(example, "codes", first)};
  const auto without = pipeline.predict(erased);
  EXPECT_NEAR(pipeline.task().answer(erased[0], without[0])["log_odds"].get<double>() -
                  explanation.answer["log_odds"].get<double>(),
              absent.weights[0], 1e-4)
      << "what if this code were absent";
  const Explanation overview = pipeline.overview(*splits.test);
  EXPECT_EQ(overview.maps.at(0).keys(), 30u);
  const Json coding = pipeline.folder().read_asset("visits.json");
  const std::vector<RankedCode> codes = rank_codes(
      pipeline.model(), *splits.test, Vocabulary::from_json(coding["codes"], "visits.json"));
  ASSERT_FALSE(codes.empty());
  EXPECT_TRUE(std::all_of(codes.begin(), codes.end(), [](const RankedCode& code) {
    return code.visits >= 5;
  })) << "the mean of a single visit says nothing";
}

TEST(VisitsTask, AGruShowsWhatAbsenceDoes) {
  const TemporaryFolder folder;
  trained(folder,
          {"model.name=gru", "data.rows=200", "data.validation_rows=40", "data.test_rows=40",
           "model.embedding=8", "model.hidden=8", "training.epochs=1"});
  Pipeline pipeline = Pipeline::load(folder.path() / "run");
  const Splits splits = pipeline.load_data("");
  const Explanation explanation = pipeline.explain(splits.test->example(0));
  ASSERT_EQ(explanation.maps.size(), 1u);
  EXPECT_EQ(explanation.maps[0].name, "absent");
  EXPECT_TRUE(std::isfinite(metric(pipeline.measure(*splits.test), "auc")));
}

TEST(VisitsTask, SeveralLabelsAreEachAnsweredAndExplained) {
  const TemporaryFolder folder;
  const Training training = trained(
      folder, {"data.target_kind=labels", "data.rows=1500", "data.validation_rows=200",
               "data.test_rows=100", "model.embedding=16", "model.visit_hidden=16",
               "model.code_hidden=16", "training.epochs=12", "training.learning_rate=0.005"});
  EXPECT_GT(metric(training.validation, "macro_f1"), 0.6);
  EXPECT_GT(metric(training.validation, "mean_average_precision"), 0.65);
  EXPECT_GT(metric(training.validation, "contribution_truth"), 0.5);
  Pipeline pipeline = Pipeline::load(folder.path() / "run");
  const Splits splits = pipeline.load_data("");
  const Explanation explanation = pipeline.explain(pipeline.parse("D_101; smoking D_102"));
  const Json& answer = explanation.answer;
  EXPECT_EQ(answer["labels"], Json({"smoking_effects"}));
  ASSERT_EQ(answer["log_odds"].size(), 3u);
  const MapView& contributions = explanation.maps.at(1);
  ASSERT_EQ(contributions.query_labels.size(), 3u);
  for (size_t o = 0; o < 3; ++o) {
    double sum = dynamic_cast<const Retain&>(pipeline.model()).bias(int64_t(o));
    for (size_t code = 0; code < contributions.keys(); ++code) sum += contributions.weight(o, code);
    EXPECT_NEAR(sum, answer["log_odds"][contributions.query_labels[o]].get<double>(), 1e-4);
  }
  const Explanation overview = pipeline.overview(*splits.test);
  EXPECT_EQ(overview.maps.at(0).query_labels.size(), 3u);
  const Example example = splits.test->example(0);
  EXPECT_FALSE(measure_faithfulness(pipeline, {&example, 1}, {}).empty());
}

TEST(VisitsTask, EveryVisitIsARow) {
  const TemporaryFolder folder;
  std::vector<std::string> settings = kSmall;
  settings.push_back("data.labels=every");
  const Training training = trained(folder, settings);
  EXPECT_TRUE(std::isfinite(metric(training.validation, "auc")));
  Pipeline pipeline = Pipeline::load(folder.path() / "run");
  const Splits splits = pipeline.load_data("");
  EXPECT_GT(splits.test->size(), 100) << "of 40 patients";
  EXPECT_FALSE(setup_of("visits", {"data.labels=every"}).task().has_folds())
      << "visits of one patient belong together";
}

TEST(VisitsTask, RefusesABrokenCoding) {
  const TemporaryFolder folder;
  trained(folder, kSmall);
  Json json = read_json_file(folder.path() / "run" / "assets" / "visits.json");
  json["positive"] = Json::array();
  testing::change_asset(folder.path() / "run", "visits.json", json);
  expect_error(ErrorKind::BadData, {"visits.json", "no labels"},
               [&] { Pipeline::load(folder.path() / "run"); });
}

}  // namespace
}  // namespace fovea::visits_test
