// HTTP/1.1 on a connection: one request and its answer.
#pragma once

#include <functional>

#include "fovea/serving/connection.h"
#include "fovea/serving/http_message.h"

namespace fovea::serving {

struct ProtocolOptions {
  size_t body_limit = size_t{1} << 20;
  size_t head_limit = size_t{1} << 15;  // request line and headers together
  double read_seconds = 10;             // for a whole request to arrive
  double keep_alive_seconds = 15;       // told to the client
  int64_t keep_alive_requests = 1000;
};

/// What becomes of the connection; linger: it is closed, but the client may still be sending.
enum class Next { KeepAlive, Close, Linger };

/// Answers the next request of the connection; `is_last` is asked when the answer is ready.
Next serve_request(Connection& connection, const ProtocolOptions& options, HttpHandler& handler,
                   const std::function<bool()>& is_last);

}  // namespace fovea::serving
