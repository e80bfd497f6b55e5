// A client's socket with limits: every request has a moment by which it must have arrived, however
// slowly it trickles, and every answer a time in which the client must take it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "fovea/serving/clock.h"
#include "fovea/serving/socket.h"

namespace fovea::serving {

class Connection {
 public:
  enum class Event { Readable, TimedOut, Woken };

  /// Takes over a non-blocking socket.
  Connection(int socket, std::string remote) : socket_(socket), remote_(std::move(remote)) {}

  const std::string& remote() const { return remote_; }
  int descriptor() const { return socket_.get(); }

  /// Until there is something to read, or `wake` (a descriptor, or -1) is readable.
  Event wait(Clock::time_point until, int wake = -1) const;

  /// A new request, all of which must arrive before the deadline.
  void begin(Clock::time_point deadline);
  /// At most `size` bytes; 0 at the end. HttpError 408 when the deadline has passed.
  size_t read(char* bytes, size_t size);
  /// Whether bytes have arrived that nobody has read yet.
  bool has_unread() const { return begin_ < input_.size(); }

  /// False when the client does not take all of it within the time.
  bool send(std::string_view bytes);
  void set_write_seconds(double seconds) { write_seconds_ = seconds; }

  /// Whether the client has closed the connection, not only its own side of it. A client that has
  /// ended its side looks the same as one that has gone until something is sent to it: where
  /// `may_ask`, it is sent "100 Continue", once per request, which HTTP/1.1 allows at any time.
  bool is_gone(bool may_ask);

  /// Nothing more will be sent.
  void end_sending();
  /// Throws away what has arrived; false when the client has closed its side.
  bool discard();

 private:
  void fill();
  Descriptor socket_;
  std::string remote_, input_;
  size_t begin_ = 0;  // of what is unread in input_
  Clock::time_point deadline_;
  double write_seconds_ = 30;
  bool broken_ = false;
  bool asked_ = false;  // whether the client is still there
};

inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace fovea::serving
