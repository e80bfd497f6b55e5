// What processors do, against which every network that prefetches has to be held: next_line, stride
// and last_successor of data/traces/prefetchers.h name the lines, and the data brings them along.
// All that is learned here is how far they can be trusted: the chance p_i that the i-th line they
// name is the one that comes next.
//   loss  the mean over accesses of the sum over the lines named after them:
//         -log p_i where it came next, -log(1 - p_i) where it did not
#pragma once

#include <string>

#include "fovea/base/options.h"
#include "fovea/models/model.h"

namespace fovea {

struct PrefetchBaselineOptions {
  std::string name = "last_successor";
  int64_t degree = 4;
  bool frozen = false;
  void describe(OptionList& list);
};

class PrefetchBaseline : public Model {
 public:
  explicit PrefetchBaseline(PrefetchBaselineOptions options);

  void initialise(const Random& random) override;
  /// "candidates": lines in the order in which they were named, -1 where there is none.
  Schema schema() const override;
  std::vector<LayerSummary> summary() const override;
  Loss loss(const Batch& batch, const StepContext& context) override;
  /// Outputs: one token each, the line.
  Predictions predict(const Batch& batch) const override;
  /// No maps. log p of the first line: [B, 1]
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;

 private:
  PrefetchBaselineOptions options_;
  at::Tensor trust_;  // logits of p [K]
};

}  // namespace fovea
