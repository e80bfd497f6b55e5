#include "fovea/models/encoder_decoder.h"

#include "fovea/base/error.h"
#include "fovea/nn/transformer/incremental_transformer.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

const MapLabel kEncoderMap{"encoder", "source", "source"};
const MapLabel kDecoderMap{"decoder", "target", "written"};
const MapLabel kSourceMap{"attention", "target", "source"};

std::optional<Random> side_stream(const Random* random, const char* name) {
  if (!random) return {};
  return random->split(name);
}

const Random* pointer_to(const std::optional<Random>& random) {
  return random ? &*random : nullptr;
}

}  // namespace

void EncoderDecoderSizes::describe_layers(OptionList& list) {
  list.add("hidden", hidden, "numbers per position").at_least(1);
  list.add("layers", layers, "stacked layers of the encoder").within(1, 64);
  list.add("decoder_layers", decoder_layers, "of the decoder; 0: as many as model.layers")
      .within(0, 64);
}

void EncoderDecoderSizes::fill_in_zeros() {
  if (decoder_layers == 0) decoder_layers = layers;
  if (feed_forward == 0) feed_forward = 4 * hidden;
}

EncoderDecoder::EncoderDecoder(SearchOptions search, SequenceShape shape)
    : SequenceModel(std::move(search), shape) {
  require(shape.source_symbols > 0 && shape.target_symbols > 0, ErrorKind::InvalidArgument,
          "a transformer with encoder and decoder reads and writes symbols, not numbers");
  require(search_.coverage_penalty == 0, ErrorKind::InvalidArgument,
          "decoding.coverage_penalty needs one alignment a step; a transformer has many");
}

void EncoderDecoder::register_tables(int64_t hidden) {
  source_embedding_ =
      register_module("source_embedding", torch::nn::Embedding(shape_.source_symbols, hidden));
  target_embedding_ = shape_.shared_vocabulary
                          ? source_embedding_
                          : register_module("target_embedding",
                                            torch::nn::Embedding(shape_.target_symbols, hidden));
}

void EncoderDecoder::register_layers(const TransformerLayerOptions& layer,
                                     const EncoderDecoderSizes& sizes) {
  encoder_ = register_module("encoder", std::make_shared<TransformerEncoder>(layer, sizes.layers));
  decoder_ =
      register_module("decoder", std::make_shared<TransformerDecoder>(layer, sizes.decoder_layers));
  if (!sizes.tie_embeddings)
    output_weight_ =
        register_parameter("output_weight", at::zeros({shape_.target_symbols, sizes.hidden}));
}

const Tensor& EncoderDecoder::output_matrix() const {
  return output_weight_.defined() ? output_weight_ : target_embedding_->weight;
}

void EncoderDecoder::summarise_target_table(std::vector<LayerSummary>& layers) const {
  if (!shape_.shared_vocabulary)
    layers.push_back({concat("target embedding (", shape_.target_symbols, ")"),
                      {target_embedding_->weight.size(1)},
                      count_parameters(*target_embedding_)});
}

std::vector<HeadBlock> EncoderDecoder::head_blocks() const {
  std::vector<HeadBlock> blocks = encoder_->head_blocks(kEncoderMap.name);
  for (HeadBlock& block : decoder_->head_blocks(kDecoderMap.name, kSourceMap.name))
    blocks.push_back(std::move(block));
  return blocks;
}

std::vector<TransformerMemory> EncoderDecoder::encode(const Batch& batch, const Random* random,
                                                      Tap* tap) const {
  const Tensor& keep = batch.at("source.keep");  // [B, S]
  const std::optional<Random> own = side_stream(random, "source");
  const Tensor x = leaf_of(tap, "source", embed_source(batch.at("source"), pointer_to(own)));
  const KeepMask sources = KeepMask::from_keep(keep);
  // What padding looks at matters to nobody but a reader of the map.
  const KeepMask mask = tap ? sources & KeepMask::from_queries(keep) : sources;
  const Tensor encoded = encoder_->forward(x, mask, kEncoderMap, own, tap);  // [B, S, D]
  return decoder_->look_at(after_encoder(encoded, pointer_to(own)), sources);
}

Tensor EncoderDecoder::decode(std::vector<TransformerMemory>& memories, const Tensor& target,
                              const Random* random, Tap* tap) const {
  const std::optional<Random> own = side_stream(random, "target");
  const Tensor x = embed_target(shifted(target), 0, pointer_to(own));
  return after_decoder(decoder_->forward(x, memories, kDecoderMap, kSourceMap, own, tap),
                       pointer_to(own));
}

Tensor EncoderDecoder::logits_of(const Tensor& x) const {
  const OutputLayer layer = output_layer();
  return torch::linear(x, layer.weight, layer.bias);
}

Loss EncoderDecoder::loss(const Batch& batch, const StepContext& context) {
  const Random* random = draws() ? &context.random : nullptr;
  auto memories = encode(batch, random, nullptr);
  const Tensor& target = batch.at("target");
  const Tensor x = decode(memories, target, random, nullptr);  // [B, T, D]
  Loss loss;
  loss.units = batch.at("target.keep").sum();
  loss.objective = cross_entropy(x.flatten(0, 1), output_layer(), target.flatten(),
                                 {label_smoothing(), shape_.padding});
  return loss;
}

std::pair<double, int64_t> EncoderDecoder::negative_log_likelihood(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  auto memories = encode(batch, nullptr, nullptr);
  const Tensor& target = batch.at("target");
  const Tensor logits = logits_of(decode(memories, target, nullptr, nullptr));
  return {-log_probabilities(logits, target).sum().item<double>(),
          batch.at("target.keep").sum().item<int64_t>()};
}

Predictions EncoderDecoder::predict(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  const PrecisionScope precision = search_precision();
  IncrementalTransformerDecoder decoder(*decoder_, encode(batch, nullptr, nullptr));
  const OutputLayer layer = output_layer();
  const PackedProjection output(layer.weight, layer.bias);
  return search_outputs(batch, [&](const StepInput& in) -> StepOutput {
    if (in.origin.defined()) decoder.select(in.origin);
    const Tensor x = embed_target(in.tokens.unsqueeze(1), in.position, nullptr);  // [R, 1, D]
    return answer_step(in, output, after_decoder(decoder.step(x.squeeze(1), in.position), nullptr));
  });
}

Tensor EncoderDecoder::replay(const Batch& batch, const Predictions& predictions, Tap* tap) const {
  const Tensor target = chosen_targets(batch, predictions);
  auto memories = encode(batch, nullptr, tap);
  if (target.size(1) == 0) return at::zeros({batch.size, 0}, at::TensorOptions(device()));
  return log_probabilities(logits_of(decode(memories, target, nullptr, tap)), target);
}

}  // namespace fovea
