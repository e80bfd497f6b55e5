#include "fovea/serving/request_reader.h"

#include "tests/serving/expect_refusal.h"
#include "tests/serving/socket_pair.h"

namespace fovea::serving::request_head_test {
namespace {

using fovea::testing::expect_refusal;
using fovea::testing::SocketPair;

constexpr size_t kLimit = 1000;

TEST(RequestHead, ReadsTheFirstLineAndTheHeadersAndNoMore) {
  const SocketPair pair;
  pair.send(
      "GET / HTTP/1.1\r\nHost: a\r\nX-Two:  b c\t \r\nEmpty:\r\nX-Two: %41:\xc3\xa4\r\n\r\nbody");
  const std::optional<HttpRequest> request = read_head(*pair.connection, kLimit);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->method, "GET");
  EXPECT_EQ(request->path, "/");
  EXPECT_FALSE(request->is_http_10);
  EXPECT_EQ(request->remote, "test");
  EXPECT_EQ(
      request->headers,
      (HeaderList{{"host", "a"}, {"x-two", "b c"}, {"empty", ""}, {"x-two", "%41:\xc3\xa4"}}));
  char rest[8];
  EXPECT_EQ(pair.connection->read(rest, sizeof rest), 4);
}

TEST(RequestHead, NothingIsNoRequest) {
  const SocketPair pair;
  pair.end();
  EXPECT_FALSE(read_head(*pair.connection, kLimit));
}

TEST(RequestHead, FindsThePathOfAnAddress) {
  const std::pair<std::string, std::string> cases[] = {
      {"/", "/"},
      {"/a/b?c=/d%41", "/a/b"},
      {"/a#b?c", "/a"},
      {"/%41%2e%2E/%zz%4", "/A../%zz%4"},
      {"/%c3%a4+", "/\xc3\xa4+"},
      {"*", "*"},
      {"http://localhost/a", "http://localhost/a"},
  };
  for (const auto& [address, path] : cases) {
    const SocketPair pair;
    pair.send("POST " + address + " HTTP/1.0\r\n\r\n");
    const std::optional<HttpRequest> request = read_head(*pair.connection, kLimit);
    ASSERT_TRUE(request);
    EXPECT_EQ(request->path, path);
    EXPECT_EQ(request->method, "POST");
    EXPECT_TRUE(request->is_http_10);
  }
}

TEST(RequestHead, RefusesFirstLinesOfAnotherForm) {
  for (const std::string line :
       {"GET", "GET /", "GET / ", " GET / HTTP/1.1", "GET  / HTTP/1.1", "GET /  HTTP/1.1",
        "GET / HTTP/1.1 ", "GET /a b HTTP/1.1", "GET /\ta HTTP/1.1", "GET\t/\tHTTP/1.1",
        "GET HTTP/1.1", "get / HTTP/1.1", "FETCH / HTTP/1.1", "/ HTTP/1.1", "GET / http/1.1",
        "GET / HTTP/1.2", "GET / HTTP/2.0", "GET / HTTP/1.", "GET / HTTP/1.10"}) {
    const SocketPair pair;
    pair.send(line + "\r\nHost: a\r\n\r\n");
    expect_refusal(400, "not an HTTP/1.1 request", [&] { read_head(*pair.connection, kLimit); });
  }
}

TEST(RequestHead, HasOneHost) {
  const SocketPair none, two, old;
  none.send("GET / HTTP/1.1\r\nX-Host: a\r\n\r\n");
  expect_refusal(400, "no Host", [&] { read_head(*none.connection, kLimit); });
  two.send("GET / HTTP/1.0\r\nHost: a\r\nhost: a\r\n\r\n");
  expect_refusal(400, "two Host", [&] { read_head(*two.connection, kLimit); });
  old.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(read_head(*old.connection, kLimit));
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
    expect_refusal(400, word, [&] { read_head(*pair.connection, kLimit); });
  }
}

TEST(RequestHead, HasLimits) {
  const SocketPair part;
  part.send("GET / HTTP/1.1\r\nA: b");
  part.end();
  expect_refusal(400, "ends within", [&] { read_head(*part.connection, kLimit); });
  const SocketPair slow(0.05);
  slow.send("GET / HT");
  expect_refusal(408, "in time", [&] { read_head(*slow.connection, kLimit); });
  const SocketPair large;
  large.send("GET /" + std::string(2000, 'a'));
  expect_refusal(431, "too long", [&] { read_head(*large.connection, kLimit); });
  const SocketPair long_address;
  long_address.send("GET /" + std::string(10000, 'a') + " HTTP/1.1\r\n");
  expect_refusal(414, "address", [&] { read_head(*long_address.connection, 20000); });
}

TEST(RequestHead, TheLimitCountsEveryByteHoweverItComes) {
  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  const SocketPair whole, short_by_one, endless;
  whole.send(head);
  EXPECT_TRUE(read_head(*whole.connection, head.size()));
  short_by_one.send(head);
  expect_refusal(431, "too long", [&] { read_head(*short_by_one.connection, head.size() - 1); });
  endless.send("GET / HTTP/1.1\r\n");
  for (int i = 0; i < 200; ++i) endless.send("A: b\r\n");
  expect_refusal(431, "too long", [&] { read_head(*endless.connection, kLimit); });
}

}  // namespace
}  // namespace fovea::serving::request_head_test
