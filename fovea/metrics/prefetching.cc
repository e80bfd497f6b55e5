#include "fovea/metrics/prefetching.h"

#include <algorithm>

namespace fovea {

void PrefetchScore::add(std::span<const int64_t> named, int64_t next) {
  std::vector<Named> lines;
  for (const int64_t line : named.first(std::min(named.size(), degree_)))
    if (line >= 0) lines.push_back({line, false});
  named_ += int64_t(lines.size());
  recent_.push_back(std::move(lines));
  if (recent_.size() > degree_) recent_.pop_front();
  bool is_covered = false;
  for (std::vector<Named>& before : recent_)
    for (Named& one : before) {
      if (one.line != next) continue;
      is_covered = true;
      right_ += !one.came;  // it may come several times, and was right once
      one.came = true;
    }
  ++accesses_;
  covered_ += is_covered;
}

double PrefetchScore::accuracy() const {
  return named_ > 0 ? double(right_) / double(named_) : 0;
}

double PrefetchScore::coverage() const {
  return accesses_ > 0 ? double(covered_) / double(accesses_) : 0;
}

}  // namespace fovea
