// Helpers of the kernel tests: every instruction set of this machine, and numbers that are the same
// everywhere.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "fovea/kernels/instruction_set.h"

namespace fovea::kernels {

inline std::vector<InstructionSet> available_sets() {
  std::vector<InstructionSet> sets;
  for (const auto set : {InstructionSet::Baseline, InstructionSet::Avx2, InstructionSet::Avx512})
    if (set <= best_instruction_set()) sets.push_back(set);
  return sets;
}

/// Uses an instruction set until the end of the scope.
class UseSet {
 public:
  explicit UseSet(InstructionSet set) : before_(instruction_set()) {
    EXPECT_TRUE(use_instruction_set(set));
  }
  ~UseSet() { use_instruction_set(before_); }
  UseSet(const UseSet&) = delete;
  UseSet& operator=(const UseSet&) = delete;

 private:
  InstructionSet before_;
};

/// Numbers in (-1, 1); std::mt19937 is pinned by the standard, its distributions are not.
class Numbers {
 public:
  explicit Numbers(uint32_t seed) : engine_(seed) {}
  float next() { return static_cast<float>((static_cast<double>(engine_()) + 0.5) * 0x1p-31 - 1); }
  int64_t below(int64_t bound) { return static_cast<int64_t>(engine_()) % bound; }
  std::vector<float> floats(int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = next();
    return values;
  }

 private:
  std::mt19937 engine_;
};

constexpr float kCanary = 12345.0f;

/// Space for so many numbers, and one behind them that nobody may touch.
inline std::vector<float> room(int64_t count) {
  std::vector<float> floats(size_t(count), NAN);
  floats.push_back(kCanary);
  return floats;
}

inline void expect_canary(std::initializer_list<std::vector<float>*> arrays) {
  for (auto* array : arrays) {
    EXPECT_EQ(array->back(), kCanary) << "written past the end";
    array->pop_back();
  }
}

/// The nearest number with 8 bits of mantissa, of two equally near the even one.
inline float rounded_to_bf16(float x) {
  uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
  std::memcpy(&x, &bits, sizeof bits);
  return x;
}

/// |a - b| beyond what rounding explains, relative to the largest number of `b`.
template <class A, class B>
double worst_difference(const A& a, const B& b) {
  if (a.size() != b.size()) return INFINITY;
  double scale = 1, worst = 0;
  for (const auto value : b) scale = std::max(scale, std::abs(static_cast<double>(value)));
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
  }
  return worst / scale;
}

}  // namespace fovea::kernels
