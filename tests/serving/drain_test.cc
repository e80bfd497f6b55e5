// The end of a server: every request that has come gets its answer.
#include <gtest/gtest.h>

#include <atomic>

#include "tests/serving/test_server.h"

namespace fovea::serving::drain_test {
namespace {

using namespace testing;
using std::chrono::milliseconds;

const std::string kPredict = R"({"input": "abc"})";

std::string predict_text() {
  return concat(
      "POST /v1/predict HTTP/1.1\r\nHost: localhost\r\n"
      "Content-Type: application/json\r\nContent-Length: ",
      kPredict.size(), "\r\n\r\n", kPredict);
}

/// What a connection that was idle when the server began to drain is told; the request that was at
/// work is answered in any case. Status 0: this thread did not run before the connection's time of
/// grace was over, and it was closed.
Answer health_while_draining() {
  TestServer server;
  server.model().hold();
  Client busy(server.port()), idle(server.port());
  EXPECT_EQ(idle.get("/health").status, 200);
  busy.send(predict_text());
  server.model().wait_for_calls(1);
  bool drained = false;
  std::thread draining([&] { drained = server.server().drain(milliseconds(10000)); });
  Answer health = idle.get("/health");
  while (health.status == 200) {
    std::this_thread::sleep_for(milliseconds(1));  // a connection has only so many requests
    health = idle.get("/health");
  }
  server.model().release();
  const Answer answer = busy.receive();
  draining.join();
  EXPECT_EQ(answer.status, 200);
  EXPECT_TRUE(answer.closes());
  EXPECT_TRUE(drained);
  EXPECT_FALSE(Client(server.port()).connected());
  return health;
}

TEST(Drain, AnswersWhatHasComeAndNothingMore) {
  Answer health;
  for (int attempt = 0; attempt < 10 && health.status == 0; ++attempt)
    health = health_while_draining();
  ASSERT_EQ(health.status, 503);
  EXPECT_EQ(health.json()["status"], "draining");
  EXPECT_TRUE(health.closes());
}

TEST(Drain, GivesUpAfterItsTime) {
  TestServer server;
  server.model().hold();
  Client busy(server.port());
  busy.send(predict_text());
  server.model().wait_for_calls(1);
  EXPECT_FALSE(server.server().drain(milliseconds(50)));
}

/// Clients that ask as fast as they can until they cannot connect any more. A request is lost when
/// the connection ends without an answer to it.
TEST(Drain, UnderLoadLosesNothing) {
  for (int round = 0; round < 3; ++round) {
    TestServer server;
    std::atomic<int> answered{0}, lost{0}, wrong{0};
    std::atomic<bool> over{false};
    std::vector<std::thread> clients;
    for (int i = 0; i < 16; ++i)
      clients.emplace_back([&, port = server.port()] {
        while (!over) {
          Client client(port);
          if (!client.connected()) return;
          for (bool open = true; open && !over;) {
            const Answer answer = client.post("/v1/predict", kPredict);
            if (answer.status == 0) ++lost;
            if (answer.status != 0 && answer.status != 200) ++wrong;
            answered += answer.status == 200;
            open = answer.status != 0 && !answer.closes();
          }
        }
      });
    while (answered < 200) std::this_thread::yield();
    EXPECT_TRUE(server.server().drain(milliseconds(10000)));
    over = true;
    for (std::thread& client : clients) client.join();
    EXPECT_EQ(lost, 0);
    EXPECT_EQ(wrong, 0);
  }
}

}  // namespace
}  // namespace fovea::serving::drain_test
