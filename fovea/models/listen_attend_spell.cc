#include "fovea/models/listen_attend_spell.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "fovea/decoding/ctc.h"
#include "fovea/nn/decoder/incremental_decoder.h"
#include "fovea/nn/ops/cross_entropy.h"
#include "fovea/tensor/embedding_lookup.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kLongerThanSeen = 1.5;  // than the densest training utterance would be
constexpr int64_t kMoreAtLeast = 10;     // symbols

/// One number per sound, made from its real frames: what is drawn for one does not depend on its
/// neighbours in a batch. source [B, S, F], lengths [B]
std::vector<int64_t> numbers_of(const Tensor& source, const Tensor& lengths) {
  const Tensor frames = source.to(at::kCPU, at::kFloat).contiguous();
  const int64_t width = frames.size(2), stride = frames.size(1) * width;
  std::vector<int64_t> numbers;
  for (int64_t row = 0; row < frames.size(0); ++row) {
    uint64_t hash = 0xcbf29ce484222325ull;
    const float* value = frames.data_ptr<float>() + row * stride;
    const int64_t count = lengths[row].item<int64_t>() * width;
    for (int64_t i = 0; i < count; ++i) {
      uint32_t bits = 0;
      std::memcpy(&bits, value + i, sizeof bits);
      hash = (hash ^ bits) * 0x100000001b3ull;
    }
    numbers.push_back(static_cast<int64_t>(hash >> 1));
  }
  return numbers;
}

}  // namespace

Tensor ListenAttendSpell::embed(const Tensor& symbols) const {
  return embedding_lookup(embedding_->weight, symbols);
}

ListenAttendSpell::Heard ListenAttendSpell::listen(const Batch& batch, const Random* random,
                                                   Tap* tap) const {
  AugmentedFrames sound{batch.at("source"), batch.at("source.keep")};  // [B, S, F], [B, S]
  Random own;
  if (random) {
    own = random->split("encoder");
    sound = augment_frames(sound.frames, sound.keep, speech_.pitches, options_.augment,
                           random->split("augment"));
  }
  std::vector<int64_t> unit_of;
  for (int64_t frame = 0; tap && frame < sound.frames.size(1); ++frame)
    unit_of.push_back(frame / encoder_->factor());
  sound.frames = leaf_of(tap, "source", sound.frames, unit_of);
  const PyramidOutput read = encoder_->run(sound.frames, sound.keep, random ? &own : nullptr);

  const auto both = [](const std::vector<Tensor>& states) {
    return at::cat({states[0], states[1]}, 1);  // [B, 2 H]
  };
  RecurrentState start;
  for (const auto& layer : bridge_)
    start.hidden.push_back(layer->forward(both(read.state.hidden)).tanh());
  for (const auto& layer : cell_bridge_)
    start.cell.push_back(layer->forward(both(read.state.cell)));
  Heard heard;
  heard.source = decoder_->look_at(read.outputs, KeepMask::from_keep(read.keep), {});
  heard.encoded = read.outputs;
  heard.keep = read.keep;
  heard.start = decoder_->start(std::move(start), heard.source);
  return heard;
}

Tensor ListenAttendSpell::spell(const Heard& heard, const Tensor& target, const Random* random,
                                Tap* tap) const {
  Random own;
  if (random) own = random->split("decoder");
  const Tensor x = sequence_dropout(embed(shifted(target)), options_.dropout,
                                    random ? &own : nullptr);  // [B, T, E]
  const DecoderMasks masks = decoder_->masks(target.size(0), random ? &own : nullptr);
  return decoder_->run(x, heard.start, heard.source, masks, tap).readouts;
}

Loss ListenAttendSpell::loss(const Batch& batch, const StepContext& context) {
  const Tensor& target = batch.at("target");
  const Heard heard = listen(batch, &context.random, nullptr);
  const Tensor readouts = spell(heard, target, &context.random, nullptr);  // [B, T, R]
  Loss loss;
  loss.units = batch.at("target.keep").sum();
  loss.objective = cross_entropy(readouts.flatten(0, 1), {output_->weight, output_->bias},
                                 target.flatten(), {options_.label_smoothing, speech_.padding});
  if (ctc_) {
    const double share = options_.ctc_weight;
    loss.objective = (1 - share) * loss.objective + share * ctc_loss_of(heard, batch) / loss.units;
  }
  return loss;
}

