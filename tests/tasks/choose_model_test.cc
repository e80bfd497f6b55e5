#include "fovea/tasks/choose_model.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/expect_error.h"
#include "tests/support/train_run.h"

namespace fovea::choose_model_test {
namespace {

/// The task features on a small built-in table, small networks.
Setup small_setup(const std::vector<std::string>& assignments) {
  return testing::setup_of("features",
                           {"data.rows=200", "data.columns=4", "model.hidden=8", "model.members=2",
                            "model.width=8", "model.heads=2", "model.layers=1", "training.epochs=3",
                            "training.batch_size=32", "training.learning_rate=0.01"},
                           assignments);
}

ModelChoice chosen(fovea::Setup& setup) {
  const Splits splits = setup.task().load(setup.source(), 0);
  const auto choice = choose_model(setup, splits, {});
  EXPECT_TRUE(choice.has_value());
  return choice.value_or(ModelChoice{});
}

TEST(ChooseModel, ALinearModelIsNotChosenForAProduct) {
  fovea::Setup setup =
      small_setup({"data.label=product", "data.columns=2", "data.rows=600", "training.epochs=12"});
  const ModelChoice choice = chosen(setup);
  EXPECT_NE(choice.model, "linear");
  EXPECT_EQ(setup.to_config()["model"]["name"], choice.model);
  ASSERT_EQ(choice.candidates.size(), 4u);
  std::map<std::string, double> losses;
  for (const Candidate& one : choice.candidates) losses[one.model] = one.loss;
  EXPECT_GT(losses.at("linear"), losses.at(choice.model) + 0.1);
  EXPECT_FALSE(choice.reason.empty());
}

/// Steps whose work grows with the square of the columns would take minutes.
TEST(ChooseModel, WideTablesDoWithoutTheTransformer) {
  fovea::Setup setup = small_setup({"data.columns=160", "data.rows=120", "training.epochs=1"});
  const ModelChoice choice = chosen(setup);
  EXPECT_EQ(choice.left_out, std::vector<std::string>{"transformer"});
  ASSERT_EQ(choice.candidates.size(), 3u);
  EXPECT_EQ(choice.candidates[0].model, "attention");
  EXPECT_EQ(choice.to_json()["left_out"], Json::parse(R"(["transformer"])"));
  fovea::Setup narrow = small_setup({"data.columns=40", "data.rows=120", "training.epochs=1"});
  EXPECT_TRUE(chosen(narrow).left_out.empty());
}

std::string taken(std::vector<Candidate> candidates) {
  ModelChoice choice;
  choice.candidates = std::move(candidates);
  take_best(choice);
  return choice.model;
}

TEST(ChooseModel, ThePreferredOneMayBeALittleBehindButNotMuch) {
  EXPECT_EQ(taken({{"attention", .51, .01, .02}, {"plain", .5, 0, 0}, {"linear", .7, .2, .01}}),
            "attention");
  EXPECT_EQ(taken({{"attention", .53, .03, .02}, {"plain", .5, 0, 0}, {"linear", .7, .2, .01}}),
            "plain");
  // Few rows: everything is within one standard error.
  EXPECT_EQ(taken({{"attention", .9, .4, .5}, {"plain", .5, 0, 0}, {"linear", .6, .1, .5}}),
            "linear");
  EXPECT_EQ(taken({{"attention", .5, 0, 0}, {"plain", .6, .1, .05}, {"linear", .55, .05, .06}}),
            "linear");
  EXPECT_EQ(taken({{"attention", .5, 0, 0}, {"plain", .51, .01, .01}, {"linear", .51, .01, .02}}),
            "attention");
  EXPECT_EQ(taken({{"attention", NAN, NAN, NAN}, {"plain", .5, 0, 0}, {"linear", .7, .2, .01}}),
            "plain");
  EXPECT_EQ(taken({{"attention", .5, 0, 0}, {"plain", .5, 0, 0}, {"linear", .7, .2, .01}}),
            "attention");
}

TEST(ChooseModel, IsTheSameAgain) {
  fovea::Setup first = small_setup({}), second = small_setup({});
  const Json a = chosen(first).to_json(), b = chosen(second).to_json();
  for (size_t i = 0; i < a["candidates"].size(); ++i)
    EXPECT_EQ(a["candidates"][i]["loss"], b["candidates"][i]["loss"]);
  EXPECT_EQ(a["model"], b["model"]);
}

TEST(ChooseModel, ANamedModelLeavesNothingToChoose) {
  fovea::Setup setup = small_setup({"model.name=plain"});
  EXPECT_FALSE(choose_model(setup, setup.task().load(setup.source(), 0), {}).has_value());
  EXPECT_EQ(setup.to_config()["model"]["name"], "plain");
}

TEST(ChooseModel, OptionsThatWereGivenHoldForTheChosenOne) {
  fovea::Setup setup = small_setup({"model.hidden=7"});
  const ModelChoice choice = chosen(setup);
  EXPECT_EQ(setup.to_config()["model"]["hidden"], Json::array({7})) << choice.model;
  EXPECT_EQ(setup.training().epochs, 3);
}

TEST(ChooseModel, OptionsOfALibraryUserHoldToo) {
  fovea::Setup setup("features");
  setup.options().set("data.rows", "200");
  setup.options().set("training.epochs", "2");
  setup.options().set("model.hidden", "5");
  chosen(setup);
  EXPECT_EQ(setup.training().epochs, 2);
  EXPECT_EQ(setup.to_config()["model"]["hidden"], Json::array({5}));
}

TEST(ChooseModel, AStoppedChoiceIsNone) {
  fovea::Setup setup = small_setup({});
  const Splits splits = setup.task().load(setup.source(), 0);
  testing::expect_error(ErrorKind::InvalidArgument, "stopped while the model was chosen", [&] {
    choose_model(setup, splits, {{}, [] { return true; }});
  });
}

TEST(ChooseModel, FewRowsAreEnoughToTrain) {
  fovea::Setup setup = small_setup({"data.rows=12", "data.label=product", "training.epochs=1"});
  const std::string model = chosen(setup).model;
  EXPECT_EQ(setup.to_config()["model"]["name"], model);
}

}  // namespace
}  // namespace fovea::choose_model_test
