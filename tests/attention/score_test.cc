// The identities that tie the score functions to each other and to their papers.
#include "fovea/attention/score.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"
#include "tests/attention/cases.h"
#include "tests/support/gradient_check.h"

namespace fovea::score_test {
namespace {

using namespace testing;

constexpr int64_t kSize = 4;

std::shared_ptr<ScoreFunction> score_named(const std::string& name) {
  return make_case(name, "softmax", "global").score;
}

at::Tensor& parameter(ScoreFunction& score, const std::string& name) {
  static std::map<std::string, at::Tensor> kept;
  return kept[name] = score.named_parameters()[name];
}

at::Tensor scores_of(const ScoreFunction& score, const at::Tensor& query, const at::Tensor& keys,
                     const at::Tensor& previous = {}) {
  return score.score({query, score.prepare(keys), previous, {}});
}

const at::Tensor kQuery = numbers({2, 1, 3, kSize}, "query");
const at::Tensor kShortQuery = numbers({2, 1, 3, 3}, "short query");
const at::Tensor kKeys = numbers({2, 1, 5, kSize}, "keys");

TEST(Score, TableCountsParametersAsPapersDo) {
  ScoreOptions options{"", 3, 3, 5, false, 8, 2, 3};
  for (const auto& entry : score_table()) {
    options.name = entry.name;
    int64_t count = 0;
    for (const auto& p : make_score(options, Random(1))->parameters()) count += p.numel();
    EXPECT_EQ(count, entry.parameter_count(options)) << entry.name;
    EXPECT_FALSE(entry.formula.empty() || entry.parameters.empty()) << entry.name;
  }
  EXPECT_EQ(find_score("additive").parameter_count(options), 5 * (3 + 3) + 5);
  options.bias = true, options.name = "additive";
  EXPECT_EQ(make_score(options, Random(1))->parameters().size(), 4u);
}

TEST(Score, GeneralWithIdentityIsDot) {
  ScoreOptions options;
  options.name = "general", options.query_size = options.key_size = kSize;
  const auto general = make_score(options, Random(1));
  general->to(at::kDouble);
  torch::NoGradGuard no_gradient;
  parameter(*general, "weight").copy_(at::eye(kSize));
  EXPECT_LT(
      distance(scores_of(*general, kQuery, kKeys), scores_of(*score_named("dot"), kQuery, kKeys)),
      1e-14);
}

TEST(Score, ScaledDotIsDotOverRootOfSize) {
  const auto dot = scores_of(*score_named("dot"), kQuery, kKeys);
  EXPECT_LT(distance(scores_of(*score_named("scaled-dot"), kQuery, kKeys), dot / std::sqrt(kSize)),
            1e-14);
}

TEST(Score, CosineIgnoresScaleAndDotDoesNot) {
  const auto content = score_named("content"), dot = score_named("dot");
  const auto plain = scores_of(*content, kQuery, kKeys);
  EXPECT_LT(distance(scores_of(*content, kQuery * 7, kKeys * 0.5), plain), 1e-6);
  EXPECT_LE(plain.abs().max().item<double>(), 1 + 1e-12) << "beta starts at 1";
  EXPECT_GT(distance(scores_of(*dot, kQuery * 7, kKeys), scores_of(*dot, kQuery, kKeys)), 1);
}

TEST(Score, SharpnessOfTheCallerReplacesTheLearnedOne) {
  const auto content = score_named("content");
  const auto plain = scores_of(*content, kQuery, kKeys);
  const auto sharp = content->score({kQuery, kKeys, {}, at::full({2, 1, 3}, 20.0, at::kDouble)});
  EXPECT_LT(distance(sharp, plain * 20), 1e-6);
}

TEST(Score, CosineOfZeroVectorIsZeroWithZeroGradient) {
  const auto content = score_named("content");
  auto query = kQuery.clone(), keys = kKeys.clone();
  query[0][0][1].zero_();
  keys[0][0][2].zero_();
  query.requires_grad_(), keys.requires_grad_();
  const auto scores = scores_of(*content, query, keys);
  EXPECT_EQ(testing::largest(scores[0][0][1]), 0);
  scores.sum().backward();
  EXPECT_EQ(testing::largest(query.grad()[0][0][1]), 0);
  EXPECT_EQ(testing::largest(keys.grad()[0][0][2]), 0);
  EXPECT_TRUE(testing::all_finite(query.grad()) && testing::all_finite(keys.grad()));
}

TEST(Score, CosineGradientHoldsAtANearZeroKey) {
  const auto content = score_named("content");
  const auto query = kQuery.clone().requires_grad_(), keys = (kKeys * 1e-4).requires_grad_();
  const testing::GradientCheck tiny{3, 1e-8, 1};
  EXPECT_LT(testing::gradient_error([&] { return scores_of(*content, query, keys).square().sum(); },
                                    {query, keys}, tiny),
            1e-5);
}

TEST(Score, AdditiveEqualsConcatForm) {
  const auto additive = score_named("additive");
  const auto w = parameter(*additive, "query.weight"), u = parameter(*additive, "key.weight");
  const auto v = parameter(*additive, "energy.weight");
  const auto pairs = at::cat({kShortQuery.unsqueeze(3).expand({2, 1, 3, 5, 3}),
                              kKeys.unsqueeze(2).expand({2, 1, 3, 5, kSize})},
                             -1);  // [2, 1, 3, 5, 7]
  const auto concat_form = at::matmul(at::matmul(pairs, at::cat({w, u}, 1).t()).tanh(), v[0]);
  EXPECT_LT(distance(scores_of(*additive, kShortQuery, kKeys), concat_form), 1e-14);
}

TEST(Score, LocationBaseSeesThePlaceAndNotTheKey) {
  const auto score = score_named("location-base");
  EXPECT_TRUE(
      at::equal(scores_of(*score, kShortQuery, kKeys), scores_of(*score, kShortQuery, kKeys * -2)));
  EXPECT_THROW(scores_of(*score, kShortQuery, numbers({2, 1, 9, kSize}, "long")), Error)
      << "made for 8 keys";
}

TEST(Score, LocationAwareReadsPreviousWeightsAndDiffersFromLocationBase) {
  const auto aware = score_named("location-aware"), base = score_named("location-base");
  const auto first = at::softmax(numbers({2, 1, 3, 5}, "first"), -1), second = first.flip(-1);
  EXPECT_GT(distance(scores_of(*aware, kShortQuery, kKeys, first),
                     scores_of(*aware, kShortQuery, kKeys, second)),
            1e-3);
  EXPECT_GT(distance(scores_of(*aware, kShortQuery, kKeys, first),
                     scores_of(*aware, kShortQuery, -kKeys, first)),
            1e-3)
      << "it reads keys too";
  EXPECT_TRUE(at::equal(scores_of(*base, kShortQuery, kKeys, first),
                        scores_of(*base, kShortQuery, kKeys, second)));
}

TEST(Score, LocationAwareWithoutLocationIsAdditive) {
  const auto aware = score_named("location-aware"), additive = score_named("additive");
  torch::NoGradGuard no_gradient;
  for (const auto* name : {"query.weight", "key.weight", "energy.weight"})
    parameter(*additive, name).copy_(aware->named_parameters()[name]);
  const auto previous = at::softmax(numbers({2, 1, 3, 5}, "previous"), -1);
  const auto content = scores_of(*additive, kShortQuery, kKeys);
  EXPECT_LT(distance(scores_of(*aware, kShortQuery, kKeys), content), 1e-14) << "first step";
  parameter(*aware, "location.weight").zero_();
  EXPECT_LT(distance(scores_of(*aware, kShortQuery, kKeys, previous), content), 1e-14)
      << "U = 0 of the paper";
}

TEST(Score, ScaledDotHasUnitVariance) {
  const int64_t size = 256;
  const auto query = numbers({1, 1, 200, size}, "many queries"),
             keys = numbers({1, 1, 200, size}, "many keys");
  EXPECT_NEAR(scores_of(*score_named("scaled-dot"), query, keys).var().item<double>(), 1, 0.1);
  EXPECT_NEAR(scores_of(*score_named("dot"), query, keys).var().item<double>() / size, 1, 0.1);
}

TEST(Score, ParametersComeFromTheGivenRandomAlone) {
  ScoreOptions options;
  options.query_size = options.key_size = 4;
  for (const auto& name : score_names()) {
    options.name = name;
    torch::manual_seed(1);
    const auto first = make_score(options, Random(5))->parameters();
    const auto state = at::rand({1});
    torch::manual_seed(1);
    EXPECT_TRUE(at::equal(at::rand({1}), state)) << name << " drew from the global generator";
    const auto second = make_score(options, Random(5))->parameters();
    for (size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(at::equal(first[i], second[i])) << name;
  }
}

TEST(Score, RefusesWhatCannotWork) {
  ScoreOptions options;
  options.name = "dot", options.query_size = 3, options.key_size = 4;
  EXPECT_THROW(make_score(options, Random(1)), Error);
  options.name = "general", options.query_size = 0;
  EXPECT_THROW(make_score(options, Random(1)), Error);
  options.name = "location-aware", options.query_size = 3, options.kernel_width = 4;
  EXPECT_THROW(make_score(options, Random(1)), Error);
  try {
    find_score("additiv");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::NotFound);
    EXPECT_NE(std::string(error.what()).find("additive"), std::string::npos);
  }
}

TEST(Score, OptionsAreDescribed) {
  ScoreOptions options;
  OptionList list;
  list.group("model", options);
  list.set("model.score", "additive");
  list.set("model.score_hidden", "17");
  EXPECT_EQ(options.name, "additive");
  EXPECT_EQ(options.hidden_size, 17);
  EXPECT_THROW(list.set("model.score", "nothing"), Error);
}

}  // namespace
}  // namespace fovea::score_test
