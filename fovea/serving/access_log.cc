#include "fovea/serving/access_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <random>

#include "fovea/base/error.h"
#include "fovea/serving/http_message.h"

namespace fovea::serving {

AccessLog::AccessLog(const std::string& where) {
  if (where == "none") return;
  if (where == "-") {
    descriptor_ = STDERR_FILENO;
    return;
  }
  descriptor_ = ::open(where.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  require(descriptor_ >= 0, ErrorKind::Io, "--log ", where,
          ": cannot be opened: ", std::strerror(errno));
  owned_ = true;
}

AccessLog::~AccessLog() {
  if (owned_) ::close(descriptor_);
}

void AccessLog::write(const AccessRecord& record) {
  if (descriptor_ < 0) return;
  Json line{
      {"time", time_stamp()},    {"id", record.id},
      {"remote", record.remote}, {"method", record.method},
      {"path", record.path},     {"status", record.status},
      {"bytes", record.bytes},   {"milliseconds", std::round(record.milliseconds * 1000) / 1000}};
  if (!record.model.empty()) line["model"] = record.model;
  if (record.batch > 0) line["batch"] = record.batch;
  if (!record.error.empty()) line["error"] = record.error;
  const std::string text = text_of(line) + "\n";
  const ssize_t written = ::write(descriptor_, text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size())) ++lost_;
}

std::string request_id(std::string_view given) {
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '-' || c == '_';
  };
  if (!given.empty() && given.size() <= 64 && std::all_of(given.begin(), given.end(), plain))
    return std::string(given);
  static const uint32_t process = std::random_device{}();
  static std::atomic<uint64_t> counter{0};
  char text[32];
  std::snprintf(text, sizeof text, "%08x-%llu", process,
                static_cast<unsigned long long>(++counter));
  return text;
}

std::string time_stamp() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const auto seconds = static_cast<std::time_t>(milliseconds / 1000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32], stamp[48];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(stamp, sizeof stamp, "%s.%03dZ", text, static_cast<int>(milliseconds % 1000));
  return stamp;
}

}  // namespace fovea::serving
