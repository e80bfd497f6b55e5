#include "fovea/nn/decoder/decoder.h"

#include "fovea/base/error.h"
#include "fovea/base/stop.h"
#include "fovea/nn/decoder/attention_decoder.h"
#include "fovea/nn/ops/activation.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

Tensor selected(const Tensor& x, const Tensor& rows) {
  return x.defined() ? x.index_select(0, rows) : x;
}

/// The defined ones side by side along the last dimension.
Tensor side_by_side(std::initializer_list<Tensor> parts) {
  std::vector<Tensor> defined;
  for (const Tensor& part : parts)
    if (part.defined()) defined.push_back(part);
  return defined.size() == 1 ? defined[0] : at::cat(defined, -1);
}

void copy_parameters(const torch::nn::Module& from, torch::nn::Module& to) {
  const auto source = from.named_parameters();
  for (auto& item : to.named_parameters()) item.value().copy_(source[item.key()]);
}

}  // namespace

DecoderSource DecoderSource::select(const Tensor& rows) const {
  return {memory.values.defined() ? memory.select(rows) : memory, selected(summary, rows)};
}

DecoderState DecoderState::select(const Tensor& rows) const {
  return {recurrent.select(rows), selected(readout, rows), selected(weights, rows), position,
          selected(context, rows)};
}

Decoder::Decoder(DecoderOptions options) : options_(std::move(options)) {
  const bool attends = options_.attention != "none";
  require(attends || !options_.input_feeding, ErrorKind::InvalidArgument,
          "input feeding feeds the attention's result back: it needs attention");
  require(!options_.input_feeding || (options_.order == "luong" &&
                                      (options_.readout == "tanh" || options_.readout == "maxout")),
          ErrorKind::InvalidArgument,
          "input feeding works with model.decoder=luong and a tanh or maxout readout");
  require(options_.order == "bahdanau" || options_.readout_from == "new" || !attends,
          ErrorKind::InvalidArgument,
          "model.readout_from=previous needs model.decoder=bahdanau: luong attends with the new "
          "state");
  require(attends || !feeds_context(), ErrorKind::InvalidArgument,
          "model.decoder=chorowski needs attention");
  require(options_.readout != "state" || !attends || options_.order != "luong",
          ErrorKind::InvalidArgument,
          "model.readout=state with model.decoder=luong: the output would not depend on what the "
          "attention found; try another readout, model.decoder=bahdanau or model.attention=none");
  require(!options_.gated_summary ||
              (!attends && options_.summary_size > 0 && options_.recurrent.cell == "gru"),
          ErrorKind::InvalidArgument,
          "model.summary_gated needs model.attention=none, model.summary=yes and model.cell=gru");
  context_size_ = attends ? options_.memory_size : options_.summary_size;
  RecurrentOptions recurrent = options_.recurrent;
  const int64_t embedding = recurrent.input_size, hidden = recurrent.hidden_size;
  if (!attends || options_.order != "luong") recurrent.input_size += context_size_;
  if (options_.gated_summary) recurrent.reset = {false, context_size_};
  if (options_.input_feeding) recurrent.input_size += options_.readout_size;
  recurrent_ = register_module("recurrent", std::make_shared<Recurrent>(recurrent));
  if (attends) {
    options_.score.query_size = options_.alignment.query_size = hidden;
    options_.score.key_size = options_.memory_size;
    score_ = register_module("score", make_score(options_.score, Random()));
    alignment_ = register_module("alignment", make_alignment(options_.alignment, Random()));
    require(options_.normaliser.traits().is_differentiable, ErrorKind::InvalidArgument,
            "model.normaliser=", options_.normaliser.name,
            " draws one position and learns by REINFORCE, which this decoder does not; try gumbel");
  }
  const int64_t readout = options_.readout_size;
  if (options_.readout == "tanh")
    combine_ = register_projection(*this, "combine", {context_size_ + hidden, readout, false});
  if (options_.readout == "maxout")
    combine_ = register_projection(
        *this, "combine",
        {hidden + (feeds_context() ? 0 : embedding) + context_size_, 2 * readout});
}

void Decoder::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  recurrent_->initialise(random.split("recurrent"));
  if (score_) {
    copy_parameters(*make_score(options_.score, random.split("score")), *score_);
    copy_parameters(*make_alignment(options_.alignment, random.split("alignment")), *alignment_);
  }
  if (!combine_) return;
  combine_->weight.copy_(
      glorot_uniform(combine_->weight.size(0), combine_->weight.size(1), random.split("combine")));
  if (combine_->bias.defined()) combine_->bias.zero_();
}

