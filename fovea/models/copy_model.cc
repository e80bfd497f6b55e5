#include "fovea/models/copy_model.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

/// Of the steps at which a symbol is due, those of each row side by side: [B, S, W] -> [B, U, W].
/// They follow each other.
Tensor due_steps(const Tensor& x, const Tensor& keep) {
  const Tensor counts = keep.sum(1);                                            // [B]
  const int64_t most = counts.numel() == 0 ? 0 : counts.max().item<int64_t>();  // U
  const Tensor first = keep.to(at::kLong).argmax(1);                            // [B]
  const Tensor places = (first.unsqueeze(1) + at::arange(most, first.options()).unsqueeze(0))
                            .clamp_max(std::max<int64_t>(0, x.size(1) - 1));  // [B, U]
  return x.gather(1, places.unsqueeze(-1).expand({-1, -1, x.size(2)}));
}

/// The symbols of the predictions as bits [B, U, W].
Tensor bits_of(const Predictions& predictions, int64_t rows, int64_t most, int64_t bits) {
  const Tensor numbers = at::zeros({rows, most}, at::kLong);
  for (int64_t row = 0; row < rows && row < int64_t(predictions.outputs.size()); ++row) {
    const auto& outputs = predictions.outputs[size_t(row)];
    if (outputs.empty()) continue;
    const auto& tokens = outputs[0].tokens;
    std::copy_n(tokens.begin(), std::min(tokens.size(), size_t(most)),
                numbers.data_ptr<int64_t>() + row * most);
  }
  const Tensor places = at::arange(bits, at::kLong);
  return numbers.unsqueeze(-1).bitwise_right_shift(places).bitwise_and(1);
}

}  // namespace

Schema CopyModel::schema() const {
  return {{"inputs", at::kFloat, {-1, -1, inputs()}},
          {"target", at::kFloat, {-1, -1, bits()}},
          {"target.keep", at::kBool, {-1, -1}}};
}

Loss CopyModel::loss(const Batch& batch, const StepContext&) {
  const Tensor logits = logits_of(batch, nullptr);  // [B, S, W]
  const Tensor keep = batch.at("target.keep").unsqueeze(-1).to(logits.scalar_type());
  const Tensor target = batch.at("target").to(logits.scalar_type());
  const Tensor costs = at::binary_cross_entropy_with_logits(logits, target, {}, {},
                                                            at::Reduction::None);  // [B, S, W]
  Loss loss;
  loss.units = (keep.sum() * bits()).clamp_min(1);
  loss.objective = (costs * keep).sum() / loss.units;
  return loss;
}

Tensor CopyModel::logits(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  return logits_of(batch, nullptr);
}

Predictions CopyModel::predict(const Batch& batch) const {
  const Tensor& keep = batch.at("target.keep");
  const Tensor due = due_steps(logits(batch), keep).to(at::kCPU, at::kDouble);  // [B, U, W]
  const Tensor chosen = due >= 0;
  const Tensor symbols = chosen.to(at::kLong)
                             .bitwise_left_shift(at::arange(bits(), at::kLong))
                             .sum(-1)
                             .contiguous();  // [B, U]
  const Tensor costs = at::softplus(-due.abs()).sum(-1).contiguous();
  const Tensor counts = keep.sum(1).cpu();
  Predictions predictions;
  for (int64_t row = 0; row < batch.size; ++row) {
    const int64_t count = counts[row].item<int64_t>();
    Decoded decoded;
    const int64_t* own = symbols.data_ptr<int64_t>() + row * symbols.size(1);
    decoded.tokens.assign(own, own + count);
    for (int64_t i = 0; i < count; ++i)
      decoded.log_probability -= costs.data_ptr<double>()[row * symbols.size(1) + i];
    predictions.outputs.push_back({std::move(decoded)});
  }
  return predictions;
}

Tensor CopyModel::replay(const Batch& batch, const Predictions& predictions, Tap* tap) const {
  const Tensor& keep = batch.at("target.keep");
  const Tensor due = due_steps(logits_of(batch, tap), keep);  // [B, U, W]
  const int64_t most = due.size(1);
  const Tensor signs = bits_of(predictions, batch.size, most, bits()).to(due.device()) * 2 - 1;
  const Tensor is_due = at::arange(most, keep.options().dtype(at::kLong)).unsqueeze(0) <
                        keep.sum(1).unsqueeze(1);  // [B, U]
  return at::log_sigmoid(due * signs.to(due.scalar_type())).sum(-1) *
         is_due.to(due.scalar_type());  // [B, U]
}

}  // namespace fovea
