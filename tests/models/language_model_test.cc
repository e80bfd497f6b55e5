// Networks of Hugging Face's transformers, with random weights: ours must compute the same.
// tests/golden/hugging_face holds their weights and what they answered.
#include "fovea/models/language_model.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/models/language_names.h"
#include "fovea/tensor/safetensors.h"
#include "tests/models/contract.h"
#include "tests/support/expect_error.h"
#include "tests/support/golden.h"

namespace fovea::language_model_test {
namespace {

using testing::expect_error;
using testing::largest_difference;

struct GoldenNetwork {
  std::string file;
  LanguageModelOptions options;
  double tolerance;
};

LanguageModelOptions tiny(const std::string& name) {
  LanguageModelOptions o;
  o.name = name;
  o.layers = 2, o.hidden = 32, o.heads = 4, o.maximum_length = 64;
  if (name == "llama") o.key_heads = 2, o.feed_forward = 64;
  return o;
}

std::vector<GoldenNetwork> golden_networks() {
  return {{"gpt2", tiny("gpt2"), 1e-4}, {"llama-bf16", tiny("llama"), 2e-2}};
}

Batch prompt_of(const at::Tensor& ids) {
  const at::Tensor tokens = ids.unsqueeze(0);
  return {{{"tokens", tokens}, {"tokens.keep", at::ones_like(tokens, at::kBool)}}, 1};
}

class HuggingFaceNetwork : public ::testing::TestWithParam<GoldenNetwork> {
 protected:
  void SetUp() override {
    const auto file = std::string(FOVEA_TEST_FILES) + "/golden/hugging_face/" + GetParam().file;
    expected_ = read_safetensors(file + ".safetensors").tensors;
  }

  std::unique_ptr<LanguageModel> network(SearchOptions search = {}) const {
    const int64_t vocabulary = 1200;
    auto model = std::make_unique<LanguageModel>(GetParam().options, search,
                                                 LanguageShape{vocabulary, /*end=*/0});
    const auto names = language_names(model->options(), vocabulary);
    const WeightMap ours = from_hugging_face(names, expected_);
    torch::NoGradGuard no_gradients;
    for (auto& item : model->named_parameters()) item.value().copy_(ours.at(item.key()));
    return model;
  }

  const at::Tensor& expected(int input, const std::string& what) const {
    return expected_.at(concat("expected.", input, ".", what));
  }

