// What a map attributes: how much each unit of its key axis matters, for one output unit or for all
// of them together. A map whose queries are the output's units has an attribution in each row; any
// other map has one: that of the class token in front of a picture's cells, else the
// mean of its rows. Where another map looks at the rows' units (words of sentences, and sentences
// of a document), each row counts as much as that one looks at it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/explain/faithfulness/instance.h"
#include "fovea/tensor/random.h"

namespace fovea::faithfulness {

using Ranking = std::vector<int64_t>;  // units, the most important first

struct Attribution {
  std::vector<double> weights;      // one per unit of the key axis, magnitudes
  int64_t unit = kAllUnits;         // the output unit that it is about
  std::vector<char> truth;          // units that are known to matter; empty: not known, or none
  std::optional<int64_t> row = {};  // of the map; none: all of them
};

struct Attributions {
  std::vector<Attribution> list;
  int64_t units = 0;    // of the key axis
  bool by_row = false;  // one attribution per output unit
  std::vector<std::string> notes;
};

/// From the maps of one name [1, H, Q, K]: their layers; `all` are those of the same replay. Heads
/// are averaged; layers of self-attention become their rollout, other layers their mean. Of more
/// than `most_rows` rows so many are drawn.
Attributions make_attributions(const Instance& instance, std::span<const AttentionMap> layers,
                               std::span<const AttentionMap> all, int64_t most_rows,
                               const Random& random);

/// Falling; equal weights stand in random order.
Ranking rank_units(std::span<const double> weights, const Random& random);

}  // namespace fovea::faithfulness
