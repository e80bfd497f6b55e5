// A request and its answer as the rest of the server sees them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fovea/serving/http_error.h"

namespace fovea::serving {

using HeaderList = std::vector<std::pair<std::string, std::string>>;

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  HeaderList headers;
  bool compress = false;     // worth compressing, where the client understands it
  bool is_streamed = false;  // the answer was sent in pieces already (HttpRequest::begin_stream)
};

struct HttpRequest {
  std::string method, path, remote;  // the path without the query, escapes such as %41 decoded
  bool is_http_10 = false;           // HTTP/1.0; else HTTP/1.1
  HeaderList headers = {};  // names in lower case, values as they came, without spaces around them
  /// To be called at most once, and only when the body is wanted. HttpError 400, 408, 411, 413.
  std::function<std::string()> read_body = {};
  /// Whether the client has closed the connection; to be asked while it waits. May be empty.
  std::function<bool()> is_gone = {};
  /// For answers that come bit by bit: sends the head of the answer, then each piece at once; false
  /// when the client is gone. Nothing else may be sent then.
  std::function<bool(const HttpResponse& head)> begin_stream = {};
  std::function<bool(std::string_view bytes)> send_piece = {};
  /// The first of that name (in lower case), or "".
  std::string_view header(std::string_view name) const;
};

class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  /// Both are called from many threads at once and throw nothing.
  virtual HttpResponse handle(HttpRequest& request) = 0;
  /// The answer to something that is no request.
  virtual HttpResponse refuse(const HttpError& error, const std::string& remote) = 0;
};

/// Whether a header of the form "a, b;q=0.5, c;q=0" accepts `token`.
bool accepts(std::string_view header, std::string_view token);

/// Whether a Content-Type says JSON: application/json, with charset=utf-8 or without.
bool is_json_type(std::string_view content_type);

/// The name in a Host header, without the port, in lower case: "localhost:8080" is localhost,
/// "[::1]:8080" is [::1].
std::string host_name(std::string_view host);

std::string lower_case(std::string_view text);

/// One line of JSON; invalid UTF-8 becomes U+FFFD.
std::string text_of(const Json& value);

/// The bytes before those of an answer that comes in pieces.
std::string format_head(const HttpResponse& response, std::string_view connection);

/// The bytes of an answer. `connection`: the header lines that say what becomes of the connection.
std::string format_response(const HttpResponse& response, std::string_view connection,
                            bool with_body = true);

inline constexpr std::string_view kClose = "Connection: close\r\n";

/// For the header Date: "Sun, 06 Nov 1994 08:49:37 GMT".
std::string http_date();

}  // namespace fovea::serving
