#include "fovea/attention/multi_head.h"

#include <torch/torch.h>

#include <cmath>

#include "fovea/core/error.h"

namespace fovea {

namespace {

using at::Tensor;

void check_width(const Tensor& x, int64_t width, const char* what, const char* length) {
  require(x.defined() && x.dim() == 3 && x.size(2) == width, ErrorKind::InvalidArgument, what,
          " must have shape [B, ", length, ", ", width, "], found ",
          x.defined() ? concat(x.sizes()) : "nothing");
}

/// One number tells of all: a sum is finite only when every part of it is.
bool is_finite(const Tensor& x) {
  return std::isfinite(x.detach().sum().item<double>());
}

}  // namespace

void MultiHeadOptions::describe(OptionList& list) {
  list.add("width", width, "numbers per position").at_least(1);
  list.add("heads", heads, "attention heads; must divide the width").at_least(1);
  list.add("key_heads", key_heads, "heads of keys and values; must divide heads; 0: as many")
      .at_least(0);
  list.add("dropout", dropout, "of the attention weights, in training").at_least(0).below(1);
  list.add("bias", bias, "projections have a bias");
  list.add("positions", positions, "what the scores know of positions")
      .choices({"none", "rotary", "alibi"});
  list.group("score", score);
  list.group("normaliser", normaliser);
}

MultiHeadAttention::MultiHeadAttention(const MultiHeadOptions& options) : options_(options) {
  const int64_t width = options.width, heads = options.heads;
  require(width > 0 && heads > 0 && width % heads == 0, ErrorKind::InvalidArgument, "a width of ",
          width, " cannot be shared by ", heads, " heads; the heads must divide the width");
  if (options_.key_heads == 0) options_.key_heads = heads;
  require(options_.key_heads > 0 && heads % options_.key_heads == 0, ErrorKind::InvalidArgument,
          heads, " heads cannot share ", options_.key_heads,
          " heads of keys; the key heads must divide the heads");
  require(options_.positions != "rotary" || width / heads % 2 == 0, ErrorKind::InvalidArgument,
          "rotary positions turn pairs of numbers; a head of ", width / heads,
          " has none to spare");
  options_.score.query_size = options_.score.key_size = width / heads;
  const int64_t rows = value_part().first + value_part().rows;
  in_proj_weight = register_parameter("in_proj_weight", at::zeros({rows, width}));
  if (options.bias) in_proj_bias = register_parameter("in_proj_bias", at::zeros({rows}));
  out_proj = register_module(
      "out_proj", std::make_shared<Projection>(ProjectionOptions{width, width, options.bias}));
  score_ = register_module("score", make_score(options_.score, Random(0)));
  if (options_.positions == "alibi") slopes_ = alibi_slopes(heads);
}

MultiHeadAttention::MultiHeadAttention(const MultiHeadOptions& options, const Random& random)
    : MultiHeadAttention(options) {
  initialise(random);
}

void MultiHeadAttention::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  in_proj_weight.copy_(
      glorot_uniform(in_proj_weight.size(0), in_proj_weight.size(1), random.split("in_proj")));
  if (in_proj_bias.defined()) in_proj_bias.zero_();
  out_proj->initialise(random.split("out_proj"));
  const auto drawn = make_score(options_.score, random.split("score"))->named_parameters();
  for (auto& parameter : score_->named_parameters())
    parameter.value().copy_(drawn[parameter.key()]);
}

MultiHeadAttention::Part MultiHeadAttention::query_part() const {
  return {0, options_.width, options_.heads};
}
MultiHeadAttention::Part MultiHeadAttention::key_part() const {
  return {options_.width, options_.width / options_.heads * options_.key_heads, options_.key_heads};
}
MultiHeadAttention::Part MultiHeadAttention::value_part() const {
  const Part keys = key_part();
  return {keys.first + keys.rows, keys.rows, keys.heads};
}

Tensor MultiHeadAttention::project(const Tensor& x, const Part& part) const {
  const auto bias =
      in_proj_bias.defined() ? in_proj_bias.narrow(0, part.first, part.rows) : Tensor();
  const auto projected =
      torch::linear(x, in_proj_weight.narrow(0, part.first, part.rows), bias);  // [B, N, h d]
  return projected.view({x.size(0), x.size(1), part.heads, part.rows / part.heads})
      .transpose(1, 2);  // [B, h, N, d]
}

Tensor MultiHeadAttention::turned(const Tensor& x, int64_t first_position) const {
  return options_.positions == "rotary" ? rotate_by_position(x, first_position) : x;
}

