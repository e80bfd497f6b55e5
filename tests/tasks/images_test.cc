// The task `images` from pictures to answers, with all its models.
#include <gtest/gtest.h>

#include <set>

#include "fovea/data/media_input.h"
#include "fovea/explain/faithfulness/faithfulness.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/task_run.h"

namespace fovea::images_test {
namespace {

using namespace testing;

Pipeline trained(const TemporaryFolder& folder, const Assignments& assignments) {
  const Assignments small{"data.rows=200", "data.validation_rows=20", "data.test_rows=20",
                          "model.hidden=16", "training.epochs=1"};
  return trained_pipeline(setup_of("images", assignments, small), folder);
}

TEST(Images, EveryModelTrainsAndIsMeasured) {
  for (const Assignments& options :
       {Assignments{"model.name=vit"},
        Assignments{"model.name=ram", "data.view=cluttered", "data.canvas=40"},
        Assignments{"model.name=ram", "model.places=random"}, Assignments{"model.name=plain"},
        Assignments{"model.name=cnn"}}) {
    SCOPED_TRACE(options.back());
    const TemporaryFolder folder;
    Pipeline pipeline = trained(folder, options);
    const Metrics metrics = pipeline.measure(*pipeline.load_data("").test);
    EXPECT_NEAR(metric(metrics, "error_percent"), 100 * (1 - metric(metrics, "accuracy")), 1e-9);
    const bool looks = options[0] == "model.name=ram";
    EXPECT_EQ(has_metric(metrics, "reward"), looks);
    EXPECT_EQ(has_metric(metrics, "centres_inside"), looks);
  }
}

// Uniform places are inside the box as often as its area says.
TEST(Images, RandomPlacesAreInsideByChance) {
  const TemporaryFolder folder;
  Pipeline pipeline = trained(folder, {"model.name=ram", "model.places=random",
                                       "model.evaluation_samples=200", "model.patch=2"});
  const Metrics metrics = pipeline.measure(*pipeline.load_data("").test);
  EXPECT_NEAR(metric(metrics, "centres_inside"), metric(metrics, "inside_by_chance"), 0.02);
}

class TrainedGlimpse : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_read_images()) GTEST_SKIP() << "this build reads no pictures";
    pipeline.emplace(trained(folder, {"model.name=ram", "model.glimpses=4", "model.scales=2"}));
    rows = pipeline->load_data("").test;
    example = rows->example(0);
  }
  std::string input(const at::Tensor& image) const {
    return image_input(encode_png(image_of(image))).dump();
  }
  Json answer(const Example& one) const {
    return pipeline->task().answer(one, pipeline->predict({&one, 1})[0]);
  }
  TemporaryFolder folder;
  std::optional<Pipeline> pipeline;
  std::shared_ptr<Dataset> rows;
  Example example;
};

TEST_F(TrainedGlimpse, AnAnswerTellsThePath) {
  const Json json = answer(example);
  EXPECT_EQ(json["scores"].size(), 10u);
  ASSERT_EQ(json["glimpses"].size(), 4u);
  for (const Json& glimpse : json["glimpses"])
    for (const char* key : {"x", "y", "probability"}) {
      EXPECT_GE(glimpse[key].get<double>(), 0);
      EXPECT_LE(glimpse[key].get<double>(), 1);
    }
  EXPECT_NEAR(json["glimpses"][3]["probability"].get<double>(), json["probability"].get<double>(),
              1e-5);
  EXPECT_EQ(json["glimpses"][3]["class"], json["class"]);
}

TEST_F(TrainedGlimpse, APictureThatIsGivenIsTheOneOfTheRow) {
  const Example parsed = pipeline->parse(input(example.tensors.at("image")));
  EXPECT_TRUE(parsed.tensors.at("image").equal(example.tensors.at("image")));
  EXPECT_EQ(answer(parsed), answer(example));
}

TEST_F(TrainedGlimpse, AnyPictureIsResized) {
  const Example parsed = pipeline->parse(input(torch::full({3, 50, 31}, 200, torch::kByte)));
  EXPECT_EQ(parsed.tensors.at("image").sizes(), at::IntArrayRef({1, 28, 28}));
}

TEST_F(TrainedGlimpse, RefusesWhatIsNoPicture) {
  expect_error(ErrorKind::BadData, "image", [&] { pipeline->parse("{\"text\": \"a\"}"); });
  EXPECT_THROW(pipeline->parse("data:image/png;base64,AAAA"), Error);
}

