#include "fovea/models/multi_pointer.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "tests/models/contract.h"
#include "tests/models/rating_batch.h"
#include "tests/models/rating_golden.h"

namespace fovea::multi_pointer_test {
namespace {

using namespace testing;  // contract.h, rating_batch.h, rating_golden.h

TEST(MultiPointer, EqualsPyTorch) {
  const Json reference = golden("ratings");
  for (const Json& own : reference["multi_pointer"]) {
    MultiPointerOptions options;
    options.embedding = 3;
    options.pointers = 2;
    options.factors = 2;
    options.temperature = 0.7;
    options.hard = own["hard"].get<bool>();
    options.combination = own["combination"].get<std::string>();
    options.biases = own["biases"].get<bool>();
    SCOPED_TRACE(options.combination);
    MultiPointer model(options, golden_rating_shape(), 4);
    expect_golden_ratings(model, reference, own);
  }
}

MultiPointerOptions small(bool hard) {
  MultiPointerOptions options;
  options.embedding = 4, options.pointers = 1, options.dropout = 0;
  options.hard = hard;
  return options;
}

TEST(MultiPointer, APointerPicksOneReviewAndReadsNoOther) {
  MultiPointer model(small(true), rating_shape(), kReviewWords);
  model.initialise(Random(1));
  const Batch rows = rating_batch(12);
  Tap tap;
  model.replay(rows, {}, &tap);
  for (const std::string side : {"user", "item"}) {
    const at::Tensor picked = tap.map(side + " reviews").weights.flatten(0, 2);  // [B, R]
    EXPECT_TRUE(((picked == 0) | (picked == 1)).all().item<bool>());
    const at::Tensor read = tap.map(side + " words").weights.flatten(0, 2);  // [B, K]
    const at::Tensor lengths = rows.at(side + "_lengths");
    for (int64_t row = 0; row < 12; ++row) {
      const int64_t review = picked[row].argmax().item<int64_t>();
      const int64_t begin = lengths[row].narrow(0, 0, review).sum().item<int64_t>();
      const int64_t length = lengths[row][review].item<int64_t>();
      EXPECT_NEAR(read[row].narrow(0, begin, length).sum().item<double>(), 1, 1e-5) << row;
    }
  }
}

/// One review of the user and three of the item, of one word each, again and again.
Batch same_rows(int64_t count) {
  Batch rows{{}, count};
  const auto repeated = [&](std::vector<int64_t> row) {
    return torch::tensor(row, at::kLong).expand({count, int64_t(row.size())}).contiguous();
  };
  rows.tensors["user"] = rows.tensors["item"] = torch::ones({count}, at::kLong);
  rows.tensors["user_words"] = repeated({2});
  rows.tensors["user_lengths"] = repeated({1});
  rows.tensors["item_words"] = repeated({3, 4, 5});
  rows.tensors["item_lengths"] = repeated({1, 1, 1});
  return rows;
}

// How often each review of the item was drawn in a training step follows from its loss: with the
// rating r_i that review i gives, the mean of (r - target)^2 is sum p_i (r_i - target)^2.
TEST(MultiPointer, DrawsComeAsOftenAsTheSoftmaxSays) {
  MultiPointerOptions options = small(true);
  options.temperature = 0.01;  // a draw does not depend on it, its gradient does
  MultiPointer model(options, rating_shape(), kReviewWords);
  MultiPointerOptions soft = small(false);
  soft.temperature = 1;  // without noise: the softmax of the scores
  MultiPointer other(soft, rating_shape(), kReviewWords);
  torch::NoGradGuard no_gradients;
  for (MultiPointer* one : {&model, &other}) {
    one->initialise(Random(4));
    for (auto& item : one->named_parameters())
      if (item.key() != "mean")
        item.value().mul_(item.key() == "factors" || item.key() == "linear.weight" ? 30 : 4);
    one->to(at::kDouble);
  }
  Tap tap;
  other.replay(same_rows(1), {}, &tap);
  const at::Tensor expected = tap.map("item reviews").weights.flatten();  // [3]
  ASSERT_GT(expected.max().item<double>() - expected.min().item<double>(), 0.1) << "not uniform";

  std::vector<at::Tensor> ratings;
  for (int64_t review = 0; review < 3; ++review) {
    Tap fixed;
    fixed.replace("item reviews", [review](const AttentionMap& map) {
      return torch::zeros_like(map.weights).index_fill(3, torch::tensor({review}), 1);
    });
    ratings.push_back(model.replay(same_rows(1), {}, &fixed).flatten());
  }
  const at::Tensor r = torch::cat(ratings);  // [3]
  constexpr int64_t kDraws = 20000;
  const auto error = [&](double target) {
    Batch rows = same_rows(kDraws);
    rows.tensors["target"] = torch::full({kDraws}, target, at::kDouble);
    return model.loss(rows, {Random(6), 0}).scalars.at("squared_error");
  };
  const at::Tensor equations =
      torch::stack({r.square(), (r - 1).square(), torch::ones({3}, at::kDouble)});
  const at::Tensor found =
      at::linalg_solve(equations, torch::stack({error(0), error(1), torch::ones({}, at::kDouble)}));
  EXPECT_LT(largest_difference(found, expected), 0.03) << found << expected << r;
}

TEST(MultiPointer, TheGradientOfAHardPointerIsThatOfTheSoftOne) {
  MultiPointer hard(small(true), rating_shape(), kReviewWords);
  MultiPointer soft(small(false), rating_shape(), kReviewWords);
  for (MultiPointer* model : {&hard, &soft}) {
    model->initialise(Random(2));
    model->to(at::kDouble);
  }
  const Batch rows = rating_batch(4);
  const auto gradient = [&](MultiPointer& model) {
    Tap tap;
    model.replay(rows, {}, &tap);
    const at::Tensor weights = tap.map("user reviews").weights;  // [B, P, 1, R]
    const at::Tensor coefficients =
        Random(5).normal_tensor(weights.sizes(), 0, 1, at::TensorOptions(at::kDouble));
    for (auto& parameter : model.parameters()) parameter.mutable_grad() = at::Tensor();
    (weights * coefficients).sum().backward();
    std::vector<at::Tensor> gradients;
    for (const auto& item : model.named_parameters())
      if (item.key().starts_with("review")) gradients.push_back(item.value().grad().flatten());
    return torch::cat(gradients);
  };
  const at::Tensor expected = gradient(soft);
  EXPECT_GT(expected.abs().max().item<double>(), 1e-4);
  EXPECT_LT(largest_difference(gradient(hard), expected), 1e-12);
}

TEST(MultiPointer, RefusesWhatCannotWork) {
  EXPECT_THROW(MultiPointer(small(true), rating_shape(), 0), Error);
}

}  // namespace
}  // namespace fovea::multi_pointer_test
