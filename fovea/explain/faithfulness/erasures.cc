#include "fovea/explain/faithfulness/erasures.h"

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea::faithfulness {

Erasures::Erasures(const Instance& instance, std::string axis, int64_t units)
    : instance_(instance), axis_(std::move(axis)), units_(size_t(units)) {
  for (const Axis& known : instance_.described.axes)
    if (known.name == axis_ && known.labels.size() != units_)
      refusal_ = concat("the map has ", units_, " keys, but the axis '", axis_, "' has ",
                        known.labels.size(), " units: they cannot be taken away");
  try {
    const int64_t first = 0;
    if (units > 0 && possible()) instance_.predictor.erase(instance_.example, axis_, {&first, 1});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Unsupported) throw;
    refusal_ = error.what();
  }
  found_[Set(units_)] = instance_.original;
}

Erasures::Set Erasures::to_set(std::span<const int64_t> units) const {
  Set set(units_);
  for (const int64_t unit : units) set.at(size_t(unit)) = true;
  return set;
}

void Erasures::request(std::span<const int64_t> units) {
  Set set = to_set(units);
  if (found_.try_emplace(set).second) requested_.push_back(std::move(set));
}

void Erasures::run() {
  for (size_t begin = 0; begin < requested_.size(); begin += instance_.rows_at_once) {
    const size_t end = std::min(begin + instance_.rows_at_once, requested_.size());
    std::vector<Example> variants;
    for (size_t i = begin; i < end; ++i) {
      std::vector<int64_t> units;
      for (size_t unit = 0; unit < units_; ++unit)
        if (requested_[i][unit]) units.push_back(int64_t(unit));
      variants.push_back(instance_.predictor.erase(instance_.example, axis_, units));
    }
    QuietTap tap;
    std::vector<Outputs> outputs = instance_.replay(variants, tap);
    for (size_t i = begin; i < end; ++i) found_[requested_[i]] = std::move(outputs[i - begin]);
  }
  requested_.clear();
}

const Outputs& Erasures::without(std::span<const int64_t> units) const {
  const auto found = found_.find(to_set(units));
  require(found != found_.end() && !found->second.empty(), ErrorKind::Internal,
          "the outputs without ", units.size(), " units of the axis '", axis_,
          "' were never asked for");
  return found->second;
}

double Erasures::largest_change() const {
  double largest = 0;
  for (const auto& [set, outputs] : found_)
    if (!outputs.empty()) largest = std::max(largest, instance_.change(kAllUnits, outputs));
  return largest;
}

}  // namespace fovea::faithfulness
