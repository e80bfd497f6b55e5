// Do two lists put the same things in the same order? Kendall's tau-b, which allows for ties:
//   tau_b = (C - D) / sqrt((n0 - n1) (n0 - n2)),   n0 = n (n - 1) / 2,
// C pairs ordered alike, D pairs ordered the other way round, n1 and n2 pairs tied in the first and
// in the second list (Kendall 1945), in O(n log n) steps by sorting (Knight 1966).
#pragma once

#include <optional>
#include <span>

namespace fovea {

/// In -1..1: 1 for the same order, -1 for the opposite one, about 0 for unrelated ones. Not defined
/// for fewer than two numbers, for a list of equal numbers, or with a NaN. InvalidArgument when the
/// lists differ in length.
std::optional<double> kendall_tau(std::span<const double> first, std::span<const double> second);

}  // namespace fovea
