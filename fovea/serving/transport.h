// The listening socket and its connections. One thread accepts them and watches those that have no
// request: new ones, idle ones, and those that are refused while their client may still be sending.
// A request gets a thread, which keeps the connection for a while after the answer. When all places
// are taken, an idle connection makes room for a new one, or the new one is refused quickly. To
// drain: accept no more, let every request that has arrived be answered, close.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "fovea/serving/http_protocol.h"
#include "fovea/serving/thread_pool.h"

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
  int64_t connections() const { return open_; }
  int64_t refused() const { return refused_; }
  int64_t displaced() const { return displaced_; }  // idle ones that made room

  /// Stops accepting and waits until every connection has got its answer; false when some have not
  /// within the time.
  bool drain(std::chrono::milliseconds limit);

 private:
  struct Client;
  using ClientPtr = std::shared_ptr<Client>;

  // The thread that watches, which alone touches watched_.
  void watch();
  void attend(const ClientPtr& client, bool has_news);
  void take_back();
  void accept_waiting();
  bool make_room();
  void refuse(const ClientPtr& client);
  void linger(const ClientPtr& client);
  Clock::time_point end_of(const Client& client) const;

  // The thread of a request.
  void serve(const ClientPtr& client);

  void add_open(int64_t change);

  const TransportOptions options_;
  HttpHandler& handler_;
  Descriptor listening_;
  const int port_;
  WakeUp wake_, drain_begins_;  // for the thread that watches; for those of requests
  std::atomic<bool> draining_{false}, ending_{false};
  Clock::time_point grace_end_;                               // once it drains
  Clock::time_point last_accept_ = Clock::time_point::max();  // of the watcher, while it drains
  std::atomic<int64_t> open_{0}, refused_{0}, displaced_{0};
  std::vector<ClientPtr> watched_;  // those that have waited longest first
  std::mutex mutex_;
  std::condition_variable closed_;
  bool accepting_ = true;              // guarded by mutex_
  std::vector<ClientPtr> given_back_;  // guarded by mutex_
  ThreadPool pool_;
  std::thread watcher_;
};

}  // namespace fovea::serving
