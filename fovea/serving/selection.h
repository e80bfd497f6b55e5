// Which parts of an explanation a client wants: some maps, layers, heads, rows, the largest weights
// of each row. What is left is again a whole explanation that every viewer shows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/explain/record/explanation.h"

namespace fovea::serving {

struct Selection {
  std::vector<std::string> maps;       // by name; empty: all
  std::vector<int64_t> layers, heads;  // from 1; empty: all
  bool mean_of_heads = false;          // asked for when the explanation is made, not here
  std::vector<int64_t> rows;           // query indices from 0; empty: all
  int64_t top_k = 0;                   // weights of each row that are kept; 0: all
};

/// Rows stay in their order, and a query axis that nothing else refers to keeps only their units;
/// else a new axis does. Weights beyond the k largest magnitudes of their row become 0, gaps stay
/// gaps. Throws HttpError 422 with the names or numbers that there are.
void select_parts(Explanation& explanation, const Selection& selection);

}  // namespace fovea::serving
