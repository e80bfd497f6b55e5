// The ways of looking: reports, whether they show what the model used, several seeds, weights from
// elsewhere.
#include <gtest/gtest.h>
#include <filesystem>

#include "fovea/base/file.h"
#include "fovea/explain/record/json.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"
#include "tests/cli/program_test.h"

namespace fovea::seeing_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

constexpr const char* kRow = "-0.1,0.7,0.4,-0.2,0.5,0.9,-0.8,0.3,0.1,0.6";

class Seeing : public testing::ProgramTest {
 protected:
  std::string train(const std::string& seed) {
    const std::string run = path("run" + seed);
    const Outcome outcome =
        fovea({"train", "features", "--set", "data.rows=2000", "--epochs", "3", "--seed", seed,
               "--out", run, "--quiet", "--set", "model.name=attention", "--set", "model.hidden=16",
               "--set", "model.members=2"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return run;
  }
  static bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
};

TEST_F(Seeing, AReportHoldsAllInputsAndWhetherToBelieveThem) {
  const std::string run = train("0");
  const Outcome outcome =
      fovea({"explain", run, kRow, "0,0,0,0,0,0,0,0,0,0", "--quiet", "--out", path("r.html")});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const std::string html = read_file(path("r.html"));
  EXPECT_TRUE(holds(html, "id=\"explanation\">[{"));
  EXPECT_TRUE(holds(html, "\"comprehensiveness\""));
  ASSERT_EQ(fovea({"explain", run, kRow, "--no-faithfulness", "--out", path("q.html")}).status, 0);
  EXPECT_FALSE(holds(read_file(path("q.html")), "\"comprehensiveness\""));
  const Outcome two = fovea({"explain", run, kRow, kRow, "--out", path("two.svg")});
  EXPECT_EQ(two.status, 1);
  EXPECT_TRUE(holds(two.err, "a report (.html) holds all of them")) << two.err;
}

TEST_F(Seeing, TheRightAnswerAndTheModelsCard) {
  std::string table = "plan,age,late\n";
  for (int i = 0; i < 120; ++i)
    table += concat(i % 3 ? "Basic" : "Pro", ",", 20 + i % 40, ",", i % 3 ? "no" : "yes", "\n");
  write_file(path("orders.csv"), table);
  const std::string run = path("orders");
  const Outcome trained =
      fovea({"train", "features", path("orders.csv"), "--target", "late", "--epochs", "2", "--out",
             run, "--quiet", "--set", "model.name=attention", "--set", "model.hidden=16"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  const auto explained = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"explain", run});
    words.insert(words.end(), {"--json", "--quiet"});
    const Outcome outcome = fovea(words);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.json();
  };
  const Json unknown = explained({"Pro,33"});
  EXPECT_FALSE(unknown["prediction"].contains("truth"));
  const Json& shares = unknown["prediction"]["shares"];
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_EQ(shares[0]["label"], unknown["prediction"]["answer"]["class"]);
  EXPECT_EQ(shares[0]["given"], true);
  EXPECT_EQ(unknown["prediction"]["answers"], 2);
  const Json& card = unknown["model"];
  EXPECT_EQ(card["name"], "orders");
  EXPECT_EQ(card["network"], "attention");
  EXPECT_EQ(card["data"], "orders.csv") << "not where it stands on this machine";
  EXPECT_EQ(card["epoch"], 2);
  EXPECT_EQ(card["measured"]["split"], "validation");
  EXPECT_EQ(card["measured"]["rows"], card["rows"]["validation"]);
  EXPECT_EQ(card["trained"].get<std::string>().size(), 20u) << card["trained"];
  const auto given = unknown["prediction"]["answer"]["class"].get<std::string>();
  const std::string other = given == "yes" ? "no" : "yes";
  EXPECT_EQ(explained({"Pro,33", "--truth", given})["prediction"]["truth"]["right"], true);
  const Json wrong = explained({"Pro,33", "--truth", other})["prediction"]["truth"];
  EXPECT_EQ(wrong["right"], false);
  EXPECT_EQ(wrong["text"], other);
  // A table with the column that training learned, in an order of its own, and a JSON object.
  write_file(path("new.csv"), concat("late,age,plan\n", given, ",33,Pro\n", other, ",33,Pro\n"));
  const Json rows = explained({"--input", path("new.csv")});
  EXPECT_EQ(rows[0]["prediction"]["truth"]["right"], true);
  EXPECT_EQ(rows[1]["prediction"]["truth"]["right"], false);
  const std::string object = concat(R"({"plan": "Pro", "age": 33, "late": ")", other, "\"}");
  EXPECT_EQ(explained({object})["prediction"]["truth"]["right"], false);
  // The run knows what is right for its own examples.
  const Json examples = read_json_file(std::filesystem::path(run) / "assets" / "examples.json");
  EXPECT_TRUE(explained({examples[0].dump()})["prediction"].contains("truth"));
  EXPECT_EQ(fovea({"explain", run, "Pro,33", "Pro,34", "--truth", "no", "--json"}).status, 1);
}

