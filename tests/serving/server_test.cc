// Every address and every status of docs/formats/http.md, over a real socket.
#include "fovea/serving/server.h"

#include <gtest/gtest.h>

#include <future>

#include "fovea/explain/record/json.h"
#include "tests/serving/test_server.h"

namespace fovea::serving::server_test {
namespace {

using namespace testing;

TEST(Server, Predicts) {
  const TestServer server;
  const Answer one = server.post("/v1/predict", R"({"model": "echo", "input": "abc"})");
  EXPECT_EQ(one.status, 200);
  EXPECT_EQ(one.body, R"({"model":"echo","predictions":[{"text":"cba"}]})");
  EXPECT_EQ(one.headers.at("content-type"), "application/json");
  const Answer two = server.post("/v1/predict", R"({"inputs": ["ab", "grüße"]})");
  EXPECT_EQ(two.json()["predictions"].size(), 2u);
}

TEST(Server, AnInputMayBeAnObject) {
  const TestServer server;
  const std::string given = R"({"x":0.1})";
  const Answer answer = server.post("/v1/predict", "{\"input\":" + given + "}");
  EXPECT_EQ(answer.json()["predictions"][0]["text"], std::string(given.rbegin(), given.rend()));
}

TEST(Server, Explains) {
  const TestServer server;
  const Answer answer = server.post("/v1/explain", R"({"input": "abc", "faithfulness": true})");
  ASSERT_EQ(answer.status, 200);
  const Explanation explanation = explanation_from_json(answer.json(), "answer");
  EXPECT_EQ(explanation.maps.size(), 2u);
  EXPECT_EQ(explanation.faithfulness.at(0).verdict, "believe it");
  const Answer part =
      server.post("/v1/explain", R"({"input": "abc", "heads": "mean", "rows": [1], "top_k": 1})");
  const Explanation smaller = explanation_from_json(part.json(), "answer");
  ASSERT_EQ(smaller.maps.size(), 1u);
  EXPECT_EQ(smaller.maps[0].weights, (std::vector<double>{1, 0}));
}

TEST(Server, SendsAReport) {
  const TestServer server;
  const Answer answer = server.post("/v1/explain", R"({"input": "abc", "format": "html"})");
  ASSERT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.at("content-type"), "text/html; charset=utf-8");
  EXPECT_EQ(answer.headers.at("content-disposition"), "attachment; filename=\"echo.html\"");
  EXPECT_NE(answer.body.find("<html"), std::string::npos);
}

TEST(Server, SaysHowItIs) {
  const TestServer server;
  const Answer health = server.get("/health");
  EXPECT_EQ(health.status, 200);
  EXPECT_EQ(health.body, R"({"status":"ready","models":{"echo":"ready"}})");
  const Json models = server.get("/v1/models").json()["models"];
  ASSERT_EQ(models.size(), 1u);
  EXPECT_EQ(models[0].dump(),
            R"({"name":"echo","task":"echo","title":"What comes back","status":"ready",)"
            R"("input_schema":{"type":"string"},"examples":["abc"],)"
            R"("maps":[{"name":"attention","title":"attention"}],"parameters":7})");
  EXPECT_EQ(server.get("/openapi.json").json()["openapi"], "3.1.0");
}

TEST(Server, HasThePage) {
  const TestServer server;
  const Answer page = server.get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_NE(page.headers.at("content-security-policy").find("'sha256-"), std::string::npos);
  const Answer script = server.get("/web/page.js");
  EXPECT_EQ(script.status, 200);
  EXPECT_TRUE(script.headers.at("content-type").starts_with("text/javascript"));
  const Answer again =
      server.get("/web/page.js", "If-None-Match: " + script.headers.at("etag") + "\r\n");
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(server.get("/web/nothing").status, 404);
}

TEST(Server, CompressesForThoseWhoUnderstand) {
#ifndef FOVEA_WITH_ZLIB
  GTEST_SKIP() << "built without zlib";
#endif
  const TestServer server;
  const Answer plain = server.get("/openapi.json");
  const Answer packed = server.get("/openapi.json", "Accept-Encoding: br, gzip\r\n");
  EXPECT_EQ(packed.headers.at("content-encoding"), "gzip");
  EXPECT_EQ(packed.headers.at("vary"), "Accept-Encoding");
  EXPECT_LT(packed.body.size(), plain.body.size() / 2);
  EXPECT_EQ(plain.headers.count("content-encoding"), 0u);
  EXPECT_EQ(server.get("/health", "Accept-Encoding: gzip\r\n").headers.count("content-encoding"),
            0u);
}

TEST(Server, HeadsHaveNoBody) {
  const TestServer server;
  Client client(server.port());
  const Answer head = client.request("HEAD", "/health");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers.at("content-length"), std::to_string(server.get("/health").body.size()));
  EXPECT_EQ(client.get("/health").status, 200);
}

