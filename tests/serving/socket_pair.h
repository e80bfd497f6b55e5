// Two ends of a connection, ours and the client's, without a server.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "fovea/serving/connection.h"

namespace fovea::testing {

struct SocketPair {
  explicit SocketPair(double seconds = 5) {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    connection = std::make_unique<serving::Connection>(ends[0], "test");
    connection->begin(serving::seconds_from_now(seconds));
  }
  ~SocketPair() { ::close(ends[1]); }
  void send(const std::string& text) const {
    EXPECT_EQ(::send(ends[1], text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  }
  void end() const { ::shutdown(ends[1], SHUT_WR); }
  int ends[2];
  std::unique_ptr<serving::Connection> connection;
};

}  // namespace fovea::testing
