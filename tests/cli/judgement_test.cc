// What the program says of a model: evaluate, the last lines of train, predict --out, compare,
// tune.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "fovea/base/file.h"
#include "fovea/data/formats/csv.h"
#include "fovea/tensor/random.h"
#include "tests/cli/program.h"
#include "tests/support/temporary_folder.h"

namespace fovea::judgement_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

class Judgement : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = std::make_unique<TemporaryFolder>();
    // A linear rule with noise: yes for about a third of the rows; 'rare' for one of 40.
    const Random random(5);
    std::string table = "id,age,town,buys,spent\n", rare = "age,town,fraud\n";
    for (uint64_t i = 0; i < 400; ++i) {
      const double age = 20 + 60 * random.uniform(2 * i), noise = random.normal(1000 + i);
      const bool north = random.uniform(2 * i + 1) < 0.5;
      const double score = (age - 55) / 10 + (north ? 1 : -1) + noise / 2;
      table += concat("k", i, ",", format_number(age, 4), ",", north ? "north" : "\"south, far\"",
                      ",", score > 0 ? "yes" : "no", ",", format_number(100 + 10 * score, 5), "\n");
      rare += concat(format_number(age, 4), ",", north ? "north" : "south", ",",
                     score > 3.4 ? "1" : "0", "\n");
    }
    file("people.csv", table);
    file("rare.csv", rare);
    train("classes", {"people.csv", "--target", "buys", "--columns", "drop=id,drop=spent"});
    train("number", {"people.csv", "--target", "spent", "--columns", "drop=id,drop=buys"});
    train("rare", {"rare.csv", "--target", "fraud"});
  }
  static void TearDownTestSuite() { folder.reset(); }

  static std::string path(const std::string& name) { return (folder->path() / name).string(); }
  static std::string file(const std::string& name, const std::string& content) {
    write_file(path(name), content);
    return path(name);
  }
  static void train(const std::string& run, std::vector<std::string> arguments) {
    arguments[0] = path(arguments[0]);
    arguments.insert(arguments.begin(), {"train", "features"});
    arguments.insert(arguments.end(), {"--out", path(run), "--epochs", "30", "--threads", "1",
                                       "--set", "training.learning_rate=0.02"});
    trained[run] = fovea(arguments);
    ASSERT_EQ(trained[run].status, 0) << trained[run].err;
  }
  static Json evaluate(const std::string& run, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"evaluate", path(run), "--json", "--threads", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = fovea(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.json();
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  inline static std::unique_ptr<TemporaryFolder> folder;
  inline static std::map<std::string, Outcome> trained;
};

TEST_F(Judgement, ClassesInJson) {
  const Json json = evaluate("classes");
  EXPECT_EQ(json["task"], "features");
  EXPECT_EQ(json["split"], "validation");
  EXPECT_EQ(json["rows"], 80);
  for (const char* metric : {"loss", "accuracy", "balanced_accuracy", "macro_f1", "auc",
                             "average_precision", "log_loss", "brier", "calibration_error"})
    EXPECT_TRUE(json["metrics"].contains(metric)) << metric;
  EXPECT_EQ(json["main"]["metric"], "accuracy");
  EXPECT_EQ(json["main"]["method"], "wilson");
  EXPECT_LT(json["main"]["low"], json["main"]["value"]);
  EXPECT_GT(json["main"]["high"], json["main"]["value"]);
  ASSERT_EQ(json["classes"].size(), 2u);
  const Json counts = json["confusion_matrix"]["counts"];
  int64_t all = 0;
  for (size_t row = 0; row < 2; ++row) {
    const int64_t support = counts[row][0].get<int64_t>() + counts[row][1].get<int64_t>();
    EXPECT_EQ(json["classes"][row]["support"], support);
    EXPECT_NEAR(json["classes"][row]["recall"], counts[row][row].get<double>() / double(support),
                1e-12);
    all += support;
  }
  EXPECT_EQ(all, 80);
  EXPECT_NEAR(json["metrics"]["accuracy"],
              (counts[0][0].get<double>() + counts[1][1].get<double>()) / 80, 1e-9);
}

TEST_F(Judgement, BaselinesStandBesideTheResult) {
  const Json json = evaluate("classes");
  const double majority = json["baselines"]["majority"]["accuracy"],
               linear = json["baselines"]["logistic regression"]["accuracy"];
  EXPECT_LT(majority, 0.75);
  EXPECT_GT(linear, 0.85) << "the rule is linear";
  const std::string& said = trained["classes"].err;
  EXPECT_TRUE(has(said, "accuracy ")) << said;
  EXPECT_TRUE(has(said, " ± ")) << said;
  EXPECT_TRUE(has(said, concat("(majority ", format_number(majority, 4), ", logistic regression ",
                               format_number(linear, 4), ")")))
      << said;
}

TEST_F(Judgement, WhatDoesNotBeatABaselineSaysSo) {
  // A network that has learned nothing.
  const Outcome outcome = fovea({"train", "features", path("people.csv"), "--target", "buys",
                                 "--columns", "drop=id,drop=spent", "--out", path("untrained"),
                                 "--epochs", "1", "--set", "training.learning_rate=1e-9"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(has(outcome.err, "does not beat the baseline 'logistic regression'")) << outcome.err;
  const Outcome text = fovea({"evaluate", path("untrained")});
  EXPECT_TRUE(has(text.err, "does not beat the baseline 'logistic regression'")) << text.err;
}

TEST_F(Judgement, TablesForPeople) {
  const Outcome outcome = fovea({"evaluate", path("classes")});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part : {"metric", "95 % interval", "majority", "logistic regression",
                           "precision", "recall", "support", "target \\ predicted", "yes", "no"})
    EXPECT_TRUE(has(outcome.out, part)) << part << " not in:\n" << outcome.out;
  const Outcome number = fovea({"evaluate", path("number")});
  for (const char* part : {"mae", "rmse", "r2", "median_absolute_error", "mean (bias)",
                           "worst rows", "ridge regression", "prediction - spent"})
    EXPECT_TRUE(has(number.out, part)) << part << " not in:\n" << number.out;
}

TEST_F(Judgement, NumbersInTheUnitOfTheTarget) {
  const Json json = evaluate("number");
  EXPECT_EQ(json["main"]["metric"], "r2");
  EXPECT_EQ(json["main"]["method"], "bootstrap");
  EXPECT_LT(json["main"]["low"], json["main"]["high"]);
  const double mean = json["baselines"]["mean"]["mae"],
               ridge = json["baselines"]["ridge regression"]["mae"];
  EXPECT_GT(mean, 8) << "spent has a deviation of about 20";
  EXPECT_LT(mean, 30);
  EXPECT_NEAR(json["baselines"]["mean"]["r2"], 0, 0.1);
  EXPECT_LT(ridge, 6) << "the noise has a deviation of 5";
  EXPECT_EQ(json["residuals"]["worst"].size(), 5u);
  const Json worst = json["residuals"]["worst"][0];
  const double off = worst["prediction"].get<double>() - worst["target"].get<double>();
  const double largest = std::max(std::abs(json["residuals"]["quantiles"]["0"].get<double>()),
                                  std::abs(json["residuals"]["quantiles"]["1"].get<double>()));
  EXPECT_NEAR(std::abs(off), largest, 1e-6);
  EXPECT_LE(json["metrics"]["median_absolute_error"], json["metrics"]["rmse"]);
}

TEST_F(Judgement, OfRareClassesAccuracyIsNoHeadline) {
  const Json json = evaluate("rare");
  EXPECT_EQ(json["main"]["metric"], "average_precision");
  EXPECT_FALSE(has(trained["rare"].err, "\naccuracy ")) << trained["rare"].err;
  EXPECT_TRUE(has(trained["rare"].err, "so accuracy says little")) << trained["rare"].err;
}

TEST_F(Judgement, RowsThatWereTrainedOnAreCalledSo) {
  const Json whole = evaluate("classes", {path("people.csv")});
  EXPECT_EQ(whole["split"], "training data");
  EXPECT_EQ(whole["rows"], 400);
  EXPECT_TRUE(has(whole["trained_on"], "320 of these 400 rows")) << whole["trained_on"];
  const Outcome text = fovea({"evaluate", path("classes"), path("people.csv")});
  EXPECT_TRUE(has(text.err, "features, training data, 400 rows")) << text.err;
  EXPECT_TRUE(has(text.err, "warning: 320 of these 400 rows were trained on")) << text.err;
  EXPECT_EQ(evaluate("classes", {"--split", "train"})["split"], "train");
  EXPECT_FALSE(evaluate("classes").contains("trained_on"));
  const std::string table = read_file(path("people.csv"));
  file("half.csv", table.substr(0, table.find("k200,")));
  EXPECT_EQ(evaluate("classes", {path("half.csv")})["split"], "test") << "another file";
}

TEST_F(Judgement, AfterFoldsTheirFiguresAreNamed) {
  std::string table = read_file(path("people.csv"));
  const std::string few = file("few_people.csv", table.substr(0, table.find("k60,")));
  ASSERT_EQ(fovea({"train", "features", few, "--target", "buys", "--columns", "drop=id,drop=spent",
                   "--folds", "2", "--out", path("folds"), "--set", "model.name=linear", "--quiet"})
                .status,
            0);
  const Outcome text = fovea({"evaluate", path("folds")});
  EXPECT_TRUE(has(text.err, "training data, 60 rows")) << text.err;
  EXPECT_TRUE(has(text.err, "2 folds")) << text.err;
  const Json folds = read_json_file(path("folds/manifest.json"))["folds"]["metrics"]["accuracy"];
  EXPECT_TRUE(has(text.err, "accuracy " + format_number(folds["mean"].get<double>(), 4)))
      << text.err;
}

TEST_F(Judgement, OneClassHasNoRanking) {
  const Outcome outcome =
      fovea({"evaluate", path("rare"),
             file("one_class.csv", "age,town,fraud\n30,north,1\n31,south,1\n28,south,1\n")});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_FALSE(has(outcome.out, "average_precision")) << outcome.out;
  EXPECT_TRUE(has(outcome.err, "all rows are '1'")) << outcome.err;
  EXPECT_FALSE(has(outcome.err, "decides")) << outcome.err;
  const Json json = evaluate("rare", {path("one_class.csv")});
  EXPECT_EQ(json["main"]["metric"], "accuracy");
  EXPECT_FALSE(json["baselines"]["majority"].contains("average_precision"));
}

TEST_F(Judgement, FewOfAClassHaveNoInterval) {
  std::string rows = "age,town,fraud\n79,north,1\n";
  for (int i = 0; i < 40; ++i) rows += concat(20 + i, ",south,0\n");
  const std::string few = file("one_positive.csv", rows);
  const Json json = evaluate("rare", {few});
  EXPECT_EQ(json["main"]["metric"], "average_precision");
  EXPECT_FALSE(json["main"].contains("low")) << json["main"];
  const Outcome text = fovea({"evaluate", path("rare"), few});
  EXPECT_TRUE(has(text.err, "1 row is '1': too few")) << text.err;
}

TEST_F(Judgement, WhatIsSaidOfAThreshold) {
  const Outcome chosen = fovea({"evaluate", path("classes"), "--threshold", "f1"});
  EXPECT_TRUE(has(chosen.err, "(threshold f1, chosen on the validation rows)")) << chosen.err;
  const Outcome fixed = fovea({"evaluate", path("rare"), "--threshold", "1"});
  EXPECT_TRUE(has(fixed.err, "chooses another threshold than 1")) << fixed.err;
  EXPECT_FALSE(has(fixed.err, "chosen on")) << fixed.err;
  const Outcome number = fovea({"evaluate", path("number"), "--threshold", "0.5"});
  EXPECT_TRUE(has(number.err, "this run predicts a number")) << number.err;
  const Outcome free = fovea({"evaluate", path("classes"), "--threshold", "cost=0:0"});
  EXPECT_EQ(free.status, 1);
  EXPECT_TRUE(has(free.err, "both costs are 0")) << free.err;
  EXPECT_FALSE(has(free.err, "did you mean")) << free.err;
}

TEST_F(Judgement, AnswersNeverReplaceTheirInputs) {
  const std::string table = file("same.csv", "age,town,id\n60,north,7\n");
  std::filesystem::create_hard_link(table, path("linked.csv"));
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = fovea(arguments);
    EXPECT_EQ(outcome.status, 1) << join(arguments, " ");
    EXPECT_TRUE(has(outcome.err, "--out")) << outcome.err;
    EXPECT_TRUE(has(outcome.err, "is an input")) << outcome.err;
  };
  refused({"predict", path("classes"), table, "--out", table});
  refused({"predict", path("classes"), "--input", table, "--out", path("linked.csv")});
  refused({"predict", path("classes"), "--input", table, "--out", path("classes/../same.csv")});
  EXPECT_EQ(read_file(table), "age,town,id\n60,north,7\n");
  const std::string json =
      file("same.json", "[{\"age\": 60, \"town\": \"north\", \"buys\": \"yes\"}]");
  refused({"evaluate", path("classes"), json, "--out", json});
  refused({"explain", path("classes"), "--input", json, "--out", json});
}

TEST_F(Judgement, AThresholdIsAppliedEverywhere) {
  const Json usual = evaluate("classes"), sharp = evaluate("classes", {"--threshold", "0.9"}),
             by_cost = evaluate("classes", {"--threshold", "cost=1:20"});
  EXPECT_EQ(sharp["threshold"]["value"], 0.9);
  EXPECT_LE(sharp["classes"][1]["recall"], usual["classes"][1]["recall"]);
  EXPECT_GE(by_cost["classes"][1]["recall"], usual["classes"][1]["recall"]);
  EXPECT_EQ(by_cost["threshold"]["rule"], "cost=1:20");
  EXPECT_LT(by_cost["threshold"]["value"], 0.5);
  EXPECT_EQ(sharp["metrics"]["auc"], usual["metrics"]["auc"]) << "the ranking is the same";
  const Outcome answer = fovea({"predict", path("classes"), "60,north", "--json"}),
                strict =
                    fovea({"predict", path("classes"), "60,north", "--json", "--threshold", "1"});
  EXPECT_EQ(answer.json()[0]["class"], "yes");
  EXPECT_EQ(strict.json()[0]["class"], "no");
  EXPECT_EQ(strict.json()[0]["threshold"], 1);
  EXPECT_EQ(strict.json()[0]["probability"], strict.json()[0]["scores"]["no"]);

  for (const auto& [rule, part] : std::vector<std::pair<std::string, std::string>>{
           {"f2", "f1"}, {"7", "expected"}, {"cost=1", "cost=FP:FN"}}) {
    const Outcome wrong = fovea({"evaluate", path("classes"), "--threshold", rule});
    EXPECT_EQ(wrong.status, 1) << rule;
    EXPECT_TRUE(has(wrong.err, part)) << wrong.err;
  }
  const Outcome number = fovea({"evaluate", path("number"), "--threshold", "0.5"});
  EXPECT_EQ(number.status, 1);
  EXPECT_TRUE(has(number.err, "two classes")) << number.err;
}

TEST_F(Judgement, AThresholdOfTrainingStaysInTheRun) {
  file("gone.csv", read_file(path("rare.csv")));
  train("f1", {"gone.csv", "--target", "fraud", "--threshold", "f1"});
  const Json json = evaluate("f1");
  EXPECT_EQ(json["threshold"]["rule"], "f1");
  EXPECT_GT(json["classes"][1]["recall"], 0) << "f1 finds some of them";
  std::filesystem::remove(path("gone.csv"));  // the threshold needs no rows any more
  const Outcome answer = fovea({"predict", path("f1"), "70,north", "--json"});
  EXPECT_EQ(answer.json()[0]["threshold"], json["threshold"]["value"]) << answer.err;
  const Outcome other = fovea({"predict", path("f1"), "70,north", "--threshold", "youden"});
  EXPECT_EQ(other.status, 1) << "another rule does";
  EXPECT_TRUE(has(other.err, "gone.csv")) << other.err;
  const Outcome wrong = fovea({"train", "features", path("people.csv"), "--target", "town",
                               "--threshold", "f3", "--out", path("wrong")});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_FALSE(std::filesystem::exists(path("wrong")));
}

TEST_F(Judgement, ProbabilitiesAreCalibratedAndCanBeHadAsTheyWere) {
  const Json json = evaluate("classes"), raw = evaluate("classes", {"--no-calibration"});
  ASSERT_TRUE(json.contains("calibration"));
  EXPECT_FALSE(raw.contains("calibration"));
  const double temperature = json["calibration"]["temperature"];
  EXPECT_NE(temperature, 1);
  EXPECT_LT(json["metrics"]["log_loss"], raw["metrics"]["log_loss"]);
  EXPECT_NEAR(json["calibration"]["error_before"], raw["metrics"]["calibration_error"], 1e-12);
  EXPECT_EQ(json["metrics"]["accuracy"], raw["metrics"]["accuracy"]);
  const Json calibrated = fovea({"predict", path("classes"), "60,north", "--json"}).json()[0],
             plain = fovea({"predict", path("classes"), "60,north", "--json", "--no-calibration"})
                         .json()[0];
  const auto log_odds = [](const Json& answer) {
    const double p = answer["scores"]["yes"];
    return std::log(p / (1 - p));
  };
  EXPECT_NEAR(log_odds(calibrated), log_odds(plain) / temperature, 1e-3);
  const Json explained = fovea({"explain", path("classes"), "60,north", "--json"}).json();
  const Json& said = explained.is_array() ? explained[0] : explained;
  EXPECT_EQ(said["prediction"]["answer"]["scores"], calibrated["scores"])
      << "explain says what predict says";
}

TEST_F(Judgement, AnswersAsATable) {
  const std::string inputs = file("new.csv",
                                  "name,town,age,id\n\"Ada \"\"L\"\"\",north,60,7\n\"two\nlines\","
                                  "\"south, far\",30,8\n,north,,9\n");
  const Outcome lines = fovea({"predict", path("classes"), "--input", inputs, "--json"});
  ASSERT_EQ(lines.status, 0) << lines.err;
  for (const std::string ending : {".csv", ".tsv"}) {
    const Outcome outcome = fovea({"predict", path("classes"), inputs, "--key", "id", "--key",
                                   "name", "--out", path("answers" + ending)});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_FALSE(has(outcome.err, "'id'")) << "a key is not an unknown column";
    const CsvTable table = read_csv(path("answers" + ending));
    EXPECT_EQ(table.names, (std::vector<std::string>{"id", "name", "prediction", "probability",
                                                     "p_no", "p_yes"}));
    ASSERT_EQ(table.rows(), 3);
    EXPECT_EQ(table.cell(0, 1), "Ada \"L\"");
    EXPECT_EQ(table.cell(1, 1), "two\nlines");
    EXPECT_EQ(table.cell(2, 1), "");
    for (int64_t row = 0; row < 3; ++row) {
      const Json answer = lines.json()[size_t(row)];
      EXPECT_EQ(table.cell(row, 2), answer["class"].get<std::string>());
      double p_yes = 0, p_no = 0;
      ASSERT_TRUE(parse_number(table.cell(row, 5), p_yes) &&
                  parse_number(table.cell(row, 4), p_no));
      EXPECT_EQ(p_yes, answer["scores"]["yes"].get<double>());
      EXPECT_NEAR(p_yes + p_no, 1, 1e-6);
    }
  }
  const Outcome jsonl =
      fovea({"predict", path("number"), inputs, "--key", "id", "--out", path("answers.jsonl")});
  ASSERT_EQ(jsonl.status, 0) << jsonl.err;
  const std::vector<std::string> rows = split(read_file(path("answers.jsonl")), '\n');
  ASSERT_EQ(rows.size(), 4u) << "three, and what follows the last line end";
  EXPECT_EQ(parse_json(rows[1], "row")["id"], "8");
  EXPECT_TRUE(parse_json(rows[1], "row")["prediction"].is_number());
}

TEST_F(Judgement, AnswersAsATableThatCannotBe) {
  const std::string inputs = file("few.csv", "town,age,id\nnorth,60,7\n");
  const auto refused = [&](const std::vector<std::string>& more, const std::string& part) {
    std::vector<std::string> arguments{"predict", path("classes"), "--input", inputs};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = fovea(arguments);
    EXPECT_EQ(outcome.status, 1) << part;
    EXPECT_TRUE(has(outcome.err, part)) << outcome.err;
  };
  refused({"--out", path("a.xlsx")}, ".csv, .tsv or .jsonl");
  refused({"--out", path("nowhere/a.csv")}, "nowhere");
  refused({"--out", path("a.csv"), "--key", "idd"}, "'id'");
  refused({"--key", "id"}, "--out");
  EXPECT_FALSE(std::filesystem::exists(path("a.csv"))) << "nothing is left";
  const Outcome names =
      fovea({"predict", path("classes"), "60,north", "--key", "id", "--out", path("a.csv")});
  EXPECT_TRUE(has(names.err, "header")) << names.err;
}

TEST_F(Judgement, CompareNamesTheWinnerAndKeepsTheModels) {
  const Outcome outcome = fovea({"compare",
                                 "features",
                                 path("people.csv"),
                                 "--target",
                                 "buys",
                                 "--columns",
                                 "drop=id,drop=spent",
                                 "--epochs",
                                 "12",
                                 "--seeds",
                                 "2",
                                 "--vary",
                                 "training.learning_rate=0.02,1e-9",
                                 "--keep",
                                 path("kept"),
                                 "--out",
                                 path("comparison"),
                                 "--quiet",
                                 "--threads",
                                 "1"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(has(outcome.out, " *")) << outcome.out;
  EXPECT_TRUE(has(outcome.err, "best by accuracy (*): 0.02")) << outcome.err;
  const Json json = read_json_file(folder->path() / "comparison" / "compare.json");
  EXPECT_EQ(json["winner"]["row"], 0);
  EXPECT_GT(json["winner"]["difference"], 0);
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path("kept")))
    names.insert(entry.path().filename().string());
  EXPECT_EQ(names, (std::set<std::string>{"1-0.02-seed0", "1-0.02-seed1", "2-1e-9-seed0",
                                          "2-1e-9-seed1"}));
  EXPECT_EQ(fovea({"evaluate", path("kept/1-0.02-seed1")}).status, 0);
}

TEST_F(Judgement, TuneFindsGoesOnAndKeeps) {
  const std::vector<std::string> search{"tune",
                                        "features",
                                        path("people.csv"),
                                        "--target",
                                        "buys",
                                        "--columns",
                                        "drop=id,drop=spent",
                                        "--epochs",
                                        "9",
                                        "--trials",
                                        "9",
                                        "--threads",
                                        "1",
                                        "--set",
                                        "training.learning_rate=1e-6",
                                        "--vary",
                                        "training.learning_rate=1e-5..0.1",
                                        "--out",
                                        path("search"),
                                        "--json"};
  const Outcome first = fovea(search);
  ASSERT_EQ(first.status, 0) << first.err;
  const Json json = first.json();
  EXPECT_EQ(json["trials"].size(), 1u + 9 + 3 + 1 + 2 * 2)
      << "the usual options, then 9, 3 and 1; two finalists from two more seeds";
  ASSERT_EQ(json["finalists"].size(), 2u);
  EXPECT_EQ(json["finalists"][0]["trial"], json["best"]);
  EXPECT_EQ(json["finalists"][1]["trial"], 0) << "the usual options";
  for (const Json& one : json["finalists"]) {
    const auto values = one["values"].get<std::vector<double>>();
    ASSERT_EQ(values.size(), 3u);
    EXPECT_NEAR(one["mean"], (values[0] + values[1] + values[2]) / 3, 1e-9);
    EXPECT_GE(one["deviation"], 0);
  }
  EXPECT_GT(json["finalists"][0]["mean"], json["finalists"][1]["mean"]);
  EXPECT_GT(json["best_value"], json["usual_value"]) << "the usual rate is far too small";
  EXPECT_GT(json["importance"]["training.learning_rate"], 0.3);
  const Json best = evaluate("search/best");
  EXPECT_NEAR(best["metrics"]["accuracy"], json["best_value"].get<double>(), 1e-9)
      << "the run is the trial";
  EXPECT_TRUE(std::filesystem::exists(path("search/tune.html")));

  // What a search that was killed had done is not done again, and the rest is the same.
  const std::string lines = read_file(path("search/trials.jsonl"));
  std::vector<std::string> kept = split(lines, '\n');
  write_file(path("search/trials.jsonl"),
             join(std::span(kept).subspan(0, 5), "\n") + "\n" + kept[5].substr(0, 7));
  const Outcome again = fovea(search);
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_TRUE(has(again.err, "of an earlier call")) << again.err;
  const auto values = [](const Json& result) {
    std::vector<std::pair<Json, Json>> found;
    for (const Json& trial : result["trials"]) found.emplace_back(trial["options"], trial["value"]);
    return found;
  };
  EXPECT_EQ(values(again.json()), values(json));

  std::vector<std::string> other = search;
  other.back() = "--quiet";
  other.insert(other.end(), {"--seed", "3"});
  const Outcome refused = fovea(other);
  EXPECT_EQ(refused.status, 1);
  EXPECT_TRUE(has(refused.err, "other options")) << refused.err;
  EXPECT_EQ(fovea({"tune", "features", "--time", "soon"}).status, 1);
  EXPECT_EQ(fovea({"tune", "features", "--vary", "model.hiden=8,16"}).status, 1);
}

TEST_F(Judgement, ARefusedSearchLeavesNoFolderAndAKilledOneIsNoObstacle) {
  const auto search = [](const std::string& data, const std::string& target) {
    return fovea({"tune", "features", data, "--target", target, "--columns", "drop=id,drop=spent",
                  "--epochs", "1", "--trials", "1", "--threads", "1", "--quiet", "--set",
                  "model.name=plain", "--out", path("deep/refused")});
  };
  const Outcome mistyped = search(path("people.csv"), "bys");
  EXPECT_EQ(mistyped.status, 1);
  EXPECT_TRUE(has(mistyped.err, "buys")) << mistyped.err;
  EXPECT_EQ(search(path("none.csv"), "buys").status, 1);
  EXPECT_FALSE(std::filesystem::exists(path("deep"))) << "nothing of a search without a trial";
  make_folder(path("deep/refused"));  // as one leaves it that was killed in its first training
  file("deep/refused/search.json", "{\"options\": \"others\"}");
  file("deep/refused/.lock", "");
  const Outcome right = search(path("people.csv"), "buys");
  EXPECT_EQ(right.status, 0) << right.err;
}

TEST_F(Judgement, ASearchKeepsItsTimeEvenWithinItsFirstTraining) {
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome =
      fovea({"tune", "features", path("people.csv"), "--target", "buys", "--columns",
             "drop=id,drop=spent", "--epochs", "100000000", "--set", "training.patience=0", "--set",
             "model.name=plain", "--time", "1s", "--threads", "1", "--out", path("timed")});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_LT(seconds.count(), 10);
  EXPECT_TRUE(has(outcome.err, "half of --time 1s was too short")) << outcome.err;
  EXPECT_TRUE(has(outcome.out, path("timed/best"))) << outcome.out;
  EXPECT_GT(evaluate("timed/best")["metrics"]["accuracy"].get<double>(), 0.8);
}

TEST_F(Judgement, WhatIsFittedExactlyIsNotVariedByTheUsualOptions) {
  const Outcome outcome = fovea({"tune", "features", path("people.csv"), "--target", "buys",
                                 "--columns", "drop=id,drop=spent", "--set", "model.name=linear",
                                 "--threads", "1", "--out", path("exact")});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(has(outcome.err, "fitted exactly")) << outcome.err;
  EXPECT_FALSE(has(outcome.err, "dropout")) << outcome.err;
}

}  // namespace
}  // namespace fovea::judgement_test
