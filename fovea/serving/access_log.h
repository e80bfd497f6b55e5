// One JSON object a line for each request, which has a name there and in its answer. A log that
// cannot be written must not stop the server: what is lost is counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace fovea::serving {

struct AccessRecord {
  std::string id, method, path, remote, model, error;  // model and error may be empty
  int status = 0;
  size_t bytes = 0;  // of the answer's body
  double milliseconds = 0;
  int64_t batch = 0;  // 0: not a prediction
};

class AccessLog {
 public:
  /// A file that is appended to, "-" for standard error, "none" for no log. Io when it cannot be
  /// opened.
  explicit AccessLog(const std::string& where);
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  /// May be called from any thread; a line is written in one piece.
  void write(const AccessRecord& record);
  int64_t lost() const { return lost_; }

 private:
  int descriptor_ = -1;
  bool owned_ = false;
  std::atomic<int64_t> lost_{0};
};

/// A name for a request, which a client or a proxy may bring: `given` when it is 1 to 64 letters,
/// digits, dots, dashes or underscores; else a new one.
std::string request_id(std::string_view given);

/// Now, in UTC: "2026-03-01T12:00:00.123Z".
std::string time_stamp();

}  // namespace fovea::serving
