#include "fovea/models/show_attend_tell.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/models/picture_input.h"
#include "fovea/nn/ops/cross_entropy.h"
#include "fovea/tensor/embedding_lookup.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

std::optional<Random> step_random(const Random& random, int64_t step) {
  return random.split("looks").split(uint64_t(step));
}

}  // namespace

ShowAttendTell::Pictures ShowAttendTell::Pictures::select(const Tensor& rows) const {
  return {memory.values.defined() ? memory.select(rows) : memory, mean.index_select(0, rows),
          start.select(rows)};
}

ShowAttendTell::Pictures ShowAttendTell::look_at(const Tensor& images, const Random* random,
                                                 Tap* tap) const {
  Tensor cells;  // [B, D, G, G]
  {
    std::optional<torch::NoGradGuard> frozen;
    if (options_.encoder.freeze) frozen.emplace();
    Tensor x = encoder_->normalise(images);  // [B, 3, S, S]
    if (random) x = augment_images(x, options_.augment, random->split("augment"));
    cells = encoder_->forward(x);
  }
  Tensor annotations = cells.flatten(2).transpose(1, 2);  // [B, L, D]
  if (positions_.defined()) annotations = annotations + positions_;
  annotations = leaf_of(tap, "cells", annotations);
  Pictures pictures;
  pictures.mean = annotations.mean(1);  // [B, D]
  pictures.start = {{first_hidden_->forward(pictures.mean).tanh()},
                    {first_cell_->forward(pictures.mean).tanh()}};
  if (attends()) pictures.memory = remember(*score_, annotations, annotations, {});
  return pictures;
}

ShowAttendTell::Looking ShowAttendTell::answering() const {
  return {is_hard() && !options_.answers_softly ? Look::Likeliest : Look::Softly};
}

ShowAttendTell::Seen ShowAttendTell::look(const Tensor& hidden, const Pictures& pictures, Look how,
                                          Tap* tap, std::optional<Random> random) const {
  if (!attends()) return {pictures.mean, {}, {}, {}};
  AttendInput in;
  in.query = hidden.unsqueeze(1);  // [B, 1, H]
  in.memory = pictures.memory;
  in.score = score_.get();
  in.normaliser = options_.normaliser;
  if (is_hard()) in.normaliser.name = how == Look::Likeliest ? "hard" : "softmax";
  in.map = {"attention", "caption", "cells"};
  if (random) in.random = random, in.dropout = options_.attention_dropout;
  const Attended attended = attend(in, tap);
  return {attended.context.squeeze(1), attended.weights, {}, {}};
}

ShowAttendTell::Seen ShowAttendTell::draw(const Tensor& hidden, const Pictures& pictures,
                                          const Looking& looking, int64_t step) const {
  const Memory& memory = pictures.memory;
  const Tensor scores =
      score_->score({hidden.unsqueeze(1).unsqueeze(1), memory.keys, {}, {}});  // [B, 1, 1, L]
  const Tensor logs = scores.log_softmax(-1);
  NormaliseInput in{scores, {}, {}, {}};
  if (looking.chosen.defined())
    in.chosen = looking.chosen.narrow(1, step, 1).unsqueeze(1);  // [B, 1, 1]
  else
    in.random = looking.random->split("cells").split(uint64_t(step));
  NormaliserOptions hard;
  hard.name = "hard";
  const Normalised drawn = normalise(hard, in);
  return {at::matmul(drawn.weights, memory.values).squeeze(2).squeeze(1),  // [B, D]
          drawn.weights, drawn.log_probability.flatten(), -(logs.exp() * logs).sum(-1).flatten()};
}

ShowAttendTell::Step ShowAttendTell::write(const Tensor& word, const RecurrentState& state,
                                           const Seen& seen) const {
  const Tensor context =
      gate_ ? seen.context * gate_->forward(state.hidden[0]).sigmoid() : seen.context;  // [B, D]
  return {recurrent_->step(at::cat({word, context}, 1), state, {}), context};
}

Tensor ShowAttendTell::read_out(const Tensor& words, const Tensor& hidden,
                                const Tensor& contexts) const {
  const Tensor sum = words + from_hidden_->forward(hidden) + from_context_->forward(contexts);
  return options_.output == "tanh" ? sum.tanh() : sum;
}

Tensor ShowAttendTell::hide_words(const Tensor& words, const Random& random) const {
  if (options_.word_dropout == 0) return words;
  const Tensor seen = random.split("hidden words")
                          .bernoulli_tensor({words.size(0), words.size(1), 1},
                                            1 - options_.word_dropout, words.options());
  return words * seen;
}

