// POST /v1/explain with units taken away, and POST /v1/flip: what an input allows, and what a real
// run answers.
#include <gtest/gtest.h>

#include "fovea/serving/pipeline_model.h"
#include "fovea/tasks/pipeline.h"
#include "tests/serving/test_server.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/train_run.h"

namespace fovea::serving::what_if_test {
namespace {

using namespace testing;

void refused(const Answer& answer, const std::string& field, const std::string& words) {
  EXPECT_EQ(answer.status, 400) << answer.body;
  const Json error = answer.json()["error"];
  EXPECT_EQ(error["field"], field) << answer.body;
  EXPECT_NE(error["message"].get<std::string>().find(words), std::string::npos) << answer.body;
}

TEST(WhatIf, RefusesWhatTheInputDoesNotHave) {
  const TestServer server;
  const auto explain = [&](const std::string& without) {
    return server.post("/v1/explain", concat(R"({"input": "abc", "without": )", without, "}"));
  };
  EXPECT_EQ(explain(R"([{"axis": "letters", "units": [0, 2]}])").status, 200);
  refused(explain(R"([{"axis": "leters", "units": [0]}])"), "without", "did you mean 'letters'");
  refused(explain(R"([{"axis": "letters", "units": [3]}])"), "without", "no unit 3");
  refused(explain(R"([{"axis": "letters", "units": [0, 1, 2]}])"), "without", "leave at least one");
  refused(explain(R"([{"axis": "letters", "units": [1]}, {"axis": "letters", "units": [1]}])"),
          "without", "stands there twice");
  refused(explain(R"([{"axis": "letters", "units": [1, 1]}])"), "without[0].units", "twice");
  refused(explain(R"([{"axis": "letters", "units": [-1]}])"), "without[0].units[0]", "-1");
  refused(explain(R"([{"axis": "letters", "units": []}])"), "without[0].units", "empty");
  refused(explain(R"([{"axis": "letters"}])"), "without[0]", "needs both");
  refused(explain(R"([{"axis": 3, "units": [1]}])"), "without[0].axis", "a text");
  refused(explain(R"([{"axis": "letters", "unit": [1]}])"), "without[0].unit", "'units'");
  refused(explain(R"(["letters"])"), "without[0]", "an object");
  refused(explain("[]"), "without", "empty");
  refused(explain(R"("letters")"), "without", "a list");
}

TEST(WhatIf, RefusesASearchThatMakesNoSense) {
  const TestServer server;
  const auto flip = [&](const std::string& more) {
    return server.post("/v1/flip", concat(R"({"input": "abc")", more, "}"));
  };
  refused(flip(R"(, "axis": "leters")"), "axis", "did you mean 'letters'");
  refused(flip(R"(, "most": 0)"), "most", "not between");
  refused(flip(R"(, "most": 101)"), "most", "not between 1 and 100");
  refused(flip(R"(, "mots": 3)"), "mots", "did you mean 'most'");
  refused(server.post("/v1/flip", "{}"), "input", "missing");
  const Answer unable = flip(R"(, "stream": false)");
  EXPECT_EQ(unable.status, 422);
  EXPECT_EQ(unable.kind(), "unsupported");
}

class WhatIfRun : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>();
    train_run(setup_of("features", {"model.name=attention", "data.rows=2000", "training.epochs=3",
                                    "model.hidden=16", "model.members=2"}),
              *folder_ / "table");
  }
  static void TearDownTestSuite() { folder_.reset(); }
  void SetUp() override {
    server.emplace(test_options(), std::vector{source_of_run(*folder_ / "table", "table", {})});
    while (server->host().any_is(ModelStatus::Loading)) std::this_thread::yield();
  }
  Answer post(const std::string& path, const Json& body) const {
    return fovea::testing::post(server->port(), path, body.dump());
  }

  static std::unique_ptr<TemporaryFolder> folder_;
  std::optional<Server> server;
  // y = 1 where x1 + x2 > 0: it rests on x2.
  const std::string row = "-0.1,-0.5,0.9,-0.2,0.5,0.9,-0.8,0.3,0.1,0.6";
};

std::unique_ptr<TemporaryFolder> WhatIfRun::folder_;

TEST_F(WhatIfRun, AnswersTheInputWithoutThem) {
  const Pipeline pipeline = Pipeline::load(*folder_ / "table");
  const Example whole = pipeline.parse(row);
  const std::vector<int64_t> units{1, 2};
  const Example left = pipeline.erase(whole, "columns", units);
  const auto answer = [&](const Example& example) {
    return pipeline.task().answer(example, pipeline.predict({&example, 1})[0]);
  };
  const Json away = {{{"axis", "columns"}, {"units", units}}};
  const Json explained = post("/v1/explain", {{"input", row}, {"without", away}}).json();
  EXPECT_EQ(explained["prediction"]["answer"], answer(left));
  const Json& without = explained["without"];
  EXPECT_EQ(without["before"]["answer"], answer(whole));
  EXPECT_NE(answer(whole), answer(left));
  EXPECT_EQ(without["units"][0]["labels"], Json({"x1", "x2"}));
  EXPECT_EQ(without["units"][0]["units"], Json(units));
  const Json plain = post("/v1/explain", {{"input", row}}).json();
  EXPECT_FALSE(plain.contains("without"));
  EXPECT_NE(plain["maps"][0]["weights"], explained["maps"][0]["weights"]) << "the picture moves";
}

TEST_F(WhatIfRun, FindsWhatTheAnswerRestsOn) {
  const Answer told = post("/v1/flip", {{"input", row}});
  ASSERT_EQ(told.status, 200) << told.body;
  EXPECT_EQ(told.headers.at("content-type"), "text/event-stream");
  std::vector<Json> events;
  for (const std::string& line : split(told.body, '\n'))
    if (line.starts_with("data: ")) events.push_back(parse_json(line.substr(6), "event"));
  ASSERT_GE(events.size(), 2u) << told.body;
  EXPECT_LE(events[0]["predictions"], events[0]["most_predictions"]);
  const Json found = events.back();
  EXPECT_EQ(found["done"], true);
  EXPECT_EQ(found["axis"], "columns");
  EXPECT_NE(found["before"]["class"], found["after"]["class"]);
  for (const Json& label : found["labels"])
    EXPECT_TRUE(label == "x1" || label == "x2") << "only they matter: " << told.body;
  Json whole = post("/v1/flip", {{"input", row}, {"stream", false}}).json();
  EXPECT_EQ(whole["units"], found["units"]);
  EXPECT_EQ(whole["model"], "table");
}

}  // namespace
}  // namespace fovea::serving::what_if_test
