// Health records without attention, against which RETAIN has to be held.
//   logistic  logit = b + sum over all codes of all visits of w_k: regression on counts
//   gru       logit = w . h + b, h the last state of a GRU over the visits, oldest first; a visit
//             is the sum of its codes' embeddings, with log(1 + time since the visit before) where
//             visits have times; of several outcomes each has weights of its own
// The first says what each code added as exactly as RETAIN, but a code counts the same in every
// visit; the second sees order and says nothing.
#pragma once

#include <torch/nn/modules/embedding.h>

#include <memory>

#include "fovea/attention/projection.h"
#include "fovea/base/options.h"
#include "fovea/models/visit_model.h"
#include "fovea/nn/recurrent/recurrent.h"

namespace fovea {

struct VisitLogisticOptions {
  std::string name = "logistic";
  double l2 = 1e-4;
  std::string class_weights = "none";
  void describe(OptionList& list);
};

class VisitLogistic : public VisitModel {
 public:
  VisitLogistic(VisitLogisticOptions options, VisitShape shape);
  void initialise(const Random& random) override;
  std::vector<LayerSummary> summary() const override;

 protected:
  /// Map: "contributions" [B, 1, O, K].
  at::Tensor logit_of(const Batch& batch, const Random* random, Tap* tap) const override;
  std::vector<at::Tensor> penalised() const override { return {weight_}; }

 private:
  at::Tensor weight_;  // [codes, O]
  at::Tensor bias_;    // [O]
};

struct VisitGruOptions {
  std::string name = "gru";
  int64_t embedding = 128;
  int64_t hidden = 128;
  bool time = true;
  double dropout = 0.5;            // of the last state
  double embedding_dropout = 0.2;  // of the sum of a visit's codes
  double l2 = 1e-4;
  std::string class_weights = "none";
  void describe(OptionList& list);
};

class VisitGru : public VisitModel {
 public:
  VisitGru(VisitGruOptions options, VisitShape shape);
  void initialise(const Random& random) override;
  std::vector<LayerSummary> summary() const override;

 protected:
  at::Tensor logit_of(const Batch& batch, const Random* random, Tap* tap) const override;
  std::vector<at::Tensor> penalised() const override;

 private:
  VisitGruOptions options_;
  bool sees_time_;
  torch::nn::Embedding codes_{nullptr};
  std::shared_ptr<Recurrent> encoder_;
  std::shared_ptr<Projection> output_;
};

}  // namespace fovea