ShowAttendTell::Pass ShowAttendTell::pass_over(const Pictures& pictures, const Tensor& target,
                                               const Random* random, const Looking& looking,
                                               Tap* tap) const {
  Tensor words = embedding_lookup(words_->weight, shifted(target));  // [B, T, E]
  if (random) words = hide_words(dropout(words, options_.dropout, random->split("words")), *random);
  std::optional<StepTap> step_tap;
  if (tap) step_tap.emplace(*tap);
  RecurrentState state = pictures.start;
  std::vector<Tensor> hidden, contexts, weights, log_choices, entropy;
  for (int64_t t = 0; t < target.size(1); ++t) {
    const Tensor before = state.hidden[0];  // [B, H]
    const Seen now = looking.how == Look::Drawn
                         ? draw(before, pictures, looking, t)
                         : look(before, pictures, looking.how, tap ? &*step_tap : nullptr,
                                random && !is_hard() ? step_random(*random, t) : std::nullopt);
    const Step step = write(words.select(1, t), state, now);
    state = step.state;
    hidden.push_back(state.hidden[0]);
    contexts.push_back(step.context);
    if (now.weights.defined()) weights.push_back(now.weights);
    if (now.log_choice.defined()) log_choices.push_back(now.log_choice);
    if (now.entropy.defined()) entropy.push_back(now.entropy);
  }
  if (step_tap) step_tap->finish();
  Pass pass;
  pass.readouts = read_out(words, at::stack(hidden, 1), at::stack(contexts, 1));  // [B, T, E]
  pass.readouts = dropout(pass.readouts, options_.dropout, random, "readout");
  if (!weights.empty()) pass.weights = at::cat(weights, 2);
  if (!log_choices.empty()) pass.log_choices = at::stack(log_choices, 1);
  if (!entropy.empty()) pass.entropy = at::stack(entropy, 1);
  return pass;
}

Loss ShowAttendTell::soft_loss(const Batch& batch, const Pass& pass) const {
  const Tensor& keep = batch.at("target.keep");  // [B, T]
  Loss loss;
  loss.units = keep.sum();
  loss.objective =
      cross_entropy(pass.readouts.flatten(0, 1), {output_->weight, output_->bias},
                    batch.at("target").flatten(), {options_.label_smoothing, caption_.padding});
  if (options_.penalty > 0 && pass.weights.defined()) {
    const Tensor looked_at = (pass.weights.squeeze(1) * keep.unsqueeze(2)).sum(1);  // [B, L]
    const Tensor unlike_one = (1 - looked_at).square().sum(1);                      // [B]
    loss.scalars["penalty"] = unlike_one.detach().mean();
    loss.objective = loss.objective + options_.penalty * unlike_one.sum() / loss.units;
  }
  return loss;
}

ShowAttendTell::Told ShowAttendTell::told_of(const Batch& batch, const Pass& pass) const {
  const Tensor &target = batch.at("target"), &keep = batch.at("target.keep");  // [B, T]
  const Tensor logs = output_->forward(pass.readouts).log_softmax(-1);         // [B, T, V]
  const Tensor of_words = logs.gather(2, target.unsqueeze(2)).squeeze(2);      // [B, T]
  const Tensor aimed_at = (1 - options_.label_smoothing) * of_words +
                          options_.label_smoothing * logs.mean(2);  // [B, T]
  Told told{of_words * keep, -aimed_at * keep, {}, {}};
  if (pass.log_choices.defined()) {
    told.log_choices = pass.log_choices * keep;
    told.entropy = pass.entropy * keep;
  }
  return told;
}

ShowAttendTell::Told ShowAttendTell::tell(const Batch& batch, const Looking& looking) const {
  require(attends() || looking.how != Look::Drawn, ErrorKind::InvalidArgument,
          "model.attention=none has no cells to draw");
  const Pictures pictures = look_at(batch.at("image"), nullptr, nullptr);
  return told_of(batch, pass_over(pictures, batch.at("target"), nullptr, looking));
}

Tensor ShowAttendTell::hard_objective(const Told& told, const Tensor& rewards) const {
  const Tensor of_words = told.cost - options_.reward_weight * rewards * told.log_choices -
                          options_.entropy_weight * told.entropy;  // [B, T]
  return of_words.sum(1);
}

Tensor ShowAttendTell::rewards_above(const Told& told, const Tensor& baseline) {
  const Tensor log_probability = told.log_probability.detach();
  return (log_probability.sum(1) - baseline).unsqueeze(1).expand_as(log_probability);
}

Tensor ShowAttendTell::rewards_above(const Told& told, const Told& softly) {
  const Tensor gains = (told.log_probability - softly.log_probability).detach();  // [B, T]
  return gains.flip(1).cumsum(1).flip(1);
}

