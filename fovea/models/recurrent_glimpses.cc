#include "fovea/models/recurrent_glimpses.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/nn/ops/activation.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

Tensor relu_of(const Projection& layer, const Tensor& x) {
  return activated_projection(x, layer.weight, layer.bias, Activation::Relu);
}

}  // namespace

void RecurrentGlimpsesOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"ram"});
  list.add("glimpses", glimpses, "glimpses at a picture").within(1, 1000);
  list.add("patch", patch, "numbers of each patch of a glimpse, in each direction").within(2, 1024);
  list.add("scales", scales,
           "patches of a glimpse, each twice as wide as the one before and half as sharp")
      .within(1, 8);
  list.add("glimpse_hidden", glimpse_hidden, "numbers for what was seen, and for where")
      .at_least(1);
  list.add("hidden", hidden, "numbers of a glimpse, and of the state").at_least(1);
  list.add("places", places, "learned: the network chooses them; random: the control")
      .choices({"learned", "random"});
  list.add("means", means, "the middle of the next draw: linear in the state, or tanh of that")
      .choices({"linear", "tanh"});
  list.add("sigma", sigma, "deviation of a draw from its middle, where 1 is half of the picture")
      .above(0);
  list.add("last_sigma", last_sigma, "what it falls to, evenly over sigma_steps; used in answers")
      .above(0);
  list.add("sigma_steps", sigma_steps, "optimiser steps until then; 0: sigma stays").at_least(0);
  list.add("samples", samples, "episodes per picture in training").within(1, 1000);
  list.add("evaluation_samples", evaluation_samples, "episodes that an answer is the mean of")
      .within(1, 1000);
}

double RecurrentGlimpsesOptions::sigma_at(int64_t step) const {
  if (sigma_steps == 0) return sigma;
  const double share = std::min(1.0, double(step) / double(sigma_steps));
  return sigma + (last_sigma - sigma) * share;
}

RecurrentGlimpses::RecurrentGlimpses(RecurrentGlimpsesOptions options, PictureInput input)
    : options_(std::move(options)), input_(input), sensor_({options_.patch, options_.scales}) {
  const auto& o = options_;
  const auto layer = [&](const char* name, int64_t in, int64_t out, bool bias = true) {
    return register_projection(*this, name, {in, out, bias});
  };
  what_ = layer("what", sensor_.size(input_.channels), o.glimpse_hidden);
  where_ = layer("where", kPlaceNumbers, o.glimpse_hidden);
  combine_ = layer("combine", 2 * o.glimpse_hidden, o.hidden);
  core_input_ = layer("core_input", o.hidden, o.hidden);
  core_state_ = layer("core_state", o.hidden, o.hidden, /*bias=*/false);
  if (o.chooses()) {
    locate_ = layer("locate", o.hidden, kPlaceNumbers);
    baseline_ = layer("baseline", o.hidden, 1);
  }
  classify_ = layer("classify", o.hidden, input_.classes);
}

/// The policy begins in the middle of the picture, and the baseline with no opinion: random ones
/// would have to be unlearned from rewards alone.
void RecurrentGlimpses::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  for (const auto& child : named_children())
    std::dynamic_pointer_cast<Projection>(child.value())->initialise(random.split(child.key()));
  if (!options_.chooses()) return;
  locate_->weight.zero_();
  baseline_->weight.zero_();
}

std::vector<LayerSummary> RecurrentGlimpses::summary() const {
  const auto& o = options_;
  const int64_t numbers = sensor_.size(input_.channels);
  std::vector<LayerSummary> layers{
      {concat("sensor (", o.scales, " patches of ", o.patch, " x ", o.patch, ")"), {numbers}, 0},
      {"what and where",
       {2 * o.glimpse_hidden},
       count_parameters(*what_) + count_parameters(*where_)},
      {"glimpse", {o.hidden}, count_parameters(*combine_)},
      {concat("core, ", o.glimpses, " times"),
       {o.hidden},
       count_parameters(*core_input_) + count_parameters(*core_state_)}};
  if (o.chooses()) {
    layers.push_back({"next place (normal)", {kPlaceNumbers}, count_parameters(*locate_)});
    layers.push_back({"baseline", {1}, count_parameters(*baseline_)});
  }
  layers.push_back({"class (softmax)", {input_.classes}, count_parameters(*classify_)});
  return layers;
}

