#include "fovea/attention/multi_head.h"

#include <torch/torch.h>

#include <cmath>

#include "fovea/core/error.h"

namespace fovea {

void MultiHeadOptions::describe(OptionList& list) {
  list.add("width", width, "numbers per position").at_least(1);
  list.add("heads", heads, "attention heads; must divide the width").at_least(1);
  list.add("dropout", dropout, "of the attention weights, in training").at_least(0).below(1);
  list.add("bias", bias, "projections have a bias");
  list.group("score", score);
  list.group("normaliser", normaliser);
}

MultiHeadAttention::MultiHeadAttention(const MultiHeadOptions& options, const Random& random)
    : options_(options) {
  const int64_t width = options.width, heads = options.heads;
  require(width > 0 && heads > 0 && width % heads == 0, ErrorKind::InvalidArgument, "a width of ",
          width, " cannot be shared by ", heads, " heads; the heads must divide the width");
  options_.score.query_size = options_.score.key_size = width / heads;
  in_proj_weight = register_parameter("in_proj_weight",
                                      glorot_uniform(3 * width, width, random.split("in_proj")));
  if (options.bias) in_proj_bias = register_parameter("in_proj_bias", at::zeros({3 * width}));
  out_proj = register_module(
      "out_proj", std::make_shared<Projection>(ProjectionOptions{width, width, options.bias},
                                               random.split("out_proj")));
  score_ = register_module("score", make_score(options_.score, random.split("score")));
}

at::Tensor MultiHeadAttention::project(const at::Tensor& x, Part part) const {
  const int64_t width = options_.width, first = part * width;
  const auto bias = in_proj_bias.defined() ? in_proj_bias.narrow(0, first, width) : at::Tensor();
  const auto projected =
      torch::nn::functional::linear(x, in_proj_weight.narrow(0, first, width), bias);  // [B, N, D]
  return projected.view({x.size(0), x.size(1), options_.heads, width / options_.heads})
      .transpose(1, 2);  // [B, H, N, D / H]
}

Memory MultiHeadAttention::remember(const at::Tensor& keys, const at::Tensor& values,
                                    const KeepMask& mask) const {
  for (const auto* x : {&keys, &values})
    require(x->defined() && x->dim() == 3 && x->size(2) == options_.width,
            ErrorKind::InvalidArgument, "keys and values must have shape [B, K, ", options_.width,
            "], found ", x->defined() ? concat(x->sizes()) : "nothing");
  // Before the projections, because 0 * NaN in their backward would reach the weights.
  const auto visible = mask.to(keys.device());
  const auto clean_key = clean_keys(keys.unsqueeze(1), visible);  // [B, 1, K, D]
  const bool shared = keys.is_same(values);
  const auto clean_value = shared ? clean_key : clean_keys(values.unsqueeze(1), visible);
  Memory memory;
  memory.keys = score_->prepare(project(clean_key.tensor.squeeze(1), kKey));  // [B, H, K, F]
  memory.values = project(clean_value.tensor.squeeze(1), kValue);             // [B, H, K, D / H]
  memory.broken = either_broken(clean_key.broken, clean_value.broken);        // [B, 1, K]
  memory.mask = visible;
  return memory;
}

Attended MultiHeadAttention::forward(const MultiHeadInput& input, Tap* tap) const {
  require(input.query.defined() && input.query.dim() == 3 && input.query.size(2) == options_.width,
          ErrorKind::InvalidArgument, "the query must have shape [B, Q, ", options_.width,
          "], found ", input.query.defined() ? concat(input.query.sizes()) : "nothing");
  const KeepMask mask = input.memory.mask & input.mask.to(input.query.device());
  const auto query = clean_queries(input.query.unsqueeze(1), mask).squeeze(1);  // [B, Q, D]

  AttendInput inner;
  inner.query = project(query, kQuery);  // [B, H, Q, D / H]
  inner.memory = input.memory;
  inner.score = score_.get();
  inner.mask = input.mask;
  inner.normaliser = options_.normaliser;
  inner.alignment = input.alignment;
  inner.first_position = input.first_position;
  inner.random = input.random;
  inner.dropout = is_training() ? options_.dropout : 0;
  inner.map = input.map;
  Attended attended = attend(inner, tap);

  const auto joined = attended.context.transpose(1, 2).flatten(2);  // [B, Q, D]
  attended.context = out_proj->forward(joined);
  if (!attended.mask.is_all()) {
    const auto blind = ~attended.mask.seeing_queries().any(1, true).squeeze(1);  // [b, q, 1]
    attended.context = attended.context.masked_fill(blind, 0);
  }
  return attended;
}

}  // namespace fovea
