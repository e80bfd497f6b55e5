#include "fovea/metrics/ngram_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace fovea::ngram_model_test {
namespace {

using Tokens = std::vector<int64_t>;

double probability(const NgramModel& model, const Tokens& tokens, int64_t order) {
  return std::exp(-model.nats(tokens, order));
}

NgramModel counted() {
  NgramModel model(4);
  model.add(Tokens{0, 1, 2, 0, 1, 2, 0, 1, 3});
  return model;
}

TEST(NgramModel, SumsToOneAfterWhateverCameBefore) {
  const NgramModel model = counted();
  for (int64_t order = 1; order <= 3; ++order)
    for (int64_t a = 0; a < 4; ++a)
      for (int64_t b = 0; b < 4; ++b) {
        double sum = 0;
        for (int64_t next = 0; next < 4; ++next) sum += probability(model, {a, b, next}, order);
        EXPECT_NEAR(sum, 1, 1e-12) << order << ": " << a << " " << b;
      }
}

TEST(NgramModel, IsTheFormula) {
  const NgramModel model = counted();
  EXPECT_EQ(model.tokens(), 8);
  // 1, 2, 0, 1, 2, 0, 1, 3 are counted: 0 twice, 1 three times, 2 twice, 3 once, of 8.
  const double unigram = (2 - 0.75) / 8 + 0.75 * 4 / 8 / 4;
  EXPECT_NEAR(probability(model, {0}, 1), unigram, 1e-12);
  // After 2 there was 0, twice.
  EXPECT_NEAR(probability(model, {2, 0}, 2), (2 - 0.75) / 2 + 0.75 / 2 * unigram, 1e-12);
  // After 3 there was nothing: only the shorter one is known.
  EXPECT_NEAR(probability(model, {3, 0}, 2), unigram, 1e-12);
  EXPECT_NEAR(probability(model, {0}, 3), unigram, 1e-12);
}

TEST(NgramModel, ComesBackFromItsTensors) {
  const NgramModel model = counted(), again = NgramModel::from_tensors(model.to_tensors());
  for (const Tokens& tokens : {Tokens{0, 1, 2}, Tokens{1, 3, 3}, Tokens{2, 0, 1}})
    for (int64_t order = 1; order <= 3; ++order)
      EXPECT_EQ(again.nats(tokens, order), model.nats(tokens, order));
}

}  // namespace
}  // namespace fovea::ngram_model_test
