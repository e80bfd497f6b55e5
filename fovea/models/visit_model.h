// What all models of health records share: codes of visits in, the log odds of one outcome, or of
// each of several, out.
//   p     sigmoid(log odds);  loss  -log p(what happened), weighted as model.class_weights says,
//         + l2 times the squares of what penalised() names
// A code that training never saw, or that was taken away, adds nothing to its visit; a patient
// without visits is answered by the bias. Besides the maps of a model there is, for taps that look
// on demand, "absent": by how much the log odds would change if a code were absent. That costs one
// more pass through the network for each code, and nothing while nobody looks.
#pragma once

#include <string>
#include <vector>

#include "fovea/models/classifier.h"

namespace fovea {

/// What the data decides.
struct VisitShape {
  int64_t codes = 0;    // numbers of codes; those below `first` say nothing
  int64_t first = 4;    // of the real ones
  int64_t unknown = 1;  // stands for a code that is not there
  bool times = false;   // "gaps" mean something
  std::string outcome = "outcome";
  std::vector<int64_t> class_counts = {};  // training rows without and with the outcome; of several
                                           // those with each
  std::vector<std::string> labels = {};    // several outcomes
  int64_t rows = 0;                        // of training

  int64_t outcomes() const { return labels.empty() ? 1 : int64_t(labels.size()); }
};

class VisitModel : public Classifier {
 public:
  VisitModel(VisitShape shape, double l2, const std::string& class_weights);
  const VisitShape& shape() const { return shape_; }

  /// As data/visits/encoder.h has them.
  Schema schema() const override;
  ParameterRule rule_of(const std::string& name) const override;
  Loss loss(const Batch& batch, const StepContext& context) override;
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;

  /// [B], of several outcomes [B, O]; without gradient.
  at::Tensor log_odds(const Batch& batch) const;
  /// Log odds without each code of one row, minus those with all: [O, K], 0 at padding.
  at::Tensor effect_of_absence(const Batch& batch, int64_t row) const;

 protected:
  /// [B, 2]: without and with the outcome; of several [B, O].
  at::Tensor logits_of(const Batch& batch, const Random* random, Tap* tap) const override;
  /// Log odds [B, O]. `random` is null where nothing is dropped.
  virtual at::Tensor logit_of(const Batch& batch, const Random* random, Tap* tap) const = 0;
  /// Parameters that l2 holds back.
  virtual std::vector<at::Tensor> penalised() const = 0;

  at::Tensor real_codes(const Batch& batch) const;  // bool [B, K]: those that say something
  /// Embeddings of the codes, 0 where they say nothing: [B, K, E]. Leaf of the axis "codes".
  at::Tensor embed_codes(const Batch& batch, const at::Tensor& table, Tap* tap) const;
  /// The sum of each visit's codes: [B, K, E] -> [B, V, E].
  static at::Tensor visits_of(const Batch& batch, const at::Tensor& codes);
  /// Reports what each code adds to the log odds, [B, O, K], and returns what it adds up to, [B,
  /// O]. bias [O]
  at::Tensor sum_contributions(const at::Tensor& contributions, const at::Tensor& bias,
                               Tap* tap) const;

 private:
  VisitShape shape_;
  double l2_;
};

}  // namespace fovea
