#include "fovea/models/__name__.h"

#include "fovea/models/initialise.h"
#include "fovea/models/table_answers.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

void __Name__Options::describe(OptionList& list) {
  list.add("name", name, "network");
  list.add("temperature", temperature, "the softmax is taken of b / temperature").above(0);
}

__Name__::__Name__(__Name__Options options, FeatureShape shape)
    : options_(std::move(options)), shape_(std::move(shape)) {
  logits_ = register_parameter("logits", at::zeros({int64_t(shape_.columns.size())}));
  output_ = register_module(
      "output", torch::nn::Linear(int64_t(shape_.column_of_input.size()), shape_.outputs));
}

void __Name__::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  initialise_normal(logits_, 0.1, random.split("logits"));
  for (const auto& item : output_->named_parameters())
    initialise_like_keras(item.value(), random.split("output").split(item.key()));
}

Schema __Name__::schema() const {
  const bool classes = shape_.loss == kernels::TabularLoss::CrossEntropy;
  return {{"inputs", at::kFloat, {-1, int64_t(shape_.column_of_input.size())}},
          {"target", classes ? at::kLong : at::kFloat, {-1}}};
}

std::vector<LayerSummary> __Name__::summary() const {
  return {{"attention (softmax)", {logits_.size(0)}, logits_.numel()},
          {"output", {shape_.outputs}, output_->weight.numel() + output_->bias.numel()}};
}

Tensor __Name__::outputs(const Tensor& given, Tap* tap) const {
  const Tensor inputs = leaf_of(tap, "columns", given, shape_.column_of_input);  // [B, I]
  AttentionMap map;
  map.name = "attention";
  map.key_axis = "columns";
  map.weights = (logits_ / options_.temperature).softmax(0).expand({inputs.size(0), 1, 1, -1});
  const Tensor weights = report_to(tap, std::move(map)).flatten(1);  // [B, C]
  const Tensor column_of_input =
      torch::tensor(shape_.column_of_input, at::TensorOptions(at::kLong).device(inputs.device()));
  return torch::linear(inputs * weights.index_select(1, column_of_input), output_->weight,
                       output_->bias);  // [B, O]
}

Loss __Name__::loss(const Batch& batch, const StepContext&) {
  return table_loss(outputs(batch.at("inputs"), nullptr), batch.at("target"), shape_.loss);
}

Predictions __Name__::predict(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  return table_predictions(outputs(batch.at("inputs"), nullptr), shape_.loss);
}

Tensor __Name__::replay(const Batch& batch, const Predictions& predictions, Tap* tap) const {
  return table_replay(outputs(batch.at("inputs"), tap), predictions, shape_.loss);
}

}  // namespace fovea