  WeightMap expected_;
};

TEST_P(HuggingFaceNetwork, ComputesWhatTransformersComputes) {
  const auto model = network();
  const double tolerance = GetParam().tolerance;
  torch::NoGradGuard no_gradients;
  for (const int input : {0, 1}) {
    Tap tap;
    const at::Tensor states =
        model->states(expected(input, "ids").unsqueeze(0), nullptr, &tap);  // [1, N, D]
    EXPECT_LT(largest_difference(states[0], expected(input, "hidden")), tolerance);
    EXPECT_LT(largest_difference(model->logits(states)[0], expected(input, "logits")), tolerance);
    ASSERT_EQ(tap.maps().size(), 2u);
    for (size_t layer = 0; layer < 2; ++layer)
      EXPECT_LT(largest_difference(tap.maps()[layer].weights[0],
                                   expected(input, concat("attention.", layer))),
                tolerance);
  }
}

TEST_P(HuggingFaceNetwork, WritesWhatTransformersWrites) {
  SearchOptions search;
  search.maximum_length = 12;
  const auto model = network(search);
  for (const int input : {0, 1, 2}) {
    const at::Tensor& ids = expected(input, "ids");
    const auto made = model->predict(prompt_of(ids)).outputs[0][0].tokens;
    const at::Tensor whole = at::cat({ids, torch::tensor(made, at::kLong)});
    EXPECT_TRUE(whole.equal(expected(input, "greedy"))) << input << ": " << whole;
  }
}

TEST_P(HuggingFaceNetwork, ABeamFindsWhatThatOfTransformersFinds) {
  SearchOptions search;
  search.method = "beam";
  search.beam = 4;
  search.length_penalty = 0;  // none of these texts ends
  search.maximum_length = 12;
  const auto model = network(search);
  for (const int input : {0, 1, 2}) {
    const at::Tensor& ids = expected(input, "ids");
    const auto made = model->predict(prompt_of(ids)).outputs[0][0].tokens;
    const at::Tensor whole = at::cat({ids, torch::tensor(made, at::kLong)});
    EXPECT_TRUE(whole.equal(expected(input, "beam4"))) << input << ": " << whole;
  }
}

TEST_P(HuggingFaceNetwork, WeightsGoOutAsTheyCameIn) {
  const auto model = network();
  const auto names = language_names(model->options(), 1200);
  WeightMap own;
  for (const auto& item : model->named_parameters()) own[item.key()] = item.value().detach();
  const WeightMap theirs = to_hugging_face(names, own);
  for (const auto& [name, tensor] : expected_) {
    if (name.starts_with("expected.")) continue;
    EXPECT_TRUE(theirs.at(name).equal(tensor.to(at::kFloat))) << name;
  }
}

TEST_P(HuggingFaceNetwork, WhatWasWrittenIsPlayedAgain) {
  SearchOptions search;
  search.maximum_length = 5;
  const auto model = network(search);
  const Batch prompt = prompt_of(expected(0, "ids"));
  const Predictions made = model->predict(prompt);
  Tap tap;
  const at::Tensor units = model->replay(prompt, made, &tap);  // [1, U]
  EXPECT_EQ(units.size(1), int64_t(made.outputs[0][0].tokens.size()));
  EXPECT_NEAR(units.sum().item<double>(), made.outputs[0][0].log_probability, 1e-3);
  testing::expect_replaced_map_counts(*model, prompt, made, "attention");
  testing::expect_fused_equals_readable(*model, prompt, made);
}

INSTANTIATE_TEST_SUITE_P(Tiny, HuggingFaceNetwork, ::testing::ValuesIn(golden_networks()),
                         [](const auto& info) { return info.param.options.name; });

class LanguageContract : public ::testing::TestWithParam<std::string> {
 protected:
  static Batch rows() {
    const at::Tensor tokens = Random(3).uniform_tensor({3, 9}, 1, 12, at::kFloat).to(at::kLong);
    at::Tensor keep = at::ones({3, 9}, at::kBool);
    keep[1].narrow(0, 6, 3).fill_(false);
    return {{{"tokens", tokens}, {"tokens.keep", keep}}, 3};
  }
  static std::unique_ptr<LanguageModel> fresh(uint64_t seed, double dropout = 0) {
    LanguageModelOptions o = tiny(GetParam());
    o.hidden = 16, o.tie_embeddings = GetParam() == "gpt2";
    o.dropout = o.attention_dropout = dropout;
    auto model = std::make_unique<LanguageModel>(o, SearchOptions{}, LanguageShape{12, 0});
    model->initialise(Random(seed));
    return model;
  }
};

TEST_P(LanguageContract, SchemaAndSeeds) {
  testing::expect_schema_and_seeds(rows(), [](uint64_t seed) { return fresh(seed); });
}

TEST_P(LanguageContract, LearnsItsRowsByHeart) {
  const auto model = fresh(1);
  const Batch batch = rows();
  const auto [before, tokens, row_nats, row_tokens] = model->negative_log_likelihood(batch);
  EXPECT_EQ(tokens, 8 + 5 + 8);
  EXPECT_NEAR(before / double(tokens), testing::loss_of(*model, batch), 1e-4);
  testing::overfit(*model, batch, 1e-2);
  EXPECT_LT(model->negative_log_likelihood(batch).nats, 0.2 * before);
}

TEST_P(LanguageContract, PaddingAndLaterTokensChangeNothing) {
  const auto model = fresh(1);
  torch::NoGradGuard no_gradients;
  Batch batch = rows();
  const double loss = testing::loss_of(*model, batch);
  batch.tensors["tokens"][1].narrow(0, 6, 3).fill_(7);  // behind the end of row 1
  EXPECT_NEAR(testing::loss_of(*model, batch), loss, 1e-6);
  const at::Tensor tokens = batch.at("tokens");
  const at::Tensor whole = model->states(tokens, nullptr, nullptr),
                   begin = model->states(tokens.narrow(1, 0, 4), nullptr, nullptr);
  EXPECT_LT(largest_difference(whole.narrow(1, 0, 4), begin), 1e-5);
}

TEST_P(LanguageContract, PromptsThatDoNotFitAreRefused) {
  const auto model = fresh(1);
  expect_error(ErrorKind::BadData, "leaves no room",
               [&] { model->predict(prompt_of(at::ones({64}, at::kLong))); });
  expect_error(ErrorKind::BadData, "empty",
               [&] { model->predict(prompt_of(at::ones({0}, at::kLong))); });
}

INSTANTIATE_TEST_SUITE_P(Layouts, LanguageContract, ::testing::Values("gpt2", "llama"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace fovea::language_model_test
