#include "fovea/models/seq2seq.h"

#include <algorithm>
#include <cmath>

#include "fovea/nn/decoder/incremental_decoder.h"
#include "fovea/tensor/embedding_lookup.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

/// Column j of row b becomes column length_b - 1 - j; padding stays. x [B, S, D]
Tensor reversed(const Tensor& x, const Tensor& lengths) {
  const auto place = at::arange(x.size(1), lengths.options()).unsqueeze(0);  // [1, S]
  const auto mirrored = lengths.unsqueeze(1) - 1 - place;                    // [B, S]
  const auto index = at::where(mirrored >= 0, mirrored, place);
  return x.gather(1, index.unsqueeze(-1).expand_as(x));
}

Tensor affine(const torch::nn::Linear& layer, const Tensor& x) {
  return torch::linear(x, layer->weight, layer->bias);
}

}  // namespace

Tensor Seq2Seq::embed_source(const Batch& batch, Tap* tap) const {
  const Tensor source = batch.at("source");
  Tensor embedded;  // [B, S, E]
  if (options_.one_hot)
    embedded = at::one_hot(source, shape_.source_symbols).to(output_->weight.scalar_type());
  else
    embedded = source_embedding_ ? embedding_lookup(source_embedding_->weight, source)
                                 : affine(source_input_, source);
  return leaf_of(tap, "source", embedded);
}

Tensor Seq2Seq::embed_target(const Tensor& units) const {
  if (options_.one_hot)  // what stands before the first symbol is none: zeros
    return at::one_hot(units, shape_.target_symbols).to(output_->weight.scalar_type()) *
           units.ne(shape_.begin).unsqueeze(-1);
  return target_embedding_ ? embedding_lookup(target_embedding_->weight, units)
                           : affine(target_input_, units);
}

Tensor Seq2Seq::first_unit(int64_t batch) const {
  const auto options = at::TensorOptions(device());
  return writes_text() ? at::full({batch}, shape_.begin, options.dtype(at::kLong))
                       : at::zeros({batch, shape_.target_width}, options.dtype(at::kFloat));
}

OutputLayer Seq2Seq::output_layer() const {
  if (output_) return {output_->weight, output_->bias};
  return {target_embedding_->weight, tied_bias_};
}

Tensor Seq2Seq::factored(const Tensor& readout) const {
  return output_factor_ ? affine(output_factor_, readout) : readout;
}

Tensor Seq2Seq::output_of(const Tensor& readout) const {
  const auto [weight, bias] = output_layer();
  return torch::linear(readout, weight, bias);
}

Tensor Seq2Seq::outputs_of(const Written& written) const {
  return written.outputs.defined() ? written.outputs : output_of(written.readouts);
}

Tensor Seq2Seq::feed_back(const Tensor& output) const {
  if (options_.one_hot) return output.softmax(-1);
  return writes_text() ? at::matmul(output.softmax(-1), target_embedding_->weight)  // [B, E]
                       : embed_target(output);
}

Seq2Seq::Encoded Seq2Seq::encode(const Batch& batch, const Random* random, Tap* tap) const {
  const Tensor keep = batch.at("source.keep");      // [B, S]
  const Tensor lengths = keep.sum(1).clamp_min(1);  // [B]
  Random own;
  if (random) own = random->split("source");
  Tensor x = sequence_dropout(embed_source(batch, tap), options_.dropout, random ? &own : nullptr);
  if (options_.reverse_source) x = reversed(x, lengths);
  const RecurrentOutput read =
      encoder_->run(x, lengths, {}, encoder_->dropout_masks(x.size(0), random ? &own : nullptr));
  Tensor encoded = read.outputs;  // [B, S, D]
  if (options_.reverse_source) encoded = reversed(encoded, lengths);
  Tensor summary;
  if (summary_) {
    const auto& top = read.state.hidden;
    summary =
        affine(summary_,
               options_.bidirectional ? at::cat({top[top.size() - 2], top.back()}, 1) : top.back())
            .tanh();  // [B, H]
  }
  // Without padding there is nothing to hide. On a GPU looking would stall the queue.
  const bool is_full = keep.is_cpu() && keep.all().item<bool>();
  Encoded result;
  result.source =
      decoder_->look_at(encoded, is_full ? KeepMask::all() : KeepMask::from_keep(keep), summary);
  result.start = decoder_->start(first_state(read.state, encoded, summary), result.source);
  return result;
}

