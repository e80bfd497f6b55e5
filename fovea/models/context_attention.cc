#include "fovea/models/context_attention.h"

#include "fovea/attention/attend.h"
#include "fovea/attention/normaliser.h"
#include "fovea/base/error.h"
#include "fovea/models/initialise.h"
#include "fovea/tensor/embedding_lookup.h"
#include "fovea/tensor/torch.h"

namespace fovea {

void ContextAttentionOptions::describe(OptionList& list) {
  list.add("name", name, "free: any weights, then a linear layer; softmax: weights that sum to 1")
      .choices({"free", "softmax"});
}

ContextAttention::ContextAttention(ContextAttentionOptions options, ContextAttentionShape shape)
    : options_(std::move(options)), shape_{shape.contexts, shape.positions} {
  require(shape.contexts > 0 && shape.positions > 0, ErrorKind::InvalidArgument,
          "context attention needs a context and a position");
  attention_ = register_module("attention", torch::nn::Embedding(shape.contexts, shape.positions));
  if (options_.is_free())
    output_ = register_module("output", torch::nn::Linear(shape.positions, 1));
}

void ContextAttention::initialise(const Random& random) {
  initialise_normal(attention_->weight, 1, random.split("attention.weight"));
  if (!output_) return;
  initialise_like_pytorch(output_->weight, shape_.positions, random.split("output.weight"));
  initialise_like_pytorch(output_->bias, shape_.positions, random.split("output.bias"));
}

Schema ContextAttention::schema() const {
  return {{"inputs", torch::kFloat32, {-1, shape_.positions}},
          {"context", torch::kInt64, {-1}},
          {"target", torch::kFloat32, {-1}}};
}

std::vector<LayerSummary> ContextAttention::summary() const {
  std::vector<LayerSummary> layers{
      {"inputs", {shape_.positions}, 0},
      {"attention (" + options_.name + ")", {shape_.positions}, attention_->weight.numel()}};
  if (output_) layers.push_back({"attention x inputs", {shape_.positions}, 0});
  layers.push_back(
      {output_ ? "output (linear)" : "weighted sum", {1}, output_ ? shape_.positions + 1 : 0});
  return layers;
}

at::Tensor ContextAttention::values(const Batch& batch, Tap* tap) const {
  const at::Tensor inputs = leaf_of(tap, "positions", batch.at("inputs"));  // [B, P]
  at::Tensor weights =
      embedding_lookup(attention_->weight, batch.at("context")).view({-1, 1, 1, shape_.positions});
  if (!output_) weights = masked_softmax(weights, KeepMask::all());  // [B, 1, 1, P]
  const MapKind kind = output_ ? MapKind::Free : MapKind::Distribution;
  weights = report_to(tap, labelled_map({"attention", "context", "positions"}, weights, kind));
  const at::Tensor glimpse = inputs * weights.view({-1, shape_.positions});  // [B, P]
  if (!output_) return glimpse.sum(1, /*keepdim=*/true);
  if (tap) {
    const at::Tensor given = weights * output_->weight.view({1, 1, 1, -1});
    const at::Tensor used =
        tap->report(labelled_map({"effective", "context", "positions"}, given, MapKind::Free));
    if (!used.is_same(given))
      return (inputs * used.view({-1, shape_.positions})).sum(1, true) + output_->bias;  // replaced
  }
  return torch::linear(glimpse, output_->weight, output_->bias);  // [B, 1]
}

Loss ContextAttention::loss(const Batch& batch, const StepContext&) {
  return {torch::mse_loss(values(batch, nullptr).squeeze(1), batch.at("target")), {}};
}

Predictions ContextAttention::predict(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  Predictions predictions;
  predictions.values = values(batch, nullptr);
  return predictions;
}

at::Tensor ContextAttention::replay(const Batch& batch, const Predictions&, Tap* tap) const {
  return values(batch, tap);
}

double ContextAttention::train_block(const TrainBlock& block, BlockOptimiser& optimiser) {
  const auto total = static_cast<int64_t>(block.order.size());
  const kernels::ContextRows rows{
      block.columns.at("inputs").data_ptr<float>(), block.columns.at("context").data_ptr<int64_t>(),
      block.columns.at("target").data_ptr<float>(), block.order.data(), total};
  return kernels::context_train(shape_, rows, block.batch_size,
                                optimiser.next_steps(block.steps()));
}

}  // namespace fovea
