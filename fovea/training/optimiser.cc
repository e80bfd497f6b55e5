#include "fovea/training/optimiser.h"

#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

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

/// Numbers that one job takes; many whole vectors.
constexpr int64_t kBlock = 1 << 16;

int64_t blocks_of(int64_t count) {
  return (count + kBlock - 1) / kBlock;
}

/// work(begin, count) for blocks of `total` numbers, side by side.
template <class Work>
void for_blocks(int64_t total, Work work) {
  run_parallel(blocks_of(total), [&](int64_t block) {
    work(block * kBlock, std::min(kBlock, total - block * kBlock));
  });
}

double norm_of(const float* numbers, int64_t count) {
  std::vector<double> squares(static_cast<size_t>(blocks_of(count)));
  for_blocks(count, [&](int64_t begin, int64_t size) {
    squares[static_cast<size_t>(begin / kBlock)] = kernels::squared_norm(numbers + begin, size);
  });
  return std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
}

}  // namespace

Powers::Powers(double base) : base_(base) {
  for (int64_t i = 0; i < kSmall; ++i) small_[size_t(i)] = std::pow(base, double(i));
}

double Powers::operator()(int64_t exponent) {
  const int64_t block = exponent / kSmall;
  if (block != block_) large_ = std::pow(base_, double(block * kSmall)), block_ = block;
  return large_ * small_[size_t(exponent % kSmall)];
}

