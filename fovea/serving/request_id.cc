#include "fovea/serving/request_id.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <random>

namespace fovea::serving {

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

}  // namespace fovea::serving
