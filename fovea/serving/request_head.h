// The head of a request: its first line and its headers, read strictly.
#pragma once

#include <optional>

#include "fovea/serving/connection.h"
#include "fovea/serving/http_message.h"

namespace fovea::serving {

/// A request whose body is still to be read; nothing when the connection ends before the first
/// byte. HttpError 400 when the head is malformed, ends early or does not have one Host, 408 when
/// it is too slow, 414 when the address is too long, 431 when the head is longer than `limit`
/// bytes.
std::optional<HttpRequest> read_head(Connection& connection, size_t limit);

}  // namespace fovea::serving
