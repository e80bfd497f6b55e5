#include "fovea/nn/vision/image_encoder.h"

#include <gtest/gtest.h>

#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/golden.h"
#include "tests/support/gradient_check.h"
#include "tests/support/temporary_folder.h"

namespace fovea::image_encoder_test {
namespace {

using namespace testing;

at::Tensor pictures(int64_t count, int64_t side) {
  return Random(2).uniform_tensor({count, 3, side, side}, 0, 256, at::kFloat).to(at::kByte);
}

ImageEncoderOptions small() {
  ImageEncoderOptions options;
  options.channels = {4, 6};
  return options;
}

ImageEncoderOptions residual(int64_t layers, const std::string& name = "resnet18") {
  ImageEncoderOptions options;
  options.name = name;
  options.encoder_layers = layers;
  return options;
}

at::Tensor encoded(ImageEncoder& encoder, const at::Tensor& images) {
  return encoder.forward(encoder.normalise(images));
}

TEST(ImageEncoder, EveryNetworkGivesTheGridThatItPromises) {
  for (const ImageEncoderOptions& options :
       {small(), residual(1), residual(2), residual(4), residual(2, "resnet34"),
        residual(2, "resnet50"), residual(1, "vgg16"), residual(3, "vgg19")}) {
    const auto encoder = make_image_encoder(options);
    encoder->initialise(Random(1));
    EXPECT_EQ(encoder->stride(), stride_of(options));
    const int64_t side = 64 / encoder->stride();
    EXPECT_EQ(encoded(*encoder, pictures(2, 64)).sizes(),
              (std::vector<int64_t>{2, encoder->features(), side, side}));
  }
  EXPECT_EQ(make_image_encoder(residual(4))->features(), 512);
  EXPECT_EQ(make_image_encoder(residual(3, "resnet50"))->features(), 1024);
  EXPECT_EQ(make_image_encoder(residual(5, "vgg19"))->stride(), 16);
}

TEST(ImageEncoder, PicturesDoNotSeeEachOther) {
  for (const ImageEncoderOptions& options :
       {small(), residual(1), residual(1, "resnet50"), residual(2, "vgg16")}) {
    const auto encoder = make_image_encoder(options);
    encoder->initialise(Random(1));
    const at::Tensor images = pictures(3, 32);
    const at::Tensor alone = encoded(*encoder, images.narrow(0, 1, 1));
    EXPECT_LT(largest_difference(encoded(*encoder, images)[1], alone[0]), 1e-4) << options.name;
  }
}

TEST(ImageEncoder, ACellKnowsOnlyItsSurroundings) {
  const auto encoder = make_image_encoder(small());
  encoder->initialise(Random(1));
  at::Tensor images = pictures(1, 64);
  const at::Tensor before = encoded(*encoder, images);
  images.narrow(2, 0, 8).narrow(3, 0, 8).fill_(0);
  const at::Tensor changed = (encoded(*encoder, images) - before).abs().amax(1)[0];  // [16, 16]
  EXPECT_GT(changed[0][0].item<double>(), 0);
  EXPECT_EQ(changed.narrow(0, 6, 10).max().item<double>(), 0);
  EXPECT_EQ(changed.narrow(1, 6, 10).max().item<double>(), 0);
}

TEST(ImageEncoder, GradientsEqualFiniteDifferences) {
  for (const ImageEncoderOptions& options : {small(), residual(1)}) {
    const auto encoder = make_image_encoder(options);
    encoder->initialise(Random(1));
    encoder->to(at::kDouble);
    const at::Tensor images = pictures(2, 16);
    const auto loss = [&] { return encoded(*encoder, images).square().mean(); };
    EXPECT_LT(testing::gradient_error(loss, encoder->parameters(), {3, 1e-7, 1}), 1e-5)
        << options.name;
  }
}

TEST(ImageEncoder, TheSeedAloneDecidesTheWeights) {
  const auto weights = [](uint64_t seed) {
    const auto encoder = make_image_encoder(small());
    encoder->initialise(Random(seed));
    return encoder->parameters()[0].clone();
  };
  EXPECT_TRUE(weights(1).equal(weights(1)));
  EXPECT_FALSE(weights(1).equal(weights(2)));
}

/// Every tensor of the network under its name, as torchvision stores a whole one.
std::map<std::string, at::Tensor> file_of(ImageEncoder& encoder) {
  std::map<std::string, at::Tensor> tensors;
  for (const auto& item : encoder.named_parameters()) tensors[item.key()] = item.value().detach();
  for (const auto& item : encoder.named_buffers()) tensors[item.key()] = item.value();
  return tensors;
}

TEST(ImageEncoder, WeightsComeFromAFileWithTorchvisionsNames) {
  const TemporaryFolder folder;
  const auto whole = make_image_encoder(residual(4)), part = make_image_encoder(residual(2));
  whole->initialise(Random(1));
  part->initialise(Random(2));
  auto tensors = file_of(*whole);
  for (const char* name :
       {"conv1.weight", "bn1.running_var", "layer1.0.conv1.weight", "layer2.0.downsample.0.weight",
        "layer2.0.downsample.1.running_mean", "layer4.1.bn2.bias"})
    EXPECT_TRUE(tensors.contains(name)) << name;
  EXPECT_EQ(tensors.size(), 100u) << "torchvision's 122 without fc and 20 counts";
  tensors["fc.weight"] = torch::zeros({1000, 512});
  tensors["bn1.num_batches_tracked"] = torch::zeros({}, at::kLong);
  write_safetensors(folder / "a.safetensors", tensors);
  load_encoder_weights(*part, folder / "a.safetensors");
  for (const auto& [name, tensor] : file_of(*part))
    EXPECT_TRUE(tensor.equal(tensors[name])) << name;
}

// The names and shapes of torchvision's files, without what stands behind the last convolution.
TEST(ImageEncoder, OtherNetworksHaveTorchvisionsNamesToo) {
  struct Named {
    const char* network;
    int64_t layers;
    size_t tensors;
    const char* name;
    std::vector<int64_t> shape;
  };
  const Named all[] = {{"resnet34", 4, 180, "layer3.5.conv2.weight", {256, 256, 3, 3}},
                       {"resnet50", 4, 265, "layer1.0.downsample.0.weight", {256, 64, 1, 1}},
                       {"resnet50", 4, 265, "layer4.2.conv3.weight", {2048, 512, 1, 1}},
                       {"resnet101", 3, 470, "layer3.22.bn3.running_var", {1024}},
                       {"vgg16", 5, 26, "features.28.weight", {512, 512, 3, 3}},
                       {"vgg19", 5, 32, "features.34.bias", {512}},
                       {"vgg19", 3, 16, "features.10.weight", {256, 128, 3, 3}}};
  for (const Named& one : all) {
    const auto tensors = file_of(*make_image_encoder(residual(one.layers, one.network)));
    EXPECT_EQ(tensors.size(), one.tensors) << one.network;
    ASSERT_TRUE(tensors.contains(one.name)) << one.network << " " << one.name;
    EXPECT_EQ(tensors.at(one.name).sizes(), at::IntArrayRef(one.shape)) << one.name;
  }
}

TEST(ImageEncoder, AVggLeavesOutWhatComesLater) {
  const TemporaryFolder folder;
  const auto encoder = make_image_encoder(residual(2, "vgg16"));
  auto tensors = file_of(*encoder);
  for (const char* name : {"features.10.weight", "features.28.bias", "classifier.6.weight"})
    tensors[name] = torch::zeros({1});
  write_safetensors(folder / "a.safetensors", tensors);
  load_encoder_weights(*encoder, folder / "a.safetensors");
  tensors["features.6.weight"] = torch::zeros({1});
  write_safetensors(folder / "b.safetensors", tensors);
  expect_error(ErrorKind::BadData, "unknown: features.6.weight",
               [&] { load_encoder_weights(*encoder, folder / "b.safetensors"); });
}

// A bottleneck by its formula, on a picture of one pixel: convolutions are products with their
// middle.
TEST(ImageEncoder, ABottleneckIsWhatItSays) {
  const auto encoder = make_image_encoder(residual(1, "resnet50"));
  encoder->initialise(Random(3));
  encoder->to(at::kDouble);
  const auto tensors = file_of(*encoder);
  const auto product = [&](const std::string& name, const at::Tensor& x) {
    const at::Tensor& weight = tensors.at(name);
    const int64_t middle = weight.size(2) / 2;
    return weight.select(3, middle).select(2, middle).matmul(x) / std::sqrt(1 + 1e-5);
  };
  at::Tensor x = product("conv1.weight", encoder->normalise(pictures(1, 1)).flatten()).relu();
  for (const std::string block : {"layer1.0.", "layer1.1.", "layer1.2."}) {
    at::Tensor y = product(block + "conv1.weight", x).relu();
    y = product(block + "conv2.weight", y).relu();
    y = product(block + "conv3.weight", y);
    x = (y + (block == "layer1.0." ? product(block + "downsample.0.weight", x) : x)).relu();
  }
  EXPECT_LT(largest_difference(encoded(*encoder, pictures(1, 1)).flatten(), x), 1e-9);
}

TEST(ImageEncoder, AllThatDoesNotFitIsSaidAtOnce) {
  const TemporaryFolder folder;
  const auto encoder = make_image_encoder(residual(1));
  auto tensors = file_of(*encoder);
  tensors.erase("conv1.weight");
  tensors["bn1.weight"] = torch::zeros({7});
  tensors["layer1.5.conv1.weight"] = torch::zeros({1});
  write_safetensors(folder / "a.safetensors", tensors);
  expect_error(ErrorKind::BadData,
               {"a.safetensors", "missing: conv1.weight", "unknown: layer1.5.conv1.weight",
                "another shape: bn1.weight [7] in place of [64]"},
               [&] { load_encoder_weights(*encoder, folder / "a.safetensors"); });
  expect_error(ErrorKind::NotFound, "nowhere",
               [&] { load_encoder_weights(*encoder, "nowhere.safetensors"); });
}

TEST(ImageEncoder, WhatCannotBeIsRefused) {
  ImageEncoderOptions options;
  options.channels = {};
  expect_error(ErrorKind::InvalidArgument, "model.channels", [&] { make_image_encoder(options); });
  options.channels = {0};
  expect_error(ErrorKind::InvalidArgument, "0 channels", [&] { make_image_encoder(options); });
  options.name = "vgg";
  expect_error(ErrorKind::InvalidArgument, "'vgg'", [&] { make_image_encoder(options); });
  expect_error(ErrorKind::InvalidArgument, "4 layers", [&] { make_image_encoder(residual(5)); });
}

}  // namespace
}  // namespace fovea::image_encoder_test
