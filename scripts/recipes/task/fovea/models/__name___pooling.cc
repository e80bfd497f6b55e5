#include "fovea/models/__name___pooling.h"

#include "fovea/attention/attend.h"
#include "fovea/models/initialise.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

void __Name__PoolingOptions::describe(OptionList& list) {
  list.add("name", name, "network");
  list.add("hidden", hidden, "numbers of an embedding").at_least(1);
  score.describe(list);
}

__Name__Pooling::__Name__Pooling(__Name__PoolingOptions options, int64_t classes)
    : options_(std::move(options)) {
  constexpr int64_t kLetters = 27;  // a … z, and padding
  ScoreOptions score = options_.score;
  score.query_size = score.key_size = options_.hidden;
  letters_ = register_module("letters", torch::nn::Embedding(kLetters, options_.hidden));
  score_ = register_module("score", make_score(score, Random()));
  query_ = register_parameter("query", at::zeros({options_.hidden}));
  output_ = register_module("output", torch::nn::Linear(options_.hidden, classes));
}

void __Name__Pooling::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  for (const auto& item : named_parameters())
    initialise_normal(item.value(), 0.3, random.split(item.key()));
}

Schema __Name__Pooling::schema() const {
  return {{"letters", at::kLong, {-1, -1}}, {"letters.keep", at::kBool, {-1, -1}}};
}

std::vector<LayerSummary> __Name__Pooling::summary() const {
  return {{"letters, pooled, classes", {output_->bias.size(0)}, count_parameters(*this)}};
}

Tensor __Name__Pooling::logits_of(const Batch& batch, const Random*, Tap* tap) const {
  const Tensor states = leaf_of(tap, "letters",
                                at::embedding(letters_->weight, batch.at("letters")));  // [B, T, D]
  AttendInput input;
  input.memory = remember(*score_, states, states, KeepMask::from_keep(batch.at("letters.keep")));
  input.query = query_.expand({states.size(0), 1, 1, -1});  // [B, 1, 1, D]
  input.score = score_.get();
  input.map = {"attention", "answer", "letters"};
  const Tensor pooled = attend(input, tap).context.flatten(1);  // [B, D]
  return torch::linear(pooled, output_->weight, output_->bias);
}

}  // namespace fovea