int64_t Decoder::readout_size() const {
  if (combine_) return options_.readout_size;
  const int64_t hidden = options_.recurrent.hidden_size;
  if (options_.readout == "state") return hidden;
  return hidden + (feeds_context() ? 0 : options_.recurrent.input_size) + context_size_;
}

bool Decoder::remembers_weights() const {
  return options_.score.traits().reads_previous_weights ||
         options_.alignment.traits().reads_previous_weights;
}

bool Decoder::is_parallel() const {
  if (!attends()) return options_.readout_from == "new";
  return options_.order == "luong" && !options_.input_feeding && !remembers_weights();
}

DecoderSource Decoder::look_at(const Tensor& encoded, const KeepMask& mask,
                               const Tensor& summary) const {
  if (!attends()) return {{}, summary};
  return {remember(*score_, encoded, encoded, mask), {}};
}

DecoderState Decoder::start(RecurrentState recurrent, const DecoderSource& source) const {
  DecoderState state{std::move(recurrent), {}, {}, 0};
  const Tensor& hidden = state.recurrent.hidden.back();
  if (options_.input_feeding)
    state.readout = at::zeros({hidden.size(0), options_.readout_size}, hidden.options());
  return state;
}

DecoderMasks Decoder::masks(int64_t batch, const Random* random) const {
  DecoderMasks masks;
  if (!random) return masks;
  masks.random = random->split("attention");
  masks.layers = recurrent_->dropout_masks(batch, random);
  if (options_.dropout > 0)
    masks.readout =
        dropout(at::ones({batch, readout_size()}, recurrent_->zeros(1).hidden[0].options()),
                options_.dropout, random->split("readout"));
  return masks;
}

AttendInput Decoder::looking(const DecoderState& state, const DecoderSource& source,
                             const DecoderMasks& masks) const {
  AttendInput in;
  in.memory = source.memory;
  in.score = score_.get();
  in.normaliser = options_.normaliser;
  if (!options_.alignment.traits().is_global) in.alignment = alignment_.get();
  in.first_position = state.position;
  in.previous_weights = state.weights;
  if (masks.random) in.random = masks.random->split(static_cast<uint64_t>(state.position));
  in.map = {"attention", "target", "source"};
  return in;
}

Attended Decoder::look(const Tensor& query, const DecoderState& state, const DecoderSource& source,
                       const DecoderMasks& masks, Tap* tap) const {
  AttendInput in = looking(state, source, masks);
  in.query = query;  // [B, Q, H]
  return attend(in, tap);
}

Tensor Decoder::read_out(const Tensor& state, const Tensor& x, const Tensor& context,
                         const Tensor& mask) const {
  Tensor readout;  // [B, (T,) R]
  if (options_.readout == "tanh") {
    readout = activated_projection(side_by_side({context, state}), combine_->weight, combine_->bias,
                                   Activation::Tanh);
  } else if (options_.readout == "maxout") {
    const Tensor pairs = combine_->forward(side_by_side({state, seen_input(x), context}));
    auto shape = pairs.sizes().vec();
    shape.back() /= 2;
    shape.push_back(2);
    readout = pairs.view(shape).amax(-1);
  } else if (options_.readout == "state") {
    readout = state;
  } else {
    readout = side_by_side({state, seen_input(x), context});
  }
  if (!mask.defined()) return readout;
  return readout * (readout.dim() == 3 ? mask.unsqueeze(1) : mask);
}

DecoderStep Decoder::assemble(const Tensor& x, const DecoderState& state, const Tensor& summary,
                              const StepFunctions& parts) const {
  DecoderStep result;
  const bool looks_first = attends() && options_.order == "bahdanau";
  const Tensor before = state.recurrent.hidden.back();  // [B, H]
  Attended attended;
  Tensor context = summary;  // [B, C] or undefined
  if (looks_first) {
    attended = parts.look(before);
    context = attended.context;
  }
  const Tensor fed = options_.input_feeding ? state.readout : state.context;
  const Tensor input =
      attends() && !looks_first ? side_by_side({x, fed}) : side_by_side({x, context});
  const bool stays = feeds_context() && state.position == 0;
  result.state.recurrent = stays ? state.recurrent : parts.advance(input);
  const Tensor after = result.state.recurrent.hidden.back();  // [B, H]
  if (attends() && !looks_first) {
    attended = parts.look(after);
    context = attended.context;
  }
  result.readout = parts.read_out(options_.readout_from == "new" ? after : before, context);
  result.weights = attended.weights;
  result.state.position = state.position + 1;
  if (options_.input_feeding) result.state.readout = result.readout;
  if (feeds_context()) result.state.context = context;
  if (attends() && remembers_weights()) result.state.weights = attended.weights;
  return result;
}

