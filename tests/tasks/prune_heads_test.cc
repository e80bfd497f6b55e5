// Runs that lose heads: what is written is the network that was measured, for every model that has
// heads, and the run goes on as any other.
#include "fovea/tasks/prune_heads.h"

#include <gtest/gtest.h>
#include <cmath>

#include "fovea/attention/multi_head.h"
#include "fovea/tasks/hugging_face.h"
#include "fovea/tasks/pipeline.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/idle_model.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/train_run.h"

namespace fovea::prune_heads_test {
namespace {

using namespace testing;

struct Case {
  std::string name, task;
  std::vector<std::string> options;
};

const std::vector<std::string> kSmall = {"data.rows=60", "data.validation_rows=20",
                                         "data.test_rows=0", "training.epochs=1"};
const std::vector<Case> kCases = {
    {"Transformer",
     "dates",
     {"model.name=transformer", "model.hidden=16", "model.layers=2", "model.heads=4"}},
    {"GroupedHeads",
     "dates",
     {"model.name=transformer", "model.hidden=16", "model.layers=1", "model.heads=4",
      "model.key_heads=2"}},
    {"LstmTagger", "tag", {"model.hidden=8", "model.embedding=8"}},
    {"BertTagger",
     "tag",
     {"model.name=bert", "model.layers=2", "model.hidden=16", "model.heads=4"}},
    {"BertClassifier",
     "documents",
     {"model.name=bert", "model.layers=2", "model.hidden=16", "model.heads=4"}},
    {"BertPretrainer",
     "pretrain",
     {"model.layers=2", "model.hidden=16", "model.heads=4", "data.longest=32"}},
    {"T5", "dates", {"model.name=t5", "model.hidden=16", "model.layers=2", "model.heads=4"}}};

class PruneHeads : public ::testing::Test {
 protected:
  std::filesystem::path trained(const Case& one) {
    fovea::Setup setup = setup_of(one.task, kSmall, one.options);
    if (one.task == "pretrain") setup.set("data.rows=30");
    train_run(std::move(setup), folder / "run");
    return folder / "run";
  }
  PruneResult prune(const std::filesystem::path& run, int64_t heads, const std::string& to,
                    const std::function<void(PruneRequest&)>& change = {}) {
    RunFolder out(folder / to);
    PruneRequest request;
    request.run = run;
    request.heads = heads;
    request.rows = 6;
    request.folder = &out;
    if (change) change(request);
    return prune_run(request);
  }
  TemporaryFolder folder;
};

int64_t heads_in(const Pipeline& pipeline) {
  return int64_t(heads_there(pipeline.model().head_blocks()).size());
}

/// What the network says of its first validation row when it repeats `prediction`.
at::Tensor said(const Pipeline& pipeline, const Example& example, const Prediction& prediction) {
  torch::NoGradGuard no_gradients;
  Tap tap(Record::OnDemand);
  return pipeline.replay(example, prediction, tap);
}

class PrunedRun : public PruneHeads, public ::testing::WithParamInterface<Case> {};

TEST_P(PrunedRun, IsTheNetworkThatWasMeasured) {
  const auto run = trained(GetParam());
  const PruneResult result = prune(run, 2, "pruned");
  EXPECT_EQ(result.gone.size(), 2u);
  EXPECT_EQ(result.pruned.heads, result.before.heads - 2);
  EXPECT_LT(result.pruned.parameters, result.before.parameters);
  EXPECT_GT(result.before.seconds, 0);

  Pipeline whole = Pipeline::load(run);
  const Pipeline pruned = Pipeline::load(folder / "pruned");
  EXPECT_EQ(heads_in(pruned), result.pruned.heads);
  const Splits splits = whole.load_data("");
  const Example example = splits.validation->example(0);
  const Prediction prediction = whole.predict({&example, 1})[0];
  const at::Tensor before = said(whole, example, prediction);
  prune_heads(whole.model().head_blocks(), result.gone);
  const at::Tensor expected = said(whole, example, prediction);
  EXPECT_LT((said(pruned, example, prediction) - expected).abs().max().item<double>(), 1e-6);
  EXPECT_GT((expected - before).abs().max().item<double>(), 0) << "they did something";
  ASSERT_FALSE(result.pruned.metrics.empty());
  const Metrics again = pruned.measure(*splits.validation);
  EXPECT_EQ(again[0].value, result.pruned.metrics[0].value);
  EXPECT_FALSE(pruned.explain(pruned.parse("on 9 May Ada met Grace"), Heads::All).maps.empty());
}

INSTANTIATE_TEST_SUITE_P(Models, PrunedRun, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST_F(PruneHeads, MoreCanGoFromARunThatLostSome) {
  const auto run = trained(kCases[4]);
  const PruneResult first = prune(run, 3, "first");
  const PruneResult second = prune(folder / "first", 2, "second");
  const Pipeline pipeline = Pipeline::load(folder / "second");
  std::vector<HeadPlace> gone = first.gone;
  gone.insert(gone.end(), second.gone.begin(), second.gone.end());
  EXPECT_EQ(pruned_heads_text(heads_gone(pipeline.model().head_blocks())), pruned_heads_text(gone));
  EXPECT_EQ(heads_in(pipeline), 3);
}

TEST_F(PruneHeads, TrainsOnAndResumes) {
  const auto run = trained(kCases[0]);
  const PruneResult result =
      prune(run, 4, "pruned", [](PruneRequest& request) { request.epochs = 1; });
  ASSERT_TRUE(result.retrained);
  EXPECT_EQ(result.retrained->heads, result.pruned.heads);
  RunFolder resumed(folder / "pruned");
  fovea::Setup setup = setup_of_run(resumed);
  setup.training().epochs = 2;
  TrainRequest request;
  request.folder = &resumed;
  request.resume = true;
  EXPECT_EQ(train(setup, request).result.epochs.size(), 1u);
  EXPECT_EQ(heads_in(Pipeline::load(folder / "pruned")), result.pruned.heads);
}

TEST_F(PruneHeads, ACurveGoesDownToNoHeadsAtAll) {
  const auto run = trained(kCases[0]);
  const PruneResult result = prune(run, 1, "pruned", [](PruneRequest& request) {
    request.curve = true;
    request.by_drop = true;
  });
  ASSERT_EQ(result.curve.size(), 11u);
  EXPECT_EQ(result.curve[0].heads, 24);
  EXPECT_EQ(result.curve[1].heads, 22);
  EXPECT_EQ(result.curve[10].heads, 0);
  EXPECT_EQ(result.curve[0].metrics[0].value, result.before.metrics[0].value);
  for (const PrunedStage& stage : result.curve)
    EXPECT_TRUE(std::isfinite(stage.metrics[0].value)) << stage.heads;
}

TEST_F(PruneHeads, ANetworkThatNoLongerLooksAtItsSourceStillAnswers) {
  Pipeline pipeline = Pipeline::load(trained(kCases[1]));
  prune_heads(pipeline.model().head_blocks(), parse_pruned_heads("attention.1:1,2,3,4"));
  const Splits splits = pipeline.load_data("");
  EXPECT_TRUE(std::isfinite(pipeline.measure(*splits.validation)[0].value));
  const Explanation explanation = pipeline.explain(pipeline.parse("9 May 2018"));
  for (const MapView& map : explanation.maps) EXPECT_NE(map.name, "attention");
}

TEST_F(PruneHeads, HuggingFaceFoldersSayWhatIsGone) {
  const auto run = trained(kCases[4]);
  prune(run, 5, "pruned");
  const PretrainedBert written = read_pretrained(folder / "pruned");
  write_hugging_face(folder / "exported", written);
  const Json config = read_json_file(folder / "exported" / "config.json");
  int64_t gone = 0;
  for (const auto& [layer, heads] : config["pruned_heads"].items()) gone += int64_t(heads.size());
  EXPECT_EQ(gone, 5);
  const PretrainedBert read = read_pretrained(folder / "exported");
  EXPECT_EQ(read.options.pruned_heads, written.options.pruned_heads);
  ASSERT_EQ(read.encoder.size(), written.encoder.size());
  for (const auto& [name, tensor] : written.encoder)
    EXPECT_TRUE(read.encoder.at(name).equal(tensor)) << name;
  EXPECT_EQ(heads_in(Pipeline::load(folder / "exported")), 3);
  Json wrong = config;
  wrong["pruned_heads"] = {{"7", {0}}};
  write_json_file(folder / "exported" / "config.json", wrong);
  expect_error(ErrorKind::BadData, {"pruned_heads", "2 layers with 4 heads"},
               [&] { read_pretrained(folder / "exported"); });

  fovea::Setup setup("documents");  // what begins with it begins without these heads
  for (const std::string& option : kSmall) setup.set(option);
  setup.set_from((folder / "pruned").string());
  EXPECT_EQ(heads_there(train(setup, {}).model->head_blocks()).size(), 3u);
}

TEST_F(PruneHeads, WhatCannotGoIsSaid) {
  train_run(setup_of("features", {"model.name=attention", "data.rows=200", "training.epochs=1"}),
            folder / "features");
  expect_error(ErrorKind::InvalidArgument, "no attention heads",
               [&] { prune(folder / "features", 1, "pruned"); });
  const auto run = trained(kCases[2]);
  expect_error(ErrorKind::InvalidArgument, "has 4 heads; 5 cannot go",
               [&] { prune(run, 5, "pruned"); });
}

TEST(RankHeads, SharedOnesGoTogetherAndTheLeastImportantFirst) {
  struct OneBlock : IdleModel {
    OneBlock() {
      MultiHeadOptions options;
      options.width = 8, options.heads = 4, options.key_heads = 2;
      attention = std::make_shared<MultiHeadAttention>(options);
    }
    std::vector<HeadBlock> head_blocks() const override { return {{"attention", 1, attention}}; }
    std::shared_ptr<MultiHeadAttention> attention;
  } model;
  const std::vector<HeadImportance> measured{{{"attention", 1, 1}, 0, 0.9, 0.1},
                                             {{"attention", 1, 2}, 0, 0.1, 0.1},
                                             {{"attention", 1, 3}, 0, 0.4, 0.3},
                                             {{"attention", 1, 4}, 0, 0.4, 0.3}};
  const auto ranked = rank_heads(model, measured, /*by_drop=*/false);
  ASSERT_EQ(ranked.size(), 2u);
  EXPECT_EQ(pruned_heads_text(ranked[0].heads), "attention.1:3,4");
  EXPECT_DOUBLE_EQ(ranked[0].importance, 0.4);
  EXPECT_EQ(pruned_heads_text(rank_heads(model, measured, true)[0].heads), "attention.1:1,2");
  EXPECT_TRUE(least_important(ranked, 1).empty());
  EXPECT_EQ(least_important(ranked, 3).size(), 2u);
}

}  // namespace
}  // namespace fovea::prune_heads_test
