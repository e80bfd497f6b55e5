// What stands for a sequence of states: one vector. Yang et al. 2016 compare three:
//   attention  sum_t a_t h_t,  a = softmax_t(u . tanh(W h_t + b)) with a learned vector u
//   average    the mean of h_t                                            (HN-AVE)
//   max        the largest of each number over t                          (HN-MAX)
// In place of the paper's score, called "context", stands any of attention/score.h; its query is u.
// Padding takes no part; a sequence without anything real becomes zeros.
#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <string>
#include <vector>

#include "fovea/attention/attend.h"
#include "fovea/attention/projection.h"

namespace fovea {

struct PoolingOptions {
  std::string pooling = "attention";
  std::string score = "context";
  int64_t score_hidden = 100;  // additive and location-aware
  void describe(OptionList& list);
};

class SequencePooling : public torch::nn::Module {
 public:
  /// Of states of `width` numbers, at most `longest` of them.
  SequencePooling(PoolingOptions options, int64_t width, int64_t longest);
  void initialise(const Random& random);

  bool attends() const { return options_.pooling == "attention"; }

  struct Pooled {
    at::Tensor summary;  // [N, D]
    at::Tensor weights;  // [N, T] where they were asked for and there are any, else undefined
  };
  /// states [N, T, D]; keep bool [N, T].
  Pooled pool(const at::Tensor& states, const at::Tensor& keep, bool keep_weights) const;
  /// The same with the weights reported as `map` [N, 1, 1, T], where there are any.
  at::Tensor pool(const at::Tensor& states, const at::Tensor& keep, const MapLabel& map,
                  Tap* tap) const;

 private:
  AttendInput attention_input(const at::Tensor& states, const at::Tensor& keep) const;
  at::Tensor pool_plainly(const at::Tensor& states, const at::Tensor& keep) const;

  PoolingOptions options_;
  ScoreOptions score_options_;
  std::shared_ptr<Projection> projection_;  // of the score "context"
  std::shared_ptr<ScoreFunction> score_;
  at::Tensor context_;  // u [D]
};

}  // namespace fovea
