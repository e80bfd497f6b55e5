// seq2seq over numbers behind reversible instance normalisation: windows lose their own mean and
// deviation, and what is forecast of them gets both back (series_model.h has the formula).
#pragma once

#include <memory>

#include "fovea/models/seq2seq.h"
#include "fovea/models/series_model.h"

namespace fovea {

struct SeriesSeq2SeqOptions : Seq2SeqOptions {
  bool revin = false;
  void describe(OptionList& list);
};

class RevinSeq2Seq : public Model {
 public:
  /// Every target must be an input.
  RevinSeq2Seq(const Seq2SeqOptions& options, const SequenceShape& sequence, SeriesShape shape);

  void initialise(const Random& random) override { network_->initialise(random); }
  Schema schema() const override { return network_->schema(); }
  std::vector<LayerSummary> summary() const override { return network_->summary(); }
  Loss loss(const Batch& batch, const StepContext& context) override;
  Predictions predict(const Batch& batch) const override;
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;

 private:
  struct Normalised {
    Batch batch;
    at::Tensor mean, deviation;  // of the targets [B, 1, O]
  };
  Normalised normalised(const Batch& batch) const;
  at::Tensor restored(const at::Tensor& values, const Normalised& from) const;  // [B, T O]

  SeriesShape shape_;
  std::shared_ptr<Seq2Seq> network_;
};

}  // namespace fovea