Optimiser::Optimiser(Model& model, const TrainingOptions& options, int64_t steps_per_epoch)
    : options_(options),
      schedule_(options, steps_per_epoch),
      settings_(settings_of(options)),
      powers1_(settings_.beta1),
      powers2_(settings_.beta2) {
  torch::NoGradGuard no_gradients;
  int64_t total = 0;
  for (const auto& item : model.named_parameters()) {
    if (!model.saves(item.key())) continue;
    const at::Tensor& parameter = item.value();
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
    if (!model.saves(item.key())) continue;
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
  if (!parameters_.is_cpu()) spread_rules();
}

void Optimiser::spread_rules() {
  const int64_t size = stretches_.size() == 1 ? 1 : parameters_.numel();
  rates_ = torch::ones({size}, parameters_.options());
  decays_ = torch::ones({size}, parameters_.options());
  for (const Stretch& stretch : stretches_) {
    const int64_t count = size == 1 ? 1 : stretch.end - stretch.begin;
    rates_.narrow(0, stretch.begin, count).fill_(stretch.rule.rate);
    decays_.narrow(0, stretch.begin, count).fill_(stretch.rule.decays ? 1 : 0);
  }
}

void Optimiser::clip() {
  if (options_.clip_value > 0) gradient_.clamp_(-options_.clip_value, options_.clip_value);
  if (options_.clip_norm <= 0) return;
  if (!gradient_.is_cpu()) {  // nobody waits to see the norm
    excess_ = (gradient_.norm() / options_.clip_norm).clamp_min(1);
    if (!steps_fused()) gradient_.div_(excess_);
    return;
  }
  const double norm = norm_of(gradient(), gradient_.numel());
  if (norm > options_.clip_norm) gradient_.mul_(options_.clip_norm / norm);
}

void Optimiser::step() {
  clip();
  settings_.learning_rate = float(schedule_.rate(++steps_));
  if (!parameters_.is_cpu()) return step_with_tensors();
  for (const Stretch& stretch : stretches_) {
    if (stretch.rule.rate == 0) continue;
    for_blocks(stretch.end - stretch.begin, [&](int64_t begin, int64_t count) {
      const int64_t at = stretch.begin + begin;
      kernels::optimiser_step(settings_for(stretch), steps_ - restarted_at_, parameters() + at,
                              gradient() + at, first_.data_ptr<float>() + at,
                              second_.data_ptr<float>() + at, count);
    });
  }
}

kernels::OptimiserSteps Optimiser::next_steps(int64_t count) {
  require(stretches_.size() == 1 && parameters_.is_cpu(), ErrorKind::Internal,
          "steps in one call are for the CPU and for one rule for all parameters");
  factors_.clear();
  for (int64_t i = 0; i < count; ++i) {
    settings_.learning_rate = float(schedule_.rate(++steps_));
    const int64_t step = steps_ - restarted_at_;
    factors_.push_back(
        kernels::step_factors(settings_for(stretches_[0]), powers1_(step), powers2_(step)));
  }
  return {.settings = settings_for(stretches_[0]),
          .clip_value = options_.clip_value,
          .clip_norm = options_.clip_norm,
          .parameters = parameters(),
          .gradient = gradient(),
          .first = first_.data_ptr<float>(),
          .second = second_.data_ptr<float>(),
          .count = parameters_.numel(),
          .factors = factors_.data()};
}

kernels::OptimiserSettings Optimiser::settings_for(const Stretch& stretch) const {
  kernels::OptimiserSettings own = settings_;
  own.learning_rate *= float(stretch.rule.rate);
  if (!stretch.rule.decays) own.weight_decay = 0;
  return own;
}

bool Optimiser::steps_fused() const {
  const bool adam = settings_.kind == OptimiserKind::Adam || settings_.kind == OptimiserKind::AdamW;
  return TORCH_VERSION_MAJOR >= 2 && parameters_.is_cuda() && adam;
}

#if TORCH_VERSION_MAJOR >= 2
/// Adam and AdamW in one launch for each stretch, clipping included: every number is read and
/// written once.
void Optimiser::step_fused() {
  const std::optional<at::Tensor> excess =
      options_.clip_norm > 0 ? std::optional(excess_) : std::nullopt;
  const at::Tensor steps = torch::full({}, double(steps_ - restarted_at_), parameters_.options());
  for (const Stretch& stretch : stretches_) {
    if (stretch.rule.rate == 0) continue;
    const auto part = [&](const at::Tensor& all) {
      return std::vector<at::Tensor>{all.narrow(0, stretch.begin, stretch.end - stretch.begin)};
    };
    const kernels::OptimiserSettings own = settings_for(stretch);
    const auto p = part(parameters_), g = part(gradient_), m = part(first_), v = part(second_);
    const double rate = own.learning_rate, decay = own.weight_decay;
    if (own.kind == OptimiserKind::AdamW)
      at::_fused_adamw_(p, g, m, v, {}, {steps}, rate, own.beta1, own.beta2, decay, own.epsilon,
                        /*amsgrad=*/false, /*maximize=*/false, excess);
    else
      at::_fused_adam_(p, g, m, v, {}, {steps}, rate, own.beta1, own.beta2, decay, own.epsilon,
                       /*amsgrad=*/false, /*maximize=*/false, excess);
  }
}
#endif

void Optimiser::step_with_tensors() {
  torch::NoGradGuard no_gradients;
  const auto& s = settings_;
#if TORCH_VERSION_MAJOR >= 2
  if (steps_fused()) return step_fused();
#endif
  const at::Tensor rate = rates_ * s.learning_rate, decay = decays_ * s.weight_decay;  // [P] or [1]
  const bool adam = s.kind == OptimiserKind::Adam || s.kind == OptimiserKind::AdamW;
  at::Tensor g = gradient_;
  if (s.weight_decay != 0) {
    if (s.kind == OptimiserKind::AdamW)
      parameters_.mul_(1 - rate * decay);
    else
      g = g + decay * parameters_;
  }
  if (s.kind == OptimiserKind::Sgd) {
    first_.mul_(s.momentum).add_(g);
    parameters_.sub_((s.nesterov ? g + s.momentum * first_ : first_) * rate);
    return;
  }
  const double memory = adam ? s.beta2 : s.rho;
  second_.mul_(memory).addcmul_(g, g, 1 - memory);
  if (adam) {
    first_.mul_(s.beta1).add_(g, 1 - s.beta1);
    const auto step = double(steps_ - restarted_at_);
    const double scale = 1 / std::sqrt(1 - std::pow(double(s.beta2), step));
    parameters_.addcdiv_(first_ * rate, second_.sqrt().mul_(scale).add_(s.epsilon),
                         -1 / (1 - std::pow(double(s.beta1), step)));
  } else if (s.kind == OptimiserKind::RmsProp) {
    first_.mul_(s.momentum).addcdiv_(g, second_.sqrt().add_(s.epsilon));
    parameters_.sub_(first_ * rate);
  } else {
    const at::Tensor delta = g * (first_ + s.epsilon).sqrt_() / (second_ + s.epsilon).sqrt_();
    first_.mul_(s.rho).addcmul_(delta, delta, 1 - double(s.rho));
    parameters_.sub_(delta * rate);
  }
}

void Optimiser::restart() {
  torch::NoGradGuard no_gradients;
  for (const at::Tensor& tensor : {gradient_, first_, second_}) tensor.zero_();
  restarted_at_ = steps_;
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
