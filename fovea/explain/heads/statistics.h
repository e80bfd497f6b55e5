// What the heads of a network do, over rows of data. Of a query i with the weights a_ij over the
// keys j, H_i = -sum_j a_ij log a_ij; each measure is the mean over all queries that see something:
//   entropy   H_i in nats, and as a share of log n_i, the entropy of looking at its n_i keys alike
//   largest   max_j a_ij
//   special   sum of a_ij over the keys that are no part of the text: [CLS], [SEP], <s>
//   distance  sum_j a_ij |i - j|                     where a sequence looks at itself, as are
//   own, previous, next                              a_ii, a_i,i-1 and a_i,i+1
//   sink      a_i0, i > 0                            where moreover no unit sees those behind it:
//   an
//                                                    attention sink (Xiao et al. 2023)
//   induction a_i,i-n+1 in the second copy of a text of n random units that stands there twice: the
//             head looks at what came after the same unit before (Olsson et al. 2022)
// Rows are looked at one after the other and maps one head at a time, so memory does not grow with
// the rows. (Entropy and distance of heads: Clark et al. 2019; Vig and Belinkov 2019.)
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fovea/tensor/predictor.h"

namespace fovea {

/// Rows of data, each made when it is asked for.
struct ExampleSource {
  int64_t size = 0;
  std::function<Example(int64_t row)> example;
};

/// Which head of which map; layers and heads from 1, layer 0: there is only one.
struct HeadName {
  std::string map;
  int64_t layer = 0, head = 0;
  auto operator<=>(const HeadName&) const = default;
};

struct HeadStatistics {
  HeadName name;
  int64_t queries = 0;  // that were measured
  double entropy = 0;
  std::optional<double> normalised_entropy;  // none where no query has a choice
  double largest = 0;
  std::optional<double> special;  // none where the keys have no such units
  std::optional<double> distance, own, previous, next;
  std::optional<double> sink, induction;

  /// "induction", "sink", "previous": what the head does with most of its weight; "" else.
  std::string does() const;
};

struct HeadOptions {
  std::function<void(int64_t rows)> progress;  // may be empty
};

/// Every head of every dense map whose weights are shares, in the order of the maps.
/// InvalidArgument without rows, or where the network has no such map.
std::vector<HeadStatistics> measure_heads(const Predictor& predictor, const ExampleSource& rows,
                                          const HeadOptions& options = {});

/// Fills in `induction` of those heads that `example` has: a text whose units 0 … length - 1 stand
/// there once more as length … 2 length - 1.
void measure_induction(const Predictor& predictor, const Example& example, int64_t length,
                       std::vector<HeadStatistics>& heads);

}  // namespace fovea
