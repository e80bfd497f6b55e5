// Draws one after the other from a stream of random numbers, for generators that write texts.
#pragma once

#include <algorithm>
#include <iterator>

#include "fovea/base/error.h"
#include "fovea/tensor/random.h"

namespace fovea {

class Dice {
 public:
  explicit Dice(const Random& random) : random_(random) {}
  size_t below(size_t bound) { return size_t(random_.below(next_++, bound)); }
  bool chance(double probability) { return random_.uniform(next_++) < probability; }

  /// One of a list's entries that `fits`; there is at least one.
  template <class List, class Fits>
  const auto& pick(const List& list, Fits fits) {
    const auto fitting = size_t(std::count_if(std::begin(list), std::end(list), fits));
    require(fitting > 0, ErrorKind::Internal, "no entry of the list fits");
    size_t skip = below(fitting);
    auto entry = std::begin(list);
    while (!fits(*entry) || skip-- > 0) ++entry;
    return *entry;
  }
  template <class List>
  const auto& pick(const List& list) {
    return std::begin(list)[below(std::size(list))];
  }

 private:
  Random random_;
  uint64_t next_ = 0;
};

}  // namespace fovea