Memory MultiHeadAttention::remember(const Tensor& keys, const Tensor& values, const KeepMask& mask,
                                    int64_t first_position) const {
  check_width(keys, options_.width, "keys", "K");
  check_width(values, options_.width, "values", "K");
  // Before the projections, because 0 * NaN in their backward would reach the weights.
  const auto visible = mask.to(keys.device());
  const auto clean_key = clean_keys(keys.unsqueeze(1), visible);  // [B, 1, K, D]
  const bool shared = keys.is_same(values);
  const auto clean_value = shared ? clean_key : clean_keys(values.unsqueeze(1), visible);
  Memory memory;
  memory.keys = score_->prepare(
      turned(project(clean_key.tensor.squeeze(1), key_part()), first_position));  // [B, h, K, F]
  memory.values = project(clean_value.tensor.squeeze(1), value_part());           // [B, h, K, d]
  memory.broken = either_broken(clean_key.broken, clean_value.broken);            // [B, 1, K]
  memory.mask = visible;
  return memory;
}

Attended MultiHeadAttention::forward(const MultiHeadInput& input, Tap* tap) const {
  check_width(input.query, options_.width, "the query", "Q");
  const KeepMask mask = input.memory.mask & input.mask.to(input.query.device());
  // A query that sees nothing may hold anything.
  const auto query = is_finite(input.query)
                         ? input.query
                         : clean_queries(input.query.unsqueeze(1), mask).squeeze(1);  // [B, Q, D]
  return look(input, turned(project(query, query_part()), input.first_position), input.memory, tap);
}

MultiHeadAttention::SelfAttended MultiHeadAttention::forward_self(const MultiHeadInput& input,
                                                                  Tap* tap) const {
  const Tensor& x = input.query;
  check_width(x, options_.width, "the sequence", "N");
  const bool goes_on = input.memory.values.defined();
  Memory memory;
  Tensor query;  // [B, H, N, d]
  if (is_finite(x)) {
    const auto projected = torch::linear(x, in_proj_weight, in_proj_bias);  // [B, N, D + 2 D']
    const auto taken = [&](const Part& part) {
      return projected.narrow(2, part.first, part.rows)
          .view({x.size(0), x.size(1), part.heads, part.rows / part.heads})
          .transpose(1, 2);  // [B, h, N, d]
    };
    query = turned(taken(query_part()), input.first_position);
    memory.keys = score_->prepare(turned(taken(key_part()), input.first_position));
    memory.values = taken(value_part());
  } else {
    const KeepMask mask = goes_on ? KeepMask::all() : input.mask.to(x.device());
    memory = remember(x, x, mask, input.first_position);
    memory.mask = {};
    query = turned(project(clean_queries(x.unsqueeze(1), mask).squeeze(1), query_part()),
                   input.first_position);
  }
  if (goes_on) memory = input.memory.followed_by(memory);
  return {look(input, query, memory, tap), memory};
}

Attended MultiHeadAttention::look(const MultiHeadInput& input, const Tensor& query,
                                  const Memory& memory, Tap* tap) const {
  AttendInput inner;
  inner.query = query;  // [B, H, Q, d]
  inner.memory = memory;
  inner.score = score_.get();
  inner.mask = input.mask;
  inner.normaliser = options_.normaliser;
  inner.alignment = input.alignment;
  inner.first_position = input.first_position;
  inner.random = input.random;
  inner.dropout = is_training() && input.random ? options_.dropout : 0;
  if (slopes_.defined()) inner.slopes = slopes_.to(query.device());
  inner.keep_weights = input.keep_weights;
  inner.map = input.map;
  Attended attended = attend(inner, tap);

  const auto joined = attended.context.transpose(1, 2).flatten(2);  // [B, Q, D]
  attended.context = out_proj->forward(joined);
  if (attended.blind.defined()) {
    const auto blind = attended.blind.all(1, true).squeeze(1);  // [b, q, 1]
    attended.context = attended.context.masked_fill(blind, 0);
  }
  return attended;
}

Tensor rotate_by_position(const Tensor& x, int64_t first) {
  const int64_t half = x.size(-1) / 2;
  const auto options = x.options().dtype(at::kDouble);
  const auto rate = at::exp(at::arange(half, options) * (-std::log(10000.0) / double(half)));
  const auto angle = at::outer(at::arange(first, first + x.size(2), options), rate);  // [N, d/2]
  const auto cosine = angle.cos().to(x.dtype()), sine = angle.sin().to(x.dtype());
  const auto low = x.narrow(-1, 0, half), high = x.narrow(-1, half, half);
  return at::cat({low * cosine - high * sine, low * sine + high * cosine}, -1);
}

Tensor alibi_slopes(int64_t heads) {
  const auto head = at::arange(1, heads + 1, at::kDouble);
  return at::exp2(head * (-8.0 / double(heads))).to(at::kFloat);
}

}  // namespace fovea
