#include "fovea/serving/request_reader.h"

#include <thread>

#include "tests/serving/expect_refusal.h"
#include "tests/serving/socket_pair.h"

namespace fovea::serving::body_reader_test {
namespace {

using fovea::testing::expect_refusal;

struct Pair : fovea::testing::SocketPair {
  using SocketPair::SocketPair;
  std::string read(const HeaderList& headers, size_t limit = 100) const {
    return read_body(*connection, framing_of(headers), limit);
  }
};

const HeaderList kChunked{{"transfer-encoding", "chunked"}};

TEST(BodyReader, ByLength) {
  const Pair pair;
  pair.send("hello and more");
  EXPECT_EQ(pair.read({{"content-length", "5"}}), "hello");
  EXPECT_EQ(pair.read({{"content-length", "0"}}), "");
  EXPECT_EQ(pair.read({{"content-length", "9"}, {"content-length", "9"}}), " and more");
}

TEST(BodyReader, InChunks) {
  const Pair pair;
  pair.send("5\r\nhello\r\n1;name=value\r\n \r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\nrest");
  EXPECT_EQ(pair.read(kChunked), "hello 0123456789");
  EXPECT_EQ(pair.read({{"content-length", "4"}}), "rest");
}

TEST(BodyReader, NeverMoreThanTheLimit) {
  const Pair pair;
  expect_refusal(413, "larger than the 100", [&] { pair.read({{"content-length", "101"}}); });
  expect_refusal(413, "larger", [&] { pair.read({{"content-length", "18446744073709551615"}}); });
  pair.send("40\r\n" + std::string(64, 'x') + "\r\n40\r\n");
  expect_refusal(413, "larger than the 100", [&] { pair.read(kChunked); });
  const Pair other;
  other.send("ffffffffffffffff\r\n");
  expect_refusal(413, "larger", [&] { other.read(kChunked); });
}

TEST(BodyReader, RefusesAFramingThatCanBeReadInTwoWays) {
  const HeaderList cases[] = {
      {{"content-length", "5"}, {"content-length", "6"}},
      {{"content-length", "5"}, {"transfer-encoding", "chunked"}},
      {{"transfer-encoding", "gzip, chunked"}},
      {{"transfer-encoding", "chunked"}, {"transfer-encoding", "chunked"}},
      {{"content-length", "-1"}},
      {{"content-length", "5 "}},
      {{"content-length", "0x5"}},
      {{"content-length", ""}},
      {{"content-length", "99999999999999999999"}},
  };
  for (const HeaderList& headers : cases) expect_refusal(400, "", [&] { framing_of(headers); });
}

TEST(BodyReader, RefusesChunksThatAreNone) {
  for (const std::string text : {"x\r\n", "\r\n", "-5\r\n", "5\r\nhelloo\r\n", "5x\r\nhello\r\n",
                                 "5\r\nhel", "fffffffffffffffff\r\n"}) {
    const Pair pair;
    pair.send(text);
    pair.end();
    expect_refusal(400, "", [&] { pair.read(kChunked); });
  }
  const Pair pair;
  pair.send(std::string(900, '1'));
  expect_refusal(400, "not a number", [&] { pair.read(kChunked); });
}

TEST(BodyReader, EndsEarlyOrTooLate) {
  const Pair early;
  early.send("abc");
  early.end();
  expect_refusal(400, "after 3 bytes, 7 are missing", [&] {
    early.read({{"content-length", "10"}});
  });
  const Pair late(0.05);
  late.send("abc");
  expect_refusal(408, "in time", [&] { late.read({{"content-length", "10"}}); });
  expect_refusal(411, "Content-Length", [&] { late.read({}); });
}

TEST(BodyReader, SaysContinueToAClientThatWaits) {
  const Pair pair;
  std::thread client([&] {
    char word[64] = "";
    EXPECT_EQ(::recv(pair.ends[1], word, sizeof word, 0), 25);
    EXPECT_STREQ(word, "HTTP/1.1 100 Continue\r\n\r\n");
    pair.send("body");
  });
  EXPECT_EQ(pair.read({{"content-length", "4"}, {"expect", "100-continue"}}), "body");
  client.join();
}

TEST(BodyReader, LinesBetweenChunksHaveALimitTogether) {
  const Pair pair;
  std::thread client([&] {
    const std::string chunk = "1;" + std::string(200, 'x') + "\r\na\r\n";
    for (int i = 0; i < 99; ++i) pair.send(chunk);
    pair.send("0\r\n\r\n");
  });
  EXPECT_EQ(pair.read(kChunked), std::string(99, 'a'));
  client.join();
  const Pair other;
  std::thread endless([&] {
    const std::string chunk = "1;" + std::string(200, 'x') + "\r\na\r\n";
    for (int i = 0; i < 400; ++i) other.send(chunk);
  });
  expect_refusal(413, "larger", [&] { other.read(kChunked, 1000); });
  endless.join();
}

TEST(Connection, AClientThatReadsNothingIsGivenUp) {
  const Pair pair;
  pair.connection->set_write_seconds(0.05);
  const std::string much(size_t{8} << 20, 'x');
  EXPECT_FALSE(pair.connection->send(much));
  EXPECT_TRUE(pair.connection->is_gone(false));
}

TEST(Connection, AClientThatHasGoneIsNoSignal) {
  const Pair pair;
  ::shutdown(pair.ends[1], SHUT_RDWR);
  EXPECT_FALSE(pair.connection->send("x"));
}

TEST(BodyReader, LinesBetweenChunksHaveNoControlCharacters) {
  for (const std::string& lines :
       {std::string("5;a\nb\r\nhello\r\n0\r\n\r\n"), std::string("5;\0\r\nhello\r\n0\r\n\r\n", 17),
        std::string("0\r\nA: b\nC: d\r\n\r\n")}) {
    const Pair pair;
    pair.send(lines);
    expect_refusal(400, "control character", [&] { pair.read(kChunked); });
  }
}

}  // namespace
}  // namespace fovea::serving::body_reader_test
