#include "fovea/serving/request_head.h"

#include "tests/serving/expect_refusal.h"
#include "tests/serving/socket_pair.h"

namespace fovea::serving {
namespace {

using fovea::testing::expect_refusal;
using fovea::testing::SocketPair;

TEST(RequestHead, ReadsTheFirstLineAndTheHeadersAndNoMore) {
  const SocketPair pair;
  pair.send(
      "GET / HTTP/1.1\r\nHost: a\r\nX-Two:  b c\t \r\nEmpty:\r\nX-Two: %41:\xc3\xa4\r\n\r\nbody");
  const std::optional<RequestHead> head = read_head(*pair.connection);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->line, "GET / HTTP/1.1");
  EXPECT_EQ(
      head->headers,
      (HeaderList{{"host", "a"}, {"x-two", "b c"}, {"empty", ""}, {"x-two", "%41:\xc3\xa4"}}));
  char rest[8];
  EXPECT_EQ(pair.connection->read(rest, sizeof rest), 4);
}

TEST(RequestHead, NothingIsNoRequest) {
  const SocketPair pair;
  pair.end();
  EXPECT_FALSE(read_head(*pair.connection));
}

TEST(RequestHead, RefusesWhatAnotherMightReadDifferently) {
  const std::pair<std::string, std::string> cases[] = {
      {"\r\nGET / HTTP/1.1\r\n\r\n", "empty line"},
      {"GET / HTTP/1.1\n\n", "line feed"},
      {"GET / HTTP/1.1\r\nA: b\nC: d\r\n\r\n", "line feed"},
      {"GET / HTTP/1.1\r\nA: b\rC: d\r\n\r\n", "carriage return"},
      {std::string("GET /\0 HTTP/1.1\r\n\r\n", 19), "control character"},
      {std::string("GET / HTTP/1.1\r\nA: \0\r\n\r\n", 24), "control character"},
      {"GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n", "folded"},
      {"GET / HTTP/1.1\r\nA : b\r\n\r\n", "name"},
      {"GET / HTTP/1.1\r\n: b\r\n\r\n", "name"},
      {"GET / HTTP/1.1\r\nA(: b\r\n\r\n", "name"},
      {"GET / HTTP/1.1\r\nA b\r\n\r\n", "colon"},
  };
  for (const auto& [text, word] : cases) {
    const SocketPair pair;
    pair.send(text);
    expect_refusal(400, word, [&] { read_head(*pair.connection); });
  }
}

TEST(RequestHead, HasLimits) {
  const SocketPair part;
  part.send("GET / HTTP/1.1\r\nA: b");
  part.end();
  expect_refusal(400, "ends within", [&] { read_head(*part.connection); });
  const SocketPair slow(0.05);
  slow.send("GET / HT");
  expect_refusal(408, "in time", [&] { read_head(*slow.connection); });
  const SocketPair large;
  large.send("GET /" + std::string(2000, 'a'));
  expect_refusal(431, "too long", [&] { read_head(*large.connection); });
}

}  // namespace
}  // namespace fovea::serving
