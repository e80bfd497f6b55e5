#include "fovea/serving/http_protocol.h"

#include "fovea/core/error.h"

#ifdef FOVEA_WITH_HTTPLIB

#include <httplib.h>

#include "fovea/serving/body_reader.h"

namespace fovea::serving {

namespace {

constexpr size_t kSmallestToCompress = 1024;

/// A connection as the library wants it.
class SocketStream : public httplib::Stream {
 public:
  explicit SocketStream(Connection& connection) : connection_(connection) {}
  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  ssize_t read(char* bytes, size_t size) override { return connection_.read(bytes, size); }
  ssize_t write(const char* bytes, size_t size) override {
    connection_.write(bytes, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string& ip, int&) const override { ip = connection_.remote(); }
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return -1; }  // the library's own limit on them is not ours

 private:
  Connection& connection_;
};

/// What happens between the head of one request and its answer.
struct Exchange {
  Connection& connection;
  const std::function<bool()>& is_last;
  HeaderList headers = {};
  BodyFraming framing = {};
  std::unique_ptr<HttpError> problem = nullptr;  // with the headers
  bool has_head = false, answered = false, close = false;
  bool body_wanted = false, body_taken = false;
  bool old_version = false;  // HTTP/1.0
  /// Whether the next request may begin at a place that nobody knows.
  bool is_out_of_step() const {
    return !has_head || (!body_taken && (body_wanted || !framing.empty()));
  }
};

thread_local Exchange* current = nullptr;

std::string compressed(const std::string& body) {
  std::string packed;
  httplib::detail::gzip_compressor compressor;
  compressor.compress(body.data(), body.size(), /*last=*/true, [&](const char* bytes, size_t size) {
    packed.append(bytes, size);
    return true;
  });
  return packed;
}

HttpError error_of_head(const Connection& connection, int status) {
  if (connection.problem() == Connection::Problem::TimedOut)
    return {408, "timeout", "the request did not arrive in time"};
  if (connection.problem() == Connection::Problem::TooLarge)
    return {431, "too_large", "the request line and the headers are too long"};
  if (status == 414) return {414, "too_large", "the address is too long"};
  return {400, "bad_request", "this is not an HTTP/1.1 request"};
}

}  // namespace

class HttpProtocol::Core : public httplib::Server {
 public:
  Core(const ProtocolOptions& options, HttpHandler& handler)
      : options_(options), handler_(handler) {
    set_keep_alive_timeout(static_cast<time_t>(options.keep_alive_seconds));
    set_keep_alive_max_count(static_cast<size_t>(options.keep_alive_requests));
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      answer(request, response);
      return HandlerResponse::Handled;
    });
    set_error_handler(
        HandlerWithResponse([this](const httplib::Request&, httplib::Response& response) {
          if (current->answered) return HandlerResponse::Unhandled;
          refuse(error_of_head(current->connection, response.status), response);
          return HandlerResponse::Handled;
        }));
    set_post_routing_handler(
        [](const httplib::Request&, httplib::Response& response) { finish_headers(response); });
  }

  Next serve(Connection& connection, const std::function<bool()>& is_last) {
    Exchange exchange{connection, is_last};
    current = &exchange;
    connection.begin(
        Connection::Clock::now() + std::chrono::duration_cast<Connection::Clock::duration>(
                                       std::chrono::duration<double>(options_.read_seconds)),
        options_.head_limit);
    SocketStream stream(connection);
    bool closed = false;
    process_request(stream, false, closed, [&](httplib::Request& request) { begin(request); });
    if (!exchange.answered && connection.problem() != Connection::Problem::Broken &&
        connection.problem() != Connection::Problem::None && connection.taken() > 0) {
      // Not even its first line was complete: the library says nothing.
      const std::string text = format_last_response(
          handler_.refuse(error_of_head(connection, 400), connection.remote()));
      connection.write(text.data(), text.size());
    }
    current = nullptr;
    const bool sent = connection.flush();
    if (!sent || (connection.taken() == 0 && !exchange.answered)) return Next::Close;
    if (exchange.is_out_of_step()) return Next::Linger;
    return exchange.close ? Next::Close : Next::KeepAlive;
  }

 private:
  /// The head is read; what the library would do with ranges and encodings is ours to decide.
  static void begin(httplib::Request& request) {
    Exchange& exchange = *current;
    exchange.has_head = true;
    exchange.old_version = request.version == "HTTP/1.0";
    for (const auto& [name, value] : request.headers)
      exchange.headers.emplace_back(lower_case(name), value);
    request.ranges.clear();
    request.headers.erase("Accept-Encoding");
    request.headers.erase("Expect");
    request.headers.erase("Connection");
    HttpRequest view;
    view.headers = exchange.headers;
    const std::string_view connection = view.header("connection");
    exchange.close = accepts(connection, "close") ||
                     (exchange.old_version && !accepts(connection, "keep-alive"));
    try {
      exchange.framing = framing_of(exchange.headers);
    } catch (const HttpError& error) {
      exchange.problem = std::make_unique<HttpError>(error);
      exchange.framing.chunked = true;  // nobody knows where the next request begins
    }
  }

  void answer(const httplib::Request& given, httplib::Response& response) {
    Exchange& exchange = *current;
    if (exchange.problem) return refuse(*exchange.problem, response);
    HttpRequest request{given.method, given.path, exchange.connection.remote(), exchange.headers,
                        [&exchange, this] {
                          exchange.body_wanted = true;
                          std::string body =
                              read_body(exchange.connection, exchange.framing, options_.body_limit);
                          exchange.body_taken = true;
                          return body;
                        }};
    write(handler_.handle(request), response);
  }

  void refuse(const HttpError& error, httplib::Response& response) {
    write(handler_.refuse(error, current->connection.remote()), response);
  }

  static void write(HttpResponse answer, httplib::Response& response) {
    Exchange& exchange = *current;
    exchange.answered = true;
    response.status = answer.status;
    HttpRequest view;
    view.headers = std::move(exchange.headers);
    if (answer.compress) {
      response.set_header("Vary", "Accept-Encoding");
      if (answer.body.size() >= kSmallestToCompress &&
          accepts(view.header("accept-encoding"), "gzip")) {
        answer.body = compressed(answer.body);
        response.set_header("Content-Encoding", "gzip");
      }
    }
    for (const auto& [name, value] : answer.headers) response.set_header(name, value);
    if (!answer.body.empty()) response.set_content(answer.body, answer.type);
  }

  /// Called when all other headers are there.
  static void finish_headers(httplib::Response& response) {
    Exchange& exchange = *current;
    exchange.close = exchange.close || exchange.is_out_of_step() || exchange.is_last();
    if (exchange.close) {
      response.headers.erase("Keep-Alive");
      response.headers.erase("Connection");
      response.set_header("Connection", "close");
    } else if (exchange.old_version) {
      response.set_header("Connection", "keep-alive");
    }
    response.headers.erase("Accept-Ranges");
    if (response.status == 204 || response.status == 304) response.headers.erase("Content-Length");
    response.set_header("Date", http_date());
  }

  ProtocolOptions options_;
  HttpHandler& handler_;
};

HttpProtocol::HttpProtocol(const ProtocolOptions& options, HttpHandler& handler)
    : core_(std::make_unique<Core>(options, handler)) {}
HttpProtocol::~HttpProtocol() = default;

HttpProtocol::Next HttpProtocol::serve(Connection& connection,
                                       const std::function<bool()>& is_last) {
  return core_->serve(connection, is_last);
}

}  // namespace fovea::serving

#else

namespace fovea::serving {

class HttpProtocol::Core {};

HttpProtocol::HttpProtocol(const ProtocolOptions&, HttpHandler&) {
  fail(ErrorKind::Unsupported,
       "this build has no HTTP server; install cpp-httplib (libcpp-httplib-dev) and build with "
       "FOVEA_WITH_HTTPLIB=ON");
}
HttpProtocol::~HttpProtocol() = default;

HttpProtocol::Next HttpProtocol::serve(Connection&, const std::function<bool()>&) {
  return Next::Close;
}

}  // namespace fovea::serving

#endif
