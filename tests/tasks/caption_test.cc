// The task `caption` from files to answers.
#include <gtest/gtest.h>

#include "fovea/base/base64.h"
#include "fovea/base/file.h"
#include "fovea/data/media_input.h"
#include "fovea/nn/vision/residual_network.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"
#include "tests/support/exact_share.h"
#include "tests/support/expect_error.h"
#include "tests/support/task_run.h"

namespace fovea::caption_test {
namespace {

#ifdef FOVEA_WITH_ICU

using namespace testing;

fovea::Setup small_setup(const Assignments& more = {}) {
  return setup_of("caption",
                  {"data.rows=40", "data.validation_rows=8", "data.test_rows=8",
                   "data.image_size=32", "model.channels=8,8,8", "model.convolutions=1",
                   "model.hidden=16", "model.embedding=12", "training.epochs=1"},
                  more);
}

Pipeline trained(const TemporaryFolder& folder, const Assignments& more = {},
                 const std::filesystem::path& data = {}) {
  return trained_pipeline(small_setup(more), folder, data);
}

TEST(Caption, EveryAttentionTrainsAndIsMeasured) {
  for (const std::string attention : {"soft", "hard", "none"}) {
    SCOPED_TRACE(attention);
    const TemporaryFolder folder;
    Pipeline pipeline = trained(folder, {"model.attention=" + attention});
    const Splits splits = pipeline.load_data("");
    const Metrics metrics = pipeline.measure(*splits.test);
    EXPECT_EQ(metric(metrics, "exact_match"), testing::exact_share(pipeline, *splits.test));
    EXPECT_GT(metric(metrics, "bleu_1"), 0) << "some words are right";
    EXPECT_GE(metric(metrics, "bleu_1"), metric(metrics, "bleu_2"));
    EXPECT_GE(metric(metrics, "bleu_2"), metric(metrics, "bleu_3"));
    EXPECT_GE(metric(metrics, "bleu_3"), metric(metrics, "bleu_4"));
    EXPECT_EQ(has_metric(metrics, "pointing"), attention != "none");
    EXPECT_EQ(has_metric(metrics, "attention_truth"), attention != "none");
  }
}

TEST(Caption, HardAttentionMayAnswerFromAllCells) {
  const TemporaryFolder folder;
  Pipeline likeliest = trained(folder, {"model.attention=hard"});
  Pipeline all = Pipeline::load(folder / "run", "cpu", {"decoding.cells=all"});
  const auto loss = [](Pipeline& pipeline) {
    return metric(pipeline.measure(*pipeline.load_data("").test), "loss");
  };
  EXPECT_NE(loss(likeliest), loss(all));
}

TEST(Caption, ExactMatchTakesAnyOfTheReferences) {
  if (!can_read_images()) GTEST_SKIP() << "FOVEA_WITH_IMAGES=OFF: this build reads no pictures";
  const TemporaryFolder folder;
  for (const char* name : {"a", "b", "c", "d"})
    folder.write(concat(name, ".png"),
                 encode_png(make_image(16, 16, 3, uint8_t(60 * (name[0] - 'a')))));
  std::string table = "image\tcaption\tsplit\n";
  for (int i = 0; i < 30; ++i) table += "a.png\tit is dark\ttrain\n";
  table +=
      "b.png\tit is dark\tval\nc.png\tsomething else\ttest\nc.png\tit is dark\ttest\n"
      "d.png\tbright\ttest\n";
  const auto data = folder.write("t.tsv", table);
  Pipeline pipeline = trained(folder,
                              {"training.epochs=30", "training.learning_rate=0.02",
                               "model.dropout=0", "model.word_dropout=0"},
                              data);
  const Splits splits = pipeline.load_data("");
  ASSERT_EQ(splits.test->size(), 2);
  EXPECT_EQ(metric(pipeline.measure(*splits.test), "exact_match"), 0.5);
  EXPECT_FALSE(has_metric(pipeline.measure(*splits.test), "pointing"));
}

TEST(Caption, APictureOfAnySizeIsAnsweredAndExplained) {
  if (!can_read_images()) GTEST_SKIP() << "FOVEA_WITH_IMAGES=OFF: this build reads no pictures";
  const TemporaryFolder folder;
  const Pipeline pipeline = trained(folder);
  const Json input = image_input(encode_png(make_image(70, 45, 3, 90)));
  const Example example = pipeline.parse(input.dump());
  const Explanation explanation = pipeline.explain(example);
  ASSERT_EQ(explanation.maps.size(), 1u);
  EXPECT_EQ(explanation.maps[0].key_axis, "cells");
  EXPECT_EQ(explanation.maps[0].keys(), 16u);
  ASSERT_EQ(explanation.media.size(), 1u);
  EXPECT_EQ(explanation.media[0].width, 45);
  EXPECT_EQ(explanation.media[0].height, 70);
  EXPECT_LT(explanation.input.size(), 60u) << "the file is not repeated: " << explanation.input;
  EXPECT_NE(explanation.input.find("image/png"), std::string::npos);
  EXPECT_TRUE(pipeline.task().input_schema()["properties"].contains("image"));
}

TEST(Caption, WhatIsNoPictureIsRefused) {
  const TemporaryFolder folder;
  const Pipeline pipeline = trained(folder);
  expect_error(ErrorKind::BadData, "data:image/png;base64",
               [&] { pipeline.parse("{\"image\": \"/etc/hostname\"}"); });
  expect_error(ErrorKind::BadData, "data:image/png;base64", [&] { pipeline.parse("a.png"); });
  expect_error(ErrorKind::BadData, "is no picture", [&] {
    pipeline.parse("data:image/png;base64," + base64_encode("a text that calls itself one"));
  });
}

TEST(Caption, PreparedAndWrittenDataTrainTheSame) {
  if (!can_read_images()) GTEST_SKIP() << "FOVEA_WITH_IMAGES=OFF: this build reads no pictures";
  expect_prepared_and_written_data_train_the_same([] { return small_setup(); });
}

TEST(Caption, AnEncoderFromElsewhereIsTakenUpAndFrozen) {
  const TemporaryFolder folder;
  ResidualNetwork network(1);
  network.initialise(Random(5));
  std::map<std::string, at::Tensor> tensors;
  for (const auto& item : network.named_parameters()) tensors[item.key()] = item.value().detach();
  for (const auto& item : network.named_buffers()) tensors[item.key()] = item.value();
  const std::string path = (folder / "r.safetensors").string();
  write_safetensors(path, tensors);
  const Assignments standard{"model.encoder=resnet18", "model.encoder_layers=1",
                             "model.freeze_encoder=yes", "model.encoder_weights=" + path,
                             "data.rows=6"};
  const Pipeline pipeline = trained(folder, standard);
  const auto weights = read_safetensors(folder / "run" / "model.safetensors").tensors;
  EXPECT_TRUE(weights.at("encoder.conv1.weight").equal(tensors.at("conv1.weight")));
  EXPECT_EQ(pipeline.task().input_schema()["type"], "object");
  const TemporaryFolder other;
  expect_error(ErrorKind::InvalidArgument, "model.encoder=resnet18",
               [&] { trained(other, {"model.encoder_weights=" + path}); });
}

#endif

}  // namespace
}  // namespace fovea::caption_test
