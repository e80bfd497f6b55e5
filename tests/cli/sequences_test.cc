// The way of a user through dates, translate and forecast, and the odd texts that files hold. Tiny
// networks: what they answer does not matter here, that they answer does.
#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/base/file.h"
#include "fovea/explain/record/json.h"
#include "tests/cli/program_test.h"

namespace fovea::sequences_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

class Sequences : public testing::TextProgramTest {
 protected:
  /// Trains a tiny network; the task's data comes first in `more` where it is not built in.
  Outcome train(const std::string& task, std::vector<std::string> more,
                const std::string& run = "run") {
    std::vector<std::string> arguments{"train", task};
    arguments.insert(arguments.end(), more.begin(), more.end());
    for (const char* argument :
         {"--epochs", "1", "--quiet", "--set", "model.hidden=8", "--set", "model.embedding=6"})
      arguments.emplace_back(argument);
    arguments.insert(arguments.end(), {"--out", path(run)});
    return fovea(arguments);
  }
  std::vector<std::string> words(std::vector<std::string> more) {
    more.insert(more.end(), {"--set", "data.tokens=words"});
    return more;
  }
  void expect_refused(const Outcome& outcome, const std::vector<std::string>& parts) {
    EXPECT_EQ(outcome.status, 1) << outcome.out;
    EXPECT_EQ(outcome.err.rfind("error: ", 0), 0u) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    for (const std::string& part : parts)
      EXPECT_NE(outcome.err.find(part), std::string::npos) << part << " not in: " << outcome.err;
  }
  /// Lines "word i word j<TAB>wort i wort j".
  std::string pairs(int count = 40) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text += concat("a", i % 5, " b", i % 3, " c.\tx", i % 5, " y", i % 3, " z.\n");
    return text;
  }
  std::vector<std::string> small_dates{
      "--set", "data.rows=60", "--set", "data.validation_rows=10", "--set", "data.test_rows=10"};
};

TEST_F(Sequences, DatesFromTrainingToPicture) {
  ASSERT_EQ(train("dates", small_dates).status, 0);
  const Json metrics = fovea({"evaluate", path("run"), "--json"}).json();
  EXPECT_EQ(metrics["split"], "test");
  for (const char* name :
       {"exact_match", "character_accuracy", "edit_distance", "perplexity", "attention_truth"})
    EXPECT_TRUE(metrics["metrics"].contains(name)) << name;
  const Outcome answer = fovea({"predict", path("run"), "9 May 2018", "05/12/98"});
  EXPECT_EQ(answer.status, 0) << answer.err;
  EXPECT_EQ(std::count(answer.out.begin(), answer.out.end(), '\n'), 2);
  const Outcome picture = fovea(
      {"explain", path("run"), "9 May 2018", "--out", path("map.svg"), "--out", path("map.json")});
  EXPECT_EQ(picture.status, 0) << picture.err;
  EXPECT_TRUE(std::filesystem::exists(path("map.svg")));
  const Explanation explanation = read_explanation(path("map.json"));
  EXPECT_EQ(explanation.maps.at(0).keys(), 10u);
  EXPECT_EQ(explanation.axes.at(0).text, "9 May 2018");
  EXPECT_EQ(explanation.axes.at(0).spans.at(3).begin, 3);
  EXPECT_TRUE(explanation.axes.at(1).output);
  EXPECT_EQ(fovea({"explain", path("run")}).status, 0);
  EXPECT_EQ(fovea({"doctor", path("run")}).status, 0) << fovea({"doctor", path("run")}).out;
}

TEST_F(Sequences, SearchOptionsCanChangeAfterTraining) {
  ASSERT_EQ(train("dates", small_dates).status, 0);
  const Outcome best = fovea({"predict", path("run"), "9 May 2018", "--json", "--set",
                              "decoding.method=beam", "--set", "decoding.n_best=3"});
  ASSERT_EQ(best.status, 0) << best.err;
  EXPECT_EQ(best.json()[0]["outputs"].size(), 3u);
  expect_refused(fovea({"predict", path("run"), "x", "--set", "model.hidden=9"}),
                 {"model.hidden=9", "decoding"});
}

