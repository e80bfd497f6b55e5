// fovea evaluate --beside: two runs on the same rows.
#include <gtest/gtest.h>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "tests/cli/program_test.h"

namespace fovea::cli_beside_test {
namespace {

using testing::fovea;
using testing::Outcome;

class Beside : public testing::ProgramTest {
 protected:
  std::string train(const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> words{"train", "features", "--set",  "model.name=attention",
                                   "--out", path(name), "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = fovea(words);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return path(name);
  }
  std::string table(const std::string& name, int rows, int turn) const {
    std::string lines = "age,plan,late\n";
    for (int i = 0; i < rows; ++i)
      lines += concat(20 + i * 13 % 50, ",", i % 3 ? "Basic" : "Pro", ",",
                      (i + turn) * 7 % 11 > 4 ? "yes" : "no", "\n");
    return file(name, lines);
  }
};

TEST_F(Beside, CountsWhoIsRight) {
  const std::string data = table("data.csv", 120, 0);
  const std::string first = train("first", {data, "--target", "late", "--epochs", "6"});
  const std::string second =
      train("second", {data, "--target", "late", "--epochs", "1", "--seed", "5"});
  const Outcome outcome = fovea({"evaluate", first, data, "--beside", second, "--quiet", "--json",
                                 "--explain", "0", "--out", path("rows.json")});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json said = parse_json(outcome.out, "out");
  const Json& counts = said["beside"];
  const auto accuracy = [&](const std::string& run) {
    return parse_json(fovea({"evaluate", run, data, "--quiet", "--json"}).out,
                      "out")["metrics"]["accuracy"]
        .get<double>();
  };
  const double both = counts["both_right"];
  EXPECT_NEAR((both + counts["only_first"].get<double>()) / 120, accuracy(first), 1e-9);
  EXPECT_NEAR((both + counts["only_second"].get<double>()) / 120, accuracy(second), 1e-9);
  EXPECT_EQ(counts["run"], "second");
  const Json rows = read_json_file(path("rows.json"));
  EXPECT_EQ(rows["beside"], "second");
  EXPECT_EQ(rows["columns"][3]["role"], "beside_answer") << rows["columns"].dump();
  const Outcome printed = fovea({"evaluate", first, data, "--beside", second, "--quiet"});
  EXPECT_NE(printed.out.find("McNemar's exact test: p = "), std::string::npos) << printed.out;
  const Outcome same = fovea({"evaluate", first, data, "--beside", first, "--quiet"});
  EXPECT_NE(same.out.find("0 rows with two different answers"), std::string::npos) << same.out;
}

TEST_F(Beside, RefusesWhatCannotBeCompared) {
  const std::string data = table("data.csv", 60, 0), other = table("other.csv", 60, 1);
  const std::string first = train("first", {data, "--target", "late", "--epochs", "1"});
  const std::string second = train("second", {other, "--target", "late", "--epochs", "1"});
  const std::string third = train("third", {data, "--target", "plan", "--epochs", "1"});
  const auto refused = [&](const std::vector<std::string>& words, const std::string& part) {
    std::vector<std::string> all{"evaluate", first, "--quiet"};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome outcome = fovea(all);
    EXPECT_NE(outcome.status, 0) << outcome.out;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  };
  refused({"--beside", second}, "they do not read the same rows");
  refused({data, "--beside", third}, "where first answers");
  refused({data, "--beside", path("nothing")}, "nothing");
  EXPECT_EQ(fovea({"train", "context", "--epochs", "1", "--quiet", "--out", path("context"),
                   "--set", "data.rows=60"})
                .status,
            0);
  refused({data, "--beside", path("context")}, "is a run of the task context, not features");
}

}  // namespace
}  // namespace fovea::cli_beside_test
