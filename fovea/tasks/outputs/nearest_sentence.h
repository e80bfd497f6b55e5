// The baseline of tasks that write texts: the target of the training row whose source is the most
// alike, by the cosine of TF-IDF. A network that does not beat it has learned sentences by heart.
#pragma once

#include <string>
#include <vector>

#include "fovea/tasks/baselines.h"

namespace fovea {

/// What has to be kept of the training rows; of more than 50,000 an even choice. `inputs` counts
/// the tokens of their sources.
NamedTensors fit_nearest_sentence(const Dataset& train, const LinearInputs& inputs);

/// The target of the nearest training row for each of these rows, the first of several.
std::vector<std::string> nearest_sentences(const NamedTensors& fitted, const LinearInputs& inputs);

}  // namespace fovea
