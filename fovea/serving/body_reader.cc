#include "fovea/serving/body_reader.h"

#include <algorithm>
#include <charconv>

namespace fovea::serving {

namespace {

constexpr size_t kLongestLine = 256;  // of a chunk's size and its extensions

[[noreturn]] void refuse_body(const std::string& message) {
  throw HttpError(400, "bad_request", message);
}

[[noreturn]] void too_large(size_t limit) {
  throw HttpError(413, "too_large",
                  concat("the body is larger than the ", limit, " bytes that this server takes"));
}

/// Appends exactly `size` bytes.
void append(Connection& connection, std::string& body, uint64_t size) {
  char buffer[8192];
  while (size > 0) {
    const ssize_t count = connection.read(buffer, std::min<uint64_t>(size, sizeof buffer));
    if (count == 0)
      refuse_body(concat("the body ends after ", body.size(), " bytes, ", size, " are missing"));
    if (count < 0 && connection.problem() == Connection::Problem::TimedOut)
      throw HttpError(408, "timeout", "the body did not arrive in time");
    if (count < 0) refuse_body("the body could not be read");
    body.append(buffer, static_cast<size_t>(count));
    size -= static_cast<uint64_t>(count);
  }
}

/// A line without its end.
std::string read_line(Connection& connection) {
  std::string line;
  while (!line.ends_with("\r\n")) {
    if (line.size() > kLongestLine) refuse_body("a chunk's size is not a number");
    append(connection, line, 1);
  }
  line.resize(line.size() - 2);
  const auto is_control = [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == 0x7f; };
  if (std::any_of(line.begin(), line.end(), is_control))
    refuse_body("a line between the chunks has a control character");
  return line;
}

uint64_t chunk_size(const std::string& line) {
  uint64_t size = 0;
  const auto result = std::from_chars(line.data(), line.data() + line.size(), size, 16);
  const bool ends = result.ptr == line.data() + line.size() || *result.ptr == ';' ||
                    *result.ptr == ' ' || *result.ptr == '\t';
  if (result.ec != std::errc() || !ends) refuse_body("a chunk's size is not a number");
  return size;
}

std::string read_chunks(Connection& connection, size_t limit) {
  std::string body;
  while (const uint64_t size = chunk_size(read_line(connection))) {
    if (size > limit - body.size()) too_large(limit);
    append(connection, body, size);
    if (!read_line(connection).empty()) refuse_body("a chunk is longer than it says");
  }
  for (int trailers = 0; !read_line(connection).empty();)
    if (++trailers > 16) refuse_body("the body has too many trailers");
  return body;
}

}  // namespace

BodyFraming framing_of(const HeaderList& headers) {
  BodyFraming framing;
  for (const auto& [name, value] : headers) {
    if (name == "transfer-encoding") {
      if (lower_case(value) != "chunked" || framing.chunked)
        refuse_body("the only transfer encoding that this server knows is chunked");
      framing.chunked = true;
    } else if (name == "content-length") {
      uint64_t length = 0;
      const auto result = std::from_chars(value.data(), value.data() + value.size(), length);
      if (result.ec != std::errc() || result.ptr != value.data() + value.size())
        refuse_body("Content-Length is not a number");
      if (framing.has_length && framing.length != length)
        refuse_body("there are two different Content-Lengths");
      framing.has_length = true;
      framing.length = length;
    } else if (name == "expect") {
      framing.expects_continue = lower_case(value) == "100-continue";
    }
  }
  if (framing.chunked && framing.has_length)
    refuse_body("a body has either a Content-Length or chunks, not both");
  return framing;
}

std::string read_body(Connection& connection, const BodyFraming& framing, size_t limit) {
  if (!framing.chunked && !framing.has_length)
    throw HttpError(411, "length_required", "the request has no Content-Length");
  if (framing.length > limit) too_large(limit);
  if (framing.expects_continue && !connection.has_unread()) {
    const std::string_view word = "HTTP/1.1 100 Continue\r\n\r\n";
    connection.write(word.data(), word.size());  // leaves before the next read waits
  }
  connection.set_limit(2 * limit + 65536);  // chunks have sizes between them
  if (framing.chunked) return read_chunks(connection, limit);
  std::string body;
  append(connection, body, framing.length);
  return body;
}

}  // namespace fovea::serving
