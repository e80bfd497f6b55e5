// Attention over edges as a plain table, for those who go on computing with it: one line per edge,
// layer and head. The source is what is looked at, the target is who looks.
#pragma once

#include <filesystem>
#include <string>

#include "fovea/explain/record/explanation.h"

namespace fovea {

/// CSV with the header source,target,weight,self_loop,layer,head; head 0 is the only one,
/// or the mean of all.
/// InvalidArgument where no map has edges.
std::string edge_table(const Explanation& explanation);

}  // namespace fovea
