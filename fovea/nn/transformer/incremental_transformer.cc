#include "fovea/nn/transformer/incremental_transformer.h"

#include <cmath>
#include <numeric>

#include "fovea/nn/transformer/sublayers.h"
#include "fovea/tensor/kernel_path.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

DecodeAttention settings_of(const MultiHeadAttention& attention) {
  const int64_t size = attention.head_size(), heads = int64_t(attention.heads().size());
  DecodeAttention how;
  how.heads = heads;
  how.key_heads = (attention.in_proj_weight.size(0) / size - heads) / 2;
  how.key_size = how.value_size = size;
  how.scale = 1 / std::sqrt(double(size));
  return how;
}

bool is_plain(const MultiHeadAttention& attention) {
  const MultiHeadOptions& o = attention.options();
  const ScoreFunction& score = attention.score();
  return o.positions == "none" && score.parameters().empty() &&
         score.dot_scale(attention.head_size()) == settings_of(attention).scale &&
         o.normaliser.traits().is_fused && !attention.heads().empty() &&
         kernels_take({attention.in_proj_weight, attention.in_proj_bias});
}

/// The rows of in_proj that make queries.
PackedProjection query_projection(const MultiHeadAttention& attention) {
  const int64_t rows = int64_t(attention.heads().size()) * attention.head_size();
  const Tensor& bias = attention.in_proj_bias;
  return {attention.in_proj_weight.narrow(0, 0, rows),
          bias.defined() ? bias.narrow(0, 0, rows) : bias};
}

PackedProjection packed(const Projection& projection) {
  return {projection.weight, projection.bias};
}

}  // namespace

void StepLists::select(const std::vector<int64_t>& origin) {
  StepLists chosen;
  for (const int64_t row : origin) {
    chosen.source.push_back(source[size_t(row)]);
    chosen.places.push_back(places[size_t(row)]);
  }
  *this = std::move(chosen);
}

PackedProjection PackedDecoderLayer::hidden_projection(const FeedForward& part) {
  // Other activations add the bias themselves.
  return {part.linear1_->weight,
          part.activation_ == Activation::Relu ? part.linear1_->bias : Tensor()};
}

bool PackedDecoderLayer::fits(const TransformerDecoderLayer& layer,
                              const TransformerMemory& memory) {
  return layer.options_.window == 0 && layer.options_.positions == "none" &&
         layer.multihead_attn_ && is_plain(*layer.self_attn_) && is_plain(*layer.multihead_attn_) &&
         layer.feed_forward_->activation_ && layer.feed_forward_->linear1_->bias.defined() &&
         SourceKeys::fits(memory.source);
}

PackedDecoderLayer::PackedDecoderLayer(const TransformerDecoderLayer& layer,
                                       const TransformerMemory& memory)
    : layer_(layer),
      own_(settings_of(*layer.self_attn_)),
      other_(settings_of(*layer.multihead_attn_)),
      own_in_(layer.self_attn_->in_proj_weight, layer.self_attn_->in_proj_bias),
      own_out_(packed(*layer.self_attn_->out_proj)),
      other_query_(query_projection(*layer.multihead_attn_)),
      other_out_(packed(*layer.multihead_attn_->out_proj)),
      hidden_(hidden_projection(*layer.feed_forward_)),
      narrow_(packed(*layer.feed_forward_->linear2_)),
      source_(memory.source) {}

Tensor PackedDecoderLayer::look_back(const Tensor& x, const StepLists& lists) {
  generated_.push_back(own_in_.forward(x));  // [R, H d + 2 G d]
  const int64_t queries = own_.heads * own_.key_size;
  const size_t rows = lists.places.size(), positions = generated_.size();
  std::vector<const float*> keys;  // of all rows, one after the other
  keys.reserve(rows * positions);
  for (size_t row = 0; row < rows; ++row)
    for (size_t position = 0; position < positions; ++position) {
      const bool now = position + 1 == positions;
      const int64_t place = now ? int64_t(row) : lists.places[row][position];
      const Tensor& made = generated_[position];
      keys.push_back(made.data_ptr<float>() + place * made.size(1) + queries);
    }
  std::vector<KeyList> looked_at;
  for (size_t row = 0; row < rows; ++row)
    looked_at.emplace_back(keys.data() + row * positions, positions);
  return own_out_.forward(own_.attend(generated_.back().narrow(1, 0, queries), looked_at));
}

Tensor PackedDecoderLayer::look_at_source(const Tensor& x, const StepLists& lists) const {
  std::vector<KeyList> looked_at;
  for (const int64_t source : lists.source) looked_at.push_back(source_.of(source));
  return other_out_.forward(other_.attend(other_query_.forward(x), looked_at));
}

Tensor PackedDecoderLayer::think(const Tensor& x) const {
  const FeedForward& part = *layer_.feed_forward_;
  if (part.activation_ == Activation::Relu)
    return narrow_.forward(hidden_.forward(x, Finish::Relu));
  return narrow_.forward(activate(hidden_.forward(x), part.linear1_->bias, *part.activation_));
}

Tensor PackedDecoderLayer::step(const Tensor& x, const StepLists& lists) {
  return run_sublayers(
      layer_.options_, x, {},
      {{*layer_.norm1_, "", [&](const Tensor& inner) { return look_back(inner, lists); }},
       {*layer_.norm2_, "", [&](const Tensor& inner) { return look_at_source(inner, lists); }},
       {*layer_.norm3_, "", [&](const Tensor& inner) { return think(inner); }}});
}

IncrementalTransformerDecoder::IncrementalTransformerDecoder(
    const TransformerDecoder& decoder, std::vector<TransformerMemory> memories)
    : decoder_(decoder), memories_(std::move(memories)) {
  const auto& layers = decoder.layers_;
  for (size_t i = 0; i < layers.size(); ++i)
    if (!PackedDecoderLayer::fits(*layers[i], memories_[i])) return;
  for (size_t i = 0; i < layers.size(); ++i) layers_.emplace_back(*layers[i], memories_[i]);
  lists_.source.resize(size_t(memories_[0].source.values.size(0)));
  std::iota(lists_.source.begin(), lists_.source.end(), int64_t{0});
  lists_.places.resize(lists_.source.size());
  memories_.clear();
}

void IncrementalTransformerDecoder::select(const Tensor& origin) {
  if (!is_fused()) {
    for (TransformerMemory& memory : memories_)
      memory = memory.select(origin.to(memory.source.values.device()));
    return;
  }
  const int64_t* rows = origin.data_ptr<int64_t>();
  lists_.select({rows, rows + origin.size(0)});
}

Tensor IncrementalTransformerDecoder::step(const Tensor& x, int64_t position) {
  if (!is_fused()) return decoder_.step(x.unsqueeze(1), position, memories_).squeeze(1);
  Tensor y = x;  // [R, D]
  for (PackedDecoderLayer& layer : layers_) y = layer.step(y, lists_);
  for (size_t row = 0; row < lists_.places.size(); ++row)
    lists_.places[row].push_back(int64_t(row));
  return decoder_.norm_ ? decoder_.norm_->forward(y) : y;
}

}  // namespace fovea
