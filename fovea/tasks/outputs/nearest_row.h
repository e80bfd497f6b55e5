// The baseline of tasks that write texts: the target of the training row whose source is the most
// alike, by the cosine of TF-IDF, of pictures by the distance of their colours. A network that does
// not beat it has learned rows by heart.
#pragma once

#include <string>
#include <vector>

#include "fovea/tasks/baselines.h"

namespace fovea {

/// What has to be kept of the training rows; of more than 50,000 an even choice. `inputs` counts
/// the tokens of their sources, or has numbers that can be compared; empty: nothing is kept.
NamedTensors fit_nearest_row(const Dataset& train, const LinearInputs& inputs);
bool has_nearest_row(const NamedTensors& fitted);
/// "nearest sentence", of pictures "nearest picture".
const char* nearest_row_name(const LinearInputs& inputs);

/// The target of the nearest training row for each of these rows, the first of several.
std::vector<std::string> targets_of_nearest_rows(const NamedTensors& fitted,
                                                 const LinearInputs& inputs);

}  // namespace fovea
