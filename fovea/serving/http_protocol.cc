#include "fovea/serving/http_protocol.h"

#include <cstdio>
#include <limits>

#include "fovea/serving/request_reader.h"

#if FOVEA_WITH_ZLIB
#include <zlib.h>
#endif

namespace fovea::serving {

namespace {

constexpr size_t kSmallestToCompress = 1024;

bool wants_close(const HttpRequest& request) {
  const std::string_view wish = request.header("connection");
  return accepts(wish, "close") || (request.is_http_10 && !accepts(wish, "keep-alive"));
}

/// In the gzip format; false, and the text stays as it is, in builds without zlib.
bool gzip([[maybe_unused]] std::string& text) {
#if FOVEA_WITH_ZLIB
  constexpr int kGzip = MAX_WBITS + 16;  // its header instead of zlib's
  constexpr int kMemory = 8;             // zlib's default
  z_stream stream{};
  if (text.size() > std::numeric_limits<uInt>::max() / 2 ||
      deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, kMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    return false;
  std::string packed(deflateBound(&stream, uLong(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = uInt(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = uInt(packed.size());
  const bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (done) text = std::move(packed);
  return done;
#else
  return false;
#endif
}

void compress_for(const HttpRequest& request, HttpResponse& response) {
  if (!response.compress) return;
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (response.body.size() >= kSmallestToCompress &&
      accepts(request.header("accept-encoding"), "gzip") && gzip(response.body))
    response.headers.emplace_back("Content-Encoding", "gzip");
}

std::string connection_lines(bool close, const HttpRequest& request,
                             const ProtocolOptions& options) {
  if (close) return std::string(kClose);
  const auto seconds = static_cast<int64_t>(options.keep_alive_seconds);
  return (request.is_http_10 ? "Connection: keep-alive\r\n" : "") +
         ("Keep-Alive: timeout=" + std::to_string(seconds)) +
         ", max=" + std::to_string(options.keep_alive_requests) + "\r\n";
}

}  // namespace

Next serve_request(Connection& connection, const ProtocolOptions& options, HttpHandler& handler,
                   const std::function<bool()>& is_last) {
  connection.begin(seconds_from_now(options.read_seconds));
  bool in_step = false;  // whether the next request begins at a known place
  bool close = true;
  std::string answer;
  try {
    std::optional<HttpRequest> request = read_head(connection, options.head_limit);
    if (!request) return Next::Close;
    const BodyFraming framing = framing_of(request->headers);
    in_step = framing.empty();
    request->read_body = [&] {
      in_step = false;
      std::string body = read_body(connection, framing, options.body_limit);
      in_step = true;
      return body;
    };
    request->is_gone = [&] { return connection.is_gone(!request->is_http_10); };
    request->begin_stream = [&](const HttpResponse& head) {
      // HTTP/1.0 knows no chunks: there the end of the connection is the end of the answer.
      close = is_last() || !in_step || wants_close(*request) || request->is_http_10;
      std::string lines = connection_lines(close, *request, options);
      if (!request->is_http_10) lines += "Transfer-Encoding: chunked\r\n";
      return connection.send(format_head(head, lines));
    };
    request->send_piece = [&](std::string_view bytes) {
      if (request->is_http_10 || bytes.empty()) return connection.send(bytes);
      char size[32];
      std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
      return connection.send(std::string(size).append(bytes).append("\r\n"));
    };
    HttpResponse response = handler.handle(*request);
    if (response.is_streamed) {
      const bool is_whole = request->is_http_10 || connection.send("0\r\n\r\n");
      return !is_whole || close ? Next::Close : Next::KeepAlive;
    }
    compress_for(*request, response);
    close = is_last() || !in_step || wants_close(*request);
    answer = format_response(response, connection_lines(close, *request, options),
                             request->method != "HEAD");
  } catch (const HttpError& error) {
    answer = format_response(handler.refuse(error, connection.remote()), kClose);
  }
  if (!connection.send(answer)) return Next::Close;
  if (!in_step) return Next::Linger;
  return close ? Next::Close : Next::KeepAlive;
}

}  // namespace fovea::serving