TEST(Server, RangesAreIgnored) {
  const TestServer server;
  std::string ranges = "Range: bytes=0-1";
  for (int i = 0; i < 500; ++i) ranges += ",0-";
  const Answer answer = server.get("/openapi.json", ranges + "\r\n");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, server.get("/openapi.json").body);
}

TEST(Server, TellsWhatIsWrongWithABody) {
  const TestServer server;
  const std::pair<std::string, std::string> cases[] = {
      {"", "not valid JSON"},
      {"nope", "not valid JSON"},
      {"{\"input\": NaN}", "not valid JSON"},
      {"{\"input\": \"\xff\"}", "UTF-8"},
      {std::string(100000, '[') + std::string(100000, ']'), "nested"},
      {"{\"input\": 5}", "expected a text or an object"},
      {"{\"inpt\": \"a\"}", "did you mean 'input'"},
  };
  for (const auto& [body, word] : cases) {
    const Answer answer = server.post("/v1/predict", body);
    EXPECT_EQ(answer.status, 400) << word;
    EXPECT_EQ(answer.kind(), "bad_request");
    EXPECT_NE(answer.body.find(word), std::string::npos) << answer.body;
  }
  EXPECT_EQ(
      server.post("/v1/explain", "{\"input\": \"a\", \"rows\": \"b\"}").json()["error"]["field"],
      "rows");
}

TEST(Server, UnknownAddressesModelsAndMethods) {
  const TestServer server;
  EXPECT_EQ(server.get("/nothing").status, 404);
  EXPECT_EQ(server.get("/%00%ff").status, 404);
  const Answer model = server.post("/v1/predict", R"({"model": "ecco", "input": "a"})");
  EXPECT_EQ(model.status, 404);
  EXPECT_NE(model.body.find("there are: echo"), std::string::npos);
  EXPECT_EQ(model.json()["error"]["field"], "model");
  const Answer method = server.get("/v1/predict");
  EXPECT_EQ(method.status, 405);
  EXPECT_EQ(method.headers.at("allow"), "POST");
  EXPECT_EQ(server.post("/health", "").status, 405);
  for (const std::string other : {"PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"})
    EXPECT_EQ(Client(server.port()).request(other, "/v1/predict").status, 405) << other;
}

TEST(Server, InputsThatDoNotFitNameTheirPlace) {
  const TestServer server;
  const Answer answer = server.post("/v1/predict", R"({"inputs": ["fine", "bad"]})");
  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.kind(), "bad_data");
  EXPECT_EQ(answer.json()["error"]["field"], "inputs[1]");
  const Answer rows = server.post("/v1/explain", R"({"input": "a", "rows": [9]})");
  EXPECT_EQ(rows.status, 422);
  EXPECT_EQ(rows.json()["error"]["field"], "rows");
  const Answer input = server.post("/v1/predict", R"({"input": "long:5000"})");
  EXPECT_EQ(input.status, 422);
  EXPECT_EQ(input.kind(), "too_long");
  EXPECT_EQ(server.post("/v1/predict", R"({"input": "long:4096"})").status, 200);
}

