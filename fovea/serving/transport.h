// The listening socket and its connections: accepts them, gives each a thread, lets idle ones make
// room for new ones, refuses quickly what is too many, and drains: accepts no more, lets every
// request that has arrived be answered, closes.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "fovea/serving/connection_pool.h"
#include "fovea/serving/http_protocol.h"
#include "fovea/serving/idle_connections.h"
#include "fovea/serving/lingering.h"
#include "fovea/serving/socket.h"

namespace fovea::serving {

struct TransportOptions {
  std::string host = "127.0.0.1";
  int port = 8080;            // 0: any free one
  int64_t connections = 128;  // at once
  ProtocolOptions protocol;
};

class Transport {
 public:
  /// Listens and answers from now on. The handler must outlive this object.
  Transport(const TransportOptions& options, HttpHandler& handler);
  /// Drains briefly when that was not done.
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  int port() const { return port_; }
  std::string address() const;  // "http://127.0.0.1:8080"
  bool is_draining() const { return draining_; }
  int64_t connections() const { return static_cast<int64_t>(pool_.busy()); }
  int64_t refused() const { return refused_; }
  int64_t displaced() const { return displaced_; }  // idle ones that made room

  /// Stops accepting and waits until every connection has got its answer; false when some have not
  /// within the time.
  bool drain(std::chrono::milliseconds limit);

 private:
  using WaitingPtr = std::shared_ptr<IdleConnections::Waiting>;
  void accept_all();
  void accept_waiting();
  bool make_room();
  void serve(int socket, const std::string& remote, WaitingPtr waiting);
  bool wait_for_request(Connection& connection, WaitingPtr waiting);
  const TransportOptions options_;
  HttpHandler& handler_;
  HttpProtocol protocol_;
  Descriptor listening_;
  const int port_;
  WakeUp drain_begins_;
  std::atomic<bool> draining_{false};
  std::atomic<int64_t> refused_{0}, displaced_{0};
  IdleConnections idle_;
  Lingering lingering_;
  ConnectionPool pool_;
  std::thread acceptor_;
};

}  // namespace fovea::serving
