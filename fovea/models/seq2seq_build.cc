// What a seq2seq model is made of; seq2seq.cc has what it does.
#include "fovea/models/seq2seq.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

void initialise_linear(const torch::nn::Linear& layer, const Random& random) {
  layer->weight.copy_(
      glorot_uniform(layer->weight.size(0), layer->weight.size(1), random.split("weight")));
  if (layer->bias.defined()) layer->bias.zero_();
}

void initialise_embedding(const torch::nn::Embedding& table, const Random& random) {
  const double deviation = 1 / std::sqrt(double(table->weight.size(1)));
  table->weight.copy_(random.normal_tensor(table->weight.sizes(), 0, deviation, at::kFloat));
}

}  // namespace

Seq2Seq::Seq2Seq(Seq2SeqOptions options, SearchOptions search, SequenceShape shape)
    : SequenceModel(std::move(search), shape), options_(std::move(options)) {
  auto& o = options_;
  const bool bidirectional = o.bidirectional;
  if (o.encoder_hidden == 0) {
    require(!bidirectional || o.hidden % 2 == 0, ErrorKind::InvalidArgument,
            "model.hidden=", o.hidden, " must be even: each direction of the encoder gets half");
    o.encoder_hidden = bidirectional ? o.hidden / 2 : o.hidden;
  }
  if (o.readout_size == 0) o.readout_size = o.tie_embeddings ? o.embedding : o.hidden;
  const int64_t encoded = o.encoder_hidden * (bidirectional ? 2 : 1);

  if (shape_.source_symbols > 0)
    source_embedding_ = register_module("source_embedding",
                                        torch::nn::Embedding(shape_.source_symbols, o.embedding));
  else
    source_input_ =
        register_module("source_input", torch::nn::Linear(shape_.source_width, o.embedding));
  encoder_ = register_module(
      "encoder", std::make_shared<Recurrent>(RecurrentOptions{o.cell, o.embedding, o.encoder_hidden,
                                                              o.layers, bidirectional, o.dropout}));
  make_bridge(encoded);
  if (o.attention == "none" && o.summary)
    summary_ = register_module("summary", torch::nn::Linear(encoded, o.hidden));

  if (!writes_text())
    target_input_ =
        register_module("target_input", torch::nn::Linear(shape_.target_width, o.embedding));
  else if (shape_.shared_vocabulary)
    target_embedding_ = source_embedding_;
  else
    target_embedding_ = register_module("target_embedding",
                                        torch::nn::Embedding(shape_.target_symbols, o.embedding));
  decoder_ =
      register_module("decoder", std::make_shared<Decoder>(DecoderOptions{
                                     {o.cell, o.embedding, o.hidden, o.layers, false, o.dropout},
                                     o.attention,
                                     o.decoder,
                                     encoded,
                                     summary_ ? o.hidden : 0,
                                     o.input_feeding,
                                     o.readout,
                                     o.readout_from,
                                     o.readout_size,
                                     o.dropout,
                                     /*keep_weights=*/o.coverage > 0,
                                     o.score,
                                     o.normaliser,
                                     o.alignment}));

  const int64_t units = writes_text() ? shape_.target_symbols : shape_.target_width;
  if (o.tie_embeddings) {
    require(writes_text() && decoder_->readout_size() == o.embedding, ErrorKind::InvalidArgument,
            "model.tie_embeddings: the readout has ", decoder_->readout_size(),
            " numbers and the embedding ", o.embedding, "; they must be equal");
    tied_bias_ = register_parameter("output_bias", at::zeros({units}));
  } else {
    output_ = register_module("output", torch::nn::Linear(decoder_->readout_size(), units));
  }
  require(!feeds_itself() || search_.method == "greedy", ErrorKind::InvalidArgument,
          "model.feedback=own feeds the softmax back whatever symbol was chosen: only "
          "decoding.method=greedy has a meaning, found ",
          search_.method);
}

