// The head of a request: its first line and its headers, as RFC 9112 writes them and in no other
// way. What a proxy in front might read differently is refused: a bare line feed, a folded line, a
// space before a colon, a control character.
#pragma once

#include <optional>
#include <string>

#include "fovea/serving/connection.h"
#include "fovea/serving/http_message.h"

namespace fovea::serving {

struct RequestHead {
  std::string line;    // "GET / HTTP/1.1"
  HeaderList headers;  // names in lower case, values as they came, without spaces around them
};

/// Nothing when the connection ends before the first byte. HttpError 400 when it is malformed or
/// ends early, 408 when it is too slow, 431 when it is longer than the connection's limit.
std::optional<RequestHead> read_head(Connection& connection);

}  // namespace fovea::serving
