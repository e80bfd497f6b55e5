// The connections that wait for a request. When all places are taken, one of them makes room for
// somebody new: first those that have never sent anything, then those that have been idle for a
// while between two requests; of each kind the one that has waited longest.
#pragma once

#include <chrono>
#include <list>
#include <mutex>

namespace fovea::serving {

class IdleConnections {
  struct Entry;

 public:
  using Clock = std::chrono::steady_clock;
  /// A client that asks again within `patience` keeps its connection.
  explicit IdleConnections(std::chrono::milliseconds patience) : patience_(patience) {}

  /// The socket waits while this lives.
  class Waiting {
   public:
    Waiting(IdleConnections& all, int socket, bool silent);  // silent: it has sent nothing so far
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    IdleConnections& all_;
    std::list<Entry>::iterator entry_;
  };

  /// Shuts one of them down, so that its reader finds the end; false when none can go. May be
  /// called from any thread.
  bool close_one();

 private:
  struct Entry {
    int socket;
    bool silent;
    Clock::time_point since;
    bool closing = false;
  };
  const std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // those that have waited longest first
};

}  // namespace fovea::serving
