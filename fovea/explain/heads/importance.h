// How much a network needs each of its heads, measured through its own answers. Let xi_h scale the
// weights of head h, and L(x) be minus the log-probability of the answer to x.
//   gradient  I_h = E_x |dL(x) / dxi_h| at xi = 1, then divided by the length of the vector of all
//             I_h of that layer: comparable between layers (Michel et al. 2019). All heads at once.
//   drop      mean over x of log p(answer) minus the same with head h alone at xi = 0, measured: a
//             pass per head.
// An answer made of numbers v has no probability. There L = r v for a random direction r of each
// row, so that I_h is the length of dv / dxi_h up to a factor that the division removes, and the
// drop is how far v moves, |v - v'|.
#pragma once

#include <optional>
#include <vector>

#include "fovea/explain/heads/statistics.h"

namespace fovea {

struct HeadImportance {
  HeadName name;
  double gradient = 0;              // I_h before the division
  double importance = 0;            // and after it
  std::optional<double> drop = {};  // where it was asked for
};

struct ImportanceOptions : HeadOptions {
  bool zeroing = true;  // measure the drop too
  int64_t rows_at_once = 8;
  uint64_t seed = 0;  // of the directions
};

/// Every head of every dense map, in the order of the maps. InvalidArgument without rows or heads.
std::vector<HeadImportance> measure_importance(const Predictor& predictor,
                                               const ExampleSource& rows,
                                               const ImportanceOptions& options = {});

}  // namespace fovea
