// BERT and its kin as Hugging Face's transformers computes them: hidden states, attention, logits.
#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/models/bert_classifier.h"
#include "fovea/models/bert_names.h"
#include "fovea/tensor/safetensors.h"
#include "tests/support/golden.h"

namespace fovea::bert_family_test {
namespace {

using testing::largest_difference;

struct Family {
  std::string name;
  std::string output;  // what the last layer is called there
  std::function<void(BertOptions&)> differs;
};

std::vector<Family> families() {
  return {{"bert", "classifier", [](BertOptions&) {}},
          {"distilbert", "classifier",
           [](BertOptions& o) { o.segments = 0, o.pooler_activation = "relu"; }},
          {"roberta", "classifier.out_proj",
           [](BertOptions& o) { o.segments = 1, o.first_position = 2; }}};
}

class BertFamily : public ::testing::TestWithParam<Family> {};

TEST_P(BertFamily, ComputesWhatTransformersComputes) {
  constexpr int64_t kVocabulary = 1200, kLongest = 64;
  const Family& family = GetParam();
  const auto file = read_safetensors(std::string(FOVEA_TEST_FILES) + "/golden/hugging_face/" +
                                     family.name + "-classifier.safetensors");
  BertClassifierOptions options;
  BertOptions& o = options.encoder;
  o.layers = 2, o.hidden = 32, o.heads = 4, o.feed_forward = 64, o.maximum_length = kLongest;
  family.differs(o);
  BertClassifier model(options, {kVocabulary, /*classes=*/3, kLongest, {}});
  model.eval();

  WeightMap theirs;
  for (const auto& [name, tensor] : file.tensors) theirs[hugging_face_name(name)] = tensor;
  std::vector<WeightNames> names = encoder_names(o.whole(), kVocabulary, family.name);
  for (WeightNames& one : names) one.ours = "encoder." + one.ours;
  add_linear(names, "output", family.output, 3, 32);
  const WeightMap ours = from_hugging_face(names, theirs);
  torch::NoGradGuard no_gradients;
  for (auto& item : model.named_parameters()) item.value().copy_(ours.at(item.key()));

  int inputs = 0;
  for (const auto& [name, ids] : file.tensors) {
    if (!name.ends_with(".ids")) continue;
    const std::string input = name.substr(0, name.size() - 3);  // "expected.0."
    const at::Tensor tokens = ids.unsqueeze(0);
    const Batch batch{{{"tokens", tokens},
                       {"segments", file.tensors.at(input + "type_ids").unsqueeze(0)},
                       {"tokens.keep", at::ones_like(tokens, at::kBool)},
                       {"target", at::zeros({1}, at::kLong)}},
                      1};
    Tap tap;
    const Predictions predictions = model.predict(batch);
    model.replay(batch, predictions, &tap);
    const at::Tensor logits = file.tensors.at(input + "logits");
    EXPECT_LT(largest_difference(predictions.scores.flatten(), at::softmax(logits.flatten(), 0)),
              1e-4)
        << input;
    ASSERT_EQ(tap.maps().size(), 2u);
    for (size_t layer = 0; layer < 2; ++layer)
      EXPECT_LT(largest_difference(tap.maps()[layer].weights[0],
                                   file.tensors.at(concat(input, "attention.", layer))),
                1e-4)
          << input;
    ++inputs;
  }
  EXPECT_EQ(inputs, 2);
}

INSTANTIATE_TEST_SUITE_P(Tiny, BertFamily, ::testing::ValuesIn(families()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace fovea::bert_family_test
