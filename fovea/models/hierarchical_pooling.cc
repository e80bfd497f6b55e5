#include "fovea/models/hierarchical_pooling.h"

#include <cmath>
#include <limits>

#include "fovea/models/initialise.h"
#include "fovea/nn/ops/activation.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr const char* kContext = "context";  // the paper's score

}  // namespace

void PoolingOptions::describe(OptionList& list) {
  list.add("pooling", pooling,
           "what stands for a sentence and for the document: attention, or the average or the "
           "largest of the states (HN-ATT, HN-AVE, HN-MAX)")
      .choices({"attention", "average", "max"});
  std::vector<std::string> scores = score_names();
  scores.insert(scores.begin(), kContext);
  list.add("score", score,
           "context: u . tanh(W h + b), the paper's; or a score function (`fovea scores` lists "
           "them) with the learned u as its query")
      .choices(std::move(scores));
  list.add("score_hidden", score_hidden, "hidden units of additive and location-aware").at_least(1);
}

SequencePooling::SequencePooling(PoolingOptions options, int64_t width, int64_t longest)
    : options_(std::move(options)) {
  if (!attends()) return;
  const bool is_context = options_.score == kContext;
  score_options_.name = is_context ? "dot" : options_.score;
  score_options_.query_size = score_options_.key_size = width;
  score_options_.hidden_size = options_.score_hidden;
  score_options_.maximum_length = longest;
  if (is_context) projection_ = register_projection(*this, "projection", {width, width});
  score_ = register_module("score", make_score(score_options_, Random()));
  context_ = register_parameter("context", at::zeros({width}));
}

void SequencePooling::initialise(const Random& random) {
  if (!attends()) return;
  torch::NoGradGuard no_gradients;
  if (projection_) projection_->initialise(random.split("projection"));
  const auto fresh = make_score(score_options_, random.split("score"))->named_parameters();
  for (auto& item : score_->named_parameters()) item.value().copy_(fresh[item.key()]);
  initialise_normal(context_, 1 / std::sqrt(double(context_.size(0))), random.split("context"));
}

AttendInput SequencePooling::attention_input(const Tensor& states, const Tensor& keep) const {
  const Tensor keys = projection_ ? activated_projection(states, projection_->weight,
                                                         projection_->bias, Activation::Tanh)
                                  : states;  // [N, T, D]
  AttendInput input;
  input.memory = remember(*score_, keys, states, KeepMask::from_keep(keep));
  input.query = context_.expand({states.size(0), 1, 1, -1});  // [N, 1, 1, D]
  input.score = score_.get();
  return input;
}

Tensor SequencePooling::pool_plainly(const Tensor& states, const Tensor& keep) const {
  const Tensor real = keep.unsqueeze(-1);  // [N, T, 1]
  if (options_.pooling == "average")
    return states.masked_fill(~real, 0).sum(1) /
           real.sum(1).clamp_min(1).to(states.scalar_type());  // [N, D]
  constexpr double kLowest = -std::numeric_limits<double>::infinity();
  return states.masked_fill(~real, kLowest).amax(1).masked_fill(~real.any(1), 0);
}

SequencePooling::Pooled SequencePooling::pool(const Tensor& states, const Tensor& keep,
                                              bool keep_weights) const {
  if (!attends()) return {pool_plainly(states, keep), {}};
  AttendInput input = attention_input(states, keep);
  input.keep_weights = keep_weights;
  const Attended attended = attend(input);  // [N, 1, 1, D]
  Pooled pooled{attended.context.flatten(1), {}};
  if (keep_weights) pooled.weights = attended.weights.flatten(1);  // [N, T]
  return pooled;
}

Tensor SequencePooling::pool(const Tensor& states, const Tensor& keep, const MapLabel& map,
                             Tap* tap) const {
  if (!attends()) return pool_plainly(states, keep);
  AttendInput input = attention_input(states, keep);
  input.keep_weights = false;
  input.map = map;
  return attend(input, tap).context.flatten(1);  // [N, D]
}

}  // namespace fovea
