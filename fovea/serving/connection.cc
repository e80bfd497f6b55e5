#include "fovea/serving/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "fovea/serving/http_error.h"

namespace fovea::serving {

namespace {

constexpr size_t kReadAtOnce = 16384;

/// After a call that failed: whether to call again. Waits for the socket where it must.
bool may_try_again(int socket, short event, Clock::time_point until) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
  pollfd watched{socket, event, 0};
  const int ready = ::poll(&watched, 1, milliseconds_until(until));
  return ready > 0 || (ready < 0 ? errno == EINTR : Clock::now() < until);
}

}  // namespace

Connection::Event Connection::wait(Clock::time_point until, int wake) const {
  if (has_unread()) return Event::Readable;
  pollfd watched[] = {{descriptor(), POLLIN, 0}, {wake, POLLIN, 0}};
  int ready = 0;
  do ready = ::poll(watched, 2, milliseconds_until(until));
  while (ready < 0 && errno == EINTR);
  if (ready <= 0) return Event::TimedOut;
  return watched[0].revents != 0 ? Event::Readable : Event::Woken;
}

void Connection::begin(Clock::time_point deadline) {
  deadline_ = deadline;
  asked_ = false;
}

size_t Connection::read(char* bytes, size_t size) {
  if (!has_unread()) fill();
  const size_t count = input_.copy(bytes, size, begin_);
  begin_ += count;
  return count;
}

/// Reads more from the socket; nothing at the end.
void Connection::fill() {
  input_.resize(kReadAtOnce);
  ssize_t count = 0;
  while ((count = ::recv(descriptor(), input_.data(), input_.size(), 0)) < 0 &&
         may_try_again(descriptor(), POLLIN, deadline_)) {
  }
  const bool late = count < 0 && Clock::now() >= deadline_;
  broken_ = count < 0 && !late;
  begin_ = 0;
  input_.resize(count > 0 ? static_cast<size_t>(count) : 0);
  if (late) throw HttpError(408, "timeout", "the request did not arrive in time");
}

bool Connection::send(std::string_view bytes) {
  const auto until = seconds_from_now(write_seconds_);
  while (!bytes.empty() && !broken_) {
    const ssize_t count = ::send(descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count >= 0)
      bytes.remove_prefix(static_cast<size_t>(count));
    else
      broken_ = !may_try_again(descriptor(), POLLOUT, until);
  }
  return !broken_;
}

bool Connection::is_gone(bool may_ask) {
  pollfd watched{descriptor(), POLLRDHUP, 0};
  if (broken_ || ::poll(&watched, 1, 0) < 0) return broken_;
  if ((watched.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return true;
  if ((watched.revents & POLLRDHUP) == 0 || !may_ask || asked_) return false;
  asked_ = true;
  return !send(kContinue);
}

void Connection::end_sending() {
  ::shutdown(descriptor(), SHUT_WR);
}

bool Connection::discard() {
  char bytes[65536];
  for (int round = 0; round < 16; ++round) {  // others wait too
    const ssize_t count = ::recv(descriptor(), bytes, sizeof bytes, 0);
    if (count > 0) continue;
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
  }
  return true;
}

}  // namespace fovea::serving
