#include "fovea/serving/idle_connections.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>

namespace fovea::serving {

namespace {

/// Whether a request has begun to arrive, or the client has closed already.
bool has_news(int socket) {
  pollfd watched{socket, POLLIN, 0};
  return ::poll(&watched, 1, 0) != 0;
}

}  // namespace

IdleConnections::Waiting::Waiting(IdleConnections& all, int socket, bool silent) : all_(all) {
  const std::lock_guard lock(all_.mutex_);
  entry_ = all_.entries_.insert(all_.entries_.end(), {socket, silent, Clock::now()});
}

IdleConnections::Waiting::~Waiting() {
  const std::lock_guard lock(all_.mutex_);
  all_.entries_.erase(entry_);
}

bool IdleConnections::close_one() {
  const std::lock_guard lock(mutex_);
  const auto long_ago = Clock::now() - patience_;
  for (const bool silent : {true, false}) {
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
      return entry.silent == silent && !entry.closing && (silent || entry.since <= long_ago) &&
             !has_news(entry.socket);
    });
    if (found == entries_.end()) continue;
    found->closing = true;
    ::shutdown(found->socket, SHUT_RDWR);
    return true;
  }
  return false;
}

}  // namespace fovea::serving
