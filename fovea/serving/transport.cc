#include "fovea/serving/transport.h"

#include <poll.h>

#include <cerrno>
#include <utility>

namespace fovea::serving {

namespace {

using Clock = Connection::Clock;
using std::chrono::milliseconds;

// How long a connection without a request stays open when the server drains: a request that was
// sent before its client could know still arrives.
constexpr milliseconds kGrace{500};
constexpr milliseconds kLinger{5000};
constexpr size_t kMostLingering = 256;
constexpr milliseconds kIdle{1000};         // between two requests: then it may make room
constexpr milliseconds kUntilItEnds{1000};  // for a connection that was shut down

Clock::time_point in_seconds(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

Transport::Transport(const TransportOptions& options, HttpHandler& handler)
    : options_(options),
      handler_(handler),
      protocol_(options.protocol, handler),
      listening_(listen_on(options.host, options.port)),
      port_(port_of(listening_.get())),
      idle_(kIdle),
      lingering_(kMostLingering, kLinger),
      pool_(static_cast<size_t>(options.connections)),
      acceptor_([this] { accept_all(); }) {}

Transport::~Transport() {
  drain(milliseconds(1000));
}

std::string Transport::address() const {
  const bool v6 = options_.host.find(':') != std::string::npos;
  return concat("http://", v6 ? "[" : "", options_.host, v6 ? "]" : "", ":", port_);
}

bool Transport::drain(milliseconds limit) {
  const auto until = Clock::now() + limit;
  draining_ = true;
  drain_begins_.signal();
  if (acceptor_.joinable()) acceptor_.join();
  return pool_.wait_until_idle(until);
}

void Transport::accept_all() {
  while (!draining_) {
    pollfd watched[] = {{listening_.get(), POLLIN, 0}, {drain_begins_.descriptor(), POLLIN, 0}};
    ::poll(watched, 2, -1);
    accept_waiting();
  }
  accept_waiting();  // those that had come before the end
  listening_.close();
}

void Transport::accept_waiting() {
  for (;;) {
    std::string remote;
    const int socket = accept_from(listening_.get(), remote);
    if (socket < 0) {
      const bool out_of_descriptors = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
      if (out_of_descriptors) std::this_thread::sleep_for(milliseconds(10));
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return;
    }
    while (pool_.busy() >= static_cast<size_t>(options_.connections) && make_room()) {
    }
    // It waits from now on, not only once its thread has begun: the next one may need its place.
    auto job = [this, socket, remote,
                waiting = std::make_shared<IdleConnections::Waiting>(idle_, socket,
                                                                     /*silent=*/true)]() mutable {
      serve(socket, remote, std::move(waiting));
    };
    if (pool_.try_run(std::move(job))) continue;
    ++refused_;
    HttpResponse response = handler_.refuse(
        {503, "too_many_connections", "the server has as many connections as it takes"}, remote);
    response.headers.emplace_back("Retry-After", "1");
    lingering_.add(socket, format_last_response(response));
  }
}

/// False when every connection has something to do.
bool Transport::make_room() {
  if (!idle_.close_one()) return false;
  ++displaced_;
  return pool_.wait_for_room(Clock::now() + kUntilItEnds);
}

bool Transport::wait_for_request(Connection& connection, WaitingPtr waiting) {
  if (!draining_) {
    if (!waiting)
      waiting = std::make_shared<IdleConnections::Waiting>(idle_, connection.descriptor(), false);
    const auto event = connection.wait(in_seconds(options_.protocol.keep_alive_seconds),
                                       drain_begins_.descriptor());
    if (event != Connection::Event::Woken) return event == Connection::Event::Readable;
  }
  return connection.wait(Clock::now() + kGrace, -1) == Connection::Event::Readable;
}

void Transport::serve(int socket, const std::string& remote, WaitingPtr waiting) {
  Connection connection(socket, remote);
  int64_t answered = 0;
  const auto is_last = [&] {
    return draining_ || ++answered >= options_.protocol.keep_alive_requests;
  };
  while (wait_for_request(connection, std::exchange(waiting, nullptr))) {
    const HttpProtocol::Next next = protocol_.serve(connection, is_last);
    if (next == HttpProtocol::Next::Linger) lingering_.add(connection.release());
    if (next != HttpProtocol::Next::KeepAlive) return;
  }
}

}  // namespace fovea::serving
