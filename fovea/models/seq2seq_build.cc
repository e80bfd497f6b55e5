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
  make_symbols();
  RecurrentOptions encoder{o.cell_of_encoder(), o.one_hot ? shape_.source_symbols : o.embedding,
                           o.encoder_hidden,    o.layers,
                           bidirectional,       o.dropout};
  const bool has_gru = o.cell == "gru" || encoder.cell == "gru";
  require(o.reset == "after" || has_gru, ErrorKind::InvalidArgument, "model.reset=", o.reset,
          " is about the reset gate of a gru; found model.cell=", o.cell);
  encoder.reset.before = o.reset == "before" && encoder.cell == "gru";
  encoder_ = register_module("encoder", std::make_shared<Recurrent>(encoder));
  if (o.attention == "none" && o.summary)
    summary_ = register_module("summary", torch::nn::Linear(encoded, o.hidden));
  make_bridge(encoded);
  make_decoder(encoded);
  make_output();
  require(!feeds_itself() || search_.method == "greedy", ErrorKind::InvalidArgument,
          "model.feedback=own feeds the softmax back whatever symbol was chosen: only "
          "decoding.method=greedy has a meaning, found ",
          search_.method);
}

void Seq2Seq::make_symbols() {
  const auto& o = options_;
  const auto input = [&](const char* name, int64_t width) {
    return register_module(name, torch::nn::Linear(width, o.embedding));
  };
  const auto table = [&](const char* name, int64_t symbols) {
    return register_module(name, torch::nn::Embedding(symbols, o.embedding));
  };
  require(!o.one_hot || (shape_.source_symbols > 0 && writes_text() && !o.tie_embeddings),
          ErrorKind::InvalidArgument,
          "model.one_hot is for symbols on both sides, and leaves no embedding to tie");
  if (o.one_hot) return;
  if (shape_.source_symbols > 0)
    source_embedding_ = table("source_embedding", shape_.source_symbols);
  else
    source_input_ = input("source_input", shape_.source_width);
  if (!writes_text())
    target_input_ = input("target_input", shape_.target_width);
  else if (shape_.shared_vocabulary)
    target_embedding_ = source_embedding_;
  else
    target_embedding_ = table("target_embedding", shape_.target_symbols);
}

int64_t Seq2Seq::input_size() const {
  return options_.one_hot ? shape_.target_symbols : options_.embedding;
}

void Seq2Seq::make_decoder(int64_t encoded) {
  const auto& o = options_;
  DecoderOptions decoder;
  decoder.recurrent = {o.cell, input_size(), o.hidden, o.layers, false, o.dropout};
  decoder.recurrent.reset.before = o.reset == "before" && o.cell == "gru";
  decoder.attention = o.attention;
  decoder.order = o.decoder;
  decoder.memory_size = encoded;
  decoder.summary_size = summary_ ? o.hidden : 0;
  decoder.gated_summary = o.summary_gated;
  decoder.input_feeding = o.input_feeding;
  decoder.readout = o.readout;
  decoder.readout_from = o.readout_from;
  decoder.readout_size = o.readout_size;
  decoder.dropout = o.dropout;
  decoder.keep_weights = o.coverage > 0;
  decoder.score = o.score;
  decoder.normaliser = o.normaliser;
  decoder.alignment = o.alignment;
  decoder_ = register_module("decoder", std::make_shared<Decoder>(decoder));
}

void Seq2Seq::make_output() {
  const auto& o = options_;
  const int64_t units = writes_text() ? shape_.target_symbols : shape_.target_width;
  const int64_t readout = decoder_->readout_size();
  const int64_t seen = o.output_rank > 0 ? o.output_rank : readout;
  if (o.output_rank > 0)
    output_factor_ = register_module(
        "output_factor", torch::nn::Linear(torch::nn::LinearOptions(readout, seen).bias(false)));
  if (!o.tie_embeddings) {
    output_ = register_module("output", torch::nn::Linear(seen, units));
    return;
  }
  require(writes_text() && seen == o.embedding, ErrorKind::InvalidArgument,
          "model.tie_embeddings: the ", o.output_rank > 0 ? "factored " : "", "readout has ", seen,
          " numbers and the embedding ", o.embedding, "; they must be equal");
  tied_bias_ = register_parameter("output_bias", at::zeros({units}));
}

void Seq2Seq::make_bridge(int64_t encoded) {
  const auto& o = options_;
  if (o.bridge == "copy") {
    const bool fits = (o.cell == "lstm") == (o.cell_of_encoder() == "lstm");
    require(!o.bidirectional && o.encoder_hidden == o.hidden && fits, ErrorKind::InvalidArgument,
            "model.bridge=copy hands the encoder's states over as they are: it needs "
            "model.bidirectional=no, equal sizes and the same cell on both sides");
    return;
  }
  require(o.bridge != "summary" || summary_, ErrorKind::InvalidArgument,
          "model.bridge=summary needs model.attention=none and model.summary=yes");
  require(o.bridge != "backward" || o.bidirectional, ErrorKind::InvalidArgument,
          "model.bridge=backward needs model.bidirectional=yes");
  const int64_t inputs = o.bridge == "backward"  ? o.encoder_hidden
                         : o.bridge == "summary" ? o.hidden
                                                 : encoded;
  const auto settings = torch::nn::LinearOptions(inputs, o.hidden).bias(o.bridge != "first");
  for (int64_t layer = 0; layer < o.layers; ++layer) {
    bridge_.push_back(register_module(concat("bridge_l", layer), torch::nn::Linear(settings)));
    if (o.cell == "lstm")
      cell_bridge_.push_back(
          register_module(concat("cell_bridge_l", layer), torch::nn::Linear(settings)));
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
  if (output_factor_) initialise_linear(output_factor_, random.split("output_factor"));
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
  if (!o.one_hot)
    layers.push_back({source_embedding_ ? concat("source embedding (", shape_.source_symbols, ")")
                                        : concat("source input (", shape_.source_width, ")"),
                      {o.embedding},
                      source_embedding_ ? count_parameters(*source_embedding_)
                                        : count_parameters(*source_input_)});
  layers.push_back({concat("encoder (", o.layers, " x ", o.bidirectional ? "bidirectional " : "",
                           o.cell_of_encoder(), o.reverse_source ? ", source reversed" : "", ")"),
                    {encoded},
                    count_parameters(*encoder_)});
  int64_t bridge = 0;
  for (const auto& layer : bridge_) bridge += count_parameters(*layer);
  for (const auto& layer : cell_bridge_) bridge += count_parameters(*layer);
  if (bridge > 0) layers.push_back({concat("bridge (", o.bridge, ")"), {o.hidden}, bridge});
  if (summary_) layers.push_back({"summary", {o.hidden}, count_parameters(*summary_)});
  if (!shape_.shared_vocabulary && !o.one_hot)
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
  if (output_factor_)
    layers.push_back({"output factor", {o.output_rank}, count_parameters(*output_factor_)});
  layers.push_back({writes_text() ? "output (softmax)" : "output (linear)",
                    {writes_text() ? shape_.target_symbols : shape_.target_width},
                    output_ ? count_parameters(*output_) : tied_bias_.numel()});
  return layers;
}

}  // namespace fovea