/// Padding, which no text holds, is the blank; the end is not spelt.
Tensor ListenAttendSpell::ctc_loss_of(const Heard& heard, const Batch& batch) const {
  const Tensor log_p = ctc_->forward(heard.encoded).log_softmax(2);  // [B, K, V]
  const Tensor& target = batch.at("target");
  const Tensor spelt = batch.at("target.keep").logical_and(target.ne(speech_.end));  // [B, T]
  return summed_ctc_loss(log_p, heard.keep.sum(1), target, spelt.sum(1), speech_.padding);
}

std::pair<double, int64_t> ListenAttendSpell::negative_log_likelihood(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  const Tensor& target = batch.at("target");
  const Tensor readouts = spell(listen(batch, nullptr, nullptr), target, nullptr, nullptr);
  const Tensor logs = log_probabilities(output_->forward(readouts), target);  // [B, T]
  return {-logs.sum().item<double>(), batch.at("target.keep").sum().item<int64_t>()};
}

int64_t ListenAttendSpell::longest_output(int64_t frames) const {
  return kMoreAtLeast + int64_t(std::ceil(kLongerThanSeen * speech_.densest * double(frames)));
}

SearchProblem ListenAttendSpell::problem_of(const Batch& batch, const Heard& heard) const {
  const Tensor lengths = batch.at("source.keep").sum(1).to(at::kCPU);  // [B]
  SearchProblem problem = search_problem(batch.size);
  problem.keep = heard.keep;
  for (int64_t row = 0; row < batch.size; ++row)
    problem.maximum_length.push_back(search_.maximum_length > 0
                                         ? search_.maximum_length
                                         : longest_output(lengths[row].item<int64_t>()));
  if (search_.method == "sample") problem.numbers = numbers_of(batch.at("source"), lengths);
  return problem;
}

Predictions ListenAttendSpell::predict(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  const PrecisionScope precision = search_precision();
  const Heard heard = listen(batch, nullptr, nullptr);
  const SearchProblem problem = problem_of(batch, heard);
  const bool covered = search_.coverage_penalty > 0;
  IncrementalDecoder decoder(*decoder_, heard.source, heard.start, covered);
  const PackedProjection output(output_->weight, output_->bias);
  std::optional<CtcPrefixes> spelt;
  if (ctc_)
    spelt.emplace(ctc_->forward(heard.encoded).log_softmax(2), heard.keep, speech_.padding,
                  speech_.end);
  Predictions found = search_outputs(problem, [&](const StepInput& in) -> StepOutput {
    if (in.origin.defined()) decoder.select(in.origin);
    const DecoderStep now = decoder.step(embed(in.tokens.to(device())));
    const Tensor weights = covered ? now.weights.flatten(1) : Tensor();
    if (!spelt) return answer_step(in, output, now.readout, weights);
    if (in.position > 0) spelt->extend(in.origin, in.tokens);
    const Tensor log_p = output_->forward(now.readout).log_softmax(1);  // [R, V]
    return {at::lerp(log_p, spelt->scores(), options_.ctc_weight), weights};
  });
  if (spelt) weigh_by_attention(batch, heard, found);
  return found;
}

void ListenAttendSpell::weigh_by_attention(const Batch& batch, const Heard& heard,
                                           Predictions& found) const {
  size_t most = 0;
  for (const auto& outputs : found.outputs) most = std::max(most, outputs.size());
  for (size_t place = 0; place < most; ++place) {
    Predictions one;
    for (const auto& outputs : found.outputs)
      one.outputs.push_back({outputs[std::min(place, outputs.size() - 1)]});
    const Tensor target = chosen_targets(batch, one);  // [B, T]
    if (target.size(1) == 0) continue;
    const Tensor readouts = spell(heard, target, nullptr, nullptr);
    const Tensor sums = log_probabilities(output_->forward(readouts), target).sum(1).cpu();  // [B]
    for (size_t row = 0; row < found.outputs.size(); ++row)
      if (place < found.outputs[row].size())
        found.outputs[row][place].log_probability = sums[int64_t(row)].item<double>();
  }
}

Tensor ListenAttendSpell::replay(const Batch& batch, const Predictions& predictions,
                                 Tap* tap) const {
  const Tensor target = chosen_targets(batch, predictions);  // [B, T]
  const Heard heard = listen(batch, nullptr, tap);
  if (target.size(1) == 0) return at::zeros({batch.size, 0}, at::TensorOptions(device()));
  return log_probabilities(output_->forward(spell(heard, target, nullptr, tap)), target);
}

}  // namespace fovea
