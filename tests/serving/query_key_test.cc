// What a weight is made of, and embeddings as points, over HTTP.
#include <gtest/gtest.h>

#include "fovea/serving/codec.h"
#include "fovea/serving/pipeline_model.h"
#include "tests/serving/expect_refusal.h"
#include "tests/serving/test_server.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/train_run.h"

namespace fovea::serving::query_key_test {
namespace {

using namespace testing;

TEST(QueryKey, BodiesAreChecked) {
  const QueryKeyBody body = parse_query_key(
      R"({"input": "x", "map": "attention", "layer": 2, "head": 1, "query": 0, "key": 3})");
  EXPECT_EQ(body.place.map, "attention");
  EXPECT_EQ(body.place.layer, 2);
  EXPECT_EQ(body.place.key, 3);
  expect_refusal(400, "missing", [] { parse_query_key(R"({"input": "x", "query": 0})"); });
  expect_refusal(400, "not between",
                 [] { parse_query_key(R"({"input": "x", "query": -1, "key": 0})"); });
  expect_refusal(400, "not between",
                 [] { parse_query_key(R"({"input": "x", "query": 0, "key": 0, "head": 0})"); });
  expect_refusal(400, "there is no such field",
                 [] { parse_query_key(R"({"input": "x", "query": 0, "key": 0, "heads": 1})"); });
  EXPECT_EQ(parse_embeddings(R"({"of": "tokens"})").of, "tokens");
  expect_refusal(400, "a text", [] { parse_embeddings(R"({"of": 1})"); });
}

TEST(QueryKey, AModelWithoutVectorsSaysSo) {
  const TestServer server;
  const Answer answer = server.post("/v1/query-key", R"({"input": "x", "query": 0, "key": 0})");
  EXPECT_EQ(answer.status, 422) << answer.body;
  EXPECT_EQ(answer.json()["error"]["kind"], "unsupported");
  EXPECT_EQ(server.post("/v1/embeddings", "{}").status, 422);
}

TEST(QueryKey, IsWhatMadeTheWeightOfTheExplanation) {
#ifndef FOVEA_WITH_ICU
  GTEST_SKIP() << "needs ICU";
#endif
  const TemporaryFolder folder;
  train_run(setup_of("documents", {"model.name=bert", "data.rows=60", "data.validation_rows=8",
                                   "model.hidden=8", "model.heads=2", "training.epochs=1"}),
            folder / "bert");
  Server server(test_options(), {source_of_run(folder / "bert", "", {})});
  while (!server.host().all_are(ModelStatus::Ready)) std::this_thread::yield();
  const auto ask = [&](const char* what, const std::string& body) {
    return fovea::testing::post(server.port(), what, body);
  };
  const Json map = ask("/v1/explain", R"({"input": "a fine film", "heads": [2], "layers": [1]})")
                       .json()["maps"][0];
  EXPECT_EQ(map["products"], true);
  const Answer made = ask(
      "/v1/query-key", R"({"input": "a fine film", "layer": 1, "head": 2, "query": 1, "key": 3})");
  ASSERT_EQ(made.status, 200) << made.body;
  EXPECT_NEAR(made.json()["weight"].get<double>(), map["weights"][1][3].get<double>(), 1e-5);
  // The same of what is left when a word is away, which other weights are made of.
  const std::string without = R"("without": [{"axis": "tokens", "units": [2]}])";
  const Json left = ask("/v1/explain",
                        R"({"input": "a fine film", "heads": [2], "layers": [1], )" + without + "}")
                        .json()["maps"][0];
  const Answer rest = ask("/v1/query-key", R"({"input": "a fine film", "layer": 1, "head": 2, )"
                                           R"("query": 1, "key": 3, )" +
                                               without + "}");
  ASSERT_EQ(rest.status, 200) << rest.body;
  EXPECT_NEAR(rest.json()["weight"].get<double>(), left["weights"][1][3].get<double>(), 1e-5);
  EXPECT_NE(rest.json()["weight"], made.json()["weight"]);
  EXPECT_EQ(ask("/v1/query-key", R"({"input": "a fine film", "layer": 1, "head": 2, "query": 1, )"
                                 R"("key": 3, "without": [{"axis": "tokens", "units": [99]}]})")
                .status,
            400);
  EXPECT_EQ(made.json()["products"].size(), 4u);
  const Answer outside =
      ask("/v1/query-key", R"({"input": "a", "layer": 1, "head": 1, "query": 99, "key": 0})");
  EXPECT_EQ(outside.status, 422);
  const Json model = fovea::testing::get(server.port(), "/v1/models").json()["models"][0];
  EXPECT_EQ(model["embeddings"], Json::array({"tokens"}));
  const Json points = ask("/v1/embeddings", R"({"of": "tokens"})").json();
  EXPECT_EQ(points["points"].size(), points["labels"].size());
  EXPECT_EQ(ask("/v1/embeddings", R"({"of": "words"})").status, 422);
}

}  // namespace
}  // namespace fovea::serving::query_key_test
