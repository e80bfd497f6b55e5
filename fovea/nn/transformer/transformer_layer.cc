#include "fovea/nn/transformer/transformer_layer.h"

#include "fovea/base/error.h"
#include "fovea/nn/transformer/sublayers.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

/// `is_own`: of the sequence to itself. Positions of the target say nothing of those in the source;
/// relative ones are the stack's, which hands their scores to every layer.
MultiHeadOptions attention_options(const TransformerLayerOptions& o, bool is_own) {
  MultiHeadOptions options;
  options.width = o.width;
  options.heads = o.heads;
  options.key_heads = o.key_heads;
  options.head_size = o.head_size;
  options.dropout = o.attention_dropout;
  options.bias = o.bias;
  options.output_bias = o.output_bias;
  options.positions = is_own && o.positions != "relative" ? o.positions : "none";
  options.rotary = o.rotary;
  options.score.name = o.score;
  return options;
}

/// A child stream of the call's, where it has one.
std::optional<Random> stream(const LayerCall& call, const char* name) {
  if (!call.random) return {};
  return call.random->split(name);
}

MultiHeadInput input_of(const Tensor& x, const MapLabel& map, const LayerCall& call,
                        const char* name) {
  MultiHeadInput input;
  input.query = x;
  input.random = stream(call, name);
  input.keep_weights = false;
  input.map = map;
  input.map.layer = call.layer;
  return input;
}

void check(const TransformerLayerOptions& o) {
  require(o.norm == "post" || o.norm == "pre", ErrorKind::InvalidArgument,
          "model.norm must be post or pre, found '", o.norm, "'");
  require(o.window >= 0, ErrorKind::InvalidArgument, "model.window must not be negative");
}

std::shared_ptr<Norm> register_norm(torch::nn::Module& owner, const char* name,
                                    const TransformerLayerOptions& o) {
  return owner.register_module(name, make_norm(o.norm_name, o.width, o.epsilon));
}

/// What the sequence may see of itself: everything, or a window.
KeepMask window_of(const TransformerLayerOptions& o, int64_t queries, int64_t keys, int64_t first) {
  return o.window > 0 ? KeepMask::window(queries, keys, o.window, first) : KeepMask::all();
}

}  // namespace

Tensor run_sublayers(const TransformerLayerOptions& o, Tensor x, const LayerCall& call,
                     std::initializer_list<Sublayer> sublayers) {
  const bool post = o.norm == "post";
  Tensor normalised = post ? Tensor() : sublayers.begin()->norm.forward(x);
  for (const Sublayer* sublayer = sublayers.begin(); sublayer != sublayers.end(); ++sublayer) {
    const std::optional<Random> random = stream(call, sublayer->dropout);
    const Random* drawn = random ? &*random : nullptr;
    if (post) {
      x = sublayer->norm.add(x, sublayer->run(x), o.dropout, drawn, /*is_residual=*/true).output;
      continue;
    }
    const Tensor added = sublayer->run(normalised);
    if (sublayer + 1 == sublayers.end()) return add_dropped(x, added, o.dropout, drawn);
    const AddedNorm next = (sublayer + 1)->norm.add(x, added, o.dropout, drawn);
    x = next.sum;
    normalised = next.output;
  }
  return x;
}

FeedForward::FeedForward(torch::nn::Module& owner, const TransformerLayerOptions& o)
    : linear1_(register_projection(
          owner, "linear1",
          {o.width, o.gated ? 2 * o.feed_forward : o.feed_forward, o.feed_forward_bias})),
      linear2_(
          register_projection(owner, "linear2", {o.feed_forward, o.width, o.feed_forward_bias})),
      name_(o.activation),
      gated_(o.gated),
      dropout_(o.hidden_dropout) {
  if (!gated_ && has_kernel(name_)) activation_ = activation_named(name_);
}

void FeedForward::initialise(const Random& random) {
  linear1_->initialise(random.split("linear1"));
  linear2_->initialise(random.split("linear2"));
}

Tensor FeedForward::forward(const Tensor& x, const LayerCall& call) const {
  std::optional<Random> random;
  if (call.random && dropout_ > 0) random = call.random->split("hidden");
  const Random* drawn = random ? &*random : nullptr;
  std::optional<Random> first, second;  // of the adapters
  if (call.random && !linear1_->adapters.empty()) first = call.random->split("linear1");
  if (call.random && !linear2_->adapters.empty()) second = call.random->split("linear2");
  const Random* drawn2 = second ? &*second : nullptr;
  if (activation_ && linear1_->adapters.empty() &&
      linear1_->weight.scalar_type() == x.scalar_type())
    return linear2_->forward(
        activated_projection(x, linear1_->weight, linear1_->bias, *activation_, dropout_, drawn),
        drawn2);
  Tensor hidden = linear1_->forward(x, first ? &*first : nullptr);  // [B, N, F], or 2 F
  if (gated_) {
    const auto halves = hidden.chunk(2, -1);
    hidden = activate(halves[0], name_) * halves[1];
  } else {
    hidden = activate(hidden, name_);
  }
  return linear2_->forward(dropout(hidden, dropout_, drawn, "hidden"), drawn2);
}

