// RETAIN, Choi et al. 2016: a recurrent network that says exactly what each code added. Two GRUs
// read the visits backwards in time, from the last one, which a doctor looks at first, to the
// oldest; one weighs whole visits, the other each number of them.
//   v_j    sum of the embeddings E_k of the codes of visit j
//   alpha  softmax over the visits of w_a . GRU_a(v_i, …, v_j) + b_a
//   beta_j tanh(W_b GRU_b(v_i, …, v_j) + b_b)
//   logit  w . c + b,   c = sum_j alpha_j beta_j * v_j;  of several outcomes each its own w, b
// Everything after alpha and beta is linear in the codes, so the logit is the bias plus
//   contribution of code k at visit j = alpha_j w . (beta_j * E_k)
// summed over all codes. With times, the GRUs (never v) also see log(1 + time since the visit
// before). The code of the authors halves what both GRUs put out; that is left out here.
#pragma once

#include <torch/nn/modules/embedding.h>

#include <memory>

#include "fovea/attention/projection.h"
#include "fovea/base/options.h"
#include "fovea/models/visit_model.h"
#include "fovea/nn/recurrent/recurrent.h"

namespace fovea {

struct RetainOptions {
  std::string name = "retain";
  int64_t embedding = 128;
  int64_t visit_hidden = 128;  // of the GRU behind alpha
  int64_t code_hidden = 128;   // of the GRU behind beta
  bool time = true;
  double dropout = 0.5;            // of c
  double embedding_dropout = 0.2;  // of v
  double l2 = 1e-4;
  std::string class_weights = "none";
  void describe(OptionList& list);
};

class Retain : public VisitModel {
 public:
  Retain(RetainOptions options, VisitShape shape);
  const RetainOptions& options() const { return options_; }
  double bias(int64_t outcome = 0) const { return output_->bias[outcome].item<double>(); }

  void initialise(const Random& random) override;
  std::vector<LayerSummary> summary() const override;

 protected:
  /// Maps: "visits" [B, 1, 1, V], alpha; "contributions" [B, 1, O, K].
  at::Tensor logit_of(const Batch& batch, const Random* random, Tap* tap) const override;
  std::vector<at::Tensor> penalised() const override;

 private:
  struct Reversed;  // how visits are turned round
  at::Tensor weigh_visits(const at::Tensor& inputs, const Reversed& order, Tap* tap) const;
  at::Tensor weigh_numbers(const at::Tensor& inputs, const Reversed& order) const;

  RetainOptions options_;
  bool sees_time_;
  torch::nn::Embedding codes_{nullptr};
  std::shared_ptr<Recurrent> visit_encoder_, code_encoder_;
  std::shared_ptr<Projection> alpha_, beta_, output_;
};

}  // namespace fovea
