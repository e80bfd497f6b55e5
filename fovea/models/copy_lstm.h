// The copy task without a memory to write to: stacked LSTMs, which must hold all symbols in their
// state. Graves et al. 2014 set three layers of 256 beside the neural Turing machine.
#pragma once

#include <memory>
#include <vector>

#include "fovea/attention/projection.h"
#include "fovea/base/options.h"
#include "fovea/models/copy_model.h"
#include "fovea/nn/recurrent/recurrent.h"

namespace fovea {

struct CopyLstmOptions {
  std::string name = "lstm";
  int64_t hidden = 256;
  int64_t layers = 3;
  void describe(OptionList& list);
};

class CopyLstm : public CopyModel {
 public:
  CopyLstm(CopyLstmOptions options, CopyWidths widths);
  void initialise(const Random& random) override;
  std::vector<LayerSummary> summary() const override;

 protected:
  at::Tensor logits_of(const Batch& batch, Tap* tap) const override;

 private:
  CopyLstmOptions options_;
  std::shared_ptr<Recurrent> recurrent_;
  std::shared_ptr<Projection> output_;
};

}  // namespace fovea
