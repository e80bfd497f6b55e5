#include "fovea/serving/connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace fovea::serving {

namespace {

constexpr size_t kReadAtOnce = 16384;
constexpr size_t kFlushAbove = size_t{1} << 18;

/// For poll(): at least one millisecond while there is time left.
int milliseconds_until(Connection::Clock::time_point until) {
  const auto left = until - Connection::Clock::now();
  if (left <= left.zero()) return 0;
  const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::min<int64_t>(rounded, 3600'000));
}

}  // namespace

Connection::Connection(int socket, std::string remote)
    : socket_(socket), remote_(std::move(remote)) {}

Connection::~Connection() {
  if (socket_ >= 0) ::close(socket_);
}

int Connection::release() {
  return std::exchange(socket_, -1);
}

Connection::Event Connection::wait(Clock::time_point until, int wake) {
  if (has_unread()) return Event::Readable;
  pollfd watched[] = {{socket_, POLLIN, 0}, {wake, POLLIN, 0}};
  for (;;) {
    const int ready = ::poll(watched, wake >= 0 ? 2 : 1, milliseconds_until(until));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Event::TimedOut;
    return watched[0].revents != 0 ? Event::Readable : Event::Woken;
  }
}

bool Connection::is_gone(bool may_ask) {
  pollfd watched{socket_, POLLRDHUP, 0};
  if (problem_ == Problem::Broken || ::poll(&watched, 1, 0) < 0) return problem_ != Problem::None;
  if ((watched.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return true;
  if ((watched.revents & POLLRDHUP) == 0 || !may_ask || asked_) return false;
  asked_ = true;
  const std::string_view word = "HTTP/1.1 100 Continue\r\n\r\n";
  write(word.data(), word.size());
  return !flush();
}

void Connection::begin(Clock::time_point deadline, size_t limit) {
  deadline_ = deadline;
  taken_ = 0;
  limit_ = limit;
  problem_ = Problem::None;
  asked_ = false;
}

/// Reads more from the socket; false at the end or when there is a problem.
bool Connection::fill() {
  if (!output_.empty() && !flush()) return false;
  input_.resize(kReadAtOnce);
  begin_ = 0;
  for (;;) {
    const ssize_t count = ::recv(socket_, input_.data(), input_.size(), 0);
    if (count >= 0) {
      input_.resize(static_cast<size_t>(count));
      return count > 0;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) {
      problem_ = Problem::Broken;
      break;
    }
    pollfd watched{socket_, POLLIN, 0};
    if (::poll(&watched, 1, milliseconds_until(deadline_)) == 0) {
      problem_ = Problem::TimedOut;
      break;
    }
  }
  input_.clear();
  return false;
}

ssize_t Connection::read(char* bytes, size_t size) {
  if (problem_ != Problem::None) return -1;
  if (taken_ >= limit_) {
    problem_ = Problem::TooLarge;
    return -1;
  }
  if (!has_unread() && !fill()) return problem_ == Problem::None ? 0 : -1;
  const size_t count = std::min({size, input_.size() - begin_, limit_ - taken_});
  std::memcpy(bytes, input_.data() + begin_, count);
  begin_ += count;
  taken_ += count;
  return static_cast<ssize_t>(count);
}

void Connection::write(const char* bytes, size_t size) {
  output_.append(bytes, size);
  if (output_.size() > kFlushAbove) flush();
}

bool Connection::flush() {
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(write_seconds_));
  size_t sent = 0;
  while (sent < output_.size() && problem_ != Problem::Broken) {
    const ssize_t count =
        ::send(socket_, output_.data() + sent, output_.size() - sent, MSG_NOSIGNAL);
    if (count >= 0) {
      sent += static_cast<size_t>(count);
      continue;
    }
    pollfd watched{socket_, POLLOUT, 0};
    const bool full = errno == EAGAIN || errno == EWOULDBLOCK;
    const bool again =
        errno == EINTR || (full && ::poll(&watched, 1, milliseconds_until(until)) > 0);
    if (!again) problem_ = Problem::Broken;
  }
  output_.clear();
  return problem_ != Problem::Broken;
}

}  // namespace fovea::serving