TransformerEncoderLayer::TransformerEncoderLayer(const TransformerLayerOptions& options)
    : options_(options) {
  check(options);
  self_attn_ = register_module("self_attn", std::make_shared<MultiHeadAttention>(
                                                attention_options(options, /*is_own=*/true)));
  feed_forward_ = std::make_unique<FeedForward>(*this, options);
  norm1_ = register_norm(*this, "norm1", options);
  norm2_ = register_norm(*this, "norm2", options);
}

void TransformerEncoderLayer::initialise(const Random& random) {
  self_attn_->initialise(random.split("self_attn"));
  feed_forward_->initialise(random);
  for (const auto& norm : {norm1_, norm2_}) norm->initialise();
}

Tensor TransformerEncoderLayer::forward(const Tensor& x, const KeepMask& mask, const MapLabel& map,
                                        const LayerCall& call) const {
  const auto look = [&](const Tensor& inner) {
    MultiHeadInput own = input_of(inner, map, call, "attention");
    own.mask = mask & window_of(options_, inner.size(1), inner.size(1), 0);
    own.bias = call.bias;
    return self_attn_->forward_self(own, call.tap).attended.context;
  };
  const auto think = [&](const Tensor& inner) { return feed_forward_->forward(inner, call); };
  return run_sublayers(options_, x, call,
                       {{*norm1_, "dropout1", look}, {*norm2_, "dropout2", think}});
}

TransformerMemory TransformerMemory::select(const Tensor& rows) const {
  const auto chosen = [&](const Memory& memory) {
    return memory.values.defined() ? memory.select(rows) : memory;
  };
  return {chosen(written), chosen(source)};
}

TransformerDecoderLayer::TransformerDecoderLayer(const TransformerLayerOptions& options)
    : options_(options) {
  check(options);
  self_attn_ = register_module("self_attn", std::make_shared<MultiHeadAttention>(
                                                attention_options(options, /*is_own=*/true)));
  if (options.looks_at_source)
    multihead_attn_ = register_module(
        "multihead_attn",
        std::make_shared<MultiHeadAttention>(attention_options(options, /*is_own=*/false)));
  feed_forward_ = std::make_unique<FeedForward>(*this, options);
  norm1_ = register_norm(*this, "norm1", options);
  norm2_ = register_norm(*this, "norm2", options);
  if (options.looks_at_source) norm3_ = register_norm(*this, "norm3", options);
}

void TransformerDecoderLayer::initialise(const Random& random) {
  self_attn_->initialise(random.split("self_attn"));
  if (multihead_attn_) multihead_attn_->initialise(random.split("multihead_attn"));
  feed_forward_->initialise(random);
  for (const auto& norm : {norm1_, norm2_, norm3_})
    if (norm) norm->initialise();
}

TransformerMemory TransformerDecoderLayer::look_at(const Tensor& encoded,
                                                   const KeepMask& mask) const {
  if (!multihead_attn_) return {};
  return {{}, multihead_attn_->remember(encoded, encoded, mask)};
}

Tensor TransformerDecoderLayer::forward(const Tensor& x, int64_t first, TransformerMemory& memory,
                                        bool grow, const MapLabel& own_map,
                                        const MapLabel& source_map, const LayerCall& call) const {
  const int64_t queries = x.size(1), keys = first + queries;
  const auto look_back = [&](const Tensor& inner) {
    MultiHeadInput own = input_of(inner, own_map, call, "attention");
    own.first_position = first;
    own.memory = memory.written;
    own.bias = call.bias;
    if (queries > 1) own.mask = KeepMask::causal(queries, keys, first);
    own.mask = own.mask & window_of(options_, queries, keys, first);
    auto looked = self_attn_->forward_self(own, call.tap);
    if (grow) memory.written = std::move(looked.memory);
    return looked.attended.context;
  };
  const auto think = [&](const Tensor& inner) { return feed_forward_->forward(inner, call); };
  if (!multihead_attn_)
    return run_sublayers(options_, x, call,
                         {{*norm1_, "dropout1", look_back}, {*norm2_, "dropout2", think}});
  const auto look_at_source = [&](const Tensor& inner) {
    MultiHeadInput other = input_of(inner, source_map, call, "source attention");
    other.memory = memory.source;
    return multihead_attn_->forward(other, call.tap).context;
  };
  return run_sublayers(options_, x, call,
                       {{*norm1_, "dropout1", look_back},
                        {*norm2_, "dropout2", look_at_source},
                        {*norm3_, "dropout3", think}});
}

}  // namespace fovea
