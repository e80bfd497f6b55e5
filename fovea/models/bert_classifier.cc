#include "fovea/models/bert_classifier.h"

#include "fovea/models/bert_windows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

void BertClassifierOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"bert"});
  encoder.describe(list);
  list.add("pooling", pooling, "what stands for a text: the first token, or the mean of all")
      .choices({"cls", "mean"});
  describe_class_weights(list, class_weights);
  describe_number_loss(list, loss);
  fine_tuning.describe(list);
}

BertClassifier::BertClassifier(BertClassifierOptions options, DocumentShape shape)
    : BertModel(options, {shape.vocabulary, shape.window, shape.classes, "texts"},
                ClassifierTarget{shape.kind, options.class_weights, shape.class_counts, shape.rows,
                                 options.loss}),
      options_(std::move(options)),
      shape_(std::move(shape)) {}

void BertClassifier::initialise(const Random& random) {
  BertModel::initialise(random);
  initialise_bias(output_->bias);
}

Schema BertClassifier::schema() const {
  return {{"tokens", at::kLong, {-1, -1}},
          {"segments", at::kLong, {-1, -1}},
          {"tokens.keep", at::kBool, {-1, -1}},
          target_schema(shape_.classes)};
}

Tensor BertClassifier::logits_of(const Batch& batch, const Random* random, Tap* tap) const {
  const Tensor& keep = batch.at("tokens.keep");  // [B, T]
  const Tensor hidden = encode_windows(*encoder_, {batch.at("tokens"), batch.at("segments"), keep},
                                       shape_.window, random, tap);  // [B, T, D]
  const int64_t window = std::min(shape_.window, hidden.size(1));
  const Tensor states = in_windows(hidden, window).flatten(0, 1);  // [B W, N, D]
  const Tensor real = in_windows(keep, window);                    // [B, W, N]
  Tensor pooled = options_.pooling == "cls" ? encoder_->pooled(states)
                                            : mean_of_real(states, real.flatten(0, 1));
  const double rate = options_.encoder.dropout;
  pooled = dropout(pooled, rate, random, "pooled");
  const Tensor logits = output_->forward(pooled).view({batch.size, -1, shape_.classes});
  if (logits.size(1) == 1) return logits.squeeze(1);
  const Tensor weight = real.any(-1).to(logits.scalar_type()).unsqueeze(-1);  // [B, W, 1]
  return (logits * weight).sum(1) / weight.sum(1).clamp_min(1);               // [B, C]
}

}  // namespace fovea