TEST_F(Sequences, ThreadsChangeNoBit) {
  std::vector<std::string> one = small_dates, two = small_dates;
  one.insert(one.end(), {"--threads", "1"});
  two.insert(two.end(), {"--threads", "2"});
  ASSERT_EQ(train("dates", one, "one").status, 0);
  ASSERT_EQ(train("dates", two, "two").status, 0);
  EXPECT_EQ(read_file(path("one/model.safetensors")), read_file(path("two/model.safetensors")));
}

TEST_F(Sequences, APreparedFileTrainsLikeItsSource) {
  const std::string data = file("pairs.tsv", pairs());
  const Outcome prepared = fovea({"prepare", "translate", data, "--set", "data.tokens=words",
                                  "--out", path("pairs.safetensors")});
  ASSERT_EQ(prepared.status, 0) << prepared.err;
  ASSERT_EQ(train("translate", words({data}), "plain").status, 0);
  const Outcome outcome = train("translate", words({path("pairs.safetensors")}), "prepared");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(read_file(path("plain/model.safetensors")),
            read_file(path("prepared/model.safetensors")));
  EXPECT_EQ(fovea({"predict", path("prepared"), "a1 b2 c."}).status, 0);
}

TEST_F(Sequences, ParallelFilesAndBuiltInData) {
  std::string source, target;
  for (int i = 0; i < 30; ++i) source += concat("s", i, " t\n"), target += concat("u v", i, "\n");
  const std::string left = file("a.en", source), right = file("a.de", target);
  ASSERT_EQ(train("translate", words({"--source", left, "--target-text", right})).status, 0);
  expect_refused(train("translate", words({"--source", left}), "none"), {"--target-text"});
  const Outcome built_in = train("translate",
                                 words({"--set", "data.rows=60", "--set", "data.validation_rows=10",
                                        "--set", "data.test_rows=10"}),
                                 "built-in");
  ASSERT_EQ(built_in.status, 0) << built_in.err;
  const Json metrics = fovea({"evaluate", path("built-in"), "--json"}).json()["metrics"];
  EXPECT_TRUE(metrics.contains("bleu") && metrics.contains("chrf") &&
              metrics.contains("attention_truth"));
}

TEST_F(Sequences, ForecastFromTrainingToPicture) {
  ASSERT_EQ(train("forecast", {"--set", "data.rows=300", "--set", "data.window=14", "--set",
                               "model.name=seq2seq"})
                .status,
            0);
  const Json metrics = fovea({"evaluate", path("run"), "--json"}).json()["metrics"];
  EXPECT_TRUE(metrics.contains("mae") && metrics.contains("attention_truth"));
  EXPECT_EQ(fovea({"explain", path("run"), "--out", path("map.svg")}).status, 0);
  EXPECT_EQ(fovea({"doctor", path("run")}).status, 0);
  expect_refused(fovea({"predict", path("run"), "1,2,3"}), {"3"});
}

TEST_F(Sequences, ListsInBracketsAreOneInput) {
  std::string series = "y\n";
  for (int i = 0; i < 60; ++i) series += concat(i % 7, "\n");
  write_file(path("series.csv"), series);
  const Outcome trained =
      fovea({"train", "forecast", path("series.csv"), "--target", "y", "--set",
             "model.name=seq2seq", "--set", "model.hidden=8", "--set", "data.window=4", "--set",
             "data.horizon=2", "--epochs", "1", "--quiet", "--out", path("f")});
  ASSERT_EQ(trained.status, 0) << trained.err;
  const Outcome list = fovea({"predict", path("f"), "[1, 2, 3, 4]"});
  const Outcome line = fovea({"predict", path("f"), "1,2,3,4"});
  EXPECT_EQ(list.status, 0) << list.err;
  EXPECT_EQ(list.out, line.out) << list.err;
  const Outcome none = fovea({"predict", path("f"), "[]"});
  EXPECT_EQ(none.status, 1);
  EXPECT_NE(none.err.find("0 steps"), std::string::npos) << none.err;
}

TEST_F(Sequences, CompareDrawsTheMetricAgainstLength) {
  std::vector<std::string> arguments{"compare",        "dates",
                                     "--vary",         "model.score=dot,general",
                                     "--also",         "model.attention=none",
                                     "--seeds",        "2",
                                     "--epochs",       "1",
                                     "--quiet",        "--set",
                                     "model.hidden=8", "--out",
                                     path("c")};
  arguments.insert(arguments.end(), small_dates.begin(), small_dates.end());
  const Outcome outcome = fovea(arguments);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(std::filesystem::exists(path("c/length.svg")));
  Json rows = read_json_file(path("c/compare.json"))["rows"];
  ASSERT_EQ(rows.size(), 3u);
  // Side by side in processes of their own they give the same.
  arguments.back() = "data.test_rows=10";
  arguments.insert(arguments.end(), {"--jobs", "3", "--json"});
  Json again = fovea(arguments).json()["rows"];
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(rows[i]["metrics"], again[i]["metrics"]);
}

