// How good a prefetcher is, from what it names after each access, at degree k:
//   accuracy   lines named that are accessed within the next k accesses / lines named
//   coverage   accesses whose line was named after one of the k accesses before / accesses
// At degree 1 that is: of what it named, how much came next; of what came, how much it had named.
// A prefetcher that always names a line has both alike there (Voyager calls that unified
// accuracy/coverage); one that says nothing where it knows nothing has the higher accuracy. Lines
// named k or fewer accesses before the end have less time to come true.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace fovea {

class PrefetchScore {
 public:
  explicit PrefetchScore(int64_t degree) : degree_(size_t(degree)) {}

  /// In time order, for each access: the lines named after it, of which the first `degree` count
  /// (different ones; below 0: none in that place), and the line of the access that came next.
  void add(std::span<const int64_t> named, int64_t next);

  double accuracy() const;  // 0 where nothing was named
  double coverage() const;  // 0 without accesses
  int64_t accesses() const { return accesses_; }
  int64_t lines_named() const { return named_; }

 private:
  struct Named {
    int64_t line;
    bool came;
  };
  size_t degree_;
  std::deque<std::vector<Named>> recent_;  // after each of the last k accesses
  int64_t accesses_ = 0, covered_ = 0, named_ = 0, right_ = 0;
};

}  // namespace fovea
