#include "fovea/models/tagger.h"

#include "fovea/base/error.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

/// The chosen tags side by side: [B, W], 0 at padding.
Tensor chosen_tags(const Predictions& predictions, const Tensor& keep) {
  const Tensor lengths = keep.sum(1).cpu();
  Tensor tags = at::zeros(keep.sizes(), at::kLong);
  require(int64_t(predictions.outputs.size()) == keep.size(0), ErrorKind::InvalidArgument,
          "a replay of ", keep.size(0), " sentences with ", predictions.outputs.size(), " answers");
  for (int64_t row = 0; row < keep.size(0); ++row) {
    const std::vector<int64_t>& own = predictions.outputs[size_t(row)].at(0).tokens;
    const int64_t words = lengths[row].item<int64_t>();
    require(int64_t(own.size()) == words, ErrorKind::InvalidArgument, "a sentence of ", words,
            " words was given ", own.size(), " tags");
    std::copy(own.begin(), own.end(), tags[row].data_ptr<int64_t>());
  }
  return tags.to(keep.device());
}

}  // namespace

Tagger::Tagger(TagRules rules, bool chain) : rules_(std::move(rules)) {
  if (chain) chain_ = register_module("chain", std::make_shared<LinearChain>(tags()));
}

Tensor Tagger::log_probabilities(const Tensor& logits, const Tensor& tags,
                                 const Tensor& keep) const {
  if (chain_) return chain_->log_probabilities(logits, tags, keep);
  const Tensor own = logits.log_softmax(-1).gather(-1, tags.unsqueeze(-1)).squeeze(-1);
  return own.masked_fill(~keep, 0);
}

Loss Tagger::loss(const Batch& batch, const StepContext& context) {
  const Tensor& keep = batch.at("words.keep");
  const Tensor logits = logits_of(batch, &context.random, nullptr);
  Loss loss;
  loss.units = keep.sum();
  loss.objective =
      -log_probabilities(logits, batch.at("target"), keep).sum() / loss.units.clamp_min(1);
  return loss;
}

double Tagger::negative_log_likelihood(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  const Tensor logits = logits_of(batch, nullptr, nullptr);
  return -log_probabilities(logits, batch.at("target"), batch.at("words.keep"))
              .sum()
              .item<double>();
}

Predictions Tagger::decode(const Tensor& scores, const Tensor& keep) const {
  const Tensor lengths = keep.sum(1).cpu();
  TagChain chain;
  if (chain_) chain = {chain_->begin().detach().cpu(), chain_->transition().detach().cpu()};
  Predictions predictions;
  for (int64_t row = 0; row < scores.size(0); ++row)
    predictions.outputs.push_back(
        {best_tags(scores[row].narrow(0, 0, lengths[row].item<int64_t>()), rules_, chain)});
  return predictions;
}

Predictions Tagger::predict(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  const Tensor logits = logits_of(batch, nullptr, nullptr);  // [B, W, K]
  const Tensor& keep = batch.at("words.keep");
  // The normalised scores: the same for every path of a chain.
  Predictions predictions = decode(logits.log_softmax(-1).cpu(), keep);
  if (!chain_) return predictions;
  const Tensor sums = log_probabilities(logits, chosen_tags(predictions, keep), keep).sum(1).cpu();
  for (int64_t row = 0; row < batch.size; ++row)
    predictions.outputs[size_t(row)][0].log_probability = sums[row].item<double>();
  return predictions;
}

std::vector<Predictions> Tagger::predict_shifted(const Batch& batch, int64_t tag,
                                                 std::span<const double> shifts) const {
  torch::NoGradGuard no_gradients;
  const Tensor scores = logits_of(batch, nullptr, nullptr).log_softmax(-1).cpu();  // [B, W, K]
  std::vector<Predictions> all;
  for (const double shift : shifts) {
    const Tensor shifted = scores.clone();
    shifted.select(-1, tag).sub_(shift);
    all.push_back(decode(shifted, batch.at("words.keep")));
  }
  return all;
}

void Tagger::shift_tag(int64_t tag, double shift) {
  torch::NoGradGuard no_gradients;
  tag_bias().select(0, tag).sub_(shift);
}

Tensor Tagger::replay(const Batch& batch, const Predictions& predictions, Tap* tap) const {
  const Tensor& keep = batch.at("words.keep");
  const Tensor tags = chosen_tags(predictions, keep);
  return log_probabilities(logits_of(batch, nullptr, tap), tags, keep);
}

}  // namespace fovea