void Seq2Seq::make_bridge(int64_t encoded) {
  const auto& o = options_;
  if (o.bridge == "copy") {
    require(!o.bidirectional && o.encoder_hidden == o.hidden, ErrorKind::InvalidArgument,
            "model.bridge=copy hands the encoder's states over as they are: it needs "
            "model.bidirectional=no and equal sizes");
    return;
  }
  require(o.bridge != "backward" || o.bidirectional, ErrorKind::InvalidArgument,
          "model.bridge=backward needs model.bidirectional=yes");
  const int64_t inputs = o.bridge == "backward" ? o.encoder_hidden : encoded;
  for (int64_t layer = 0; layer < o.layers; ++layer) {
    bridge_.push_back(
        register_module(concat("bridge_l", layer), torch::nn::Linear(inputs, o.hidden)));
    if (o.cell == "lstm")
      cell_bridge_.push_back(
          register_module(concat("cell_bridge_l", layer), torch::nn::Linear(inputs, o.hidden)));
  }
}

void Seq2Seq::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  if (source_embedding_) initialise_embedding(source_embedding_, random.split("source_embedding"));
  if (target_embedding_ && !shape_.shared_vocabulary)
    initialise_embedding(target_embedding_, random.split("target_embedding"));
  if (source_input_) initialise_linear(source_input_, random.split("source_input"));
  if (target_input_) initialise_linear(target_input_, random.split("target_input"));
  if (summary_) initialise_linear(summary_, random.split("summary"));
  if (output_) initialise_linear(output_, random.split("output"));
  if (tied_bias_.defined()) tied_bias_.zero_();
  for (size_t layer = 0; layer < bridge_.size(); ++layer)
    initialise_linear(bridge_[layer], random.split("bridge").split(layer));
  for (size_t layer = 0; layer < cell_bridge_.size(); ++layer)
    initialise_linear(cell_bridge_[layer], random.split("cell_bridge").split(layer));
  encoder_->initialise(random.split("encoder"));
  decoder_->initialise(random.split("decoder"));
}

std::vector<LayerSummary> Seq2Seq::summary() const {
  const auto& o = options_;
  std::vector<LayerSummary> layers;
  const int64_t encoded = encoder_->output_size();
  layers.push_back({source_embedding_ ? concat("source embedding (", shape_.source_symbols, ")")
                                      : concat("source input (", shape_.source_width, ")"),
                    {o.embedding},
                    source_embedding_ ? count_parameters(*source_embedding_)
                                      : count_parameters(*source_input_)});
  layers.push_back({concat("encoder (", o.layers, " x ", o.bidirectional ? "bidirectional " : "",
                           o.cell, o.reverse_source ? ", source reversed" : "", ")"),
                    {encoded},
                    count_parameters(*encoder_)});
  int64_t bridge = 0;
  for (const auto& layer : bridge_) bridge += count_parameters(*layer);
  for (const auto& layer : cell_bridge_) bridge += count_parameters(*layer);
  if (bridge > 0) layers.push_back({concat("bridge (", o.bridge, ")"), {o.hidden}, bridge});
  if (summary_) layers.push_back({"summary", {o.hidden}, count_parameters(*summary_)});
  if (!shape_.shared_vocabulary)
    layers.push_back({target_embedding_ ? concat("target embedding (", shape_.target_symbols, ")")
                                        : concat("target input (", shape_.target_width, ")"),
                      {o.embedding},
                      target_embedding_ ? count_parameters(*target_embedding_)
                                        : count_parameters(*target_input_)});
  layers.push_back({concat("decoder (", o.cell,
                           o.attention == "none" ? std::string(", no attention")
                                                 : concat(", ", o.decoder, ", ", o.score.name, ", ",
                                                          o.alignment.name),
                           ", ", o.readout, " readout)"),
                    {decoder_->readout_size()},
                    count_parameters(*decoder_)});
  layers.push_back({writes_text() ? "output (softmax)" : "output (linear)",
                    {writes_text() ? shape_.target_symbols : shape_.target_width},
                    output_ ? count_parameters(*output_) : tied_bias_.numel()});
  return layers;
}

}  // namespace fovea