TEST(Server, WhatCostsTooMuchIsRefusedBeforeItIsComputed) {
  ServerOptions options = test_options();
  options.max_units = 100;
  options.max_weights = 80 * 80;
  TestServer server(options);
  EXPECT_EQ(server.post("/v1/predict", R"({"inputs": ["long:50", "long:50"]})").status, 200);
  EXPECT_EQ(server.post("/v1/explain", R"({"input": "long:80"})").status, 200);
  EXPECT_EQ(server.post("/v1/explain", R"({"input": "long:20", "faithfulness": true})").status,
            200);
  const size_t computed = server.model().batches().size();
  const std::pair<std::string, std::string> cases[] = {
      {"/v1/predict", R"({"inputs": ["long:50", "long:51"]})"},
      {"/v1/predict", R"({"input": "long:101"})"},
      {"/v1/explain", R"({"input": "long:101"})"},
      {"/v1/explain", R"({"input": "long:81"})"},
      {"/v1/explain", R"({"input": "long:21", "faithfulness": true})"}};
  for (const auto& [path, body] : cases) {
    const Answer answer = server.post(path, body);
    EXPECT_EQ(answer.status, 422) << body;
    EXPECT_EQ(answer.kind(), "too_costly") << body;
    EXPECT_EQ(answer.json()["error"]["field"],
              body.find("inputs") == std::string::npos ? "input" : "inputs");
  }
  EXPECT_EQ(server.model().batches().size(), computed);
}

TEST(Server, BatchesRequestsOfManyClients) {
  TestServer server;
  server.model().hold();
  Answer first;
  std::thread blocking = server.later("/v1/predict", R"({"input": "x"})", first);
  server.model().wait_for_calls(1);
  std::vector<Answer> answers(20);
  std::vector<std::thread> clients;
  for (Answer& answer : answers)
    clients.push_back(server.later("/v1/predict", R"({"input": "abc"})", answer));
  server.wait_for_queue(20);
  server.model().release();
  blocking.join();
  for (std::thread& client : clients) client.join();
  for (const Answer& answer : answers) EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(server.model().batches(), (std::vector<size_t>{1, 20}));
}

TEST(Server, AFullQueueIsSaidAtOnceAndPasses) {
  ServerOptions options = test_options();
  options.batching.queue = 2;
  TestServer server(options);
  server.model().hold();
  Answer first, second;
  std::thread one = server.later("/v1/predict", R"({"input": "x"})", first);
  server.model().wait_for_calls(1);
  std::thread two = server.later("/v1/predict", R"({"inputs": ["x", "y"]})", second);
  server.wait_for_queue(2);
  const Answer full = server.post("/v1/predict", R"({"input": "z"})");
  EXPECT_EQ(full.status, 429);
  EXPECT_EQ(full.kind(), "queue_full");
  EXPECT_EQ(full.headers.at("retry-after"), "1");
  EXPECT_EQ(server.post("/v1/explain", R"({"input": "z"})").status, 429);
  EXPECT_EQ(server.get("/health").status, 200);
  server.model().release();
  one.join(), two.join();
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(server.post("/v1/predict", R"({"input": "z"})").status, 200);
}

TEST(Server, AnAnswerHasATimeLimit) {
  ServerOptions options = test_options();
  options.timeout_seconds = 0.05;
  TestServer server(options);
  server.model().hold();
  const Answer late = server.post("/v1/predict", R"({"input": "x"})");
  EXPECT_EQ(late.status, 504);
  EXPECT_EQ(late.kind(), "timeout");
  server.model().release();
}

TEST(Server, IsNotReadyWhileAModelLoads) {
  std::promise<void> gate;
  ModelSource slow{"slow", "echo", [&] {
                     gate.get_future().wait();
                     return std::make_unique<fovea::testing::FakeModel>();
                   }};
  ModelSource broken{"broken", "echo",
                     []() -> std::unique_ptr<ServedModel> { fail(ErrorKind::BadData, "damaged"); }};
  Server server(test_options(), {slow, broken});
  const Answer loading = fovea::testing::get(server.port(), "/health");
  EXPECT_EQ(loading.status, 503);
  EXPECT_EQ(loading.json()["status"], "loading");
  const Answer early =
      fovea::testing::post(server.port(), "/v1/predict", R"({"model": "slow", "input": "a"})");
  EXPECT_EQ(early.status, 503);
  EXPECT_EQ(early.headers.at("retry-after"), "1");
  gate.set_value();
  while (server.host().any_is(ModelStatus::Loading)) std::this_thread::yield();
  const Answer failed = fovea::testing::get(server.port(), "/health");
  EXPECT_EQ(failed.status, 503);
  EXPECT_EQ(failed.json()["status"], "failed");
  EXPECT_EQ(failed.json()["models"]["slow"], "ready");
  EXPECT_EQ(fovea::testing::post(server.port(), "/v1/predict", R"({"model": "slow", "input": "a"})")
                .status,
            200);
}

}  // namespace
}  // namespace fovea::serving::server_test
