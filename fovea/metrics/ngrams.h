// Counts of n-grams over a few sequences that are compared with each other: an output and its
// references. Private to this folder.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/metrics/sequences.h"

namespace fovea {

/// counts[sequence][gram]: how often a sequence holds an n-gram of one order. The grams of all the
/// sequences are numbered together.
using GramCounts = std::vector<std::vector<int64_t>>;

/// One entry per order 1 ... `order`.
std::vector<GramCounts> count_ngrams(std::span<const Symbols> sequences, int64_t order);

}  // namespace fovea
