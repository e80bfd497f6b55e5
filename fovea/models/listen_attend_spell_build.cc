// What the network is made of; listen_attend_spell.cc has what it does.
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/models/listen_attend_spell.h"
#include "fovea/tensor/torch.h"

namespace fovea {

ListenAttendSpellOptions::ListenAttendSpellOptions() {
  score.name = "location-aware";
  score.kernel_width = 31;
}

void ListenAttendSpellOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"listen_attend_spell"});
  list.add("cell", cell, "recurrent cell of encoder and decoder").choices({"rnn", "gru", "lstm"});
  list.add(
          "reset", reset,
          "gru: where the reset gate stands: after, r * (U h), as PyTorch and the kernels have it; "
          "before, U (r * h), as the papers write it, without kernels and slower")
      .choices({"after", "before"});
  list.add("encoder_hidden", encoder_hidden, "units of each direction of the encoder").at_least(1);
  list.add("layers", layers, "stacked layers of the encoder").within(1, 64);
  list.add("stack", stack, "frames that the first layer reads at a time").within(1, 64);
  list.add("pyramid", pyramid,
           "how many of the upper layers read pairs, so that each halves the length; 0: none")
      .within(0, 10);
  list.add("embedding", embedding, "numbers per symbol").at_least(1);
  list.add("hidden", hidden, "units of the decoder").at_least(1);
  list.add("decoder_layers", decoder_layers, "stacked layers of the decoder").within(1, 64);
  list.add(
          "decoder", decoder,
          "bahdanau: listen with the old state, step, then write; luong: step, listen with the new "
          "state, then write; chorowski: listen with the old state, write from it and what was "
          "heard, then step with what was written and heard")
      .choices({"bahdanau", "luong", "chorowski"});
  list.add("readout", readout, "what the output layer sees: maxout, tanh(W [c ; s]) or linear")
      .choices({"maxout", "tanh", "linear"});
  list.add("readout_size", readout_size, "numbers in a tanh or maxout readout").at_least(1);
  list.add("dropout", dropout, "between layers, of embeddings and of the readout").rate();
  list.add("label_smoothing", label_smoothing, "share of the target spread over all symbols")
      .rate();
  list.add(
          "ctc_weight", ctc_weight,
          "share of CTC over the encoded sound, beside attention, in the loss and in a search (Kim "
          "2017); 0: attention alone")
      .rate();
  score.describe(list);
  normaliser.describe(list);
  alignment.describe(list);
  list.group("augment", augment);
}

ListenAttendSpell::ListenAttendSpell(ListenAttendSpellOptions options, SearchOptions search,
                                     SpeechShape shape)
    : SequenceModel(std::move(search), {.target_symbols = shape.symbols,
                                        .source_width = shape.width,
                                        .padding = shape.padding,
                                        .begin = shape.begin,
                                        .end = shape.end}),
      options_(std::move(options)),
      speech_(std::move(shape)) {
  const auto& o = options_;
  const auto bands = int64_t(speech_.pitches.size());
  require(bands > 1 && speech_.width % bands == 0, ErrorKind::InvalidArgument, "frames of ",
          speech_.width, " numbers are no whole blocks of ", bands, " bands");
  require(o.reset == "after" || o.cell == "gru", ErrorKind::InvalidArgument,
          "model.reset=", o.reset, " is about the reset gate of a gru; found model.cell=", o.cell);
  const ResetGate reset{o.reset == "before"};
  encoder_ = register_module("encoder", std::make_shared<Pyramid>(PyramidOptions{
                                            o.cell, speech_.width, o.encoder_hidden, o.layers,
                                            o.stack, o.pyramid, o.dropout, reset}));
  const int64_t encoded = encoder_->output_size();
  for (int64_t i = 0; i < o.decoder_layers; ++i) {
    bridge_.push_back(register_projection(*this, concat("bridge_l", i), {encoded, o.hidden}));
    if (o.cell == "lstm")
      cell_bridge_.push_back(
          register_projection(*this, concat("cell_bridge_l", i), {encoded, o.hidden}));
  }
  embedding_ = register_module("embedding", torch::nn::Embedding(speech_.symbols, o.embedding));
  DecoderOptions decoder;
  decoder.recurrent = {o.cell, o.embedding, o.hidden, o.decoder_layers, false, o.dropout, reset};
  decoder.order = o.decoder;
  decoder.memory_size = encoded;
  decoder.readout = o.readout;
  decoder.readout_size = o.readout_size;
  decoder.dropout = o.dropout;
  decoder.score = o.score;
  decoder.normaliser = o.normaliser;
  decoder.alignment = o.alignment;
  decoder_ = register_module("decoder", std::make_shared<Decoder>(decoder));
  output_ = register_projection(*this, "output", {decoder_->readout_size(), speech_.symbols});
  if (o.ctc_weight > 0) ctc_ = register_projection(*this, "ctc", {encoded, speech_.symbols});
}

void ListenAttendSpell::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  encoder_->initialise(random.split("encoder"));
  decoder_->initialise(random.split("decoder"));
  const double deviation = 1 / std::sqrt(double(options_.embedding));
  embedding_->weight.copy_(
      random.split("embedding")
          .normal_tensor(embedding_->weight.sizes(), 0, deviation, at::kFloat));
  for (auto& item : named_children())
    if (auto layer = std::dynamic_pointer_cast<Projection>(item.value()))
      layer->initialise(random.split(item.key()));
}

std::vector<LayerSummary> ListenAttendSpell::summary() const {
  const auto& o = options_;
  std::vector<LayerSummary> layers;
  layers.push_back({concat("encoder (", o.layers, " x bidirectional ", o.cell, ", ",
                           encoder_->factor(), " frames a unit)"),
                    {encoder_->output_size()},
                    count_parameters(*encoder_)});
  int64_t bridge = 0;
  for (const auto& layer : bridge_) bridge += count_parameters(*layer);
  for (const auto& layer : cell_bridge_) bridge += count_parameters(*layer);
  layers.push_back({"bridge", {o.hidden}, bridge});
  layers.push_back(
      {concat("embedding (", speech_.symbols, ")"), {o.embedding}, count_parameters(*embedding_)});
  layers.push_back(
      {concat("decoder (", o.decoder_layers, " x ", o.cell, ", ", o.decoder, ", ", o.score.name,
              ", ", o.normaliser.name, ", ", o.alignment.name, ", ", o.readout, " readout)"),
       {decoder_->readout_size()},
       count_parameters(*decoder_)});
  layers.push_back({"output (softmax)", {speech_.symbols}, count_parameters(*output_)});
  if (ctc_) layers.push_back({"ctc (softmax)", {speech_.symbols}, count_parameters(*ctc_)});
  return layers;
}

}  // namespace fovea
