// Connections that behave badly, and connections that are too many.
#include "fovea/serving/transport.h"

#include <gtest/gtest.h>

#include <atomic>

#include "tests/serving/test_server.h"
#include "tests/support/expect_error.h"

namespace fovea::serving::transport_test {
namespace {

using namespace testing;
using std::chrono::milliseconds;

const std::string kPredict = R"({"input": "abc"})";
const std::string kPost =
    "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

std::string predict_text(const std::string& headers = "") {
  return concat(kPost, "Content-Length: ", kPredict.size(), "\r\n", headers, "\r\n", kPredict);
}

ServerOptions impatient() {
  ServerOptions options = test_options();
  options.transport.protocol.read_seconds = 0.3;
  options.transport.protocol.keep_alive_seconds = 0.3;
  return options;
}

/// The server still answers.
void expect_alive(const TestServer& server) {
  EXPECT_EQ(server.post("/v1/predict", kPredict).status, 200);
}

TEST(Transport, ManyRequestsOnOneConnection) {
  const TestServer server;
  Client client(server.port());
  for (int i = 0; i < 50; ++i) {
    const Answer answer = client.post("/v1/predict", kPredict);
    ASSERT_EQ(answer.status, 200);
    EXPECT_FALSE(answer.closes());
  }
}

TEST(Transport, AConnectionEndsAfterSoManyRequests) {
  ServerOptions options = test_options();
  options.transport.protocol.keep_alive_requests = 3;
  const TestServer server(options);
  Client client(server.port());
  EXPECT_FALSE(client.get("/health").closes());
  EXPECT_FALSE(client.get("/health").closes());
  EXPECT_TRUE(client.get("/health").closes());
  EXPECT_TRUE(client.ends_within(5));
}

TEST(Transport, ClosesWhenAsked) {
  const TestServer server;
  for (const std::string header :
       {"Connection: close", "connection: Close", "Connection: x, close"}) {
    Client client(server.port());
    EXPECT_TRUE(client.get("/health", header + "\r\n").closes()) << header;
    EXPECT_TRUE(client.ends_within(5));
  }
  Client old(server.port());
  old.send("GET /health HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(old.receive().closes());
  Client kept(server.port());
  kept.send("GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(kept.receive().headers.at("connection"), "keep-alive");
}

TEST(Transport, AnIdleConnectionIsClosed) {
  const TestServer server(impatient());
  Client silent(server.port()), idle(server.port());
  EXPECT_EQ(idle.get("/health").status, 200);
  EXPECT_TRUE(silent.ends_within(5));
  EXPECT_TRUE(idle.ends_within(5));
}

TEST(Transport, PipelinedRequestsAreAnsweredInTheirOrder) {
  const TestServer server;
  Client client(server.port());
  client.send(predict_text() + "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n" + predict_text());
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_EQ(client.receive().status, 404);
  EXPECT_EQ(client.receive().status, 200);
}

TEST(Transport, BodiesMayComeInChunks) {
  const TestServer server;
  Client client(server.port());
  client.send(kPost + "Transfer-Encoding: chunked\r\n\r\n");
  client.send("7\r\n{\"input\r\n");
  client.send("9\r\n\": \"abc\"}\r\n0\r\n\r\n");
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_EQ(client.get("/health").status, 200);
}

TEST(Transport, AClientMayWaitForTheWordToGoOn) {
  const TestServer server;
  Client client(server.port());
  client.send(
      concat(kPost, "Expect: 100-continue\r\nContent-Length: ", kPredict.size(), "\r\n\r\n"));
  std::this_thread::sleep_for(milliseconds(30));
  client.send(kPredict);
  EXPECT_EQ(client.receive().status, 200);
  Client large(server.port());
  large.send(kPost + "Expect: 100-continue\r\nContent-Length: 99999999\r\n\r\n");
  EXPECT_EQ(large.receive().status, 413);
}

TEST(Transport, ALargeBodyIsRefusedBeforeItIsRead) {
  const TestServer server;
  Client client(server.port());
  client.send(kPost + "Content-Length: 104857600\r\n\r\n");
  const std::string megabyte(size_t{1} << 20, 'x');
  int sent = 0;
  while (sent < 100 && client.send(megabyte)) ++sent;
  EXPECT_EQ(sent, 100) << "a client that does not look up while it sends must not be cut off";
  const Answer answer = client.receive();
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(answer.kind(), "too_large");
  EXPECT_TRUE(answer.closes());
  expect_alive(server);
}

TEST(Transport, EndlessChunksAreRefused) {
  const TestServer server;
  Client client(server.port());
  client.send(kPost + "Transfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "10000\r\n" + std::string(65536, 'x') + "\r\n";
  for (int i = 0; i < 100 && client.send(chunk); ++i) {
  }
  EXPECT_EQ(client.receive().status, 413);
  expect_alive(server);
}

TEST(Transport, ABodyWithoutALengthIsRefused) {
  const TestServer server;
  Client client(server.port());
  client.send(kPost + "\r\n" + kPredict);
  const Answer answer = client.receive();
  EXPECT_EQ(answer.status, 411);
  EXPECT_TRUE(answer.closes());
  expect_alive(server);
}

TEST(Transport, ABodyThatCanBeReadInTwoWaysIsRefused) {
  const TestServer server;
  for (const std::string headers :
       {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n", "Content-Length: -5\r\n"}) {
    Client client(server.port());
    client.send(kPost + headers + "\r\n" + kPredict);
    const Answer answer = client.receive();
    EXPECT_EQ(answer.status, 400) << headers;
    EXPECT_TRUE(answer.closes());
  }
  expect_alive(server);
}

TEST(Transport, GarbageGetsABadRequest) {
  const TestServer server;
  for (const std::string& garbage :
       {std::string("garbage\r\n\r\n"), std::string("\x16\x03\x01\x02\x00\x01\x00\n\r\n", 10),
        std::string("GET\r\n\r\n"), std::string("FETCH / HTTP/1.1\r\n\r\n"),
        std::string("GET / HTTP/9.9\r\n\r\n"), std::string("\r\n\r\n"), std::string("\n\n\n"),
        std::string("GET /a b HTTP/1.1\r\n\r\n"), std::string("GET / HTTP/1.1\n\n\r\n\r\n")}) {
    Client client(server.port());
    client.send(garbage);
    client.end_sending();
    const Answer answer = client.receive();
    EXPECT_EQ(answer.status, 400) << garbage;
    EXPECT_EQ(answer.kind(), "bad_request");
    EXPECT_TRUE(answer.closes());
  }
  expect_alive(server);
}

/// What a proxy in front might read differently must not be guessed at.
TEST(Transport, MalformedFramingLinesAreRefusedAndTheConnectionCloses) {
  const TestServer server;
  const std::string length = concat(kPredict.size(), "\r\n\r\n", kPredict);
  for (const std::string& request :
       {kPost + "Content-Length : " + length, kPost + "Content-Length\t: " + length,
        kPost + "X: a\r\n b\r\nContent-Length: " + length, kPost + " Content-Length: " + length,
        kPost + "X: a\nContent-Length: " + length, kPost + "Content-Length: 16\n\n" + kPredict,
        kPost + "X: a\rContent-Length: " + length,
        kPost + std::string("X: a\0b\r\n", 8) + "Content-Length: " + length,
        kPost + std::string("X\0: a\r\n", 7) + "Content-Length: " + length,
        kPost + "X: a\x7f\r\nContent-Length: " + length, kPost + ": a\r\nContent-Length: " + length,
        kPost + "no colon\r\nContent-Length: " + length,
        "POST /v1/predict\tHTTP/1.1\r\nContent-Length: " + length}) {
    Client client(server.port());
    client.send(request);
    const Answer answer = client.receive();
    EXPECT_EQ(answer.status, 400) << request;
    EXPECT_EQ(answer.kind(), "bad_request");
    EXPECT_TRUE(answer.closes());
    EXPECT_EQ(client.receive("GET", 0.02).status, 0) << "what follows is no request";
  }
  expect_alive(server);
}

TEST(Transport, ARequestWithoutAHostIsRefused) {
  const TestServer server;
  for (const std::string& request :
       {std::string("GET /health HTTP/1.1\r\n\r\n"),
        concat("POST /v1/predict HTTP/1.1\r\nContent-Type: application/json\r\n",
               "Content-Length: ", kPredict.size(), "\r\n\r\n", kPredict)}) {
    Client client(server.port());
    client.send(request);
    const Answer answer = client.receive();
    EXPECT_EQ(answer.status, 400);
    EXPECT_NE(answer.body.find("Host"), std::string::npos);
    EXPECT_TRUE(answer.closes());
  }
  expect_alive(server);
}

TEST(Transport, HeaderValuesAreTakenAsTheyCome) {
  ServerOptions options = test_options();
  options.api_key = "ab";
  const TestServer server(options);
  EXPECT_EQ(server.get("/v1/models", "X-API-Key: ab\r\n").status, 200);
  EXPECT_EQ(server.get("/v1/models", "X-API-Key: a%62\r\n").status, 401);
  const Answer answer = server.get("/health", "X-Request-Id: a%2Db\r\n");
  EXPECT_NE(answer.headers.at("x-request-id"), "a-b");
}

TEST(Transport, HeadsThatNeverEndAreRefused) {
  const TestServer server;
  Client line(server.port());
  line.send("GET /" + std::string(100000, 'a'));
  EXPECT_EQ(line.receive().status, 431);
  Client header(server.port());
  header.send("GET / HTTP/1.1\r\nA: " + std::string(100000, 'a'));
  EXPECT_EQ(header.receive().status, 431);
  Client headers(server.port());
  headers.send("GET / HTTP/1.1\r\n");
  for (int i = 0; i < 20000 && headers.send("A: b\r\n"); ++i) {
  }
  EXPECT_EQ(headers.receive().status, 431);
  Client address(server.port());
  address.send("GET /" + std::string(10000, 'a') + " HTTP/1.1\r\n\r\n");
  EXPECT_EQ(address.receive().status, 414);
  expect_alive(server);
}

TEST(Transport, SlowSendersAreGivenUp) {
  const TestServer server(impatient());
  for (const std::string& beginning :
       {std::string("GET /hea"), std::string("GET /health HTTP/1.1\r\nHo"),
        kPost + std::string("Content-Length: 50\r\n\r\n{\"inp")}) {
    Client client(server.port());
    std::atomic<bool> done{false};
    std::thread trickle([&] {  // a byte now and then must not keep it alive
      client.send(beginning);
      while (!done && client.send("u")) std::this_thread::sleep_for(milliseconds(50));
    });
    const Answer answer = client.receive("GET", 5);
    done = true;
    trickle.join();
    EXPECT_EQ(answer.status, 408) << beginning;
    EXPECT_EQ(answer.kind(), "timeout");
  }
  expect_alive(server);
}

TEST(Transport, AHalfClosedConnectionGetsItsAnswer) {
  const TestServer server;
  Client whole(server.port());
  whole.send(predict_text());
  whole.end_sending();
  EXPECT_EQ(whole.receive().status, 200);
  EXPECT_TRUE(whole.ends_within(5));
  Client part(server.port());
  part.send(predict_text().substr(0, predict_text().size() - 3));
  part.end_sending();
  EXPECT_EQ(part.receive().status, 400);
  Client nothing(server.port());
  nothing.end_sending();
  EXPECT_TRUE(nothing.ends_within(5));
  expect_alive(server);
}

TEST(Transport, ClientsThatVanishLeaveNoTrace) {
  TestServer server;
  server.model().hold();
  for (int i = 0; i < 20; ++i) Client(server.port()).send(predict_text());
  server.model().wait_for_calls(1);
  server.model().release();
  expect_alive(server);
  for (const auto until = Clock::now() + milliseconds(5000);
       server.server().in_flight() > 0 && Clock::now() < until;)
    std::this_thread::yield();
  EXPECT_EQ(server.server().in_flight(), 0);
}

TEST(Transport, WorkEndsWhenItsClientLeaves) {
  TestServer server;
  server.model().hold();
  for (const std::string path : {"/v1/predict", "/v1/explain"})
    Client(server.port())
        .send(concat("POST ", path, " HTTP/1.1\r\nHost: localhost\r\n",
                     "Content-Type: application/json\r\nContent-Length: ", kPredict.size(),
                     "\r\n\r\n", kPredict));
  server.model().wait_for_stops(2);
  EXPECT_EQ(server.model().stopped(), 2) << "nobody released them";
}

TEST(Transport, AClientThatEndsItsSideWaitsForAsLongAsItTakes) {
  TestServer server;
  server.model().hold();
  Client client(server.port());
  client.send(predict_text());
  client.end_sending();
  server.model().wait_for_calls(1);
  std::this_thread::sleep_for(milliseconds(300));  // the server has looked whether it is there
  EXPECT_EQ(server.model().stopped(), 0);
  server.model().release();
  EXPECT_EQ(client.receive().status, 200);
}

TEST(Transport, FifteenExplanationsThatNobodyWaitsForDoNotHoldUpTheNext) {
  TestServer server;
  server.model().hold_explanations();
  for (int i = 0; i < 15; ++i)
    Client(server.port())
        .send(concat("POST /v1/explain HTTP/1.1\r\nHost: localhost\r\n",
                     "Content-Type: application/json\r\nContent-Length: ", kPredict.size(),
                     "\r\n\r\n", kPredict));
  server.model().wait_for_stops(1);
  EXPECT_EQ(server.post("/v1/predict", kPredict).status, 200);
  for (const auto until = Clock::now() + milliseconds(5000);
       server.server().in_flight() > 0 && Clock::now() < until;)
    std::this_thread::yield();
  server.model().release();
  EXPECT_EQ(server.post("/v1/explain", kPredict).status, 200);
}

TEST(Transport, TooManyConnectionsAreRefusedQuickly) {
  ServerOptions options = test_options();
  options.transport.connections = 4;
  const TestServer server(options);
  std::vector<std::unique_ptr<Client>> kept;
  for (int i = 0; i < 4; ++i) {
    kept.push_back(std::make_unique<Client>(server.port()));
    EXPECT_EQ(kept.back()->get("/health").status, 200);
  }
  for (int i = 0; i < 10; ++i) {
    const Answer refused = server.post("/v1/predict", kPredict);
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.kind(), "too_many_connections");
    EXPECT_EQ(refused.headers.at("retry-after"), "1");
  }
  EXPECT_EQ(kept[2]->get("/health").status, 200);
  kept.clear();
  Answer answer;
  for (const auto until = Clock::now() + milliseconds(5000);
       answer.status != 200 && Clock::now() < until;)
    answer = server.get("/health");
  EXPECT_EQ(answer.status, 200);
}

TEST(Transport, ConnectionsThatSendNothingMakeRoom) {
  ServerOptions options = test_options();
  options.transport.connections = 4;
  TestServer server(options);
  server.model().hold();
  Client busy(server.port());
  busy.send(predict_text());
  server.model().wait_for_calls(1);
  std::vector<std::unique_ptr<Client>> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(std::make_unique<Client>(server.port()));
  EXPECT_EQ(server.get("/health").status, 200);
  EXPECT_TRUE(silent[0]->ends_within(5)) << "the one that has waited longest goes first";
  EXPECT_EQ(silent[19]->get("/health").status, 200) << "the youngest stays";
  server.model().release();
  EXPECT_EQ(busy.receive().status, 200) << "who is being served stays";
  EXPECT_GE(server.server().displaced(), 17);
}

TEST(Transport, SilentConnectionsGoBeforeThoseThatWereServed) {
  ServerOptions options = test_options();
  options.transport.connections = 2;
  TestServer server(options);
  Client served(server.port());
  EXPECT_EQ(served.get("/health").status, 200);
  Client silent(server.port());
  std::this_thread::sleep_for(milliseconds(1100));
  Client third(server.port());
  EXPECT_EQ(third.get("/health").status, 200);
  EXPECT_TRUE(silent.ends_within(5));
  EXPECT_EQ(served.get("/health").status, 200);
  std::this_thread::sleep_for(milliseconds(1100));
  EXPECT_EQ(server.get("/health").status, 200) << "idle for a second: one makes room too";
  EXPECT_EQ(server.server().displaced(), 2);
}

TEST(Transport, ThePortIsSaidWhenItIsTaken) {
  const TestServer server;
  ServerOptions options = test_options();
  options.transport.port = server.port();
  expect_error(ErrorKind::Io, "--port", [&] { TestServer second(options); });
  options.transport.port = 0;
  options.transport.host = "no.such.host.invalid";
  expect_error(ErrorKind::InvalidArgument, "--host", [&] { TestServer third(options); });
}

TEST(Transport, KnowsWhoCanReachAHost) {
  EXPECT_TRUE(is_loopback("127.0.0.1"));
  EXPECT_TRUE(is_loopback("::1"));
  EXPECT_TRUE(is_loopback("localhost"));
  EXPECT_FALSE(is_loopback("0.0.0.0"));
  EXPECT_FALSE(is_loopback("::"));
}

}  // namespace
}  // namespace fovea::serving::transport_test
