// The HTTP server of docs/formats/http.md: models behind routes, with keys, limits, metrics and a
// log. Everything that a client can do wrong ends in a JSON error; nothing that it sends ends the
// server.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "fovea/serving/access_log.h"
#include "fovea/serving/board.h"
#include "fovea/serving/model_host.h"
#include "fovea/serving/routes.h"
#include "fovea/serving/transport.h"

namespace fovea::serving {

struct ServerOptions {
  TransportOptions transport;
  BatcherOptions batching;
  double timeout_seconds = 30;    // from a request's head to its answer
  int64_t max_length = 4096;      // units of an axis that an input may have
  int64_t max_units = 1 << 18;    // of all inputs of a request together
  int64_t max_weights = 1 << 24;  // of an explanation
  std::string api_key;            // empty: none is asked for
  std::string cors;               // an origin, or *; empty: other sites' pages are not let in
  std::string log = "-";          // file, "-" or "none"
  /// Names by which clients may call the server, besides those of loopback and the host that it
  /// listens on; *: any.
  std::vector<std::string> allowed_hosts = {};
  std::shared_ptr<const Board> board = {};  // trainings to be shown; then the page is theirs
};

class Server : private HttpHandler {
 public:
  /// Listens from now on, and loads the models in the background. Without a board there must be
  /// one.
  Server(const ServerOptions& options, std::vector<ModelSource> sources);

  std::string address() const { return transport_.address(); }
  int port() const { return transport_.port(); }
  const ModelHost& host() const { return host_; }
  int64_t in_flight() const { return in_flight_; }
  int64_t displaced() const { return transport_.displaced(); }

  /// Accepts nothing more and answers what has come; false when that was not done within the time.
  bool drain(std::chrono::milliseconds limit) { return transport_.drain(limit); }

 private:
  HttpResponse handle(HttpRequest& request) override;
  HttpResponse refuse(const HttpError& error, const std::string& remote) override;
  HttpResponse answer(HttpRequest& request, AccessRecord& record);
  HttpResponse act(Action action, HttpRequest& request, AccessRecord& record);
  HttpResponse health() const;
  HttpResponse metrics() const;
  HttpResponse models() const;
  HttpResponse names(HttpRequest& http, AccessRecord& record);
  HttpResponse runs(const HttpRequest& request) const;
  HttpResponse predict(HttpRequest& request, AccessRecord& record);
  HttpResponse explain(HttpRequest& request, AccessRecord& record);
  HttpResponse query_key(HttpRequest& request, AccessRecord& record);
  HttpResponse embeddings(HttpRequest& request, AccessRecord& record);
  HttpResponse generate(HttpRequest& request, AccessRecord& record);
  HttpResponse flip(HttpRequest& request, AccessRecord& record);
  using EventWork = std::function<void(ServedModel&, const Tell&)>;
  /// What `work` tells as server-sent events (text/event-stream).
  HttpResponse tell_events(HttpRequest& http, AccessRecord& record, HostedModel& hosted,
                           const EventWork& work);
  /// What it tells last, as JSON.
  HttpResponse tell_last(const HttpRequest& http, HostedModel& hosted, const EventWork& work);
  void check_host(const HttpRequest& request) const;
  void check_key(const HttpRequest& request) const;
  void add_headers(const HttpRequest& request, HttpResponse& response) const;
  Example parse(const ServedModel& model, const std::string& line, const std::string& field) const;
  Caller caller_of(const HttpRequest& request) const;

  const ServerOptions options_;
  const std::vector<std::string> names_;  // that clients may call it by
  Metrics metrics_;
  AccessLog log_;
  std::atomic<int64_t> in_flight_{0};
  ModelHost host_;
  Transport transport_;  // last: ends first
};

}  // namespace fovea::serving
