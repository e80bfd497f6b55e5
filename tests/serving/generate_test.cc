// POST /v1/generate: a text told token by token, as server-sent events.
#include <gtest/gtest.h>

#include "fovea/serving/server.h"
#include "tests/serving/test_server.h"

namespace fovea::serving::generate_test {
namespace {

using fovea::testing::Answer;
using fovea::testing::Client;
using fovea::testing::TestServer;

/// The events of an answer.
std::vector<Json> events_of(const Answer& answer) {
  std::vector<Json> events;
  for (const std::string& line : split(answer.body, '\n'))
    if (line.starts_with("data: ")) events.push_back(parse_json(line.substr(6), "event"));
  return events;
}

TEST(Generate, TellsATokenAnEvent) {
  const TestServer server;
  Client client(server.port());
  for (int round = 0; round < 2; ++round) {  // the connection lives on
    const Answer answer =
        client.post("/v1/generate", R"({"input": "abc", "tokens": 4, "attention": true})");
    ASSERT_EQ(answer.status, 200);
    EXPECT_EQ(answer.headers.at("content-type"), "text/event-stream");
    EXPECT_EQ(answer.headers.at("cache-control"), "no-store");
    EXPECT_EQ(answer.headers.count("x-request-id"), 1u);
    const std::vector<Json> events = events_of(answer);
    ASSERT_EQ(events.size(), 5u) << answer.body;
    EXPECT_EQ(events[3]["text"], "a");
    EXPECT_EQ(events[0]["attention"], Json::parse("[[1.0]]"));
    EXPECT_EQ(events[4]["done"], true);
  }
}

TEST(Generate, GivesTheWholeWhereNoStreamIsWanted) {
  const TestServer server;
  const Answer answer =
      server.post("/v1/generate", R"({"input": "abc", "tokens": 4, "stream": false})");
  EXPECT_EQ(answer.body, R"({"text":"all","tokens":4,"model":"echo"})");
}

TEST(Generate, OlderClientsGetTheEventsUntilTheConnectionEnds) {
  const TestServer server;
  Client client(server.port());
  const std::string body = R"({"input": "ab", "tokens": 1})";
  client.send(concat("POST /v1/generate HTTP/1.0\r\nContent-Type: application/json\r\n",
                     "Content-Length: ", body.size(), "\r\n\r\n", body));
  const Answer head = client.receive("HEAD");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers.count("transfer-encoding"), 0u);
  EXPECT_TRUE(client.ends_within(5));
}

TEST(Generate, WhatCannotBeginIsRefusedAndWhatBreaksOffSaysSo) {
  const TestServer server;
  const Answer early = server.post("/v1/generate", R"({"input": "early"})");
  EXPECT_EQ(early.status, 422) << early.body;
  EXPECT_NE(early.body.find("no room"), std::string::npos);
  const std::vector<Json> events = events_of(server.post("/v1/generate", R"({"input": "late"})"));
  ASSERT_EQ(events.size(), 3u);
  EXPECT_NE(events[2]["error"]["message"].get<std::string>().find("broke off"), std::string::npos);
  for (const auto& [body, field] : std::vector<std::pair<std::string, std::string>>{
           {R"({"tokens": 4})", "input"},
           {R"({"input": "a", "tokens": 0})", "tokens"},
           {R"({"input": "a", "temperature": -1})", "temperature"},
           {R"({"input": "a", "top_p": 0})", "top_p"},
           {R"({"input": "a", "top_p": 1.5})", "top_p"},
           {R"({"input": "a", "stop": "x"})", "stop"},
           {R"({"input": "a", "temprature": 1})", "temprature"}}) {
    const Answer answer = server.post("/v1/generate", body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_EQ(answer.json()["error"]["field"], field) << body;
  }
  EXPECT_EQ(server.post("/v1/generate", R"({"input": "a", "tokens": 100000})").status, 422);
}

TEST(Generate, StopsWhenNobodyReadsAnyMore) {
  TestServer server;
  {
    Client client(server.port());
    const std::string body = R"({"input": "endless"})";
    client.send(concat("POST /v1/generate HTTP/1.1\r\nHost: localhost\r\n",
                       "Content-Type: application/json\r\nContent-Length: ", body.size(),
                       "\r\n\r\n", body));
    EXPECT_EQ(client.receive("HEAD", 5).status, 200);
  }
  server.model().wait_for_stops(1);
  EXPECT_EQ(server.model().stopped(), 1);
}

}  // namespace
}  // namespace fovea::serving::generate_test
