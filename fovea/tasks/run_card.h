// A run at a glance, for whoever reads its answers: which network, learned from what, how good. The
// field `model` of docs/formats/explanation.md.
#pragma once

#include "fovea/tasks/outputs/evaluation.h"
#include "fovea/training/run_folder.h"

namespace fovea {

/// What the manifest keeps of an evaluation, for run_card(): the metric that decides on rows that
/// were not trained on, and the same of the baselines.
Json evaluation_card(const Evaluation& evaluation, const std::string& split, int64_t rows);

/// From the files of a run; what they do not say is left out, as of a folder from elsewhere.
Json run_card(const RunFolder& folder, const std::string& task, const std::string& network,
              int64_t parameters);

}  // namespace fovea