ParameterRule RecurrentGlimpses::rule_of(const std::string& name) const {
  return {.decays = name.find("bias") == std::string::npos};
}

Tensor RecurrentGlimpses::glimpse(const Tensor& seen, const Tensor& places) const {
  return relu_of(*combine_, torch::cat({relu_of(*what_, seen), relu_of(*where_, places)}, -1));
}

Tensor RecurrentGlimpses::means_of(const Tensor& states) const {
  const Tensor means = locate_->forward(states);
  return options_.means == "tanh" ? means.tanh() : means;
}

/// A GPU draws from its own generator, set to the step's stream first: numbers of a CPU would have
/// to be made one by one and moved there.
Tensor RecurrentGlimpses::chance_of_step(const Batch& batch, const Random& random) const {
  const at::Device device = batch.at("image").device();
  const auto options = torch::TensorOptions().dtype(number_type()).device(device);
  const bool chooses = options_.chooses();
  const int64_t uniform = chooses ? 1 : options_.glimpses, normal = options_.glimpses - uniform;
  const std::vector<int64_t> first{batch.size, options_.samples, uniform, kPlaceNumbers};
  const std::vector<int64_t> later{batch.size, options_.samples, normal, kPlaceNumbers};
  if (!device.is_cpu()) {
    seed_device(device, random.split("places").key());
    return torch::cat({torch::rand(first, options) * 2 - 1, torch::randn(later, options)}, 2);
  }
  return torch::cat({random.split("first").uniform_tensor(first, -1, 1, options),
                     random.split("noise").normal_tensor(later, 0, 1, options)},
                    2);
}

Tensor RecurrentGlimpses::chance_of_pixels(const Tensor& image) const {
  const int64_t rows = image.size(0), samples = options_.evaluation_samples;
  const int64_t per_episode = options_.glimpses * kPlaceNumbers;
  const std::vector<uint64_t> numbers = numbers_of_pictures(
      image.is_floating_point() ? (image * 255).round().to(torch::kByte) : image);
  const Tensor chance =
      torch::empty({rows, samples, options_.glimpses, kPlaceNumbers}, torch::kDouble);
  double* value = chance.data_ptr<double>();
  for (int64_t row = 0; row < rows; ++row) {
    const Random own(numbers[size_t(row)]);
    for (int64_t sample = 0; sample < samples; ++sample) {
      const Random draws = own.split(uint64_t(sample));
      for (int64_t i = 0; i < per_episode; ++i) {
        const bool uniform = i < kPlaceNumbers || !options_.chooses();
        *value++ = uniform ? 2 * draws.uniform(uint64_t(i)) - 1 : draws.normal(uint64_t(i));
      }
    }
  }
  return chance.to(image.device(), number_type());
}

RecurrentGlimpses::Played RecurrentGlimpses::go_through(const Tensor& image, const Tensor& chance,
                                                        double sigma, bool keeps_all,
                                                        const EachState& each) const {
  torch::NoGradGuard no_gradients;
  const Scene scene = sensor_.prepare(image);
  Played played{{{*what_, *where_, *combine_, *core_input_, *core_state_},
                 chance.size(0) * chance.size(1),
                 options_.glimpses,
                 keeps_all},
                {}};
  std::vector<Tensor> draws;
  Tensor state;  // [B M, D]
  for (int64_t t = 0; t < options_.glimpses; ++t) {
    Tensor draw = chance.select(2, t);  // [B, M, 2]
    if (t > 0 && options_.chooses()) draw = means_of(state).view_as(draw) + sigma * draw;
    const Tensor places = as_places(draw);
    const Tensor seen = sensor_.see(scene, places).to(number_type());  // [B, M, P]
    state = played.pass.step(seen.flatten(0, 1), places.flatten(0, 1));
    draws.push_back(draw);
    if (each) each(state);
  }
  played.draws = torch::stack(draws, 2);
  return played;
}

RecurrentGlimpses::Episodes RecurrentGlimpses::play(const Tensor& image, const Tensor& chance,
                                                    double sigma) const {
  std::vector<Tensor> scores;
  const auto classify = [&](const Tensor& state) {
    scores.push_back(
        classify_->forward(state).softmax(1).view({chance.size(0), chance.size(1), -1}));
  };
  const Played played = go_through(image, chance, sigma, /*keeps_all=*/false, classify);
  return {played.draws, torch::stack(scores, 2)};
}

