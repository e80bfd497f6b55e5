// fovea explain --without and --flip.
#include <gtest/gtest.h>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "tests/cli/program_test.h"

namespace fovea::cli_what_if_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

// y = 1 where x1 + x2 > 0: it rests on x2.
constexpr const char* kRow = "-0.1,-0.5,0.9,-0.2,0.5,0.9,-0.8,0.3,0.1,0.6";

class WhatIf : public testing::ProgramTest {
 protected:
  static void SetUpTestSuite() {
    runs_ = std::make_unique<TemporaryFolder>();
    const Outcome outcome = fovea({"train", "features", "--set", "data.rows=2000", "--epochs", "3",
                                   "--out", run(), "--quiet", "--set", "model.name=attention",
                                   "--set", "model.hidden=16", "--set", "model.members=2"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
  }
  static void TearDownTestSuite() { runs_.reset(); }
  static std::string run() { return (*runs_ / "table").string(); }
  static Outcome explain(const std::vector<std::string>& more) {
    std::vector<std::string> words{"explain", run(), kRow, "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return fovea(words);
  }
  static void refused(const std::vector<std::string>& more, const std::string& words) {
    const Outcome outcome = explain(more);
    EXPECT_NE(outcome.status, 0) << outcome.out;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
  }

  static std::unique_ptr<TemporaryFolder> runs_;
};

std::unique_ptr<TemporaryFolder> WhatIf::runs_;

TEST_F(WhatIf, TakesUnitsAway) {
  const Json whole = parse_json(explain({"--json"}).out, "out");
  const Outcome shown = explain({"--without", "columns:x1,#3"});
  ASSERT_EQ(shown.status, 0) << shown.err;
  EXPECT_NE(shown.out.find("without the columns: x1 (#2), x2 (#3)"), std::string::npos)
      << shown.out;
  const std::string before = whole["prediction"]["text"];
  EXPECT_NE(shown.out.find("the answer to the whole input: " + before), std::string::npos)
      << shown.out;
  const Json left = parse_json(
      explain({"--without", "columns:x1", "--without", "columns:x2", "--json"}).out, "out");
  EXPECT_EQ(left["without"]["before"]["answer"], whole["prediction"]["answer"]);
  EXPECT_NE(left["prediction"]["answer"], whole["prediction"]["answer"]);
}

TEST_F(WhatIf, SaysWhatIsWrong) {
  refused({"--without", "columns:x99"}, "no unit 'x99'");
  refused({"--without", "colums:x1"}, "did you mean 'columns'");
  refused({"--without", "x1"}, "expected AXIS:UNIT");
  refused({"--without", "columns:x1,x1"}, "twice");
  refused({"--without", "columns:x0,x1,x2,x3,x4,x5,x6,x7,x8,x9"}, "leave at least one");
  refused({"--without", "columns:x1", "--flip"}, "leave out --flip");
  refused({"--flip-most", "3"}, "add --flip");
  refused({"--flip-axis", "column"}, "did you mean 'columns'");
  const Outcome data = fovea({"explain", run(), "--without", "columns:x1"});
  EXPECT_NE(data.err.find("give an input"), std::string::npos) << data.err;
}

TEST_F(WhatIf, FindsTheSmallestChange) {
  const Outcome outcome = explain({"--flip", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json flipped = parse_json(outcome.out, "out");
  const Json& without = flipped["without"];
  EXPECT_NE(without["before"]["answer"]["class"], flipped["prediction"]["answer"]["class"]);
  EXPECT_GT(without["predictions"], 10);
  ASSERT_EQ(without["units"].size(), 1u);
  for (const Json& label : without["units"][0]["labels"])
    EXPECT_TRUE(label == "x1" || label == "x2") << "only they matter: " << without.dump();
  // It can be said again by hand, and stays in a report.
  std::string by_hand = "columns:";
  for (const Json& label : without["units"][0]["labels"])
    by_hand += (by_hand.back() == ':' ? "" : ",") + label.get<std::string>();
  const Json again = parse_json(explain({"--without", by_hand, "--json"}).out, "out");
  EXPECT_EQ(again["prediction"], flipped["prediction"]);
  ASSERT_EQ(explain({"--flip", "--no-faithfulness", "--out", path("flip.html")}).status, 0);
  EXPECT_NE(read_file(path("flip.html")).find("\"without\":"), std::string::npos);
}

TEST_F(WhatIf, SaysWhereNothingIsFound) {
  int flipped = 0;
  for (const std::string sign : {"", "-"}) {  // either of the two is enough for the answer
    const std::string row = concat("0,", sign, "0.9,", sign, "0.9,0,0,0,0,0,0,0");
    const auto flip = [&](const std::string& most) {
      return fovea(
          {"explain", run(), row, "--quiet", "--flip-axis", "columns", "--flip-most", most});
    };
    const Outcome outcome = flip("1");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.err.find("no single unit of the axis 'columns' changes the answer"),
              std::string::npos)
        << outcome.err;
    EXPECT_EQ(outcome.out.find("without"), std::string::npos) << outcome.out;
    flipped += flip("2").out.find("without the columns: x1 (#2), x2 (#3)") != std::string::npos;
  }
  EXPECT_EQ(flipped, 1) << "without both the model has one answer";
}

}  // namespace
}  // namespace fovea::cli_what_if_test