DecoderStep Decoder::step(const Tensor& x, const DecoderState& state, const DecoderSource& source,
                          const DecoderMasks& masks, Tap* tap) const {
  stop_if_asked();
  StepFunctions parts;
  parts.look = [&](const Tensor& query) {
    Attended attended = look(query.unsqueeze(1), state, source, masks, tap);
    attended.context = attended.context.squeeze(1);
    return attended;
  };
  parts.advance = [&](const Tensor& input) {
    return recurrent_->step(input, state.recurrent, masks.layers);
  };
  parts.read_out = [&](const Tensor& from, const Tensor& context) {
    return read_out(from, x, context, masks.readout);
  };
  return assemble(x, state, source.summary, parts);
}

DecoderRun Decoder::run(const Tensor& x, const DecoderState& start, const DecoderSource& source,
                        const DecoderMasks& masks, Tap* tap) const {
  if (is_parallel()) return run_at_once(x, start, source, masks, tap);
  if (can_fuse_steps(x, source, tap)) return run_fused(x, start, source, masks);
  std::optional<StepTap> step_tap;
  if (tap) step_tap.emplace(*tap);
  std::vector<Tensor> readouts, weights;
  DecoderState state = start;
  for (int64_t t = 0; t < x.size(1); ++t) {
    const DecoderStep now = step(x.select(1, t), state, source, masks, tap ? &*step_tap : nullptr);
    readouts.push_back(now.readout);
    if (now.weights.defined()) weights.push_back(now.weights);
    state = now.state;
  }
  if (step_tap) step_tap->finish();
  return {at::stack(readouts, 1), weights.empty() ? Tensor() : at::cat(weights, 2)};
}

bool Decoder::can_fuse_steps(const Tensor& x, const DecoderSource& source, const Tap* tap) const {
  return attends() && options_.order == "bahdanau" && options_.recurrent.layers == 1 && !tap &&
         options_.recurrent.reset.is_usual() && !options_.keep_weights &&
         options_.normaliser.traits().is_fused && options_.alignment.traits().is_global &&
         can_run_attention_decoder(*score_, source.memory, x);
}

DecoderRun Decoder::run_fused(const Tensor& x, const DecoderState& start,
                              const DecoderSource& source, const DecoderMasks& masks) const {
  const AttentionDecoderOutput run =
      run_attention_decoder(recurrent_->layer(0), *score_, source.memory, x, start.recurrent);
  Tensor states = run.states;  // [B, T, H]
  if (options_.readout_from == "previous")
    states =
        at::cat({start.recurrent.hidden[0].unsqueeze(1), states.narrow(1, 0, x.size(1) - 1)}, 1);
  return {read_out(states, x, run.contexts, masks.readout), {}};
}

DecoderRun Decoder::run_at_once(const Tensor& x, const DecoderState& start,
                                const DecoderSource& source, const DecoderMasks& masks,
                                Tap* tap) const {
  const int64_t batch = x.size(0), steps = x.size(1);
  Tensor context;  // [B, T, C]
  if (source.summary.defined())
    context = source.summary.unsqueeze(1).expand({batch, steps, context_size_});
  const Tensor states =
      recurrent_->run(side_by_side({x, context}), {}, start.recurrent, masks.layers)
          .outputs;  // [B, T, H]
  Attended attended;
  if (attends()) {
    AttendInput in = looking(start, source, masks);
    in.query = states.unsqueeze(1);  // [B, 1, T, H]
    in.keep_weights = options_.keep_weights || tap != nullptr;
    attended = attend(in, tap);
    context = attended.context.squeeze(1);  // [B, T, C]
  }
  return {read_out(states, x, context, masks.readout), attended.weights};
}

}  // namespace fovea
