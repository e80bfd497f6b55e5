// Sockets that have got their answer while their client may still be sending. To close such a
// socket at once would reset the connection, and the client might lose the answer: so what still
// comes is read and thrown away, until the client closes too or its time is up. One thread for all
// of them.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fovea/serving/socket.h"

namespace fovea::serving {

class Lingering {
 public:
  Lingering(size_t most, std::chrono::milliseconds patience);
  /// Closes all at once.
  ~Lingering();
  Lingering(const Lingering&) = delete;
  Lingering& operator=(const Lingering&) = delete;

  /// Takes the socket over and sends `last_words`; closes it at once when there are too many.
  void add(int socket, const std::string& last_words = "");

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    int socket;
    Clock::time_point until;
  };
  void work();
  void watch(std::vector<Entry>& watched);
  const size_t most_;
  const std::chrono::milliseconds patience_;
  WakeUp wake_;
  std::mutex mutex_;
  std::vector<Entry> added_;
  size_t count_ = 0;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace fovea::serving
