// A model that can do nothing, for tests that need one to ask about something else.
#pragma once

#include "fovea/models/model.h"

namespace fovea::testing {

struct IdleModel : Model {
  void initialise(const Random&) override {}
  Schema schema() const override { return {}; }
  std::vector<LayerSummary> summary() const override { return {}; }
  Loss loss(const Batch&, const StepContext&) override { return {}; }
  Predictions predict(const Batch&) const override { return {}; }
  at::Tensor replay(const Batch&, const Predictions&, Tap*) const override { return {}; }
};

}  // namespace fovea::testing
