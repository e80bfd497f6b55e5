// A client's socket with limits: every request has a moment by which it must have arrived, however
// slowly it trickles, and a most of bytes for its head. Reading and writing are buffered, so an
// answer leaves in one piece.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>

namespace fovea::serving {

class Connection {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Problem { None, TimedOut, TooLarge, Broken };
  enum class Event { Readable, TimedOut, Woken };

  /// Takes over a non-blocking socket.
  Connection(int socket, std::string remote);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const std::string& remote() const { return remote_; }
  Problem problem() const { return problem_; }
  /// Bytes of this request that were read.
  size_t taken() const { return taken_; }
  int descriptor() const { return socket_; }
  /// Gives the socket away.
  int release();

  /// Whether the client has closed the connection, not only its own side of it. A client that has
  /// ended its side looks the same as one that has gone until something is sent to it: where
  /// `may_ask`, it is sent "100 Continue", once per request, which HTTP/1.1 allows at any time.
  bool is_gone(bool may_ask);

  /// Until there is something to read, or `wake` (a descriptor, or -1) is readable.
  Event wait(Clock::time_point until, int wake);

  /// A new request: all of it must arrive before the deadline, at most `limit` bytes may be read.
  void begin(Clock::time_point deadline, size_t limit);
  void set_limit(size_t limit) { limit_ = taken_ + limit; }
  /// At most `size` bytes; 0 at the end, -1 when there is a problem.
  ssize_t read(char* bytes, size_t size);
  /// Whether bytes have arrived that nobody has read yet.
  bool has_unread() const { return begin_ < input_.size(); }

  void write(const char* bytes, size_t size);
  /// Sends what was written; false when the client does not take it within the time.
  bool flush();
  void set_write_seconds(double seconds) { write_seconds_ = seconds; }

 private:
  bool fill();
  int socket_;
  std::string remote_;
  std::string input_, output_;
  size_t begin_ = 0;  // of what is unread in input_
  size_t taken_ = 0, limit_ = 0;
  Clock::time_point deadline_;
  double write_seconds_ = 30;
  Problem problem_ = Problem::None;
  bool asked_ = false;  // whether the client is still there
};

}  // namespace fovea::serving
