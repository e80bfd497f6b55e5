// What both models of the copy task share (Graves et al. 2014): symbols of some bits come in one
// step at a time, then a step that says "now", then steps of silence in which the symbols are to be
// put out again.
//   p_bit  sigmoid(logit);  loss  -log p of every bit that is due, the mean over them
// Outputs hold a symbol a step: bit i of the number is bit i of the symbol.
#pragma once

#include "fovea/models/model.h"

namespace fovea {

class CopyModel : public Model {
 public:
  explicit CopyModel(int64_t bits) : bits_(bits) {}
  int64_t bits() const { return bits_; }

  /// As data/copies/dataset.h has them.
  Schema schema() const override;
  Loss loss(const Batch& batch, const StepContext& context) override;
  /// Decoded outputs, one symbol for each step at which one is due.
  Predictions predict(const Batch& batch) const override;
  /// Log-probability of each symbol that was put out: [B, U], 0 behind the last one.
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;

  at::Tensor logits(const Batch& batch) const;  // [B, S, bits], without gradient

 protected:
  /// [B, S, bits] for inputs [B, S, bits + 1].
  virtual at::Tensor logits_of(const Batch& batch, Tap* tap) const = 0;

 private:
  int64_t bits_;
};

}  // namespace fovea
