#include "fovea/serving/request_reader.h"

#include <algorithm>
#include <charconv>

#include "fovea/base/data_url.h"

namespace fovea::serving {

namespace {

constexpr size_t kLongestAddress = 8192;
constexpr std::string_view kMethods[] = {"GET",     "HEAD",    "POST",  "PUT",  "DELETE",
                                         "CONNECT", "OPTIONS", "TRACE", "PATCH"};
constexpr size_t kLongestChunkLine = 256;  // of a chunk's size and its extensions
constexpr size_t kMostTrailers = 16;

/// Throws a 400.
[[noreturn]] void refuse_request(const std::string& message) {
  throw HttpError(400, "bad_request", message);
}

/// The next line, without its CR LF and with no control character but tabs; its bytes are taken off
/// `budget`. Nothing when the connection has ended. HttpError 400 when it is malformed or ends
/// early, 408 when it is too slow, `too_long` when the budget is used up.
std::optional<std::string> read_line(Connection& connection, size_t& budget,
                                     const HttpError& too_long) {
  std::string line;
  for (char character = 0;; line += character) {
    if (budget == 0) throw too_long;
    if (connection.read(&character, 1) == 0) {
      if (line.empty()) return std::nullopt;
      refuse_request("the request ends within a line");
    }
    --budget;
    const bool after_return = line.ends_with('\r');
    if (after_return && character == '\n') break;
    if (after_return) refuse_request("a line has a control character: a carriage return alone");
    if (character == '\n')
      refuse_request("a line has a control character: a line feed alone, not CR LF");
    const auto code = static_cast<unsigned char>(character);
    if ((code < 0x20 && character != '\t' && character != '\r') || code == 0x7f)
      refuse_request("a line has a control character");
  }
  line.pop_back();
  return line;
}

HttpRequest parse_request_line(std::string_view line) {
  if (line.empty()) refuse_request("the request begins with an empty line");
  const size_t first = line.find(' '), last = line.rfind(' ');
  const std::string_view method = line.substr(0, first);
  const std::string_view version = line.substr(last + 1);
  const std::string_view address =
      first < last ? line.substr(first + 1, last - first - 1) : std::string_view();
  if (address.size() > kLongestAddress)
    throw HttpError(414, "too_large", "the address is too long");
  if (std::find(std::begin(kMethods), std::end(kMethods), method) == std::end(kMethods) ||
      address.empty() || address.find_first_of(" \t") != std::string_view::npos ||
      (version != "HTTP/1.1" && version != "HTTP/1.0"))
    refuse_request("this is not an HTTP/1.1 request");
  HttpRequest request;
  request.method = method;
  request.path = percent_decode(address.substr(0, address.find_first_of("?#")));
  request.is_http_10 = version == "HTTP/1.0";
  return request;
}

/// RFC 9110: what a header's name is made of.
bool is_token_character(char character) {
  const auto c = static_cast<unsigned char>(character);
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         std::string_view("!#$%&'*+-.^_`|~").find(character) != std::string_view::npos;
}

std::pair<std::string, std::string> parse_header(std::string_view line) {
  if (line.front() == ' ' || line.front() == '\t')
    refuse_request("a header is folded over several lines");
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) refuse_request("a header has no colon");
  const std::string_view name = line.substr(0, colon);
  if (name.empty() || !std::all_of(name.begin(), name.end(), is_token_character))
    refuse_request("a header's name is empty or has a character that no name has, such as a space");
  return {lower_case(name), std::string(trim(line.substr(colon + 1)))};
}

/// RFC 9112: a request has one Host; only HTTP/1.0 may leave it out.
void check_host_count(const HttpRequest& request) {
  const auto hosts = std::count_if(request.headers.begin(), request.headers.end(),
                                   [](const auto& header) { return header.first == "host"; });
  if (hosts > 1) refuse_request("there are two Host headers");
  if (hosts == 0 && !request.is_http_10) refuse_request("the request has no Host header");
}

}  // namespace

