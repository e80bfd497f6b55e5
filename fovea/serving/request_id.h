// A name for each request, in the answer and in the access log. A client or a proxy may bring its
// own.
#pragma once

#include <string>
#include <string_view>

namespace fovea::serving {

/// `given` when it is 1 to 64 letters, digits, dots, dashes or underscores; else a new one.
std::string request_id(std::string_view given);

}  // namespace fovea::serving
