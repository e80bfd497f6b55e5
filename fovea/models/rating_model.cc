#include "fovea/models/rating_model.h"

#include "fovea/base/error.h"
#include "fovea/models/initialise.h"
#include "fovea/tensor/embedding_lookup.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

namespace {

constexpr const char* kWordTable = "words.weight";  // the embeddings of every model that reads

}  // namespace

void ReadingOptions::describe(OptionList& list) {
  list.add("biases", biases, "biases of users and items besides; no: the paper's network");
  list.add("bias_l2", bias_l2,
           "ratings that it takes to believe half of what they say of a user or item")
      .at_least(0);
  list.add("bias_rate", bias_rate, "learning rate of the biases, as a multiple of the others'")
      .at_least(0);
  list.add("l2", l2, "weight of the squared weights in the loss, embeddings and biases left out")
      .at_least(0);
  list.add("clip", clip, "answers stay within the scale");
}

RatingModel::RatingModel(const RatingOptions& options, const RatingShape& shape)
    : options_(options), shape_(shape) {
  require(shape.users >= 0 && shape.items >= 0, ErrorKind::InvalidArgument, "ratings of ",
          shape.users, " users on ", shape.items, " items cannot be");
  mean_ = register_parameter("mean", at::zeros({1}));
  if (!options.biases) return;
  user_bias_ = register_parameter("user_bias", at::zeros({shape.users + 1}));
  item_bias_ = register_parameter("item_bias", at::zeros({shape.items + 1}));
}

void RatingModel::initialise_biases() {
  torch::NoGradGuard no_gradients;
  mean_.fill_(shape_.mean);
  if (!has_biases()) return;
  user_bias_.zero_();
  item_bias_.zero_();
}

void RatingModel::summarise_biases(std::vector<LayerSummary>& layers) const {
  layers.push_back({"mean", {1}, 1});
  if (has_biases())
    layers.push_back({concat("biases (", shape_.users, " users, ", shape_.items, " items)"),
                      {1},
                      user_bias_.numel() + item_bias_.numel()});
}

ParameterRule RatingModel::rule_of(const std::string& name) const {
  ParameterRule rule;
  const bool is_bias = name == "user_bias" || name == "item_bias";
  if (is_bias) rule.rate = options_.bias_rate;
  rule.decays = name != "mean" && !name.ends_with("bias") && name != kWordTable;
  return rule;
}

void RatingModel::take_vectors(const Tensor& vectors, const Tensor& known) {
  take_word_vectors(named_parameters()[kWordTable], vectors, known);
}

Tensor RatingModel::known_rows(const Tensor& table, const Tensor& numbers) {
  const Tensor rows = table.index_select(0, numbers);
  std::vector<int64_t> shape(size_t(table.dim()), 1);
  shape[0] = numbers.size(0);
  return rows * (numbers > 0).view(shape).to(table.dtype());
}

Tensor RatingModel::penalty() const {
  Tensor sum = mean_.new_zeros({});
  if (options_.l2 > 0)
    for (const auto& item : named_parameters())
      if (rule_of(item.key()).decays) sum = sum + options_.l2 * item.value().square().sum();
  if (options_.bias_l2 > 0 && has_biases())
    sum = sum + options_.bias_l2 / double(shape_.ratings) *
                    (user_bias_.square().sum() + item_bias_.square().sum());
  return sum;
}

Tensor RatingModel::ratings(const Batch& batch, const Random* random, Tap* tap) const {
  const std::optional<OwnTerm> own = own_term(batch, random, tap);
  if (!has_biases() && own) return at::where(own->known, own->rating, mean_);
  Tensor sum = mean_.expand({batch.size});
  if (has_biases())
    sum = sum + known_rows(user_bias_, batch.at("user")) + known_rows(item_bias_, batch.at("item"));
  if (own) sum = sum + own->rating.masked_fill(~own->known, 0);
  return sum;  // [B]
}

Loss RatingModel::loss(const Batch& batch, const StepContext& context) {
  const Tensor error =
      (ratings(batch, &context.random, nullptr) - batch.at("target")).square().mean();
  Loss loss;
  loss.objective = error + penalty();
  loss.scalars["squared_error"] = error.detach();
  return loss;
}

Predictions RatingModel::predict(const Batch& batch) const {
  torch::NoGradGuard no_gradients;
  Tensor values = ratings(batch, nullptr, nullptr).unsqueeze(1);  // [B, 1]
  if (options_.clip) values = values.clamp(shape_.lowest, shape_.highest);
  Predictions predictions;
  predictions.values = values;
  return predictions;
}

Tensor RatingModel::replay(const Batch& batch, const Predictions&, Tap* tap) const {
  return ratings(batch, nullptr, tap).unsqueeze(1);  // [B, 1]
}

SideWords embed_side(const Batch& batch, const std::string& side, const Tensor& table, Tap* tap) {
  const Tensor& words = batch.at(side + "_words");  // [B, K]
  SideWords embedded;
  embedded.keep = words != 0;
  embedded.known = embedded.keep.any(1);
  embedded.reported = tap != nullptr && embedded.known.any().item<bool>();
  Tensor vectors = embedding_lookup(table, words);  // [B, K, E]
  if (embedded.reported) vectors = tap->leaf(side + " words", vectors);
  embedded.vectors = vectors * embedded.keep.unsqueeze(2).to(vectors.dtype());
  return embedded;
}

Tensor report_weights(const SideWords& words, const Tensor& weights, const MapLabel& map,
                      MapKind kind, Tap* tap) {
  return words.reported ? tap->report(labelled_map(map, weights, kind)) : weights;
}

}  // namespace fovea
