// The example without this or that set of units: each set is replayed once, in batches, however
// many measures ask for it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "fovea/explain/faithfulness/instance.h"

namespace fovea::faithfulness {

class Erasures {
 public:
  /// `instance` must outlive this object.
  Erasures(const Instance& instance, std::string axis, int64_t units);

  /// Whether the axis can lose units, and what the predictor said when it cannot.
  bool possible() const { return refusal_.empty(); }
  const std::string& refusal() const { return refusal_; }

  /// Asks for the outputs without these units; run() finds them.
  void request(std::span<const int64_t> units);
  void run();
  const Outputs& without(std::span<const int64_t> units) const;

  /// The largest change of the outputs that any set made.
  double largest_change() const;

 private:
  using Set = std::vector<bool>;  // one per unit: erased?
  Set to_set(std::span<const int64_t> units) const;

  const Instance& instance_;
  std::string axis_;
  size_t units_;
  std::string refusal_;
  std::map<Set, Outputs> found_;
  std::vector<Set> requested_;
};

}  // namespace fovea::faithfulness
