// The body of a request, by its length or in chunks, never more than the limit. What says two
// different things about its length is refused: a proxy in front might believe the other one.
#pragma once

#include <cstdint>
#include <string>

#include "fovea/serving/connection.h"
#include "fovea/serving/http_message.h"

namespace fovea::serving {

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
