// Which layers and heads are shown. Maps that were recorded on demand are rebuilt for these alone.
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/tensor/attention_map.h"

namespace fovea {

/// Which heads of a map become views.
enum class Heads { Mean, All };

struct HeadChoice {
  HeadChoice(Heads all = Heads::Mean) : all(all) {}
  Heads all;
  std::vector<int64_t> layers = {};  // only these of stacked attention, from 1; empty: all
  std::vector<int64_t> heads = {};   // only these, from 1, a view each; empty: as `all` says
  bool is_everything() const { return layers.empty() && heads.empty(); }
};

/// InvalidArgument, with what there is, for a layer or head that no map has.
void check_choice(const HeadChoice& choice, const std::vector<AttentionMap>& maps);

/// The heads of the map that were asked for, from 1.
std::vector<int64_t> chosen_heads(const AttentionMap& map, const HeadChoice& choice);

/// A map of one example with these heads alone (from 1), as a tensor: what has a source is rebuilt,
/// each head once. Edges and points come back as they are.
AttentionMap with_heads(const AttentionMap& map, const std::vector<int64_t>& heads);

}  // namespace fovea
