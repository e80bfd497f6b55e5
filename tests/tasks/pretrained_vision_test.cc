// Vision transformers of others: Hugging Face folders as runs, and as a start of training.
#include "fovea/tasks/pretrained_vision.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/file.h"
#include "fovea/data/media_input.h"
#include "fovea/tasks/pipeline.h"
#include "fovea/tasks/train.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"
#include "fovea/training/checkpoint.h"
#include "tests/support/expect_error.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"

namespace fovea::pretrained_vision_test {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using testing::largest_difference;
using testing::TemporaryFolder;

class PretrainedVit : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"config.json", "model.safetensors"})
      fs::copy_file(fs::path(FOVEA_TEST_FILES) / "golden/hugging_face/vit" / name, folder / name);
  }
  static WeightMap expected() {
    const auto path = fs::path(FOVEA_TEST_FILES) / "golden/hugging_face/vit/expected.safetensors";
    return read_safetensors(path).tensors;
  }
  Json config() const { return read_json_file(folder / "config.json"); }
  void write(const char* name, const Json& json) { write_file(folder / name, json.dump()); }
  /// The folder's weights, changed.
  void change_weights(const std::function<void(WeightMap&)>& change) {
    WeightMap weights;  // copies: the file goes
    for (const auto& [name, tensor] : read_safetensors(folder / "model.safetensors").tensors)
      weights[name] = tensor.clone();
    change(weights);
    fs::remove(folder / "model.safetensors");
    write_safetensors(folder / "model.safetensors", weights);
  }
  static std::string input(const at::Tensor& image) {
    return image_input(encode_png(image_of(image))).dump();
  }
  static at::Tensor picture(int64_t height, int64_t width) {
    return Random(9).uniform_tensor({3, height, width}, 0, 256, at::kFloat).to(at::kByte);
  }

  TemporaryFolder folder;
};

// As transformers computes them.
TEST_F(PretrainedVit, StatesLogitsAndAttentionAreTheReferences) {
  torch::NoGradGuard no_gradients;
  const Pipeline pipeline = Pipeline::load(folder.path());
  const auto& model = dynamic_cast<const VisionTransformer&>(pipeline.model());
  const WeightMap golden = expected();
  Tap tap;
  const at::Tensor states = model.encode(golden.at("pixels"), nullptr, &tap);
  // Theirs are the states before the last norm.
  const auto weights = state_of(model);
  const at::Tensor normed =
      at::layer_norm(golden.at("hidden"), {32}, weights.at("encoder.norm.weight"),
                     weights.at("encoder.norm.bias"), 1e-12);
  EXPECT_LT(largest_difference(states, normed), 1e-4);
  EXPECT_LT(largest_difference(model.classify(states), golden.at("logits")), 1e-4);
  ASSERT_EQ(tap.maps().size(), 2u);
  for (int64_t layer = 0; layer < 2; ++layer)
    EXPECT_LT(largest_difference(tap.maps()[size_t(layer)].weights,
                                 golden.at(concat("attention.", layer))),
              1e-4)
        << layer;
}

TEST_F(PretrainedVit, AFolderIsARun) {
  if (!can_read_images()) GTEST_SKIP() << "this build reads no pictures";
  Pipeline pipeline = Pipeline::load(folder.path());
  const Example example = pipeline.parse(input(picture(40, 50)));
  EXPECT_EQ(example.tensors.at("image").sizes(), at::IntArrayRef({3, 32, 32}));
  EXPECT_EQ(example.media.at(0).width, 50) << "people see it as sharp as it is";
  const Json answer = pipeline.task().answer(example, pipeline.predict({&example, 1})[0]);
  EXPECT_EQ(answer["scores"].size(), 3u);
  EXPECT_TRUE(answer["scores"].contains("neutral"));
  const Explanation explanation = pipeline.explain(example);
  const auto rollout =
      std::find_if(explanation.maps.begin(), explanation.maps.end(),
                   [](const MapView& map) { return map.name == "attention rollout"; });
  ASSERT_NE(rollout, explanation.maps.end());
  EXPECT_EQ(rollout->queries(), 17u);
  EXPECT_EQ(rollout->query_labels[0], "class token");
}

TEST_F(PretrainedVit, PicturesAreMadeAsThePreprocessorSays) {
  write("preprocessor_config.json", {{"do_normalize", true},
                                     {"image_mean", {0.1, 0.2, 0.3}},
                                     {"image_std", {0.5, 0.25, 0.125}},
                                     {"resample", 3},
                                     {"rescale_factor", 1.0 / 255},
                                     {"size", {{"height", 32}, {"width", 32}}}});
  const PretrainedVision start = read_pretrained_vision(folder.path());
  EXPECT_EQ(start.resample, "bicubic");
  EXPECT_EQ(start.fit, "stretch");
  EXPECT_EQ(start.options.mean, "0.1,0.2,0.3");
  EXPECT_EQ(start.options.deviation, "0.5,0.25,0.125");
  write("preprocessor_config.json",
        {{"do_normalize", false}, {"do_center_crop", true}, {"size", {{"shortest_edge", 32}}}});
  EXPECT_EQ(read_pretrained_vision(folder.path()).fit, "crop");
  EXPECT_EQ(read_pretrained_vision(folder.path()).options.mean, "0");
  const std::pair<Json, const char*> refused[] = {
      {{{"size", 64}}, "64 x 64 for a network of 32 x 32"},
      {{{"resample", 5}}, "filter 5"},
      {{{"rescale_factor", 1}}, "0 to 1"},
      {{{"size", {{"shortest_edge", 32}}}}, "do_center_crop"}};
  for (const auto& [json, words] : refused) {
    write("preprocessor_config.json", json);
    expect_error(ErrorKind::Unsupported, words, [&] { read_pretrained_vision(folder.path()); });
  }
  write("preprocessor_config.json", {{"image_mean", {0.5}}});
  expect_error(ErrorKind::BadData, "image_mean", [&] { read_pretrained_vision(folder.path()); });
}

