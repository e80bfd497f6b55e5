// What both models of the copy task share (Graves et al. 2014): symbols of some bits come in one
// step at a time, then a step that says "now", then steps of silence in which the symbols are to be
// put out again. Repeated copies, recall, N-grams and sorting are put into such steps too.
//   p_bit  sigmoid(logit);  loss  -log p of every bit that is due, the mean over them
// Outputs hold a symbol a step: bit i of the number is bit i of the symbol.
#pragma once

#include "fovea/models/model.h"

namespace fovea {

/// Numbers of a step, in and out. Copied symbols of some bits come in beside one number that says
/// "now"; other kinds of data/copies/kind.h have more.
struct CopyWidths {
  int64_t inputs = 0, outputs = 0;
  static CopyWidths of_symbols(int64_t bits) { return {bits + 1, bits}; }
};

class CopyModel : public Model {
 public:
  explicit CopyModel(CopyWidths widths) : widths_(widths) {}
  int64_t inputs() const { return widths_.inputs; }
  int64_t bits() const { return widths_.outputs; }  // that are put out in a step

  /// As data/copies/dataset.h has them.
  Schema schema() const override;
  Loss loss(const Batch& batch, const StepContext& context) override;
  /// Decoded outputs, one symbol for each step at which one is due.
  Predictions predict(const Batch& batch) const override;
  /// Log-probability of each symbol that was put out: [B, U], 0 behind the last one.
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;

  at::Tensor logits(const Batch& batch) const;  // [B, S, bits], without gradient

 protected:
  /// [B, S, bits] for inputs [B, S, inputs].
  virtual at::Tensor logits_of(const Batch& batch, Tap* tap) const = 0;

 private:
  CopyWidths widths_;
};

}  // namespace fovea
