#include "fovea/models/retain.h"

#include "fovea/attention/attend.h"
#include "fovea/base/text.h"
#include "fovea/models/initialise.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kCodeDeviation = 0.1;  // of fresh embeddings
constexpr double kImpossible = -1e30;   // score of a visit that is not there

}  // namespace

void RetainOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"retain"});
  list.add("embedding", embedding, "numbers per code").at_least(1);
  list.add("visit_hidden", visit_hidden, "numbers of the GRU that weighs visits").at_least(1);
  list.add("code_hidden", code_hidden, "numbers of the GRU that weighs the numbers of a visit")
      .at_least(1);
  list.add("time", time,
           "both GRUs see how long ago the visit before was, where visits have times");
  list.add("dropout", dropout, "of what all visits add up to").rate();
  list.add("embedding_dropout", embedding_dropout, "of the sum of a visit's codes").rate();
  list.add("l2", l2, "weight of the squared weights in the loss, GRUs and biases left out")
      .at_least(0);
  describe_class_weights(list, class_weights);
}

Retain::Retain(RetainOptions options, VisitShape shape)
    : VisitModel(std::move(shape), options.l2, options.class_weights),
      options_(std::move(options)),
      sees_time_(options_.time && this->shape().times) {
  const auto& o = options_;
  const auto encoder = [&](const char* name, int64_t hidden) {
    return register_module(name, std::make_shared<Recurrent>(RecurrentOptions{
                                     "gru", o.embedding + (sees_time_ ? 1 : 0), hidden}));
  };
  codes_ = register_module("codes", torch::nn::Embedding(this->shape().codes, o.embedding));
  visit_encoder_ = encoder("visit_encoder", o.visit_hidden);
  code_encoder_ = encoder("code_encoder", o.code_hidden);
  alpha_ = register_projection(*this, "alpha", {o.visit_hidden, 1});
  beta_ = register_projection(*this, "beta", {o.code_hidden, o.embedding});
  output_ = register_projection(*this, "output", {o.embedding, this->shape().outcomes()});
}

void Retain::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  initialise_normal(codes_->weight, kCodeDeviation, random.split("codes"));
  visit_encoder_->initialise(random.split("visit_encoder"));
  code_encoder_->initialise(random.split("code_encoder"));
  alpha_->initialise(random.split("alpha"));
  beta_->initialise(random.split("beta"));
  output_->initialise(random.split("output"));
}

std::vector<LayerSummary> Retain::summary() const {
  const auto& o = options_;
  return {{concat("codes (", shape().codes, ")"), {o.embedding}, count_parameters(*codes_)},
          {concat("GRU backwards over the visits", sees_time_ ? " and their times" : ""),
           {o.visit_hidden},
           count_parameters(*visit_encoder_)},
          {"alpha (softmax over the visits)", {1}, count_parameters(*alpha_)},
          {"GRU backwards over the visits", {o.code_hidden}, count_parameters(*code_encoder_)},
          {"beta (tanh)", {o.embedding}, count_parameters(*beta_)},
          {"output (log odds)", {shape().outcomes()}, count_parameters(*output_)}};
}

std::vector<Tensor> Retain::penalised() const {
  return {codes_->weight, alpha_->weight, beta_->weight, output_->weight};
}

struct Retain::Reversed {
  explicit Reversed(const Tensor& visits_keep) : keep(visits_keep) {
    const Tensor counts = keep.sum(1, /*keepdim=*/true);  // [B, 1]
    lengths = counts.squeeze(1).to(at::kCPU);
    const Tensor steps = at::arange(keep.size(1), counts.options()).unsqueeze(0);  // [1, V]
    places = (counts - 1 - steps).clamp_min(0);                                    // [B, V]
  }
  /// x [B, V, D] with the visits of each patient in the other order; what stands at padding has no
  /// meaning.
  Tensor turn(const Tensor& x) const {
    return x.gather(1, places.unsqueeze(-1).expand({-1, -1, x.size(2)}));
  }
  /// Backwards in time over x, the outputs where their visits are.
  Tensor run(const Recurrent& network, const Tensor& x) const {
    return turn(network.run(turn(x), lengths, {}, {}).outputs);
  }
  Tensor keep;     // bool [B, V]
  Tensor lengths;  // int64 [B], on the CPU
  Tensor places;   // int64 [B, V]
};

Tensor Retain::weigh_visits(const Tensor& inputs, const Reversed& order, Tap* tap) const {
  const Tensor scores = alpha_->forward(order.run(*visit_encoder_, inputs)).squeeze(-1);  // [B, V]
  const Tensor alpha = scores.masked_fill(order.keep.logical_not(), kImpossible).softmax(1) *
                       order.keep.to(scores.scalar_type());  // [B, V], 0 without visits
  if (!tap) return alpha;
  const bool all_have_visits = order.lengths.gt(0).all().item<bool>();
  return tap
      ->report(labelled_map({"visits", shape().labels.empty() ? "outcome" : "", "visits"},
                            alpha.unsqueeze(1).unsqueeze(1),  // [B, 1, 1, V]
                            all_have_visits ? MapKind::Distribution : MapKind::Partial))
      .flatten(0, 2);  // [B, V]
}

Tensor Retain::weigh_numbers(const Tensor& inputs, const Reversed& order) const {
  return beta_->forward(order.run(*code_encoder_, inputs)).tanh();  // [B, V, E]
}

Tensor Retain::logit_of(const Batch& batch, const Random* random, Tap* tap) const {
  const Tensor& gaps = batch.at("gaps");  // [B, V]
  if (gaps.size(1) == 0) return output_->bias.expand({batch.size, -1});
  const Tensor codes = embed_codes(batch, codes_->weight, tap);  // [B, K, E]
  const Tensor visits = dropout(visits_of(batch, codes), options_.embedding_dropout, random,
                                "visits");  // [B, V, E]
  Tensor inputs = visits;
  if (sees_time_) inputs = at::cat({visits, gaps.to(visits.scalar_type()).unsqueeze(-1)}, -1);
  const Reversed order(batch.at("visits.keep"));
  const Tensor alpha = weigh_visits(inputs, order, tap);  // [B, V]
  const Tensor beta = weigh_numbers(inputs, order);       // [B, V, E]
  if (!tap) {
    const Tensor context = (alpha.unsqueeze(-1) * beta * visits).sum(1);             // [B, E]
    return output_->forward(dropout(context, options_.dropout, random, "context"));  // [B, O]
  }
  const Tensor& visit_of = batch.at("visit_of");  // [B, K]
  const Tensor numbers =
      beta.gather(1, visit_of.unsqueeze(-1).expand({-1, -1, beta.size(2)}));  // [B, K, E]
  const Tensor weighed = numbers * codes;                                     // [B, K, E]
  std::vector<Tensor> added;  // of each outcome [B, K]
  for (const Tensor& weight : output_->weight.unbind(0))
    added.push_back(alpha.gather(1, visit_of) * weighed.matmul(weight));
  const Tensor contributions = at::stack(added, 1);  // [B, O, K]
  return sum_contributions(contributions, output_->bias, tap);
}

}  // namespace fovea