TEST_F(Seeing, ARunThatDidNotFinishWarns) {
  const std::string run = train("0");
  const std::filesystem::path manifest = std::filesystem::path(run) / "manifest.json";
  Json json = read_json_file(manifest);
  json["training"] = {{"finished", false}};
  json.erase("evaluation");
  write_json_file(manifest, json);
  const Json best = fovea({"explain", run, kRow, "--json"}).json()["model"];
  EXPECT_TRUE(holds(best["warning"].get<std::string>(), "did not finish"));
  EXPECT_TRUE(best["measured"]["value"].is_number()) << "of the best epoch so far: " << best;
}

TEST_F(Seeing, FaithfulnessOfADataSet) {
  const std::string run = train("0");
  ASSERT_EQ(fovea({"data", "features", "--set", "data.rows=300", "--out", path("data")}).status, 0);
  const Outcome table =
      fovea({"explain", run, path("data"), "--faithfulness", "--rows", "20", "--quiet"});
  ASSERT_EQ(table.status, 0) << table.err;
  EXPECT_TRUE(holds(table.out, "Does this picture show what the model used?")) << table.out;
  EXPECT_TRUE(holds(table.out, "over 20 examples")) << table.out;
  const Outcome json =
      fovea({"explain", run, "--faithfulness", "--rows", "5", "--json", "--quiet"});
  ASSERT_EQ(json.status, 0) << json.err;
  const Explanation back = explanation_from_json(json.json(), "test");
  ASSERT_EQ(back.faithfulness.size(), 1u);
  EXPECT_EQ(back.faithfulness[0].examples, 5);
  EXPECT_FALSE(back.maps[0].low.empty()) << "bootstraps of the mean";
}

TEST_F(Seeing, SeveralSeedsGiveIntervals) {
  const std::string first = train("0"), second = train("1"), third = train("2");
  const Outcome outcome =
      fovea({"explain", first, kRow, "--with", second, "--with", third, "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Explanation mean = explanation_from_json(outcome.json(), "test");
  ASSERT_EQ(mean.maps.size(), 1u);
  EXPECT_TRUE(holds(mean.maps[0].interval_of, "3 seeds")) << mean.maps[0].interval_of;
  for (size_t key = 0; key < 10; ++key) EXPECT_LE(mean.maps[0].low[key], mean.maps[0].high[key]);
  EXPECT_EQ(fovea({"explain", first, "--with", second}).status, 1) << "over the data: no input";
}

TEST_F(Seeing, WeightsFromElsewhere) {
  write_safetensors(path("w.safetensors"),
                    {{"attentions.0", torch::rand({1, 2, 3, 3}).softmax(-1)},
                     {"attentions.1", torch::rand({1, 2, 3, 3}).softmax(-1)}});
  const Outcome outcome = fovea({"explain", "--weights", path("w.safetensors"), "--labels",
                                 "the,cat,sat", "--out", path("w.html"), "--out", path("w.json")});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(holds(outcome.out, "cat"));
  const Explanation back = read_explanation(path("w.json"));
  EXPECT_GE(back.maps.size(), 4u);
  EXPECT_EQ(back.maps[0].key_labels, (std::vector<std::string>{"the", "cat", "sat"}));
  // What was written can be shown again.
  EXPECT_EQ(fovea({"explain", "--weights", path("w.json"), "--out", path("again.html")}).status, 0);
  // Layers or a batch? The answer is an option to copy.
  write_safetensors(path("s.safetensors"), {{"stacked", torch::rand({2, 3, 4, 4}).softmax(-1)}});
  const std::string reading = "layers,heads,queries,keys";
  EXPECT_TRUE(holds(fovea({"explain", "--weights", path("s.safetensors")}).err,
                    "[2, 3, 4, 4] can be read in several ways"));
  EXPECT_TRUE(
      holds(fovea({"explain", "--weights", path("s.safetensors")}).err, "--dimensions " + reading));
  const Outcome read =
      fovea({"explain", "--weights", path("s.safetensors"), "--dimensions", reading, "--json"});
  ASSERT_EQ(read.status, 0) << read.err;
  EXPECT_EQ(explanation_from_json(read.json(), "test").maps.at(3).layer, 2);
  EXPECT_TRUE(holds(fovea({"explain"}).err, "name a run"));
  EXPECT_EQ(fovea({"explain", "--weights", path("missing.npz")}).status, 1);
  EXPECT_EQ(fovea({"explain", "run", "--weights", path("w.json")}).status, 1);
}

}  // namespace
}  // namespace fovea::seeing_test
