// HTTP/1.1 on a connection: cpp-httplib reads the first lines of requests and writes the answers;
// request_head.h reads the headers. The library's accept loop, thread pool and time-outs are not
// used: they have no bounds. This is the only file that knows it; without it (FOVEA_WITH_HTTPLIB)
// there is no server.
#pragma once

#include <memory>

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

class HttpProtocol {
 public:
  /// Unsupported when this build has no cpp-httplib.
  HttpProtocol(const ProtocolOptions& options, HttpHandler& handler);
  ~HttpProtocol();

  enum class Next { KeepAlive, Close, Linger };  // linger: the client may still be sending
  /// Answers the next request of the connection; `is_last` is asked when the answer is ready.
  Next serve(Connection& connection, const std::function<bool()>& is_last);

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace fovea::serving
