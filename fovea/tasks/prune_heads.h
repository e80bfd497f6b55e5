// Taking the least important heads out of a trained run: measured, removed for good, and, where it
// is asked for, trained on. The result is a run like any other; its option model.pruned_heads says
// what is gone.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "fovea/explain/heads/importance.h"
#include "fovea/tasks/train.h"

namespace fovea {

/// Up to `count` rows, evenly spread. The rows must outlive it.
ExampleSource spread_rows(const Dataset& rows, int64_t count);

/// Heads that can only go together: one, or those that share a head of keys.
struct RankedHeads {
  std::vector<HeadPlace> heads;
  double importance = 0;  // mean of its heads
};

/// All that the model has, the least important first; by the gradient, or by the drop.
std::vector<RankedHeads> rank_heads(const Model& model, std::span<const HeadImportance> measured,
                                    bool by_drop);
/// As many of the first groups as hold at most `count` heads.
std::vector<HeadPlace> least_important(std::span<const RankedHeads> ranked, int64_t count);

struct PruneRequest {
  std::filesystem::path run;
  int64_t heads = 0;     // how many go
  bool by_drop = false;  // measure the drop of each, instead of all by their gradients
  int64_t rows = 100;    // of the training data, to measure on
  int64_t epochs = 0;    // trained on afterwards
  bool curve = false;
  std::vector<std::string> assignments;  // training.* for these epochs
  RunFolder* folder = nullptr;           // where the new run goes
  bool overwrite = false;                // what stands there
  std::function<bool()> should_stop;     // may be empty, as may these two
  std::function<void(int64_t rows, int64_t total)> measured;
  std::function<void(int64_t rows, int64_t total, double loss)> trained;
};

/// A network at one stage.
struct PrunedStage {
  int64_t heads = 0, parameters = 0;
  Metrics metrics;     // on the validation rows
  double seconds = 0;  // of one prediction
};

struct PruneResult {
  std::vector<HeadPlace> gone;  // now
  PrunedStage before, pruned;
  std::optional<PrunedStage> retrained;
  std::vector<PrunedStage> curve;  // without 0, 10, 20 … 100 % of the heads, never trained on
};

/// InvalidArgument for a run without heads, or fewer than should go.
PruneResult prune_run(const PruneRequest& request);

}  // namespace fovea