TEST_F(TrainedGlimpse, TheExplanationShowsGlimpsesOnThePicture) {
  const Explanation explanation = pipeline->explain(example);
  ASSERT_EQ(explanation.maps.size(), 2u);
  const MapView& path = explanation.maps[0];
  EXPECT_EQ(path.layout, MapLayout::Points);
  EXPECT_EQ(path.point_width, 4u) << "x, y and two widths";
  EXPECT_EQ(path.queries(), 4u);
  const Json json = answer(example);
  EXPECT_NEAR(path.weights[4], json["glimpses"][1]["x"].get<double>(), 1e-6)
      << "one path, not the mean of many";
  EXPECT_EQ(explanation.media.size(), 1u);
  const auto steps = std::find_if(explanation.axes.begin(), explanation.axes.end(),
                                  [](const Axis& axis) { return axis.name == "glimpses"; });
  ASSERT_NE(steps, explanation.axes.end());
  EXPECT_EQ(steps->values.size(), 4u);
  EXPECT_FALSE(explanation.maps[1].truth.empty());
}

TEST(Images, TheFormerNameSaysTheNewOne) {
  expect_error(ErrorKind::NotFound, "the task 'glimpse' is now called 'images'",
               [] { make_task("glimpse"); });
}

class TrainedVit : public TrainedGlimpse {
 protected:
  void SetUp() override {
    if (!can_read_images()) GTEST_SKIP() << "this build reads no pictures";
    pipeline.emplace(trained(folder, {"model.layers=2"}));
    rows = pipeline->load_data("").test;
    example = rows->example(0);
  }
};

TEST_F(TrainedVit, TheExplanationHasLayersAndRollout) {
  const Explanation explanation = pipeline->explain(example);
  std::set<std::string> names;
  std::set<int64_t> layers;
  for (const MapView& map : explanation.maps) {
    names.insert(map.name);
    if (map.name == "attention") layers.insert(map.layer);
    EXPECT_EQ(map.queries(), 50u);
    EXPECT_EQ(map.key_axis, "patches");
  }
  EXPECT_TRUE(names.contains("attention rollout"));
  EXPECT_EQ(layers, (std::set<int64_t>{1, 2}));
  EXPECT_EQ(answer(example)["scores"].size(), 10u);
}

TEST_F(TrainedVit, FaithfulnessJudgesTheClassToken) {
  const auto judged = measure_faithfulness(*pipeline, {&example, 1}, {.permutations = 5});
  ASSERT_EQ(judged.size(), 1u);
  EXPECT_EQ(judged[0].map, "attention");
  const auto holds = [&](const std::string& note) {
    return std::any_of(judged[0].notes.begin(), judged[0].notes.end(),
                       [&](const std::string& one) { return one.find(note) != std::string::npos; });
  };
  EXPECT_TRUE(holds("class token")) << join(judged[0].notes, "; ");
  EXPECT_TRUE(holds("rollout"));
  for (const FaithfulnessMeasure& measure : judged[0].measures)
    EXPECT_TRUE(measure.name != "comprehensiveness" || measure.value.has_value());
}

TEST_F(TrainedVit, AnyPictureIsResizedAndShownSharp) {
  const Example parsed = pipeline->parse(input(torch::full({3, 200, 124}, 200, torch::kByte)));
  EXPECT_EQ(parsed.tensors.at("image").sizes(), at::IntArrayRef({1, 28, 28}));
  EXPECT_EQ(parsed.media.at(0).height, 200);
  EXPECT_EQ(parsed.media.at(0).width, 200) << "as the network's, with a border";
}

TEST(Images, PicturesSmallerThanAPatchAreRefused) {
  const TemporaryFolder folder;
  expect_error(ErrorKind::InvalidArgument, {"28 x 28", "smaller than a patch of 32"},
               [&] { trained(folder, {"model.patch=32"}); });
}

TEST(Images, BaselinesHaveNothingToShow) {
  const TemporaryFolder folder;
  Pipeline pipeline = trained(folder, {"model.name=plain"});
  const auto rows = pipeline.load_data("").test;
  expect_error(ErrorKind::Unsupported, "train with model.name=vit",
               [&] { pipeline.overview(*rows); });
}

// Views follow from the step, so a training that was stopped sees the same ones.
TEST(Images, AResumedTrainingEqualsAnUninterruptedOne) {
  const Assignments options{"model.name=ram", "data.view=translated",    "data.canvas=34",
                            "data.rows=300",  "data.validation_rows=20", "data.test_rows=0",
                            "model.hidden=8", "training.epochs=2",       "training.batch_size=10"};
  const auto go_on = [&](const std::filesystem::path& path, bool resume, bool stops) {
    fovea::Setup setup = setup_of("images", options);
    RunFolder folder(path);
    TrainRequest request;
    request.folder = &folder;
    request.resume = resume;
    if (stops) request.hooks.should_stop = [] { return true; };  // after the first block
    return flat_parameters(*train(setup, request).model);
  };
  const TemporaryFolder folder;
  const at::Tensor whole = go_on(folder / "whole", false, false);
  EXPECT_FALSE(go_on(folder / "halves", false, true).equal(whole));
  EXPECT_TRUE(go_on(folder / "halves", true, false).equal(whole));
}

}  // namespace
}  // namespace fovea::images_test
