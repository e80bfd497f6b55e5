#include "fovea/models/feature_attention.h"

#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/linear.h>
#include <numeric>

#include "fovea/attention/attend.h"
#include "fovea/base/error.h"
#include "fovea/models/initialise.h"
#include "fovea/models/table_answers.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using kernels::TabularLoss;

void FeatureAttentionOptions::describe(OptionList& list) {
  list.add("name", name,
           "which network of the tutorial: feature attention, a plain network, or logistic/linear "
           "regression")
      .choices({"tutorial", "tutorial-plain", "tutorial-linear"});
  list.add("hidden", hidden,
           "widths of the hidden layers after the attention; tutorial-plain without any gets one "
           "layer with "
           "as many parameters as "
           "attention would have")
      .within(1, 65536);
  list.add("dropout", dropout, "share of hidden units dropped in training").rate();
  normaliser.describe(list);  // model.normaliser, model.temperature, model.top_k
  std::vector<std::string> learnable = normaliser_names();  // the constructor refuses the others
  std::erase_if(learnable, [](const std::string& each) {
    return !find_normaliser(each).traits.is_differentiable;
  });
  for (const Option& option : list.options())
    if (option.key().ends_with("normaliser")) list.find(option.key()).choices(learnable);
}

namespace {

/// The hidden layers that the options mean for this data.
std::vector<int64_t> hidden_widths(const FeatureAttentionOptions& options,
                                   const FeatureShape& shape) {
  if (options.name == "tutorial-linear") {
    require(options.hidden.empty(), ErrorKind::InvalidArgument,
            "model.hidden: a linear model has no hidden layers; use "
            "model.name=tutorial-plain or tutorial");
    return {};
  }
  require(options.hidden.size() <= 16, ErrorKind::InvalidArgument,
          "model.hidden: ", options.hidden.size(), " layers, at most 16");
  if (options.has_attention() || !options.hidden.empty()) return options.hidden;
  const auto inputs = static_cast<int64_t>(shape.column_of_input.size()),
             columns = static_cast<int64_t>(shape.columns.size());
  const int64_t budget = columns * (inputs + 1) + shape.outputs * (inputs + 1);
  return {std::max<int64_t>(1, (budget - shape.outputs + (inputs + 1 + shape.outputs) / 2) /
                                   (inputs + 1 + shape.outputs))};
}

}  // namespace

FeatureAttention::FeatureAttention(FeatureAttentionOptions options, FeatureShape shape)
    : options_(std::move(options)), shape_(std::move(shape)) {
  const auto inputs = static_cast<int64_t>(shape_.column_of_input.size());
  const auto columns = static_cast<int64_t>(shape_.columns.size());
  require(inputs > 0 && columns > 0, ErrorKind::InvalidArgument,
          "a table model needs at least one input column");
  const bool attends = options_.has_attention();
  if (attends && !options_.normaliser.traits().is_differentiable) {
    std::vector<std::string> others = normaliser_names();
    std::erase(others, "hard");
    fail(ErrorKind::InvalidArgument,
         "model.normaliser=hard draws one column and learns by REINFORCE, which this model does ",
         "not: its attention would stay as it began; use one of ", join(others),
         " (gumbel also draws one)");
  }
  kernel_shape_ = {inputs,
                   attends ? columns : 0,
                   attends ? shape_.column_of_input : std::vector<int64_t>{},
                   hidden_widths(options_, shape_),
                   shape_.outputs,
                   shape_.loss};
  column_of_input_ = torch::tensor(shape_.column_of_input, torch::kInt64);
  if (attends) attention_ = register_module("attention", torch::nn::Linear(inputs, columns));
  int64_t width = inputs;
  const auto layers = register_module(
      "hidden", torch::nn::ModuleList());  // hidden.0.weight, … as PyTorch would name them
  for (int64_t next : kernel_shape_.hidden) {
    hidden_.emplace_back(width, next);
    layers->push_back(hidden_.back());
    width = next;
  }
  output_ = register_module("output", torch::nn::Linear(width, shape_.outputs));
}

void FeatureAttention::initialise(const Random& random) {
  for (const auto& item : named_parameters())
    initialise_like_keras(item.value(), random.split(item.key()));
}

Schema FeatureAttention::schema() const {
  const auto target = shape_.loss == TabularLoss::CrossEntropy ? torch::kInt64 : torch::kFloat32;
  return {{"inputs", torch::kFloat32, {-1, kernel_shape_.inputs}}, {"target", target, {-1}}};
}

