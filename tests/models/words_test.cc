#include "fovea/models/words.h"

#include <gtest/gtest.h>

#include "fovea/tensor/torch.h"

namespace fovea::words_test {
namespace {

constexpr int64_t kUnits = 9;  // 4 … 6 words, 7 and 8 bigrams

WordsShape words_shape() {
  WordsShape shape{kUnits, 2};
  shape.is_bigram.assign(size_t(kUnits), false);
  shape.is_bigram[7] = shape.is_bigram[8] = true;
  return shape;
}

/// "a b a" with the bigrams 7 and 8, "c", and a text of unknown words.
Batch three_texts() {
  Batch batch;
  batch.size = 3;
  batch.tensors["units"] =
      torch::tensor({4, 7, 5, 8, 4, 0, 6, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0}).view({3, 3, 2});
  batch.tensors["shares"] = torch::tensor({.5F, 1.F, 1.F, 1.F, .5F, 0.F, 1.F, 0.F, 0.F, 0.F, 0.F,
                                           0.F, 0.F, 0.F, 0.F, 0.F, 0.F, 0.F})
                                .view({3, 3, 2});
  batch.tensors["target"] = torch::tensor({0, 1, 1});
  return batch;
}

Words random_words() {
  Words model({}, words_shape());
  model.initialise(Random(1));
  torch::NoGradGuard no_gradients;
  torch::manual_seed(1);
  for (at::Tensor& parameter : model.parameters()) parameter.normal_();
  return model;
}

SparseClasses texts_of_two_classes() {
  SparseClasses rows;
  for (int64_t row = 0; row < 40; ++row) {
    rows.classes.push_back(row % 2);
    rows.columns.insert(rows.columns.end(), {4, 5 + row % 2});  // 4 is everywhere
    rows.values.insert(rows.values.end(), {1, 1});
    rows.offsets.push_back(int64_t(rows.columns.size()));
  }
  return rows;
}

TEST(Words, ADocumentIsAVectorOfLengthOne) {
  torch::NoGradGuard no_gradients;
  const Words model = random_words();
  const auto parameters = model.named_parameters();
  const at::Tensor s = parameters["scores"].squeeze(1), v = parameters["values"],
                   b = parameters["bias"];
  const std::vector<int64_t> units{4, 5, 7, 8};  // each once, however often it stands there
  at::Tensor sum = torch::zeros({2});
  double squares = 0;
  for (const int64_t unit : units) {
    sum += s[unit].exp() * v[unit];
    squares += (2 * s[unit]).exp().item<double>();
  }
  const at::Tensor expected = (b + sum / std::sqrt(squares)).softmax(0);
  const at::Tensor scores = model.predict(three_texts()).scores;
  EXPECT_TRUE(scores[0].allclose(expected, 1e-4, 1e-5)) << scores[0] << expected;
  EXPECT_TRUE(scores[2].allclose(b.softmax(0), 1e-4, 1e-5)) << "no known word";
}

TEST(Words, WeightTimesValueIsWhatAWordAdds) {
  torch::NoGradGuard no_gradients;
  const Words model = random_words();
  const Batch batch = three_texts();
  const Predictions predictions = model.predict(batch);
  Tap tap;
  const at::Tensor replayed = model.replay(batch, predictions, &tap);  // [B, 1]
  const at::Tensor best = predictions.scores.argmax(1);
  EXPECT_TRUE(
      replayed.squeeze(1).allclose(std::get<0>(predictions.scores.max(1)).log(), 1e-4, 1e-5));
  const at::Tensor added = tap.map("contributions").weights.sum({1, 2, 3});  // [B]
  EXPECT_NEAR(added[2].item<double>(), 0, 1e-6);
  EXPECT_TRUE(
      tap.map("words").weights.sum(-1).flatten().narrow(0, 0, 2).allclose(torch::ones({2})));
  // A text of one word: its value is all that is added.
  const at::Tensor scale = model.named_parameters()["values"][6];
  EXPECT_NEAR(added[1].item<double>(), scale[best[1].item<int64_t>()].item<double>(), 1e-5);
}

TEST(Words, ReplacedWeightsChangeTheAnswer) {
  torch::NoGradGuard no_gradients;
  const Words model = random_words();
  const Batch batch = three_texts();
  const Predictions predictions = model.predict(batch);
  Tap tap;
  tap.replace("words", [](const AttentionMap& map) { return map.weights.flip(3).clone(); });
  Tap plain;
  EXPECT_FALSE(model.replay(batch, predictions, &tap)
                   .allclose(model.replay(batch, predictions, &plain), 1e-4, 1e-5));
}

TEST(Words, FitFindsTheWordThatTells) {
  torch::NoGradGuard no_gradients;
  for (const bool held_out : {false, true}) {
    Words model({}, words_shape());
    model.initialise(Random(1));
    model.fit(texts_of_two_classes(), held_out ? texts_of_two_classes() : SparseClasses());
    const at::Tensor s = model.named_parameters()["scores"].squeeze(1);
    const at::Tensor v = model.named_parameters()["values"];
    EXPECT_GT(s[5].item<double>(), s[4].item<double>() + 1) << "4 stands in every text";
    EXPECT_GT(v[5][0].item<double>(), v[5][1].item<double>());
    EXPECT_LT(v[6][0].item<double>(), v[6][1].item<double>());
  }
}

}  // namespace
}  // namespace fovea::words_test
