#include "fovea/models/bert_classifier.h"

#include "fovea/base/error.h"
#include "fovea/models/bert_windows.h"
#include "fovea/models/initialise.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kDeviation = 0.02;  // of fresh weights, as BERT has it

}  // namespace

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
    : Classifier({shape.kind, options.class_weights, shape.class_counts, shape.rows, options.loss}),
      options_(std::move(options)),
      shape_(std::move(shape)),
      encoder_(register_module("encoder",
                               std::make_shared<BertEncoder>(options_.encoder, shape_.vocabulary))),
      output_(register_projection(*this, "output", {encoder_->options().hidden, shape_.classes})) {
  require(shape_.window <= encoder_->options().maximum_length, ErrorKind::InvalidArgument,
          "texts of ", shape_.window, " tokens do not fit the ", encoder_->options().maximum_length,
          " positions of model.maximum_length; set a smaller data.longest");
  options_.fine_tuning.check(encoder_->layers());
}

void BertClassifier::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  encoder_->initialise(random.split("encoder"));
  initialise_normal(output_->weight, kDeviation, random.split("output"));
  initialise_bias(output_->bias);
}

Schema BertClassifier::schema() const {
  return {{"tokens", at::kLong, {-1, -1}},
          {"segments", at::kLong, {-1, -1}},
          {"tokens.keep", at::kBool, {-1, -1}},
          target_schema(shape_.classes)};
}

std::vector<LayerSummary> BertClassifier::summary() const {
  const BertOptions& o = encoder_->options();
  return {
      {concat("BERT (", o.layers, " layers, ", o.heads, " heads, ", shape_.vocabulary, " pieces)"),
       {o.hidden},
       count_parameters(*encoder_)},
      {output_name(options_.pooling), {shape_.classes}, count_parameters(*output_)}};
}

ParameterRule BertClassifier::rule_of(const std::string& name) const {
  if (options_.pooling == "mean" && name.starts_with("encoder.pooler."))
    return {0, false};  // takes no part
  return options_.fine_tuning.rule_of(name, "encoder.", encoder_->layers());
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
