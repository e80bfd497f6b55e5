#include "fovea/training/optimiser.h"

#include <torch/torch.h>

#include <cmath>

#include "fovea/core/error.h"

namespace fovea {

using kernels::OptimiserKind;

namespace {

OptimiserKind kind_of(const std::string& name) {
  if (name == "sgd") return OptimiserKind::Sgd;
  if (name == "adamw") return OptimiserKind::AdamW;
  if (name == "rmsprop") return OptimiserKind::RmsProp;
  if (name == "adadelta") return OptimiserKind::Adadelta;
  return OptimiserKind::Adam;
}

kernels::OptimiserSettings settings_of(const TrainingOptions& o) {
  return {kind_of(o.optimiser), float(o.learning_rate), float(o.momentum),
          o.nesterov,           float(o.beta1),         float(o.beta2),
          float(o.rho),         float(o.epsilon),       float(o.weight_decay)};
}

}  // namespace

Optimiser::Optimiser(Model& model, const TrainingOptions& options, int64_t steps_per_epoch)
    : options_(options), schedule_(options, steps_per_epoch), settings_(settings_of(options)) {
  torch::NoGradGuard no_gradients;
  int64_t total = 0;
  for (const at::Tensor& parameter : model.parameters()) {
    require(parameter.scalar_type() == torch::kFloat32, ErrorKind::Unsupported,
            "only float32 parameters can be trained, found ", parameter.scalar_type());
    total += parameter.numel();
  }
  const auto like = torch::TensorOptions().dtype(torch::kFloat32).device(model.device());
  parameters_ = torch::zeros({total}, like);
  gradient_ = torch::zeros({total}, like);
  first_ = torch::zeros({total}, like);
  second_ = torch::zeros({total}, like);
  int64_t at = 0;
  for (auto& item : model.named_parameters()) {
    at::Tensor& parameter = item.value();
    const ParameterRule rule = model.rule_of(item.key());
    if (rule.rate == 0) parameter.set_requires_grad(false);
    if (stretches_.empty() || stretches_.back().rule != rule) stretches_.push_back({at, at, rule});
    stretches_.back().end += parameter.numel();
    const at::Tensor place = parameters_.narrow(0, at, parameter.numel()).view(parameter.sizes());
    place.copy_(parameter);
    parameter.set_data(place);
    parameter.mutable_grad() = gradient_.narrow(0, at, parameter.numel()).view(parameter.sizes());
    at += parameter.numel();
  }
}

void Optimiser::clip() {
  if (options_.clip_value > 0) gradient_.clamp_(-options_.clip_value, options_.clip_value);
  if (options_.clip_norm <= 0) return;
  const double norm = gradient_.is_cpu()
                          ? std::sqrt(kernels::squared_norm(gradient(), gradient_.numel()))
                          : gradient_.norm().item<double>();
  if (norm > options_.clip_norm) gradient_.mul_(options_.clip_norm / norm);
}

void Optimiser::step() {
  clip();
  settings_.learning_rate = float(schedule_.rate(++steps_));
  for (const Stretch& stretch : stretches_) {
    if (stretch.rule.rate == 0) continue;
    if (!parameters_.is_cpu()) {
      step_with_tensors(stretch);
      continue;
    }
    kernels::optimiser_step(settings_for(stretch), steps_, parameters() + stretch.begin,
                            gradient() + stretch.begin, first_.data_ptr<float>() + stretch.begin,
                            second_.data_ptr<float>() + stretch.begin, stretch.end - stretch.begin);
  }
}

kernels::OptimiserSettings Optimiser::settings_for(const Stretch& stretch) const {
  kernels::OptimiserSettings own = settings_;
  own.learning_rate *= float(stretch.rule.rate);
  if (!stretch.rule.decays) own.weight_decay = 0;
  return own;
}

void Optimiser::step_with_tensors(const Stretch& stretch) {
  torch::NoGradGuard no_gradients;
  const auto s = settings_for(stretch);
  const auto own = [&](const at::Tensor& flat) {
    return flat.narrow(0, stretch.begin, stretch.end - stretch.begin);
  };
  at::Tensor parameters = own(parameters_), first = own(first_), second = own(second_);
  const double rate = s.learning_rate;
  const bool adam = s.kind == OptimiserKind::Adam || s.kind == OptimiserKind::AdamW;
  at::Tensor g = own(gradient_);
  if (s.kind == OptimiserKind::AdamW)
    parameters.mul_(1 - rate * s.weight_decay);
  else if (s.weight_decay != 0)
    g = g + s.weight_decay * parameters;
  if (s.kind == OptimiserKind::Sgd) {
    first.mul_(s.momentum).add_(g);
    parameters.sub_(s.nesterov ? g + s.momentum * first : first, rate);
    return;
  }
  const double decay = adam ? s.beta2 : s.rho;
  second.mul_(decay).addcmul_(g, g, 1 - decay);
  if (adam) {
    first.mul_(s.beta1).add_(g, 1 - s.beta1);
    const double scale = 1 / std::sqrt(1 - std::pow(double(s.beta2), double(steps_)));
    parameters.addcdiv_(first, second.sqrt().mul_(scale).add_(s.epsilon),
                        -rate / (1 - std::pow(double(s.beta1), double(steps_))));
  } else if (s.kind == OptimiserKind::RmsProp) {
    first.mul_(s.momentum).addcdiv_(g, second.sqrt().add_(s.epsilon));
    parameters.sub_(first, rate);
  } else {
    const at::Tensor delta = g * (first + s.epsilon).sqrt_() / (second + s.epsilon).sqrt_();
    first.mul_(s.rho).addcmul_(delta, delta, 1 - double(s.rho));
    parameters.sub_(delta, rate);
  }
}

void Optimiser::restore(int64_t steps, const at::Tensor& first, const at::Tensor& second) {
  torch::NoGradGuard no_gradients;
  require(first.numel() == first_.numel() && second.numel() == second_.numel(), ErrorKind::BadData,
          "the checkpoint's optimiser has ", first.numel(), " numbers, the model ", first_.numel(),
          " parameters");
  steps_ = steps;
  first_.copy_(first);
  second_.copy_(second);
}

}  // namespace fovea
