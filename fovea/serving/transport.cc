#include "fovea/serving/transport.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace fovea::serving {

namespace {

using std::chrono::milliseconds;

// How long a connection without a request stays open when the server drains: a request that was
// sent before its client could know still arrives.
constexpr milliseconds kGrace{500};
constexpr milliseconds kHandshake{50};  // for connections that have begun when the server drains
constexpr milliseconds kLinger{5000};
constexpr ptrdiff_t kMostLingering = 256;
constexpr milliseconds kIdle{1000};  // between two requests: then it may make room

}  // namespace

struct Transport::Client {
  enum class State { Silent, Idle, Lingering };  // silent: it has sent nothing so far
  Connection connection;
  Clock::time_point until;  // then it is closed, unless it has a request
  State state = State::Silent;
  int64_t answered = 0;
};

Transport::Transport(const TransportOptions& options, HttpHandler& handler)
    : options_(options),
      handler_(handler),
      listening_(listen_on(options.host, options.port)),
      port_(port_of(listening_.get())),
      watcher_([this] { watch(); }) {}

Transport::~Transport() {
  drain(milliseconds(1000));
  ending_ = true;
  wake_.signal();
  watcher_.join();
}

std::string Transport::address() const {
  const bool v6 = options_.host.find(':') != std::string::npos;
  return concat("http://", v6 ? "[" : "", options_.host, v6 ? "]" : "", ":", port_);
}

bool Transport::drain(milliseconds limit) {
  const auto until = Clock::now() + limit;
  if (!draining_) grace_end_ = Clock::now() + kGrace;
  draining_ = true;
  drain_begins_.signal();
  wake_.signal();
  std::unique_lock lock(mutex_);
  return closed_.wait_until(lock, until, [this] { return !accepting_ && open_ == 0; });
}

void Transport::add_open(int64_t change) {
  const std::lock_guard lock(mutex_);
  open_ += change;
  closed_.notify_all();
}

void Transport::watch() {
  while (!ending_) {
    std::vector<pollfd> polled{{wake_.descriptor(), POLLIN, 0}, {listening_.get(), POLLIN, 0}};
    auto next_end = last_accept_;
    for (const ClientPtr& client : watched_) {
      polled.push_back({client->connection.descriptor(), POLLIN, 0});
      next_end = std::min(next_end, end_of(*client));
    }
    ::poll(polled.data(), polled.size(), milliseconds_until(next_end));
    wake_.clear();
    const std::vector<ClientPtr> clients = std::exchange(watched_, {});
    for (size_t i = 0; i < clients.size(); ++i) attend(clients[i], polled[i + 2].revents != 0);
    take_back();
    accept_waiting();
  }
}

Clock::time_point Transport::end_of(const Client& client) const {
  const bool grace = draining_ && client.state != Client::State::Lingering;
  return grace ? std::min(client.until, grace_end_) : client.until;
}

void Transport::attend(const ClientPtr& client, bool has_news) {
  const bool lingers = client->state == Client::State::Lingering;
  if (has_news && !lingers) {
    if (pool_.try_run([this, client] { serve(client); })) return;
    add_open(-1);
    return refuse(client);
  }
  const bool ended = has_news && !client->connection.discard();
  if (!ended && Clock::now() < end_of(*client))
    watched_.push_back(client);
  else if (!lingers)
    add_open(-1);
}

void Transport::take_back() {
  std::vector<ClientPtr> clients;
  {
    const std::lock_guard lock(mutex_);
    clients.swap(given_back_);
  }
  for (const ClientPtr& client : clients)
    if (client->state == Client::State::Lingering)
      linger(client);
    else
      watched_.push_back(client);
}

void Transport::accept_waiting() {
  if (listening_.get() < 0) return;
  if (draining_ && last_accept_ == Clock::time_point::max()) {
    ignore_new_connections(listening_.get());
    last_accept_ = Clock::now() + kHandshake;
  }
  const bool last = Clock::now() >= last_accept_;
  std::string remote;
  for (int socket = 0; (socket = accept_from(listening_.get(), remote)) >= 0;) {
    const ClientPtr client(
        new Client{{socket, remote}, seconds_from_now(options_.protocol.keep_alive_seconds)});
    if (open_ >= options_.connections && !make_room()) {
      refuse(client);
      continue;
    }
    add_open(1);
    watched_.push_back(client);
  }
  const bool out_of_descriptors = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
  if (out_of_descriptors) std::this_thread::sleep_for(milliseconds(10));
  if (!last) return;
  listening_.close();
  last_accept_ = Clock::time_point::max();
  const std::lock_guard lock(mutex_);
  accepting_ = false;
  closed_.notify_all();
}

/// Closes the connection that can best be missed; false when every one has something to do.
bool Transport::make_room() {
  for (const Client::State state : {Client::State::Silent, Client::State::Idle}) {
    const auto found = std::find_if(watched_.begin(), watched_.end(), [&](const ClientPtr& client) {
      return client->state == state &&
             client->connection.wait(Clock::now()) == Connection::Event::TimedOut;
    });
    if (found == watched_.end()) continue;
    watched_.erase(found);
    add_open(-1);
    ++displaced_;
    return true;
  }
  return false;
}

void Transport::refuse(const ClientPtr& client) {
  ++refused_;
  const HttpResponse response = handler_.refuse(
      {503, "too_many_connections", "the server has as many connections as it takes"},
      client->connection.remote());
  client->connection.set_write_seconds(0);
  client->connection.send(format_response(response, kClose));
  linger(client);
}

/// To close at once would reset the connection while its client is still sending, and the client
/// might lose the answer: what still comes is thrown away, until the client closes too.
void Transport::linger(const ClientPtr& client) {
  client->state = Client::State::Lingering;
  client->until = Clock::now() + kLinger;
  client->connection.end_sending();
  const auto lingering = std::count_if(
      watched_.begin(), watched_.end(),
      [](const ClientPtr& other) { return other->state == Client::State::Lingering; });
  if (lingering < kMostLingering) watched_.push_back(client);
}

void Transport::serve(const ClientPtr& client) {
  const ProtocolOptions& protocol = options_.protocol;
  const auto is_last = [&] {
    return draining_ || ++client->answered >= protocol.keep_alive_requests;
  };
  for (;;) {
    const Next next = serve_request(client->connection, protocol, handler_, is_last);
    client->state = next == Next::Linger ? Client::State::Lingering : Client::State::Idle;
    if (next != Next::KeepAlive) add_open(-1);
    if (next == Next::Close) return;
    if (next == Next::Linger) break;
    client->until = seconds_from_now(protocol.keep_alive_seconds);
    const auto until = std::min(client->until, Clock::now() + kIdle);
    const auto event = client->connection.wait(until, drain_begins_.descriptor());
    if (event != Connection::Event::Readable) break;
  }
  {
    const std::lock_guard lock(mutex_);
    given_back_.push_back(client);
  }
  wake_.signal();
}

}  // namespace fovea::serving
