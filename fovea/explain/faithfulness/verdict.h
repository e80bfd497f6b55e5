// From the measures to one plain sentence. The table of docs/faithfulness.md, in code.
#pragma once

#include <vector>

#include "fovea/explain/faithfulness/measures.h"

namespace fovea::faithfulness {

/// Fills in `trust` and `verdict` of what summarise() made of these samples.
void give_verdict(const std::vector<Sample>& samples, Faithfulness& result);

}  // namespace fovea::faithfulness
