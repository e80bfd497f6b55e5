#include "fovea/models/visit_baselines.h"

#include "fovea/base/text.h"
#include "fovea/models/initialise.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kVisitCodeDeviation = 0.1;  // of fresh embeddings
constexpr double kWeightDeviation = 0.01;    // of fresh weights of codes

}  // namespace

void VisitLogisticOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"logistic"});
  list.add("l2", l2, "weight of the squared weights in the loss, the bias left out").at_least(0);
  describe_class_weights(list, class_weights);
}

VisitLogistic::VisitLogistic(VisitLogisticOptions options, VisitShape shape)
    : VisitModel(std::move(shape), options.l2, options.class_weights) {
  weight_ =
      register_parameter("weight", at::zeros({this->shape().codes, this->shape().outcomes()}));
  bias_ = register_parameter("bias", at::zeros({this->shape().outcomes()}));
}

void VisitLogistic::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  initialise_normal(weight_, kWeightDeviation, random.split("weight"));
  bias_.zero_();
}

std::vector<LayerSummary> VisitLogistic::summary() const {
  return {{concat("counts of ", shape().codes, " codes (log odds)"),
           {shape().outcomes()},
           weight_.numel() + bias_.numel()}};
}

Tensor VisitLogistic::logit_of(const Batch& batch, const Random*, Tap* tap) const {
  const Tensor contributions = embed_codes(batch, weight_, tap).transpose(1, 2);  // [B, O, K]
  if (tap) return sum_contributions(contributions, bias_, tap);
  return contributions.sum(2) + bias_;  // [B, O]
}

void VisitGruOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"gru"});
  list.add("embedding", embedding, "numbers per code").at_least(1);
  list.add("hidden", hidden, "numbers of the GRU over the visits").at_least(1);
  list.add("time", time, "the GRU sees how long ago the visit before was, where visits have times");
  list.add("dropout", dropout, "of the GRU's last state").rate();
  list.add("embedding_dropout", embedding_dropout, "of the sum of a visit's codes").rate();
  list.add("l2", l2, "weight of the squared weights in the loss, the GRU and biases left out")
      .at_least(0);
  describe_class_weights(list, class_weights);
}

VisitGru::VisitGru(VisitGruOptions options, VisitShape shape)
    : VisitModel(std::move(shape), options.l2, options.class_weights),
      options_(std::move(options)),
      sees_time_(options_.time && this->shape().times) {
  const auto& o = options_;
  codes_ = register_module("codes", torch::nn::Embedding(this->shape().codes, o.embedding));
  encoder_ = register_module("encoder", std::make_shared<Recurrent>(RecurrentOptions{
                                            "gru", o.embedding + (sees_time_ ? 1 : 0), o.hidden}));
  output_ = register_projection(*this, "output", {o.hidden, this->shape().outcomes()});
}

void VisitGru::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  initialise_normal(codes_->weight, kVisitCodeDeviation, random.split("codes"));
  encoder_->initialise(random.split("encoder"));
  output_->initialise(random.split("output"));
}

std::vector<LayerSummary> VisitGru::summary() const {
  const auto& o = options_;
  return {{concat("codes (", shape().codes, ")"), {o.embedding}, count_parameters(*codes_)},
          {concat("GRU over the visits", sees_time_ ? " and their times" : ""),
           {o.hidden},
           count_parameters(*encoder_)},
          {"output (log odds)", {shape().outcomes()}, count_parameters(*output_)}};
}

std::vector<Tensor> VisitGru::penalised() const {
  return {codes_->weight, output_->weight};
}

Tensor VisitGru::logit_of(const Batch& batch, const Random* random, Tap* tap) const {
  const Tensor& gaps = batch.at("gaps");  // [B, V]
  if (gaps.size(1) == 0) return output_->bias.expand({batch.size, -1});
  Tensor inputs = dropout(visits_of(batch, embed_codes(batch, codes_->weight, tap)),
                          options_.embedding_dropout, random, "visits");  // [B, V, E]
  if (sees_time_) inputs = at::cat({inputs, gaps.to(inputs.scalar_type()).unsqueeze(-1)}, -1);
  const Tensor lengths = batch.at("visits.keep").sum(1).to(at::kCPU);              // [B]
  const Tensor last = encoder_->run(inputs, lengths, {}, {}).state.hidden.back();  // [B, H]
  return output_->forward(dropout(last, options_.dropout, random, "state"));       // [B, O]
}

}  // namespace fovea
