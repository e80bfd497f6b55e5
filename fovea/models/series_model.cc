#include "fovea/models/series_model.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

bool are_inputs(const std::vector<int64_t>& targets) {
  return std::none_of(targets.begin(), targets.end(), [](int64_t input) { return input < 0; });
}

}  // namespace

void SeriesModelOptions::describe(OptionList& list) {
  list.add("channels", channels,
           "independent: each target from its own past, with weights that all share; mixed: from "
           "all inputs together; auto: independent where every target is an input")
      .choices({"auto", "independent", "mixed"});
  list.add(
      "revin", revin,
      "reversible instance normalisation: each window without its own mean and deviation, which "
      "the forecast gets back; only where every target is an input");
  list.add(
      "quantiles", quantiles,
      "quantiles to forecast, such as 0.1,0.5,0.9: the first and last are the interval, the one "
      "nearest to 0.5 is the forecast; empty: the mean");
}

std::vector<double> SeriesModelOptions::levels() const {
  std::vector<double> levels;
  for (const std::string& text : quantiles) {
    double level = 0;
    require(parse_number(text, level) && level > 0 && level < 1 &&
                (levels.empty() || level > levels.back()),
            ErrorKind::InvalidArgument, "model.quantiles: found '", text,
            "', expected numbers between 0 and 1 that ascend, such as 0.1,0.5,0.9");
    levels.push_back(level);
  }
  return levels;
}

Tensor revin_deviation(const Tensor& x, const Tensor& mean) {
  return ((x - mean).square().mean(1, true) + SeriesModel::kRevinEpsilon).sqrt();
}

SeriesModel::SeriesModel(const SeriesModelOptions& options, SeriesShape shape)
    : shape_(std::move(shape)),
      independent_(options.channels == "independent" ||
                   (options.channels == "auto" && are_inputs(shape_.targets))),
      revin_(options.revin && are_inputs(shape_.targets)),
      quantiles_(options.levels()) {
  require(
      !independent_ || are_inputs(shape_.targets), ErrorKind::InvalidArgument,
      "model.channels=independent forecasts a target from its own past, but not every target is "
      "an input; name it with --columns input=…, or choose mixed");
  const auto nearest =
      std::min_element(quantiles_.begin(), quantiles_.end(),
                       [](double a, double b) { return std::abs(a - 0.5) < std::abs(b - 0.5); });
  if (!quantiles_.empty()) middle_ = nearest - quantiles_.begin();
  if (shape_.known > 0)
    effect_ = register_projection(*this, "effect", {shape_.known, int64_t(shape_.targets.size())});
}

int64_t SeriesModel::row_outputs() const {
  const auto levels = std::max<int64_t>(1, int64_t(quantiles_.size()));
  return independent_ ? levels : levels * int64_t(shape_.targets.size());
}

void SeriesModel::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  if (effect_) effect_->weight.zero_(), effect_->bias.zero_();  // at first nothing has an effect
  initialise_network(random);
}

Schema SeriesModel::schema() const {
  const auto targets = int64_t(shape_.targets.size());
  Schema schema{{"source", at::kFloat, {-1, shape_.window, shape_.inputs}},
                {"target", at::kFloat, {-1, shape_.horizon, targets}}};
  if (shape_.known > 0)
    schema.push_back({"known", at::kFloat, {-1, shape_.window + shape_.horizon, shape_.known}});
  return schema;
}

std::vector<LayerSummary> SeriesModel::known_summary() const {
  if (!effect_) return {};
  return {{concat("effect of what is known (", shape_.known, ")"),
           {int64_t(shape_.targets.size())},
           count_parameters(*effect_)}};
}

std::string SeriesModel::describe_channels() const {
  return concat(independent_ ? "each series from its own past" : "all inputs together",
                revin_ ? ", RevIN" : "");
}

Tensor SeriesModel::targets_of(const Tensor& inputs) const {
  if (int64_t(shape_.targets.size()) == shape_.inputs &&
      std::is_sorted(shape_.targets.begin(), shape_.targets.end()))
    return inputs;
  return inputs.index_select(
      -1, torch::tensor(shape_.targets, at::TensorOptions(at::kLong)).to(inputs.device()));
}

Tensor SeriesModel::run(const Batch& batch, const Random* random, Tap* tap) const {
  const Tensor source = leaf_of(tap, "source", batch.at("source"));  // [B, S, F]
  const int64_t size = source.size(0), S = shape_.window, T = shape_.horizon;
  const auto O = int64_t(shape_.targets.size());
  Tensor x = source, future;
  if (effect_) {
    const Tensor effect = effect_->forward(batch.at("known"));  // [B, S + T, O]
    future = effect.narrow(1, S, T).unsqueeze(-1);              // [B, T, O, 1]
    std::vector<Tensor> columns = x.unbind(-1);
    for (size_t target = 0; target < shape_.targets.size(); ++target)
      if (const int64_t input = shape_.targets[target]; input >= 0)
        columns[size_t(input)] =
            columns[size_t(input)] - effect.narrow(1, 0, S).select(-1, int64_t(target));
    x = at::stack(columns, -1);
  }
  if (independent_) x = targets_of(x);  // [B, S, O]
  Tensor mean, deviation;
  if (revin_) {
    mean = x.mean(1, true).detach();                // [B, 1, C]
    deviation = revin_deviation(x, mean).detach();  // [B, 1, C]
    x = (x - mean) / deviation;
  }
  const Tensor z = x.transpose(1, 2).reshape({size * rows(), row_inputs(), S});  // [B R, C, S]
  Tensor y = forward(z, random, tap);                                            // [B R, T, …]
  y = independent_ ? y.view({size, O, T, -1}).transpose(1, 2) : y.view({size, T, O, -1});
  if (revin_) {
    const auto scale = [&](const Tensor& own) {
      return (independent_ ? own : targets_of(own)).unsqueeze(-1);  // [B, 1, O, 1]
    };
    y = y * scale(deviation) + scale(mean);
  }
  return effect_ ? y + future : y;  // [B, T, O, max(q, 1)]
}

Loss SeriesModel::loss(const Batch& batch, const StepContext& context) {
  const Tensor difference =
      batch.at("target").unsqueeze(-1) - run(batch, &context.random, nullptr);  // [B, T, O, q]
  if (quantiles_.empty()) return {difference.square().mean(), {}};
  const Tensor level = torch::tensor(quantiles_, difference.options());  // [q]
  return {at::maximum(level * difference, (level - 1) * difference).mean(), {}};
}

Predictions SeriesModel::predict(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  const Tensor y = run(batch, nullptr, nullptr);  // [B, T, O, q]
  Predictions predictions;
  if (quantiles_.empty()) {
    predictions.values = y.flatten(1);  // [B, T O]
  } else {
    const Tensor ordered = std::get<0>(y.sort(-1));  // two lines that cross say nothing
    predictions.values = at::cat({ordered.select(-1, middle_).flatten(1), ordered.flatten(1)}, 1);
  }
  return predictions;
}

Tensor SeriesModel::replay(const Batch& batch, const Predictions&, Tap* tap) const {
  const Tensor y = run(batch, nullptr, tap);  // [B, T, O, q]
  if (quantiles_.empty()) return y.flatten(1);
  return std::get<0>(y.sort(-1)).select(-1, middle_).flatten(1);  // [B, T O]
}

}  // namespace fovea