RecurrentState Seq2Seq::first_state(const RecurrentState& read, const Tensor& encoded,
                                    const Tensor& summary) const {
  if (bridge_.empty()) return read;
  const size_t d = options_.bidirectional ? 2 : 1;
  const auto seen = [&](const std::vector<Tensor>& states, size_t layer) {
    if (options_.bridge == "summary") return summary;             // [B, H]
    if (options_.bridge == "first") return encoded.select(1, 0);  // [B, D]
    if (options_.bridge == "backward") return states[layer * d + 1];
    return d == 1 ? states[layer] : at::cat({states[layer * d], states[layer * d + 1]}, 1);
  };
  const std::vector<Tensor>& cells = read.cell.empty() ? read.hidden : read.cell;
  RecurrentState start;
  for (size_t layer = 0; layer < bridge_.size(); ++layer) {
    start.hidden.push_back(affine(bridge_[layer], seen(read.hidden, layer)).tanh());
    if (!cell_bridge_.empty())
      start.cell.push_back(affine(cell_bridge_[layer], seen(cells, layer)));
  }
  return start;
}

Seq2Seq::Written Seq2Seq::write(const Encoded& encoded, const Tensor& target, const Random* random,
                                double teacher_share, Tap* tap) const {
  const int64_t batch = target.size(0), steps = target.size(1);
  Random own;
  if (random) own = random->split("target");
  const DecoderMasks masks = decoder_->masks(batch, random ? &own : nullptr);
  Tensor input_mask;  // [B, E]
  if (random && options_.dropout > 0)
    input_mask = dropout(at::ones({batch, input_size()}, at::TensorOptions(device())),
                         options_.dropout, own.split("input"));
  const auto masked = [&](const Tensor& x) {
    return !input_mask.defined() ? x : x * (x.dim() == 3 ? input_mask.unsqueeze(1) : input_mask);
  };
  const Tensor first = first_unit(batch);
  if (teacher_share >= 1) {
    const Tensor units = at::cat({first.unsqueeze(1), target.narrow(1, 0, steps - 1)}, 1);
    const DecoderRun run =
        decoder_->run(masked(embed_target(units)), encoded.start, encoded.source, masks, tap);
    return {factored(run.readouts), {}, run.weights};
  }
  std::optional<StepTap> step_tap;
  if (tap) step_tap.emplace(*tap);
  std::vector<Tensor> readouts, outputs, weights;
  DecoderState state = encoded.start;
  Tensor x = embed_target(first);  // [B, E]
  for (int64_t t = 0; t < steps; ++t) {
    const DecoderStep now =
        decoder_->step(masked(x), state, encoded.source, masks, step_tap ? &*step_tap : nullptr);
    state = now.state;
    readouts.push_back(factored(now.readout));
    outputs.push_back(output_of(readouts.back()));
    if (now.weights.defined()) weights.push_back(now.weights);
    if (t + 1 == steps) break;
    if (!random || options_.feedback != "scheduled") {
      x = feed_back(outputs.back());
    } else {
      // Bengio et al. 2015: each example flips its own coin at each step, and what it is fed is a
      // choice, however small the teacher's share has become.
      const Tensor guess = writes_text() ? outputs.back().argmax(-1) : outputs.back().detach();
      Tensor teacher = own.split("teacher")
                           .split(static_cast<uint64_t>(t))
                           .bernoulli_tensor({batch}, teacher_share,
                                             at::TensorOptions(device()).dtype(at::kBool));
      if (!writes_text()) teacher = teacher.unsqueeze(1);
      x = embed_target(at::where(teacher, target.select(1, t), guess));
    }
  }
  if (step_tap) step_tap->finish();
  return {at::stack(readouts, 1), at::stack(outputs, 1),
          weights.empty() ? Tensor() : at::cat(weights, 2)};
}

Loss Seq2Seq::loss_of(const Batch& batch, const Written& written) const {
  const Tensor& target = batch.at("target");
  const Tensor& keep = batch.at("target.keep");  // [B, T]
  Loss loss;
  loss.units = keep.sum();
  if (writes_text()) {
    const CrossEntropyOptions settings{options_.label_smoothing, shape_.padding};
    const Tensor targets = target.flatten();
    loss.objective =
        written.outputs.defined()
            ? cross_entropy(written.outputs.flatten(0, 1), targets, settings)
            : cross_entropy(written.readouts.flatten(0, 1), output_layer(), targets, settings);
  } else {
    const Tensor error = (outputs_of(written) - target).square().mean(-1);  // [B, T]
    loss.objective = (error * keep).sum() / loss.units;
  }
  if (options_.coverage > 0 && written.weights.defined()) {
    const Tensor weights = written.weights.squeeze(1);           // [B, T, K]
    const Tensor covered = weights.cumsum(1) - weights;          // before each step
    const Tensor again = at::minimum(weights, covered).sum(-1);  // [B, T]
    loss.objective = loss.objective + options_.coverage * (again * keep).sum() / loss.units;
  }
  return loss;
}

