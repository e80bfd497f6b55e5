// Which heads of a model can only be taken out together: those that share a head of keys.
#pragma once

#include <vector>

#include "fovea/models/model.h"

namespace fovea {

/// Heads that go together, each where its weights stand in the map.
struct HeadGroup {
  struct Member {
    HeadPlace place;     // as it was built
    int64_t row_of_map;  // from 1, among those that are there
  };
  std::vector<Member> members;
};

/// All heads that the model has, in the order of its maps; without shared keys each stands alone.
std::vector<HeadGroup> head_groups(const Model& model);

}  // namespace fovea
