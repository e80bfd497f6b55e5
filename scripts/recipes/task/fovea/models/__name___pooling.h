// __Name__Pooling: a learned query looks at embedded letters; what it saw decides the class.
//   a = softmax_t(score(q, e_t));  y = W sum_t a_t e_t + c
#pragma once

#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>

#include "fovea/attention/score.h"
#include "fovea/models/classifier.h"

namespace fovea {

struct __Name__PoolingOptions {
  std::string name = "pooling";
  int64_t hidden = 16;
  ScoreOptions score;
  void describe(OptionList& list);
};

class __Name__Pooling : public Classifier {
 public:
  __Name__Pooling(__Name__PoolingOptions options, int64_t classes);

  void initialise(const Random& random) override;
  Schema schema() const override;
  std::vector<LayerSummary> summary() const override;

 protected:
  at::Tensor logits_of(const Batch& batch, const Random* random, Tap* tap) const override;

 private:
  __Name__PoolingOptions options_;
  torch::nn::Embedding letters_{nullptr};
  ScorePointer score_;
  at::Tensor query_;  // [D]
  torch::nn::Linear output_{nullptr};
};

}  // namespace fovea