std::optional<HttpRequest> read_head(Connection& connection, size_t limit) {
  static const HttpError too_long(431, "too_large",
                                  "the request line and the headers are too long");
  std::optional<std::string> line = read_line(connection, limit, too_long);
  if (!line) return std::nullopt;
  HttpRequest request = parse_request_line(*line);
  request.remote = connection.remote();
  while ((line = read_line(connection, limit, too_long)) && !line->empty())
    request.headers.push_back(parse_header(*line));
  if (!line) refuse_request("the request ends within its head");
  check_host_count(request);
  return request;
}

namespace {

/// The whole of `text` as a number.
bool parse_size(std::string_view text, int base, uint64_t& size) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), size, base);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

[[noreturn]] void too_large(size_t limit) {
  throw HttpError(413, "too_large",
                  concat("the body is larger than the ", limit, " bytes that this server takes"));
}

/// Appends exactly `size` bytes.
void append_bytes(Connection& connection, std::string& body, uint64_t size) {
  char buffer[8192];
  while (size > 0) {
    const size_t count = connection.read(buffer, std::min<uint64_t>(size, sizeof buffer));
    if (count == 0)
      refuse_request(concat("the body ends after ", body.size(), " bytes, ", size, " are missing"));
    body.append(buffer, count);
    size -= count;
  }
}

std::string read_chunk_line(Connection& connection) {
  static const HttpError too_long(400, "bad_request", "a chunk's size is not a number");
  size_t budget = kLongestChunkLine;
  std::optional<std::string> line = read_line(connection, budget, too_long);
  if (!line) refuse_request("the body ends between its chunks");
  return std::move(*line);
}

std::string read_chunks(Connection& connection, size_t limit) {
  std::string body;
  size_t overhead = 0;  // of the lines between the chunks
  for (;;) {
    const std::string line = read_chunk_line(connection);
    uint64_t size = 0;
    if (!parse_size(std::string_view(line).substr(0, line.find_first_of("; \t")), 16, size))
      refuse_request("a chunk's size is not a number");
    if (size == 0) break;
    overhead += line.size();
    if (size > limit - body.size() || overhead > limit + 65536) too_large(limit);
    append_bytes(connection, body, size);
    if (!read_chunk_line(connection).empty()) refuse_request("a chunk is longer than it says");
  }
  for (size_t trailers = 0; !read_chunk_line(connection).empty();)
    if (++trailers > kMostTrailers) refuse_request("the body has too many trailers");
  return body;
}

}  // namespace

BodyFraming framing_of(const HeaderList& headers) {
  BodyFraming framing;
  for (const auto& [name, value] : headers) {
    if (name == "transfer-encoding") {
      if (lower_case(value) != "chunked" || framing.chunked)
        refuse_request("the only transfer encoding that this server knows is chunked");
      framing.chunked = true;
    } else if (name == "content-length") {
      uint64_t length = 0;
      if (!parse_size(value, 10, length)) refuse_request("Content-Length is not a number");
      if (framing.has_length && framing.length != length)
        refuse_request("there are two different Content-Lengths");
      framing.has_length = true;
      framing.length = length;
    } else if (name == "expect") {
      framing.expects_continue = lower_case(value) == "100-continue";
    }
  }
  if (framing.chunked && framing.has_length)
    refuse_request("a body has either a Content-Length or chunks, not both");
  return framing;
}

std::string read_body(Connection& connection, const BodyFraming& framing, size_t limit) {
  if (!framing.chunked && !framing.has_length)
    throw HttpError(411, "length_required", "the request has no Content-Length");
  if (framing.length > limit) too_large(limit);
  if (framing.expects_continue && !connection.has_unread()) connection.send(kContinue);
  if (framing.chunked) return read_chunks(connection, limit);
  std::string body;
  append_bytes(connection, body, framing.length);
  return body;
}

}  // namespace fovea::serving
