#include "fovea/models/bert_chooser.h"

#include <algorithm>

#include "fovea/models/choice_frames.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kImpossible = -1e9;

}  // namespace

BertChooser::BertChooser(const BertChooserOptions& options, int64_t vocabulary, int64_t longest)
    : BertModel(options, {vocabulary, longest, 1, "inputs"}) {}

Schema BertChooser::schema() const {
  return {{"tokens", at::kLong, {-1, -1}},
          {"segments", at::kLong, {-1, -1}},
          {"frames", at::kLong, {-1, -1, -1}},
          {"target", at::kLong, {-1}}};
}

Tensor BertChooser::logits_of(const Batch& batch, const Tensor& chosen, const Random* random,
                              Tap* tap) const {
  const Tensor& tokens = batch.at("tokens");                      // [B, N]
  const ChoiceFrames frames(batch.at("frames"), tokens.size(1));  // F of them
  const std::unique_ptr<Tap> inner = tap ? make_frame_tap(*tap, frames, chosen) : nullptr;
  const Tensor hidden = encoder_->forward({frames.cut(tokens), frames.cut(batch.at("segments")),
                                           frames.keep, frames.cut(encoder_->embed(tokens, tap))},
                                          random, inner.get());  // [F, T, D]
  const Tensor pooled = dropout(encoder_->pooled(hidden), encoder_->options().dropout, random,
                                "pooled");  // [F, D]
  return frames.placed(output_->forward(pooled).squeeze(1), kImpossible);
}

Loss BertChooser::loss(const Batch& batch, const StepContext& context) {
  Loss loss;
  loss.objective =
      at::cross_entropy_loss(logits_of(batch, {}, &context.random, nullptr), batch.at("target"));
  return loss;
}

Predictions BertChooser::predict(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  const Tensor log_p = logits_of(batch, {}, nullptr, nullptr)
                           .log_softmax(1)
                           .to(at::kCPU, at::kDouble)
                           .contiguous();                                     // [B, C]
  const Tensor there = (batch.at("frames") >= 0).any(-1).cpu().contiguous();  // [B, C]
  const int64_t choices = log_p.size(1);
  Predictions predictions;
  for (int64_t row = 0; row < batch.size; ++row) {
    std::vector<Decoded> outputs;
    for (int64_t c = 0; c < choices; ++c)
      if (there.data_ptr<bool>()[row * choices + c])
        outputs.push_back({{c}, log_p.data_ptr<double>()[row * choices + c], ""});
    std::stable_sort(outputs.begin(), outputs.end(), [](const Decoded& a, const Decoded& b) {
      return a.log_probability > b.log_probability;
    });
    predictions.outputs.push_back(std::move(outputs));
  }
  return predictions;
}

Tensor BertChooser::replay(const Batch& batch, const Predictions& predictions, Tap* tap) const {
  std::vector<int64_t> first;
  for (const std::vector<Decoded>& outputs : predictions.outputs)
    first.push_back(outputs.empty() ? 0 : outputs[0].tokens.at(0));
  const Tensor chosen = at::tensor(first, at::kLong).to(batch.at("tokens").device());  // [B]
  return logits_of(batch, chosen, nullptr, tap).log_softmax(1).gather(1, chosen.unsqueeze(1));
}

}  // namespace fovea
