// What every model that predicts ratings must do, over a table of them.
#include "fovea/models/rating_model.h"

#include <gtest/gtest.h>

#include <functional>

#include "fovea/base/error.h"
#include "fovea/models/dual_attention.h"
#include "fovea/models/multi_pointer.h"
#include "fovea/models/rating_baselines.h"
#include "tests/models/contract.h"
#include "tests/models/rating_batch.h"
#include "tests/support/gradient_check.h"

namespace fovea::rating_model_test {
namespace {

using namespace testing;  // contract.h, rating_batch.h, gradient_check.h

using Maps = std::vector<std::string>;

constexpr int64_t kDocumentWords = 20;

struct Case {
  std::string name;
  std::function<std::shared_ptr<RatingModel>()> make;
  Maps maps = {};
  double left = 0.3;           // share of the error that may be left on eight examples
  bool differentiable = true;  // a hard pointer has another gradient than the function
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

DualAttentionOptions small_dual() {
  DualAttentionOptions options;
  options.embedding = 4, options.window = 3;
  options.local_filters = 5, options.global_filters = 3;
  options.hidden = 6, options.factors = 3;
  options.dropout = 0;
  return options;
}

MultiPointerOptions small_pointer() {
  MultiPointerOptions options;
  options.embedding = 4, options.pointers = 2, options.factors = 3;
  options.dropout = 0;
  return options;
}

Case baseline(const std::string& name, double left) {
  RatingBaselineOptions options;
  options.name = name;
  options.l2 = 0;
  options.factors = 3;
  return {
      name, [=] { return std::make_shared<RatingBaseline>(options, rating_shape()); }, {}, left};
}

Case pointer(const std::string& name, const MultiPointerOptions& options) {
  return {name,
          [=] { return std::make_shared<MultiPointer>(options, rating_shape(), kReviewWords); },
          {"user reviews", "user words", "item reviews", "item words"},
          options.hard ? 0.5 : 0.3,
          !options.hard};
}

std::vector<Case> cases() {
  const Maps gates = {"user local", "user global", "item local", "item global"};
  const auto dual = [&](const std::string& name, const DualAttentionOptions& options) {
    return Case{
        name,
        [=] { return std::make_shared<DualAttention>(options, rating_shape(), kDocumentWords); },
        gates};
  };
  DualAttentionOptions plain_dual = small_dual(), filter = small_dual(), scale = small_dual();
  plain_dual.biases = filter.biases = false;
  filter.global_attention = "filter";
  scale.global_attention = "scale";
  MultiPointerOptions soft = small_pointer(), sum = small_pointer(), side_by_side = small_pointer();
  soft.hard = false;
  sum.combination = "sum";
  sum.biases = false;
  side_by_side.combination = "concat";
  side_by_side.pointers = 3;
  return {baseline("mean", 1.1),
          baseline("biases", 0.9),
          baseline("mf", 0.3),
          dual("dual_attention", small_dual()),
          dual("dual_attention_without_biases", plain_dual),
          dual("dual_attention_of_the_paper", filter),
          dual("dual_attention_with_one_scale", scale),
          pointer("multi_pointer", small_pointer()),
          pointer("multi_pointer_soft", soft),
          pointer("multi_pointer_sum_of_the_paper", sum),
          pointer("multi_pointer_concat", side_by_side)};
}

class RatingContract : public ::testing::TestWithParam<Case> {
 protected:
  std::shared_ptr<RatingModel> fresh(uint64_t seed = 1) const {
    auto model = GetParam().make();
    model->initialise(Random(seed));
    torch::NoGradGuard no_gradients;  // fresh weights are small: larger ones tell paths apart
    for (auto& item : model->named_parameters())
      if (item.key() != "mean")
        item.value().mul_(item.key() == "factors" || item.key() == "linear.weight" ? 20 : 3);
    return model;
  }
  bool reads() const { return !GetParam().maps.empty(); }
  bool draws() const { return reads() || GetParam().name == "mf"; }  // its first weights
};

TEST_P(RatingContract, FitsItsSchemaAndSummary) {
  const Batch rows = rating_batch(4);
  const auto model = fresh();
  check_batch(rows, model->schema());
  int64_t summed = 0;
  for (const auto& layer : model->summary()) summed += layer.parameters;
  EXPECT_EQ(summed, count_parameters(*model));
  EXPECT_TRUE(flat_parameters(*model).equal(flat_parameters(*fresh(1))));
  EXPECT_NE(flat_parameters(*model).equal(flat_parameters(*fresh(2))), draws());
}

TEST_P(RatingContract, OverfitsEightExamples) {
  auto model = GetParam().make();
  model->initialise(Random(1));
  const Batch rows = rating_batch(8);
  const double before = loss_of(*model, rows);
  overfit(*model, rows, 0.02, 200);
  const at::Tensor error = model->replay(rows, {}, nullptr).squeeze(1) - rows.at("target");
  EXPECT_LT(error.square().mean().item<double>(), GetParam().left * before);
}

TEST_P(RatingContract, ReplayEqualsPredictWithinTheScale) {
  const auto model = fresh();
  torch::NoGradGuard no_gradients;
  const Batch rows = rating_batch(12);
  const Predictions predictions = model->predict(rows);
  EXPECT_EQ(predictions.values.sizes(), (std::vector<int64_t>{12, 1}));
  Tap tap;
  const at::Tensor replayed = model->replay(rows, predictions, &tap);
  EXPECT_LT(largest_difference(replayed.clamp(1, 5), predictions.values), 1e-5);
  EXPECT_LE(predictions.values.max().item<double>(), 5);
  EXPECT_GE(predictions.values.min().item<double>(), 1);
}

TEST_P(RatingContract, PaddingAndOtherRowsDoNotMatter) {
  const auto model = fresh();
  torch::NoGradGuard no_gradients;
  const Batch rows = without_reviews(rating_batch(6), 2, "user"), wide = rating_batch(6, 3);
  const at::Tensor together = model->replay(rows, {}, nullptr);
  EXPECT_LT(largest_difference(model->replay(rating_batch(6), {}, nullptr),
                               model->replay(wide, {}, nullptr)),
            1e-5);
  for (int64_t row = 0; row < 6; ++row)
    EXPECT_LT(largest_difference(model->replay(row_of(rows, row), {}, nullptr)[0], together[row]),
              1e-5)
        << row;
}

TEST_P(RatingContract, RecordsItsMaps) {
  const auto model = fresh();
  const Batch rows = rating_batch(6);
  Tap tap;
  model->replay(rows, {}, &tap);
  Maps names;
  for (const AttentionMap& map : tap.maps()) {
    names.push_back(map.name);
    const bool of_user = map.name.starts_with("user"), of_reviews = map.name.ends_with("reviews");
    const std::string side = of_user ? "user" : "item";
    const at::Tensor keep =
        rows.at(side + (of_reviews ? "_lengths" : "_words")).ne(0).unsqueeze(1);  // [B, 1, N]
    EXPECT_EQ(map.key_axis, side + (of_reviews ? " reviews" : " words"));
    EXPECT_EQ(check_map(map, keep), "") << map.name;
  }
  std::sort(names.begin(), names.end());
  Maps wanted = GetParam().maps;
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(names, wanted);
}

TEST_P(RatingContract, AReplacedMapChangesTheRating) {
  const auto model = fresh();
  const Batch rows = rating_batch(5);
  for (const std::string& map : GetParam().maps) expect_replaced_map_counts(*model, rows, {}, map);
}

TEST_P(RatingContract, GradientsReachTheWords) {
  if (!reads()) GTEST_SKIP() << "a baseline reads no reviews and has no maps";
  const auto model = fresh();
  const Batch rows = rating_batch(5);
  for (const std::string side : {"user", "item"}) {
    const at::Tensor leaf = expect_leaf(*model, rows, {}, side + " words");
    EXPECT_EQ(leaf.size(1), rows.at(side + "_words").size(1));
  }
}

TEST_P(RatingContract, WhoHasNoReviewsIsLeftWithTheBiases) {
  const auto model = fresh();
  torch::NoGradGuard no_gradients;
  const Batch rows = without_reviews(rating_batch(3), 1, "item");
  const at::Tensor values = model->replay(rows, {}, nullptr);
  EXPECT_TRUE(values.isfinite().all().item<bool>());
  Batch strangers = without_reviews(without_reviews(rows, 1, "user"), 1, "item");
  strangers.tensors["user"] = torch::zeros({3}, at::kLong);
  strangers.tensors["item"] = torch::zeros({3}, at::kLong);
  EXPECT_NEAR(model->replay(strangers, {}, nullptr)[1].item<double>(), 3.2, 1e-5) << "the mean";
  Batch nobody = row_of(strangers, 1);  // nothing to tell a tap
  Tap tap;
  EXPECT_NEAR(model->replay(nobody, {}, &tap).item<double>(), 3.2, 1e-5);
  EXPECT_TRUE(tap.maps().empty());
  EXPECT_TRUE(model->loss(rows, {Random(1), 0}).objective.isfinite().item<bool>());
}

TEST_P(RatingContract, GradientsAreThoseOfFiniteDifferences) {
  if (!GetParam().differentiable)
    GTEST_SKIP()
        << "a hard pointer steps; MultiPointer.TheGradientOfAHardPointerIsThatOfTheSoftOne";
  const auto model = fresh();
  model->to(at::kDouble);
  Batch rows = without_reviews(rating_batch(4), 1, "user");
  rows.tensors["target"] = rows.at("target").to(at::kDouble);
  const auto loss = [&] { return model->loss(rows, {Random(3), 0}).objective; };
  EXPECT_LT(gradient_error(loss, model->parameters(), {5, 1e-6}), 1e-5);
}

TEST_P(RatingContract, TheStepDecidesTheLoss) {
  const auto model = fresh();
  const Batch rows = rating_batch(6);
  const auto loss = [&](uint64_t seed) {
    return model->loss(rows, {Random(seed), 0}).objective.item<double>();
  };
  EXPECT_EQ(loss(3), loss(3));
  EXPECT_EQ(loss(3) != loss(4), GetParam().name.starts_with("multi")) << "pointers draw";
}

INSTANTIATE_TEST_SUITE_P(All, RatingContract, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

TEST(RatingModel, ThePenaltyIsAdded) {
  const Batch rows = rating_batch(6);
  const auto loss = [&](double bias_l2, double l2, double& biases, double& weights) {
    DualAttentionOptions options = small_dual();
    options.bias_l2 = bias_l2;
    options.l2 = l2;
    DualAttention model(options, rating_shape(), kDocumentWords);
    model.initialise(Random(1));
    torch::NoGradGuard no_gradients;
    biases = weights = 0;
    for (auto& item : model.named_parameters()) {
      const std::string& name = item.key();
      const bool is_bias = name == "user_bias" || name == "item_bias";
      if (is_bias) item.value().fill_(0.5);
      const double squares = item.value().square().sum().item<double>();
      if (is_bias) biases += squares;
      if (model.rule_of(name).decays) weights += squares;
    }
    return loss_of(model, rows);
  };
  double biases = 0, weights = 0;
  const double plain = loss(0, 0, biases, weights);
  EXPECT_GT(weights, 0);
  EXPECT_NEAR(loss(3, 0, biases, weights) - plain, 3 * biases / 12, 1e-5) << "12 ratings";
  EXPECT_NEAR(loss(0, 0.1, biases, weights) - plain, 0.1 * weights, 1e-4);
}

}  // namespace
}  // namespace fovea::rating_model_test
