// Which accesses of a trace a prefetcher gets to see: those of some kinds that a cache in front of
// it does not answer. The cache holds the lines that were used last, whatever their place (fully
// associative, least recently used goes first): 0 lines: all accesses; 1: a line that is used
// several times in a row counts once; 512: behind a first-level cache of 32 KiB.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>

#include "fovea/data/traces/reader.h"

namespace fovea {

constexpr int kLineBits = 6;        // 64 bytes
constexpr int64_t kPageLines = 64;  // 4 KiB
constexpr int64_t kMostLines = int64_t{1} << (64 - kLineBits);

inline int64_t to_line(uint64_t address) {
  return int64_t(address >> kLineBits);
}
inline uint64_t to_address(int64_t line) {
  return uint64_t(line) << kLineBits;
}
inline int64_t to_page(int64_t line) {
  return line / kPageLines;
}
inline int64_t to_offset(int64_t line) {
  return line % kPageLines;
}

struct FilterOptions {
  std::string kinds = "all";
  int64_t cache_lines = 1;
};

class TraceFilter {
 public:
  explicit TraceFilter(FilterOptions options) : options_(std::move(options)) {}
  TraceFilter(TraceFilter&&) = default;  // a copy's places would be the original's

  /// Whether a prefetcher sees the access; takes note of it.
  bool sees(const TraceAccess& access) {
    const bool of_kind = options_.kinds == "all" ||
                         (options_.kinds == "loads" ? access.kind != 'S' : access.kind != 'L');
    return of_kind && !is_cached(to_line(access.address));
  }

 private:
  bool is_cached(int64_t line) {
    if (options_.cache_lines == 0) return false;
    if (const auto found = places_.find(line); found != places_.end()) {
      used_.splice(used_.begin(), used_, found->second);
      return true;
    }
    used_.push_front(line);
    places_[line] = used_.begin();
    if (int64_t(used_.size()) > options_.cache_lines) {
      places_.erase(used_.back());
      used_.pop_back();
    }
    return false;
  }

  FilterOptions options_;
  std::list<int64_t> used_;  // the last one first
  std::unordered_map<int64_t, std::list<int64_t>::iterator> places_;
};

}  // namespace fovea
