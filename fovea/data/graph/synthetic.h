// A synthetic graph for the task `graph`. Every node belongs to a community, its class. Some nodes
// are voices: their words are their community's. The others only echo: their words are anybody's.
// Which of the two a node is shows in further words, its manner. A node knows some voices of its
// own community and more echoes of any: who takes all neighbours alike hears mostly noise, who
// listens to the voices knows the class. These are the edges that inform, and they are known.
// Of several labels about half of the echoes belong to two communities, and know voices of both.
#pragma once

#include <cstdint>

#include "fovea/base/options.h"
#include "fovea/data/graph/reader.h"

namespace fovea {

struct SyntheticGraphOptions {
  int64_t nodes = 1500;
  int64_t communities = 4;
  double voices = 0.25;     // share of the nodes
  int64_t kin = 2;          // voices of its community that a node is joined to
  int64_t strangers = 6;    // echoes of any community that it is joined to
  int64_t words = 5;        // of a node about communities
  int64_t train_each = 30;  // training nodes of each community
  int64_t validation_nodes = 300;
  int64_t test_nodes = 500;
  int64_t seed = 1;
  void describe(OptionList& list);
};

/// The voices are informative. InvalidArgument for numbers that cannot be.
ReadGraph draw_graph(const SyntheticGraphOptions& options, bool several = false);

}  // namespace fovea