RecurrentGlimpses::Episodes RecurrentGlimpses::play(const Batch& batch) const {
  const Tensor& image = batch.at("image");
  return play(image, chance_of_pixels(image), options_.answering_sigma());
}

/// Where a place is known, nothing before it is needed to see: all glimpses at once, and only the
/// core goes step by step.
Tensor RecurrentGlimpses::states_along(const Tensor& seen, const Tensor& places) const {
  const std::vector<Tensor> inputs =
      core_input_->forward(glimpse(seen, places)).unbind(0);  // T of [N, D]
  std::vector<Tensor> states{inputs[0].relu()};
  for (size_t t = 1; t < inputs.size(); ++t)
    states.push_back(torch::addmm(inputs[t], states.back(), core_state_->weight.t()).relu());
  return torch::stack(states);  // [T, N, D]
}

Loss RecurrentGlimpses::loss(const Batch& batch, const StepContext& context) {
  const double sigma = options_.sigma_at(context.step);
  const Played played = go_through(batch.at("image"), chance_of_step(batch, context.random), sigma,
                                   /*keeps_all=*/true, {});
  return hybrid_loss(batch, played.draws, sigma, played.pass.last_state(),
                     played.pass.earlier_states());
}

Loss RecurrentGlimpses::loss_along(const Batch& batch, const Tensor& draws, double sigma) const {
  const Tensor places = as_places(draws);  // [B, M, T, 2]
  const Tensor seen = sensor_.see(sensor_.prepare(batch.at("image")), places.flatten(1, 2))
                          .to(number_type())
                          .view({batch.size, draws.size(1), options_.glimpses, -1});
  const Tensor states = states_along(time_first(seen), time_first(places));  // [T, N, D]
  return hybrid_loss(batch, draws, sigma, states[-1],
                     states.narrow(0, 0, options_.glimpses - 1).detach());
}

Loss RecurrentGlimpses::hybrid_loss(const Batch& batch, const Tensor& draws, double sigma,
                                    const Tensor& last, const Tensor& earlier) const {
  const Tensor logits = classify_->forward(last);  // [N, C]
  const Tensor target =
      batch.at("target").unsqueeze(1).expand({-1, draws.size(1)}).reshape({-1});  // [N]
  const Tensor reward = (logits.argmax(1) == target).to(number_type());           // [N]
  Loss loss;
  loss.objective = at::cross_entropy_loss(logits, target);
  loss.scalars = {{"cross_entropy", loss.objective.detach()}, {"reward", reward.mean()}};
  if (!options_.chooses()) return loss;
  const Tensor chosen = time_first(draws).narrow(0, 1, options_.glimpses - 1);  // [T - 1, N, 2]
  const Tensor expected = baseline_->forward(earlier).squeeze(-1);              // [T - 1, N]
  const Tensor log_density =
      (chosen - means_of(earlier)).square().sum(-1) / (-2 * sigma * sigma);  // up to a constant
  const Tensor policy = -(log_density * (reward - expected).detach()).sum(0).mean();
  const Tensor misfit = (expected - reward).square().mean();
  loss.objective = loss.objective + policy + misfit;
  loss.scalars["baseline"] = misfit.detach();
  return loss;
}

Predictions RecurrentGlimpses::predict(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  const Episodes episodes = play(batch);
  const Tensor beliefs = episodes.scores.mean(1);  // [B, T, C]
  Predictions predictions;
  predictions.actions = as_places(episodes.draws);
  predictions.scores = beliefs.select(1, -1).contiguous();  // [B, C]
  const Tensor guesses = beliefs.argmax(2).cpu();           // [B, T]
  const Tensor answers = guesses.select(1, -1).view({-1, 1, 1}).expand({-1, guesses.size(1), 1});
  const Tensor logs = beliefs.cpu().gather(2, answers).squeeze(2).log().to(torch::kDouble);
  for (int64_t row = 0; row < batch.size; ++row) {
    predictions.outputs.emplace_back();
    for (int64_t t = options_.glimpses - 1; t >= 0; --t)
      predictions.outputs.back().push_back(
          {{guesses[row][t].item<int64_t>()}, logs[row][t].item<double>(), ""});
  }
  return predictions;
}

}  // namespace fovea
