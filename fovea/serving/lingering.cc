#include "fovea/serving/lingering.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace fovea::serving {

namespace {

/// Reads and forgets; false when the client has closed its side.
bool discard(int socket) {
  char bytes[65536];
  for (int round = 0; round < 16; ++round) {  // others wait too
    const ssize_t count = ::recv(socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count > 0) continue;
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
  }
  return true;
}

}  // namespace

Lingering::Lingering(size_t most, std::chrono::milliseconds patience)
    : most_(most), patience_(patience), thread_([this] { work(); }) {}

Lingering::~Lingering() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.signal();
  thread_.join();
}

void Lingering::add(int socket, const std::string& last_words) {
  if (!last_words.empty())
    ::send(socket, last_words.data(), last_words.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(socket, SHUT_WR);
  {
    const std::lock_guard lock(mutex_);
    if (!ending_ && count_ < most_) {
      ++count_;
      added_.push_back({socket, Clock::now() + patience_});
      socket = -1;
    }
  }
  if (socket >= 0)
    ::close(socket);
  else
    wake_.signal();
}

void Lingering::work() {
  std::vector<Entry> watched;
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      watched.insert(watched.end(), added_.begin(), added_.end());
      added_.clear();
      if (ending_) break;
    }
    watch(watched);
    const std::lock_guard lock(mutex_);
    count_ = watched.size() + added_.size();
  }
  for (const Entry& entry : watched) ::close(entry.socket);
}

/// Waits for the next thing to happen and removes those that are done.
void Lingering::watch(std::vector<Entry>& watched) {
  std::vector<pollfd> polled{{wake_.descriptor(), POLLIN, 0}};
  for (const Entry& entry : watched) polled.push_back({entry.socket, POLLIN, 0});
  ::poll(polled.data(), polled.size(), watched.empty() ? -1 : 100);
  if (polled[0].revents != 0) wake_.clear();
  const auto now = Clock::now();
  std::vector<Entry> left;
  for (size_t i = 0; i < watched.size(); ++i) {
    const bool open = polled[i + 1].revents == 0 || discard(watched[i].socket);
    if (open && now < watched[i].until)
      left.push_back(watched[i]);
    else
      ::close(watched[i].socket);
  }
  watched = std::move(left);
}

}  // namespace fovea::serving