Tensor ShowAttendTell::take_baseline(const Tensor& log_probability, int64_t step) {
  const std::lock_guard lock(baseline_mutex_);
  torch::NoGradGuard no_gradients;
  // Parts of a batch come in any order: whole numbers add up to the same in each.
  constexpr double kUnit = 1 << 20;
  const Tensor sum = (log_probability.to(at::kDouble).sum() * kUnit).round().to(at::kLong);
  const Tensor is_new = newest_step_ != step, ended = is_new & (newest_count_ > 0);
  const Tensor newest =
      newest_sum_.to(at::kDouble) / kUnit / newest_count_.clamp_min(1).to(at::kDouble);
  const Tensor moved = options_.baseline_decay * baseline_ + (1 - options_.baseline_decay) * newest;
  const Tensor is_known = baseline_batches_ > 0;
  baseline_.copy_(at::where(ended, at::where(is_known, moved, newest), baseline_));
  baseline_batches_.add_(ended.to(at::kLong));
  newest_sum_.mul_(is_new.logical_not()).add_(sum);
  newest_count_.mul_(is_new.logical_not()).add_(log_probability.size(0));
  newest_step_.fill_(step);
  // Before the first mean is known nothing is better or worse than expected.
  return at::where(baseline_batches_ > 0, baseline_.to(log_probability.scalar_type()),
                   log_probability);
}

Loss ShowAttendTell::hard_loss(const Batch& batch, const StepContext& context) {
  const Tensor& target = batch.at("target");
  const Pictures pictures = look_at(batch.at("image"), &context.random, nullptr);
  // Dropout is the same in both: what one draw gains is not lost in it.
  const auto told = [&](const Looking& looking) {
    return told_of(batch, pass_over(pictures, target, &context.random, looking));
  };
  const Told drawn = told({Look::Drawn, &context.random});
  const bool is_moving = options_.baseline == "moving";
  const double share = options_.semi_sampling;
  Told softly;
  if (share > 0 || !is_moving) {
    torch::AutoGradMode gradients(share > 0);
    softly = told({Look::Softly});
  }
  const Tensor log_probability = drawn.log_probability.detach().sum(1);  // [B]
  const Tensor rewards = is_moving
                             ? rewards_above(drawn, take_baseline(log_probability, context.step))
                             : rewards_above(drawn, softly);
  Tensor cost = (1 - share) * hard_objective(drawn, rewards).sum();
  if (share > 0) cost = cost + share * softly.cost.sum();
  Loss loss;
  loss.units = batch.at("target.keep").sum();
  loss.objective = cost / loss.units;
  loss.scalars["log_probability"] = log_probability.mean();
  return loss;
}

Loss ShowAttendTell::loss(const Batch& batch, const StepContext& context) {
  if (is_hard()) return hard_loss(batch, context);
  const Pictures pictures = look_at(batch.at("image"), &context.random, nullptr);
  return soft_loss(batch, pass_over(pictures, batch.at("target"), &context.random, {}));
}

std::pair<double, int64_t> ShowAttendTell::negative_log_likelihood(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  const Pictures pictures = look_at(batch.at("image"), nullptr, nullptr);
  const Pass pass = pass_over(pictures, batch.at("target"), nullptr, answering());
  const Tensor logs = log_probabilities(output_->forward(pass.readouts), batch.at("target"));
  return {-logs.sum().item<double>(), batch.at("target.keep").sum().item<int64_t>()};
}

Predictions ShowAttendTell::predict(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  const PrecisionScope precision = search_precision();
  Pictures pictures = look_at(batch.at("image"), nullptr, nullptr);
  RecurrentState state = pictures.start;
  const PackedProjection output(output_->weight, output_->bias);
  Tensor row = at::arange(batch.size);  // which picture each live row belongs to
  const StepFunction step = [&](const StepInput& in) -> StepOutput {
    if (in.origin.defined()) {
      const Tensor origin = in.origin.to(device());
      state = state.select(origin);
      const Tensor rows = row.index_select(0, in.origin.to(at::kCPU));
      if (!rows.equal(row)) pictures = pictures.select(origin);
      row = rows;
    }
    const Tensor word = embedding_lookup(words_->weight, in.tokens.to(device()));  // [R, E]
    const Seen now = look(state.hidden[0], pictures, answering().how, nullptr);
    const Step written = write(word, state, now);
    state = written.state;
    const bool covered = search_.coverage_penalty > 0 && now.weights.defined();
    return answer_step(in, output, read_out(word, state.hidden[0], written.context),
                       covered ? now.weights.flatten(1) : Tensor());
  };
  SearchProblem problem = search_problem(batch.size);
  if (search_.method == "sample")
    for (const uint64_t number : numbers_of_pictures(batch.at("image")))
      problem.numbers.push_back(int64_t(number >> 1));
  const int64_t longest = search_.maximum_length > 0 ? search_.maximum_length : caption_.longest;
  problem.maximum_length.assign(size_t(batch.size), longest);
  return search_outputs(problem, step);
}

Tensor ShowAttendTell::replay(const Batch& batch, const Predictions& predictions, Tap* tap) const {
  const Tensor target = chosen_targets(batch, predictions);  // [B, T]
  const Pictures pictures = look_at(batch.at("image"), nullptr, tap);
  if (target.size(1) == 0) return at::zeros({batch.size, 0}, at::TensorOptions(device()));
  const Pass pass = pass_over(pictures, target, nullptr, answering(), tap);
  return log_probabilities(output_->forward(pass.readouts), target);
}

}  // namespace fovea
