// Every normaliser of every model that offers them: what is drawn was learned, or the model refuses
// to be built.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "fovea/attention/normaliser.h"
#include "fovea/base/error.h"
#include "fovea/models/feature_attention.h"
#include "fovea/models/seq2seq.h"
#include "fovea/tensor/torch.h"
#include "tests/models/caption_batch.h"
#include "tests/models/speech_batch.h"
#include "tests/models/text_batch.h"

namespace fovea::normalisers_test {
namespace {

struct Offering {
  std::string model;
  std::function<std::shared_ptr<Model>(const NormaliserOptions&)> make;
  std::function<Batch()> batch;
};

void PrintTo(const Offering& offering, std::ostream* out) {
  *out << offering.model;
}

std::shared_ptr<Model> features_with(const NormaliserOptions& normaliser) {
  FeatureAttentionOptions options;
  options.hidden = {8};
  options.normaliser = normaliser;
  return std::make_shared<FeatureAttention>(
      options, FeatureShape{{"a", "b", "c"}, {0, 1, 2}, 1, kernels::TabularLoss::SquaredError});
}

Batch rows_of_numbers() {
  const at::Tensor inputs = Random(3).normal_tensor({16, 3}, 0, 1, at::kFloat);
  return {{{"inputs", inputs}, {"target", inputs.select(1, 1).clone()}}, 16};
}

std::shared_ptr<Model> seq2seq_with(const NormaliserOptions& normaliser) {
  Seq2SeqOptions options;
  options.hidden = 8;
  options.embedding = 6;
  options.score.name = "additive";
  options.score.hidden_size = 7;
  options.normaliser = normaliser;
  SequenceShape shape;
  shape.source_symbols = testing::kSource;
  shape.target_symbols = testing::kTarget;
  return std::make_shared<Seq2Seq>(options, SearchOptions{}, shape);
}

std::shared_ptr<Model> speech_with(const NormaliserOptions& normaliser) {
  ListenAttendSpellOptions options = testing::small_speech_model();
  options.normaliser = normaliser;
  return std::make_shared<ListenAttendSpell>(options, SearchOptions{}, testing::speech_shape());
}

Batch sounds() {
  const at::Tensor target = torch::tensor({4, 5, 3}, at::kLong).expand({4, 3}).contiguous();
  return {{{"source", Random(5).normal_tensor({4, 12, 6}, 0, 1, at::kFloat)},
           {"source.keep", torch::ones({4, 12}, at::kBool)},
           {"target", target},
           {"target.keep", torch::ones({4, 3}, at::kBool)}},
          4};
}

std::shared_ptr<Model> caption_with(const NormaliserOptions& normaliser) {
  ShowAttendTellOptions options = testing::small_caption_model();
  options.normaliser = normaliser;
  return std::make_shared<ShowAttendTell>(options, SearchOptions{}, testing::caption_shape());
}

const Offering kOfferings[] = {
    {"features", features_with, rows_of_numbers},
    {"seq2seq", seq2seq_with, [] { return testing::text_batch(8); }},
    {"speech", speech_with, sounds},
    {"caption", caption_with, [] { return testing::caption_batch(8); }},
};

bool belongs_to_attention(const std::string& parameter) {
  return parameter.starts_with("attention.") || parameter.find("score.") != std::string::npos;
}

class Normalisers : public ::testing::TestWithParam<Offering> {};

TEST_P(Normalisers, TrainTheAttentionOrAreRefused) {
  for (const std::string& name : normaliser_names()) {
    NormaliserOptions options{name, 0.5, 2};
    std::shared_ptr<Model> model;
    try {
      model = GetParam().make(options);
    } catch (const Error& error) {
      EXPECT_EQ(name, "hard") << error.what();
      EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument);
      EXPECT_NE(std::string(error.what()).find("model.normaliser=hard"), std::string::npos)
          << error.what();
      continue;
    }
    EXPECT_NE(name, "hard") << "draws without learning where";
    model->initialise(Random(1));
    model->loss(GetParam().batch(), {Random(2), 0}).objective.backward();
    double gradient = 0;
    for (const auto& item : model->named_parameters())
      if (belongs_to_attention(item.key()) && item.value().grad().defined())
        gradient += item.value().grad().abs().sum().item<double>();
    EXPECT_GT(gradient, 0) << name;
    EXPECT_TRUE(std::isfinite(gradient)) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Normalisers, ::testing::ValuesIn(kOfferings),
                         [](const auto& info) { return info.param.model; });

TEST(FeatureNormalisers, TheRefusalNamesTheOthers) {
  try {
    features_with({"hard", 0.5, 2});
    FAIL() << "hard was taken";
  } catch (const Error& error) {
    const std::string message = error.what();
    for (const std::string& name : normaliser_names())
      EXPECT_NE(message.find(name), std::string::npos) << name << " not in: " << message;
  }
  FeatureAttentionOptions plain;
  plain.name = "tutorial-plain";
  plain.normaliser.name = "hard";  // without attention it says nothing
  FeatureAttention(plain, {{"a"}, {0}, 1, kernels::TabularLoss::SquaredError});
}

}  // namespace
}  // namespace fovea::normalisers_test
