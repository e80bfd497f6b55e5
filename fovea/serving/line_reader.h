// A line as RFC 9112 writes it and in no other way: it ends in CR LF and has no control character
// but tabs. What a proxy in front might read differently is refused.
#pragma once

#include <optional>
#include <string>

#include "fovea/serving/connection.h"
#include "fovea/serving/http_error.h"

namespace fovea::serving {

/// The next line without its end, whose bytes are taken off `budget`; nothing when the connection
/// has ended. HttpError 400 when it is malformed or ends early, 408 when it is too slow, `too_long`
/// when the budget is used up.
std::optional<std::string> read_line(Connection& connection, size_t& budget,
                                     const HttpError& too_long);

/// Throws a 400.
[[noreturn]] void refuse_request(const std::string& message);

}  // namespace fovea::serving