TEST_F(PretrainedVit, AllThatDoesNotFitIsSaidAtOnce) {
  change_weights([](WeightMap& weights) {
    weights.erase("vit.embeddings.cls_token");
    weights["vit.layernorm.bias"] = torch::zeros({5});
    weights["vit.encoder.layer.7.output.dense.bias"] = torch::zeros({32});
    weights["classifier.bias"][0] = NAN;
  });
  expect_error(ErrorKind::BadData,
               {"missing: embeddings.cls_token", "layernorm.bias [5] instead of [32]",
                "unknown: encoder.layer.7.output.dense.bias", "classifier.bias with NaN"},
               [&] { Pipeline::load(folder.path()); });
}

TEST_F(PretrainedVit, WhatIsNotReadIsNamed) {
  const std::tuple<const char*, Json, ErrorKind, const char*> cases[] = {
      {"hidden_act", "relu", ErrorKind::Unsupported, "'hidden_act' is relu"},
      {"qkv_bias", false, ErrorKind::Unsupported, "'qkv_bias' is false"},
      {"num_attention_heads", 5, ErrorKind::BadData, "does not divide hidden_size"},
      {"patch_size", 7, ErrorKind::BadData, "does not divide image_size"},
      {"image_size", 0, ErrorKind::BadData, "image_size"},
      {"image_size", 1 << 20, ErrorKind::BadData, "image_size"}};
  for (const auto& [key, value, kind, words] : cases) {
    Json changed = config();
    changed[key] = value;
    TemporaryFolder other;
    write_file(other / "config.json", changed.dump());
    fs::copy_file(folder / "model.safetensors", other / "model.safetensors");
    expect_error(kind, words, [&] { Pipeline::load(other.path()); });
  }
  Json body = config();
  body["architectures"] = Json::array({"ViTModel"});
  write("config.json", body);
  expect_error(ErrorKind::Unsupported, "ViTForImageClassification",
               [&] { Pipeline::load(folder.path()); });
}

class FromVit : public PretrainedVit {
 protected:
  std::unique_ptr<Model> train_from(const fs::path& from, const std::vector<std::string>& more,
                                    const fs::path& run) {
    fovea::Setup setup("images");
    for (const std::string& assignment : more) setup.set(assignment);
    for (const std::string& assignment :
         {std::string("model.name=vit"), "from=" + from.string(), std::string("data.rows=40"),
          std::string("data.validation_rows=8"), std::string("data.test_rows=0"),
          std::string("training.epochs=1"), std::string("training.learning_rate=1e-9")})
      setup.set(assignment);
    RunFolder out(run);
    TrainRequest request;
    request.folder = &out;
    return train(setup, request).model;
  }
};

// Digits are grey and of 28 x 28 pixels: another grid, with positions in between.
TEST_F(FromVit, TrainingBeginsWithARunOfAnotherSize) {
  const TemporaryFolder runs;
  fovea::Setup first("images");
  for (const std::string assignment :
       {"data.rows=40", "data.validation_rows=8", "data.test_rows=0", "training.epochs=1",
        "model.hidden=8", "model.heads=2", "model.layers=1", "model.patch=4",
        "training.learning_rate=0.05", "training.warmup_steps=0"})
    first.set(assignment);
  RunFolder out(runs / "first");
  TrainRequest request;
  request.folder = &out;
  const auto start = state_of(*train(first, request).model);
  const auto found = state_of(
      *train_from(runs / "first", {"data.view=translated", "data.canvas=40"}, runs / "second"));
  EXPECT_EQ(found.at("patches.positions").size(1), 101);
  EXPECT_LT(largest_difference(found.at("patches.positions"),
                               resized_positions(start.at("patches.positions"), 7, 7, 10, 10)),
            1e-5);
  EXPECT_LT(largest_difference(found.at("patches.weight"), start.at("patches.weight")), 1e-5);
  EXPECT_GT(largest_difference(found.at("output.weight"), start.at("output.weight")), 1e-3)
      << "the layer on top is fresh";
  expect_error(ErrorKind::InvalidArgument, "model.hidden=16 (8 there)",
               [&] { train_from(runs / "first", {"model.hidden=16"}, runs / "third"); });
}

TEST_F(FromVit, WhatDoesNotFitIsSaid) {
  const TemporaryFolder runs;
  expect_error(ErrorKind::InvalidArgument, "other colours",  // digits are grey
               [&] { train_from(folder.path(), {}, runs / "run"); });
}

}  // namespace
}  // namespace fovea::pretrained_vision_test