bool Seq2Seq::supports_cuda_graph() const {
  const auto& o = options_;
  return writes_text() && o.attention == "soft" && o.feedback == "teacher" && !o.input_feeding &&
         o.reset == "after" && o.normaliser.traits().is_fused && o.alignment.traits().is_global &&
         o.score.traits().is_fused;
}

double scheduled_share(double k, int64_t step) {
  // The same as a sigmoid of one number: exp(step / k) alone would overflow after 709 k steps.
  return 1 / (1 + std::exp(double(step) / k - std::log(k)));
}

Loss Seq2Seq::loss(const Batch& batch, const StepContext& context) {
  const auto& o = options_;
  const bool draws = o.dropout > 0 || o.feedback == "scheduled" || o.normaliser.traits().draws;
  const Random* random = draws ? &context.random : nullptr;
  double teacher_share = 1;
  if (o.feedback == "own") teacher_share = 0;
  if (o.feedback == "scheduled") teacher_share = scheduled_share(o.scheduled_k, context.step);
  return loss_of(batch, write(encode(batch, random, nullptr), batch.at("target"), random,
                              teacher_share, nullptr));
}

std::pair<double, int64_t> Seq2Seq::negative_log_likelihood(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  const Tensor& target = batch.at("target");
  const Written written =
      write(encode(batch, nullptr, nullptr), target, nullptr, feeds_itself() ? 0 : 1, nullptr);
  const Tensor sum = at::cross_entropy_loss(outputs_of(written).flatten(0, 1), target.flatten(), {},
                                            at::Reduction::Sum, shape_.padding);
  return {sum.item<double>(), batch.at("target.keep").sum().item<int64_t>()};
}

Predictions Seq2Seq::predict(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  const PrecisionScope precision = search_precision();
  if (!writes_text()) return predict_numbers(batch, nullptr);
  Encoded encoded = encode(batch, nullptr, nullptr);
  const bool covered = search_.coverage_penalty > 0;
  IncrementalDecoder decoder(*decoder_, std::move(encoded.source), std::move(encoded.start),
                             covered);
  const auto [weight, bias] = output_layer();
  const PackedProjection packed_output(weight, bias);
  Tensor output;  // [R, V], the newest, where it is fed back
  const StepFunction step = [&](const StepInput& in) -> StepOutput {
    if (in.origin.defined()) {
      decoder.select(in.origin);
      if (output.defined()) output = output.index_select(0, in.origin.to(device()));
    }
    const DecoderStep now =
        decoder.step(output.defined() ? feed_back(output) : embed_target(in.tokens));
    const Tensor weights = covered && now.weights.defined() ? now.weights.flatten(1) : Tensor();
    const Tensor readout = factored(now.readout);
    if (!feeds_itself()) return answer_step(in, packed_output, readout, weights);
    output = output_of(readout);
    return {output.log_softmax(-1), weights};
  };
  return search_outputs(batch, step);
}

Predictions Seq2Seq::predict_numbers(const Batch& batch, Tap* tap) const {
  const Tensor shape_only =
      at::zeros({batch.size, shape_.horizon, shape_.target_width}, at::TensorOptions(device()));
  Predictions predictions;
  predictions.values =
      outputs_of(write(encode(batch, nullptr, tap), shape_only, nullptr, 0, tap)).flatten(1);
  return predictions;
}

Tensor Seq2Seq::replay(const Batch& batch, const Predictions& predictions, Tap* tap) const {
  if (!writes_text()) return predict_numbers(batch, tap).values;  // [B, T O]
  const Tensor target = chosen_targets(batch, predictions);
  const Encoded encoded = encode(batch, nullptr, tap);
  if (target.size(1) == 0) return at::zeros({batch.size, 0}, at::TensorOptions(device()));
  const Written written = write(encoded, target, nullptr, feeds_itself() ? 0 : 1, tap);
  return log_probabilities(outputs_of(written), target);
}

}  // namespace fovea
