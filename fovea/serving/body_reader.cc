#include "fovea/serving/body_reader.h"

#include <algorithm>
#include <charconv>

#include "fovea/serving/line_reader.h"

namespace fovea::serving {

namespace {

constexpr size_t kLongestLine = 256;  // of a chunk's size and its extensions
constexpr size_t kMostTrailers = 16;

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
void append(Connection& connection, std::string& body, uint64_t size) {
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
  size_t budget = kLongestLine;
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
    append(connection, body, size);
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
  append(connection, body, framing.length);
  return body;
}

}  // namespace fovea::serving
