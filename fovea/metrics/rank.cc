#include "fovea/metrics/rank.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {
namespace {

using Pair = std::pair<double, double>;

/// Pairs of neighbours that are equal, in a sorted range: a run of t equal ones has t (t - 1) / 2.
template <class Range, class Equal>
int64_t tied_pairs(const Range& sorted, Equal equal) {
  int64_t pairs = 0, run = 0;
  for (size_t i = 1; i < sorted.size(); ++i) {
    run = equal(sorted[i - 1], sorted[i]) ? run + 1 : 0;
    pairs += run;
  }
  return pairs;
}

/// Sorts the numbers and returns how many pairs stood in the wrong order.
int64_t sort_and_count(std::span<double> numbers, std::span<double> scratch) {
  if (numbers.size() < 2) return 0;
  const size_t half = numbers.size() / 2;
  int64_t inversions = sort_and_count(numbers.first(half), scratch.first(half)) +
                       sort_and_count(numbers.subspan(half), scratch.subspan(half));
  size_t left = 0, right = half;
  for (double& place : scratch) {
    const bool take_left =
        right == numbers.size() || (left < half && numbers[left] <= numbers[right]);
    if (!take_left) inversions += int64_t(half - left);
    place = numbers[take_left ? left++ : right++];
  }
  std::copy(scratch.begin(), scratch.end(), numbers.begin());
  return inversions;
}

}  // namespace

std::optional<double> kendall_tau(std::span<const double> first, std::span<const double> second) {
  require(first.size() == second.size(), ErrorKind::InvalidArgument,
          "a rank correlation needs two lists of one length, found ", first.size(), " and ",
          second.size(), " numbers");
  std::vector<Pair> pairs;
  for (size_t i = 0; i < first.size(); ++i) {
    if (std::isnan(first[i]) || std::isnan(second[i])) return {};
    pairs.emplace_back(first[i], second[i]);
  }
  if (pairs.size() < 2) return {};
  std::ranges::sort(pairs);
  const int64_t tied_first =
      tied_pairs(pairs, [](const Pair& a, const Pair& b) { return a.first == b.first; });
  const int64_t tied_both = tied_pairs(pairs, [](const Pair& a, const Pair& b) { return a == b; });
  std::vector<double> numbers, scratch(pairs.size());
  for (const Pair& pair : pairs) numbers.push_back(pair.second);
  const int64_t discordant = sort_and_count(numbers, scratch);
  const int64_t tied_second = tied_pairs(numbers, [](double a, double b) { return a == b; });

  const auto count = int64_t(pairs.size());
  const int64_t all = count * (count - 1) / 2;
  if (tied_first == all || tied_second == all) return {};
  const auto excess = double(all - tied_first - tied_second + tied_both - 2 * discordant);
  const double scale = std::sqrt(double(all - tied_first)) * std::sqrt(double(all - tied_second));
  return std::clamp(excess / scale, -1.0, 1.0);
}

}  // namespace fovea
