// fovea explain --query-key: one weight by dimension.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/cli/program_test.h"

namespace fovea::query_key_test {
namespace {

using testing::fovea;
using testing::Outcome;

class QueryKeyCommand : public testing::TextProgramTest {
 protected:
  void train(const std::vector<std::string>& what) {
    std::vector<std::string> words{"train"};
    words.insert(words.end(), what.begin(), what.end());
    for (const char* word : {"--set", "data.rows=60", "--set", "data.validation_rows=20",
                             "--epochs", "1", "--quiet", "--out"})
      words.emplace_back(word);
    words.push_back(run);
    const Outcome outcome = fovea(words);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
  }
  void train_bert() {
    train({"documents", "--set", "model.name=bert", "--set", "model.layers=2", "--set",
           "model.hidden=16", "--set", "model.heads=4"});
  }
  static bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  std::string run = path("run");
};

TEST_F(QueryKeyCommand, TellsWhatAWeightIsMadeOf) {
  train_bert();
  const Outcome whole = fovea({"explain", run, "a fine film", "--json", "--exact"});
  ASSERT_EQ(whole.status, 0) << whole.err;
  const Outcome one = fovea({"explain", run, "a fine film", "--query-key", "2.3:2,4", "--json"});
  ASSERT_EQ(one.status, 0) << one.err;
  const Json made = one.json();
  EXPECT_EQ(made["layer"], 2);
  EXPECT_EQ(made["head"], 3);
  ASSERT_EQ(made["products"].size(), 4u);
  double dot = 0;
  for (size_t d = 0; d < 4; ++d) {
    const double product =
        made["query"]["vector"][d].get<double>() * made["key"]["vector"][d].get<double>();
    EXPECT_NEAR(made["products"][d].get<double>(), product, 1e-9);
    dot += product;
  }
  EXPECT_NEAR(made["score"].get<double>(), dot * made["scale"].get<double>(), 1e-9);
  const Json lift = made["row"]["lift"], scores = made["row"]["scores"],
             weights = made["row"]["weights"];
  double looked_at = 0, mean = 0;
  for (size_t key = 0; key < scores.size(); ++key) {
    looked_at += weights[key].get<double>() * scores[key].get<double>();
    mean += scores[key].get<double>() / double(scores.size());
  }
  EXPECT_NEAR(std::accumulate(lift.begin(), lift.end(), 0.0,
                              [](double sum, const Json& one) { return sum + one.get<double>(); }),
              looked_at - mean, 1e-6);
  bool found = false;
  const Json maps = whole.json()["maps"];
  for (const Json& map : maps)
    if (map.value("layer", 0) == 2 && map.value("head", 0) == 3) {
      found = true;
      EXPECT_EQ(map["products"], true);
      EXPECT_NEAR(map["weights"][1][3].get<double>(), made["weight"].get<double>(), 1e-5);
    }
  EXPECT_TRUE(found);
}

TEST_F(QueryKeyCommand, PrintsATableAndWritesPictures) {
  train_bert();
  const Outcome table = fovea({"explain", run, "a fine film", "--query-key", "1.2:2,3", "--out",
                               path("a.svg"), "--out", path("a.html"), "--out", path("a.json")});
  ASSERT_EQ(table.status, 0) << table.err;
  EXPECT_TRUE(holds(table.out, "layer 1, head 2: query 2")) << table.out;
  EXPECT_TRUE(holds(table.out, "dimension")) << table.out;
  EXPECT_TRUE(holds(table.out, "softmax of the scores of")) << table.out;
  EXPECT_TRUE(holds(read_file(path("a.svg")), "dimension"));
  EXPECT_TRUE(holds(read_file(path("a.html")), "\"query_keys\":[{"));
  EXPECT_EQ(Json::parse(read_file(path("a.json")))["query_keys"].size(), 1u);
  const Outcome by_label =
      fovea({"explain", run, "a fine film", "--query-key", "1.2:[CLS],[SEP]", "--json"});
  ASSERT_EQ(by_label.status, 0) << by_label.err;
  EXPECT_EQ(by_label.json()["query"]["index"], 0);
}

TEST_F(QueryKeyCommand, SaysWhatIsWrongWithAPlace) {
  train_bert();
  const auto refusal = [&](const std::string& place) {
    const Outcome outcome = fovea({"explain", run, "a fine film", "--query-key", place});
    EXPECT_EQ(outcome.status, 1) << place;
    return outcome.err;
  };
  EXPECT_TRUE(holds(refusal("2.3"), "expected [MAP.]LAYER.HEAD:QUERY,KEY")) << refusal("2.3");
  EXPECT_TRUE(holds(refusal("3.1:1,1"), "there is: attention.1, attention.2"))
      << refusal("3.1:1,1");
  EXPECT_TRUE(holds(refusal("2.9:1,1"), "4 heads")) << refusal("2.9:1,1");
  EXPECT_TRUE(holds(refusal("2:1,1"), "say which")) << refusal("2:1,1");
  EXPECT_TRUE(holds(refusal("2.1:1,99"), "there is no key 99")) << refusal("2.1:1,99");
  EXPECT_TRUE(holds(refusal("2.1:[CLX],1"), "did you mean")) << refusal("2.1:[CLX],1");
  const Outcome none = fovea({"explain", run, "--query-key", "1.1:1,1"});
  EXPECT_TRUE(holds(none.err, "give an input")) << none.err;
}

TEST_F(QueryKeyCommand, SaysWhereWeightsAreNoDotProducts) {
  train({"dates", "--set", "model.hidden=8", "--set", "model.embedding=8", "--set",
         "model.score=additive"});
  const Outcome outcome = fovea({"explain", run, "9 May 2018", "--query-key", ":1,1"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(holds(outcome.err, "dot products")) << outcome.err;
}

TEST_F(QueryKeyCommand, ReachesTheDecoderThatGoesStepByStep) {
  train({"dates", "--set", "model.hidden=8", "--set", "model.embedding=8", "--set",
         "model.score=general"});
  const Outcome whole = fovea({"explain", run, "9 May 2018", "--json", "--exact"});
  const Outcome one = fovea({"explain", run, "9 May 2018", "--query-key", ":3,2", "--json"});
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_NEAR(whole.json()["maps"][0]["weights"][2][1].get<double>(),
              one.json()["weight"].get<double>(), 1e-5);
}

}  // namespace
}  // namespace fovea::query_key_test
