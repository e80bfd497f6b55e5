// A request as RFC 9112 writes it and in no other way: its first line and its headers, then its
// body, by its length or in chunks, never more than the limits. What a proxy in front might read
// differently, or believe another length of, is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fovea/serving/connection.h"
#include "fovea/serving/http_message.h"

namespace fovea::serving {

/// A request whose body is still to be read; nothing when the connection ends before the first
/// byte. HttpError 400 when the head is malformed, ends early or does not have one Host, 408 when
/// it is too slow, 414 when the address is too long, 431 when the head is longer than `limit`
/// bytes.
std::optional<HttpRequest> read_head(Connection& connection, size_t limit);

/// How a request says that its body is cut out of the stream.
struct BodyFraming {
  bool chunked = false;
  bool has_length = false;
  uint64_t length = 0;
  bool expects_continue = false;  // the client waits for a word before it sends
  bool empty() const { return !chunked && length == 0; }
};

/// HttpError 400 when the headers contradict themselves or say something unknown.
BodyFraming framing_of(const HeaderList& headers);

/// HttpError 400 when the body ends early or a chunk is malformed, 408 when it is too slow, 411
/// when it has no length, 413 when it is larger than the limit.
std::string read_body(Connection& connection, const BodyFraming& framing, size_t limit);

}  // namespace fovea::serving
