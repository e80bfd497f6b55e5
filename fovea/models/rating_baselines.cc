#include "fovea/models/rating_baselines.h"

#include "fovea/base/error.h"
#include "fovea/models/initialise.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kFactorDeviation = 0.1;  // of fresh factors

RatingOptions base_of(const RatingBaselineOptions& options, const RatingShape& shape) {
  return {.biases = options.name != "mean",
          .bias_l2 = options.l2,
          .l2 = options.l2 / double(shape.ratings),
          .clip = options.clip};
}

}  // namespace

void RatingBaselineOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"mf", "biases", "mean"});
  if (name == "mf")
    list.add("factors", factors, "numbers that a user, and an item, are known by").at_least(1);
  if (name != "mean")
    list.add("l2", l2, "ratings that it takes to believe half of what they say of a user or item")
        .at_least(0);
  list.add("clip", clip, "answers stay within the scale");
}

RatingBaseline::RatingBaseline(RatingBaselineOptions options, const RatingShape& shape)
    : RatingModel(base_of(options, shape), shape), options_(std::move(options)) {
  if (options_.name != "mf") return;
  user_factors_ =
      register_parameter("user_factors", at::zeros({shape.users + 1, options_.factors}));
  item_factors_ =
      register_parameter("item_factors", at::zeros({shape.items + 1, options_.factors}));
}

void RatingBaseline::initialise(const Random& random) {
  initialise_biases();
  if (!user_factors_.defined()) return;
  initialise_normal(user_factors_, kFactorDeviation, random.split("user_factors"));
  initialise_normal(item_factors_, kFactorDeviation, random.split("item_factors"));
}

Schema RatingBaseline::schema() const {
  return {{"user", at::kLong, {-1}}, {"item", at::kLong, {-1}}, {"target", at::kFloat, {-1}}};
}

std::vector<LayerSummary> RatingBaseline::summary() const {
  std::vector<LayerSummary> layers;
  summarise_biases(layers);
  if (user_factors_.defined())
    layers.push_back({"factors of users and items",
                      {options_.factors},
                      user_factors_.numel() + item_factors_.numel()});
  return layers;
}

std::optional<RatingModel::OwnTerm> RatingBaseline::own_term(const Batch& batch, const Random*,
                                                             Tap*) const {
  if (!user_factors_.defined()) return {};
  const Tensor users = known_rows(user_factors_, batch.at("user"));  // [B, F]
  const Tensor items = known_rows(item_factors_, batch.at("item"));  // [B, F]
  const Tensor known = (batch.at("user") > 0) & (batch.at("item") > 0);
  return OwnTerm{(users * items).sum(1), known};
}

}  // namespace fovea