std::vector<LayerSummary> FeatureAttention::summary() const {
  const auto size = [](const torch::nn::Linear& layer) {
    return layer->weight.numel() + layer->bias.numel();
  };
  std::vector<LayerSummary> layers{{"inputs", {kernel_shape_.inputs}, 0}};
  if (attention_) {
    layers.push_back({"attention (" + options_.normaliser.name + ")",
                      {kernel_shape_.columns},
                      size(attention_)});
    layers.push_back({"attention x inputs", {kernel_shape_.inputs}, 0});
  }
  for (const auto& layer : hidden_)
    layers.push_back({"hidden (relu)", {layer->weight.size(0)}, size(layer)});
  const char* activation = shape_.loss == TabularLoss::BinaryCrossEntropy ? "sigmoid"
                           : shape_.loss == TabularLoss::CrossEntropy     ? "softmax"
                                                                          : "linear";
  layers.push_back({concat("output (", activation, ")"), {shape_.outputs}, size(output_)});
  return layers;
}

at::Tensor FeatureAttention::outputs(const at::Tensor& given, const Random* random,
                                     Tap* tap) const {
  const at::Tensor inputs = leaf_of(tap, "columns", given, shape_.column_of_input);  // [B, I]
  at::Tensor h = inputs;
  if (attention_) {
    const at::Tensor scores = torch::linear(inputs, attention_->weight, attention_->bias)
                                  .view({-1, 1, 1, kernel_shape_.columns});
    NormaliseInput normaliser{scores, KeepMask::all(), {}, {}};
    if (random) normaliser.random = random->split("attention");
    AttentionMap map = labelled_map(
        {"attention", "", "columns"}, normalise(options_.normaliser, normaliser).weights,
        find_normaliser(options_.normaliser.name).kind);  // [B, 1, 1, C]
    const at::Tensor weights =
        report_to(tap, std::move(map)).view({-1, kernel_shape_.columns});         // [B, C]
    h = inputs * weights.index_select(1, column_of_input_.to(weights.device()));  // [B, I]
  }
  for (size_t l = 0; l < hidden_.size(); ++l) {
    h = torch::relu(torch::linear(h, hidden_[l]->weight, hidden_[l]->bias));  // [B, width]
    if (random) h = dropout(h, options_.dropout, random->split(l));
  }
  return torch::linear(h, output_->weight, output_->bias);  // [B, O]
}

Loss FeatureAttention::loss(const Batch& batch, const StepContext& context) {
  return table_loss(outputs(batch.at("inputs"), &context.random, nullptr), batch.at("target"),
                    shape_.loss);
}

Predictions FeatureAttention::predict(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  const at::Tensor& inputs = batch.at("inputs");
  if (!has_fused_path() || !inputs.is_cpu())
    return table_predictions(outputs(inputs, nullptr, nullptr), shape_.loss);
  const at::Tensor rows = inputs.contiguous(), parameters = flat_parameters(*this);
  const at::Tensor order = torch::arange(batch.size),
                   scratch = torch::empty({kernel_shape_.workspace(batch.size)});
  at::Tensor result = torch::empty({batch.size, shape_.outputs});
  kernels::tabular_forward(
      kernel_shape_, parameters.data_ptr<float>(),
      {rows.data_ptr<float>(), nullptr, nullptr, order.data_ptr<int64_t>(), batch.size},
      result.data_ptr<float>(), nullptr, scratch.data_ptr<float>());
  return table_predictions(result, shape_.loss);
}

at::Tensor FeatureAttention::replay(const Batch& batch, const Predictions& predictions,
                                    Tap* tap) const {
  return table_replay(outputs(batch.at("inputs"), nullptr, tap), predictions, shape_.loss);
}

bool FeatureAttention::has_fused_path() const {
  return (!attention_ || options_.normaliser.traits().is_fused) && options_.dropout == 0;
}

double FeatureAttention::train_block(const TrainBlock& block, BlockOptimiser& optimiser) {
  const bool classes = shape_.loss == TabularLoss::CrossEntropy;
  const at::Tensor& target = block.columns.at("target");
  const kernels::TabularRows rows{block.columns.at("inputs").data_ptr<float>(),
                                  classes ? nullptr : target.data_ptr<float>(),
                                  classes ? target.data_ptr<int64_t>() : nullptr,
                                  block.order.data(), static_cast<int64_t>(block.order.size())};
  std::vector<float> scratch(static_cast<size_t>(kernel_shape_.workspace(block.batch_size)));
  return kernels::tabular_train(kernel_shape_, rows, block.batch_size,
                                optimiser.next_steps(block.steps()), scratch.data());
}

}  // namespace fovea
