#include "fovea/serving/http_protocol.h"

#include "fovea/base/error.h"

#ifdef FOVEA_WITH_HTTPLIB

#include <httplib.h>

#include "fovea/serving/body_reader.h"
#include "fovea/serving/request_head.h"

namespace fovea::serving {

namespace {

constexpr size_t kSmallestToCompress = 1024;

/// A connection as the library wants it. It gets the first line alone to read: headers are ours,
/// since it decodes escapes in their values and forgives malformed lines.
class SocketStream : public httplib::Stream {
 public:
  SocketStream(Connection& connection, const std::string& first_line)
      : connection_(connection), head_(first_line + "\r\n\r\n") {}
  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  ssize_t read(char* bytes, size_t size) override {
    const size_t count = head_.copy(bytes, size, taken_);
    taken_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* bytes, size_t size) override {
    connection_.write(bytes, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string& ip, int&) const override { ip = connection_.remote(); }
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return -1; }  // the library's own limit on them is not ours

 private:
  Connection& connection_;
  std::string head_;
  size_t taken_ = 0;
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

HttpError error_of_line(int status) {
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
          refuse(error_of_line(response.status), response);
          return HandlerResponse::Handled;
        }));
    set_post_routing_handler(
        [](const httplib::Request&, httplib::Response& response) { finish_headers(response); });
  }

  Next serve(Connection& connection, const std::function<bool()>& is_last) {
    Exchange exchange{connection, is_last};
    connection.begin(
        Connection::Clock::now() + std::chrono::duration_cast<Connection::Clock::duration>(
                                       std::chrono::duration<double>(options_.read_seconds)),
        options_.head_limit);
    try {
      std::optional<RequestHead> head = read_head(connection);
      if (!head) return Next::Close;
      exchange.headers = std::move(head->headers);
      SocketStream stream(connection, head->line);
      bool closed = false;
      current = &exchange;
      process_request(stream, false, closed, begin);
      current = nullptr;
    } catch (const HttpError& error) {  // about the head: the library never saw the request
      const std::string text = format_last_response(handler_.refuse(error, connection.remote()));
      connection.write(text.data(), text.size());
    }
    if (!connection.flush()) return Next::Close;
    if (exchange.is_out_of_step()) return Next::Linger;
    return exchange.close ? Next::Close : Next::KeepAlive;
  }

 private:
  /// The head is read and its first line understood.
  static void begin(const httplib::Request& request) {
    Exchange& exchange = *current;
    exchange.has_head = true;
    exchange.old_version = request.version == "HTTP/1.0";
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
    HttpRequest request{given.method, given.path, exchange.connection.remote(), exchange.headers};
    request.read_body = [&exchange, this] {
      exchange.body_wanted = true;
      std::string body = read_body(exchange.connection, exchange.framing, options_.body_limit);
      exchange.body_taken = true;
      return body;
    };
    request.is_gone = [&exchange] { return exchange.connection.is_gone(!exchange.old_version); };
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
