// Second networks from the command line.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "tests/cli/program.h"
#include "tests/support/temporary_folder.h"

namespace fovea::trained_adversary_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(AdversaryCommand, PrintsACurveOfSecondNetworks) {
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  const Outcome trained = fovea(
      {"train", "features", "--set", "data.rows=300", "--epochs", "3", "--out", run, "--quiet"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  const Outcome json = fovea({"adversary", run, "--lambda", "0,0.5", "--epochs", "2", "--quiet",
                              "--json", "--out", (folder / "curve.svg").string()});
  ASSERT_EQ(json.status, 0) << json.err;
  const Json result = json.json();
  ASSERT_EQ(result["points"].size(), 2u);
  EXPECT_EQ(result["points"][1]["lambda"], 0.5);
  for (const Json& point : result["points"]) {
    EXPECT_GE(point["tvd"].get<double>(), 0);
    EXPECT_LE(point["tvd"].get<double>(), 1);
    EXPECT_LE(point["jsd"].get<double>(), std::log(2.0) + 1e-6);
    EXPECT_TRUE(point["jsd_by_map"].contains("attention"));
    EXPECT_TRUE(point["metrics"].contains("accuracy"));
  }
  EXPECT_TRUE(result["uniform"]["metrics"].contains("accuracy"));
  EXPECT_TRUE(holds(read_file(folder / "curve.svg"), "JSD of attention"));
  const Outcome table = fovea({"adversary", run, "--lambda", "0", "--epochs", "1", "--quiet",
                               "--no-uniform", "--out", (folder / "curve.json").string()});
  ASSERT_EQ(table.status, 0) << table.err;
  EXPECT_TRUE(holds(table.out, "lambda 0")) << table.out;
  EXPECT_FALSE(holds(table.out, "equal weights")) << table.out;
  EXPECT_FALSE(read_json_file(folder / "curve.json").contains("uniform"));
  EXPECT_EQ(fovea({"adversary", run, "--lambda", "-1"}).status, 2);
}

TEST(AdversaryCommand, RefusesNetworksThatAnswerOtherwise) {
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  const Outcome trained =
      fovea({"train", "ratings", "--set", "data.users=20", "--set", "data.items=8", "--set",
             "data.ratings_each=6", "--epochs", "1", "--out", run, "--quiet"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  const Outcome refused = fovea({"adversary", run, "--quiet"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_TRUE(holds(refused.err, "gives no probabilities of classes")) << refused.err;
}

}  // namespace
}  // namespace fovea::trained_adversary_test