TEST_F(Sequences, EmptyLinesAndEmptySidesAreLeftOut) {
  const Outcome outcome =
      train("translate", words({file("holes.tsv", pairs() + "\n\t\na\t\n" + pairs(10))}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST_F(Sequences, BadFilesAreRefusedWithTheirPlace) {
  std::string longer;
  for (int i = 0; i < 30; ++i) longer += concat("s", i, "\n");
  expect_refused(train("translate", words({"--source", file("l.en", longer), "--target-text",
                                           file("l.de", longer + "one more\n")})),
                 {"l.en", "l.de", "30", "31"});
  expect_refused(train("translate", words({file("one.tsv", pairs() + "only one side\n")})),
                 {"one.tsv:41"});
  expect_refused(train("translate", words({file("utf8.tsv", pairs() + "a\xff b\tc\n")})),
                 {"utf8.tsv:41", "UTF-8"});
  expect_refused(train("translate", words({file("none.tsv", "")})), {"none.tsv"});
  expect_refused(train("dates", {"--locales", "xx_YY"}), {"xx_YY"});
}

TEST_F(Sequences, OddTextsHaveDefinedAnswers) {
  const std::string odd =
      "שלום עולם\tمرحبا بالعالم\nnai\u0308ve cafe\u0301\tx\na\x01"
      "b\tc\n";
  ASSERT_EQ(train("translate", words({file("odd.tsv", pairs() + odd)})).status, 0);
  const std::string long_line(10000, 'q');
  const std::string inputs = file("in.txt", "a1 b2 c.\n\nשלום\n中文没见过\n" + long_line + "\n");
  const Outcome answers = fovea({"predict", path("run"), "--input", inputs});
  ASSERT_EQ(answers.status, 0) << answers.err;
  const auto lines = split(answers.out, '\n');
  ASSERT_EQ(lines.size(), 6u);  // one a line, in order; the last is what follows the last line end
  EXPECT_EQ(lines[1], "");      // nothing in, nothing out
  expect_refused(fovea({"predict", path("run"), "a\xff"}), {"UTF-8"});
  const Outcome nothing = fovea({"predict", path("run"), ""});
  EXPECT_EQ(nothing.status, 0);
  EXPECT_EQ(nothing.out, "\n");
}

TEST_F(Sequences, UnknownWordsAreCopiedFromWhereTheDecoderLooked) {
  std::string rare;  // each word once: all of them are unknown, on both sides
  for (int i = 0; i < 60; ++i) rare += concat("n", i, "\tn", i, "\n");
  for (int i = 0; i < 6; ++i) rare += "common\tcommon\n";  // there must be one known word
  std::vector<std::string> arguments{"train",   "translate", file("rare.tsv", rare),
                                     "--quiet", "--epochs",  "10",
                                     "--out",   path("run")};
  for (const char* setting :
       {"data.tokens=words", "data.minimum_count=2", "model.hidden=8", "model.embedding=6",
        "training.batch_size=8", "training.learning_rate=0.02", "training.warmup_steps=0",
        "training.monitor=loss"})
    arguments.insert(arguments.end(), {"--set", setting});
  const Outcome trained = fovea(arguments);
  ASSERT_EQ(trained.status, 0) << trained.err;
  const Outcome answers = fovea({"predict", path("run"), "zebra", "n17", "common"});
  EXPECT_EQ(answers.status, 0) << answers.err;
  EXPECT_EQ(answers.out, "zebra\nn17\ncommon\n");
}

TEST_F(Sequences, LongLinesTrainOnlyWithinTheLimit) {
  std::string wide;
  for (int i = 0; i < 10000; ++i) wide += "x";
  std::vector<std::string> arguments{file("wide.tsv", pairs() + wide + "\t" + wide + "\n"), "--set",
                                     "data.tokens=characters", "--set", "data.maximum_length=50"};
  EXPECT_EQ(train("translate", arguments).status, 0);
}

}  // namespace
}  // namespace fovea::sequences_test
