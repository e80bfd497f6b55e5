// The few things that the server asks of the operating system's sockets.
#pragma once

#include <string>

namespace fovea::serving {

/// A descriptor that is closed with the object.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }
  void close();

 private:
  int value_;
};

/// A descriptor that becomes readable with signal() and stays so until clear().
class WakeUp {
 public:
  WakeUp();
  int descriptor() const { return descriptor_.get(); }
  void signal();
  void clear();

 private:
  Descriptor descriptor_;
};

/// A non-blocking socket that listens on that address ("127.0.0.1", "::", "localhost"); port 0: any
/// free one. InvalidArgument for a host that cannot be resolved, Io when the port is taken.
int listen_on(const std::string& host, int port);

/// The port that the socket is bound to.
int port_of(int socket);

/// A connection that waits to be accepted, non-blocking; -1 when there is none, or no descriptor
/// for it. `remote` is the client's address.
int accept_from(int socket, std::string& remote);

/// From now on nobody begins to connect; who has begun still ends up among those that wait. Without
/// it, who connects between the last accept and the close is reset, with a request on the way.
void ignore_new_connections(int socket);

/// Whether only programs of this machine reach that host.
bool is_loopback(const std::string& host);

}  // namespace fovea::serving
