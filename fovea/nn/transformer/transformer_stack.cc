#include "fovea/nn/transformer/transformer_stack.h"

#include <torch/nn/modules/container/modulelist.h>

#include "fovea/base/stop.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

/// Registers so many layers as `owner`.layers.0, layers.1, …
template <class Layer>
std::vector<std::shared_ptr<Layer>> make_layers(torch::nn::Module& owner,
                                                const TransformerLayerOptions& options,
                                                int64_t count) {
  const auto list = owner.register_module("layers", std::make_shared<torch::nn::ModuleListImpl>());
  std::vector<std::shared_ptr<Layer>> layers;
  for (int64_t i = 0; i < count; ++i) {
    layers.push_back(std::make_shared<Layer>(options));
    list->push_back(layers.back());
  }
  return layers;
}

std::shared_ptr<Norm> last_norm(torch::nn::Module& owner, const TransformerLayerOptions& o) {
  if (o.norm != "pre") return nullptr;
  return owner.register_module("norm", make_norm(o.norm_name, o.width, o.epsilon));
}

std::shared_ptr<RelativePositions> make_relative(torch::nn::Module& owner,
                                                 const TransformerLayerOptions& o, bool both_ways) {
  if (o.positions != "relative") return nullptr;
  return owner.register_module("relative",
                               std::make_shared<RelativePositions>(o.relative, o.heads, both_ways));
}

template <class Layers>
void initialise_layers(const Layers& layers, const std::shared_ptr<Norm>& norm,
                       const Random& random) {
  for (size_t i = 0; i < layers.size(); ++i) layers[i]->initialise(random.split(i));
  if (norm) norm->initialise();
}

LayerCall call_of(size_t layer, const std::optional<Random>& random, Tap* tap, const Tensor& bias) {
  LayerCall call;
  call.bias = bias;
  if (random) call.random = random->split(layer);
  call.tap = tap;
  call.layer = int64_t(layer) + 1;
  return call;
}

}  // namespace

TransformerEncoder::TransformerEncoder(const TransformerLayerOptions& options, int64_t layers)
    : layers_(make_layers<TransformerEncoderLayer>(*this, options, layers)),
      norm_(last_norm(*this, options)),
      relative_(make_relative(*this, options, /*both_ways=*/true)) {}

void TransformerEncoder::initialise(const Random& random) {
  initialise_layers(layers_, norm_, random);
  if (relative_) relative_->initialise(random.split("relative"));
}

Tensor TransformerEncoder::forward(Tensor x, const KeepMask& mask, const MapLabel& map,
                                   const std::optional<Random>& random, Tap* tap) const {
  const Tensor bias = relative_ ? relative_->scores(x.size(1), x.size(1), 0) : Tensor();
  for (size_t i = 0; i < layers_.size(); ++i) {
    stop_if_asked();
    x = layers_[i]->forward(x, mask, map, call_of(i, random, tap, bias));
  }
  return norm_ ? norm_->forward(x) : x;
}

std::vector<HeadBlock> TransformerEncoder::head_blocks(const std::string& map) const {
  std::vector<HeadBlock> blocks;
  for (size_t i = 0; i < layers_.size(); ++i)
    blocks.push_back({map, int64_t(i) + 1, layers_[i]->attention()});
  return blocks;
}

TransformerDecoder::TransformerDecoder(const TransformerLayerOptions& options, int64_t layers)
    : layers_(make_layers<TransformerDecoderLayer>(*this, options, layers)),
      norm_(last_norm(*this, options)),
      relative_(make_relative(*this, options, /*both_ways=*/false)) {}

void TransformerDecoder::initialise(const Random& random) {
  initialise_layers(layers_, norm_, random);
  if (relative_) relative_->initialise(random.split("relative"));
}

std::vector<TransformerMemory> TransformerDecoder::look_at(const Tensor& encoded,
                                                           const KeepMask& mask) const {
  std::vector<TransformerMemory> memories;
  for (const auto& layer : layers_) memories.push_back(layer->look_at(encoded, mask));
  return memories;
}

Tensor TransformerDecoder::forward(const Tensor& x, std::vector<TransformerMemory>& memories,
                                   const MapLabel& own_map, const MapLabel& source_map,
                                   const std::optional<Random>& random, Tap* tap) const {
  return run(x, 0, memories, false, own_map, source_map, random, tap);
}

Tensor TransformerDecoder::step(const Tensor& x, int64_t position,
                                std::vector<TransformerMemory>& memories) const {
  return run(x, position, memories, true, {}, {}, {}, nullptr);
}

std::vector<HeadBlock> TransformerDecoder::head_blocks(const std::string& own_map,
                                                       const std::string& source_map) const {
  std::vector<HeadBlock> blocks;
  for (size_t i = 0; i < layers_.size(); ++i)
    blocks.push_back({own_map, int64_t(i) + 1, layers_[i]->attention()});
  for (size_t i = 0; i < layers_.size(); ++i)
    if (layers_[i]->source_attention())
      blocks.push_back({source_map, int64_t(i) + 1, layers_[i]->source_attention()});
  return blocks;
}

Tensor TransformerDecoder::run(Tensor x, int64_t first, std::vector<TransformerMemory>& memories,
                               bool grow, const MapLabel& own_map, const MapLabel& source_map,
                               const std::optional<Random>& random, Tap* tap) const {
  const int64_t queries = x.size(1);
  const Tensor bias =
      relative_ ? relative_->scores(queries, first + queries, first) : Tensor();  // [1, H, Q, K]
  for (size_t i = 0; i < layers_.size(); ++i) {
    stop_if_asked();
    x = layers_[i]->forward(x, first, memories[i], grow, own_map, source_map,
                            call_of(i, random, tap, bias));
  }
  return norm_ ? norm_->forward(x) : x;
}

}  // namespace fovea
