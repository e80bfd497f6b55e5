// What those who run a server need: keys, other sites, safe answers, metrics, the access log.
#include <gtest/gtest.h>

#include <regex>

#include "fovea/base/file.h"
#include "tests/serving/test_server.h"
#include "tests/support/temporary_folder.h"

namespace fovea::serving::operation_test {
namespace {

using namespace testing;

TEST(Operation, AsksForAKey) {
  ServerOptions options = test_options();
  options.api_key = "sesame-7";
  const TestServer server(options);
  const std::string body = R"({"input": "a"})";
  const Answer none = server.post("/v1/predict", body);
  EXPECT_EQ(none.status, 401);
  EXPECT_EQ(none.headers.at("www-authenticate"), "Bearer");
  for (const std::string wrong : {"X-API-Key: sesame-8", "X-API-Key: sesame",
                                  "X-API-Key: sesame-77", "X-API-Key:", "Authorization: sesame-7",
                                  "Authorization: Basic sesame-7", "Authorization: Bearer"})
    EXPECT_EQ(server.post("/v1/predict", body, wrong + "\r\n").status, 401) << wrong;
  for (const std::string right :
       {"X-API-Key: sesame-7", "Authorization: Bearer sesame-7", "authorization: bearer  sesame-7"})
    EXPECT_EQ(server.post("/v1/predict", body, right + "\r\n").status, 200) << right;
  EXPECT_EQ(server.get("/v1/models").status, 401);
  EXPECT_EQ(server.get("/metrics").status, 401);
  for (const std::string open : {"/", "/health", "/openapi.json", "/web/page.js"})
    EXPECT_EQ(server.get(open).status, 200) << open;
}

TEST(Operation, LetsOtherSitesInOnlyWhenAsked) {
  const TestServer closed;
  const Answer refused = closed.get("/health", "Origin: https://a.example\r\n");
  EXPECT_EQ(refused.headers.count("access-control-allow-origin"), 0u);
  ServerOptions options = test_options();
  options.cors = "https://a.example";
  const TestServer server(options);
  EXPECT_EQ(server.get("/health", "Origin: https://a.example\r\n")
                .headers.at("access-control-allow-origin"),
            "https://a.example");
  EXPECT_EQ(server.get("/health", "Origin: https://b.example\r\n")
                .headers.count("access-control-allow-origin"),
            0u);
  const Answer preflight = Client(server.port())
                               .request("OPTIONS", "/v1/predict", "",
                                        "Origin: https://a.example\r\n"
                                        "Access-Control-Request-Method: POST\r\n");
  EXPECT_EQ(preflight.status, 204);
  EXPECT_NE(preflight.headers.at("access-control-allow-headers").find("X-API-Key"),
            std::string::npos);
  EXPECT_EQ(preflight.headers.count("content-length"), 0u);
  options.cors = "*";
  EXPECT_EQ(TestServer(options).get("/health").headers.at("access-control-allow-origin"), "*");
}

TEST(Operation, AnswersOnlyToItsOwnNames) {
  const auto status = [](const TestServer& server, const std::string& host) {
    return server.get("/health", "Host: " + host + "\r\n").status;
  };
  const TestServer server;
  for (const std::string host :
       {"localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:8080", "[::1]", "[::1]:8080"})
    EXPECT_EQ(status(server, host), 200) << host;
  for (const std::string host : {"evil.example", "evil.example:8080", "localhost.evil.example",
                                 "127.0.0.1.evil.example", "", "[::1]x", "localhost:1@evil:2"})
    EXPECT_EQ(status(server, host), 421) << host;
  const Answer refused = server.post("/v1/predict", R"({"input": "a"})", "Host: evil.example\r\n");
  EXPECT_EQ(refused.status, 421);
  EXPECT_EQ(refused.kind(), "unknown_host");
  EXPECT_NE(refused.body.find("--allowed-hosts"), std::string::npos);
  EXPECT_EQ(server.get("/health", "Host: localhost\r\nHost: evil.example\r\n").status, 400);
  ServerOptions options = test_options();
  options.allowed_hosts = {"Models.example"};
  const TestServer named(options);
  EXPECT_EQ(status(named, "models.example:80"), 200);
  EXPECT_EQ(status(named, "localhost"), 200);
  EXPECT_EQ(status(named, "evil.example"), 421);
  options.allowed_hosts = {"*"};
  EXPECT_EQ(status(TestServer(options), "evil.example"), 200);
}

TEST(Operation, TakesJsonAndNothingElse) {
  const TestServer server;
  for (const std::string path : {"/v1/predict", "/v1/explain"}) {
    const auto answer = [&](const std::string& type) {
      return server.post(path, R"({"input": "a"})", "Content-Type: " + type + "\r\n");
    };
    EXPECT_EQ(answer("application/json").status, 200);
    EXPECT_EQ(answer("application/json; charset=utf-8").status, 200);
    for (const std::string type : {"text/plain", "application/x-www-form-urlencoded", "",
                                   "multipart/form-data; boundary=x"}) {
      EXPECT_EQ(answer(type).status, 415) << type;
      EXPECT_EQ(answer(type).kind(), "unsupported_media_type");
    }
  }
}

TEST(Operation, AnswersAreSafeToShow) {
  const TestServer server;
  for (const std::string path : {"/", "/health", "/nothing", "/metrics"}) {
    const Answer answer = server.get(path);
    EXPECT_EQ(answer.headers.at("x-content-type-options"), "nosniff") << path;
    EXPECT_EQ(answer.headers.at("referrer-policy"), "no-referrer") << path;
    EXPECT_NE(answer.headers.at("content-security-policy").find("default-src 'none'"),
              std::string::npos);
    EXPECT_EQ(answer.headers.count("server"), 0u);
    EXPECT_EQ(answer.headers.count("exception_what"), 0u);
    EXPECT_EQ(answer.headers.count("date"), 1u);
  }
}

TEST(Operation, CountsForPrometheus) {
  const TestServer server;
  server.post("/v1/predict", R"({"inputs": ["a", "b", "c"]})");
  server.post("/v1/predict", "nope");
  server.get("/nothing");
  const Answer answer = server.get("/metrics");
  EXPECT_EQ(answer.headers.at("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  const std::regex sample(R"(([a-z_]+)(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+)");
  for (const std::string& line : split(answer.body, '\n'))
    EXPECT_TRUE(line.empty() || line.starts_with("# HELP ") || line.starts_with("# TYPE ") ||
                std::regex_match(line, sample))
        << line;
  for (const std::string line :
       {R"(fovea_requests_total{route="/v1/predict",status="200"} 1)",
        R"(fovea_requests_total{route="/v1/predict",status="400"} 1)",
        R"(fovea_requests_total{route="other",status="404"} 1)",
        R"(fovea_batch_inputs_sum{model="echo"} 3)", R"(fovea_queue_inputs{model="echo"} 0)",
        R"(fovea_model_ready{model="echo"} 1)", "fovea_requests_in_flight 1",
        "fovea_connections_refused_total 0"})
    EXPECT_NE(answer.body.find(line + "\n"), std::string::npos) << line;
}

TEST(Operation, WritesAnAccessLog) {
  TemporaryFolder folder;
  ServerOptions options = test_options();
  options.log = (folder / "log").string();
  {
    const TestServer server(options);
    server.post("/v1/predict", R"({"inputs": ["a", "b"]})");
    server.get("/nothing");
    Client(server.port()).send("garbage\r\n\r\n");
  }
  std::map<int, Json> lines;
  for (const std::string& line : split(read_file(folder / "log"), '\n'))
    if (!line.empty()) {
      const Json json = parse_json(line, "log");
      lines[json["status"]] = json;
    }
  EXPECT_EQ(lines.at(200)["model"], "echo");
  EXPECT_EQ(lines.at(200)["batch"], 2);
  EXPECT_EQ(lines.at(200)["remote"], "127.0.0.1");
  EXPECT_EQ(lines.at(404)["path"], "/nothing");
  EXPECT_EQ(lines.count(400), 1u);
}

TEST(Operation, OurOwnMistakesTellNothingButTheLogDoes) {
  TemporaryFolder folder;
  ServerOptions options = test_options();
  options.log = (folder / "log").string();
  {
    const TestServer server(options);
    for (const std::string body : {R"({"input": "boom"})", R"({"input": "io"})"}) {
      const Answer answer = server.post("/v1/predict", body, "X-Request-Id: find-me\r\n");
      EXPECT_EQ(answer.status, 500);
      EXPECT_EQ(answer.kind(), "internal");
      EXPECT_EQ(answer.body.find("secret"), std::string::npos);
      EXPECT_EQ(answer.headers.at("x-request-id"), "find-me");
    }
    EXPECT_EQ(server.post("/v1/explain", R"({"input": "boom"})").status, 500);
  }
  const std::string log = read_file(folder / "log");
  EXPECT_NE(log.find("the secret of the machine room"), std::string::npos);
  EXPECT_NE(log.find("/secret/path"), std::string::npos);
  EXPECT_NE(log.find("\"find-me\""), std::string::npos);
}

}  // namespace
}  // namespace fovea::serving::operation_test
