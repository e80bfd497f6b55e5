#include "fovea/explain/what_if/without.h"

#include <gtest/gtest.h>

#include "tests/explain/what_if/rule_predictor.h"
#include "tests/support/expect_error.h"

namespace fovea::without_test {
namespace {

using testing::expect_error;

Example sentence() {
  Example example = example_with(
      {{"tokens", {"[CLS]", "the", "good", "the", "film, too", "3"}}, {"topics", {"art"}}});
  example.axes[0].special = {0};
  Axis written{"written", "token", {"yes"}};
  written.output = true;
  example.axes.push_back(written);
  return example;
}

void refused(const std::vector<AxisUnits>& away, const std::vector<std::string>& words) {
  expect_error(ErrorKind::InvalidArgument, words, [&] { check_away(sentence(), away); });
}

TEST(Without, SaysWhatCannotBeTakenAway) {
  EXPECT_NO_THROW(check_away(sentence(), std::vector<AxisUnits>{{"tokens", {1, 5}}}));
  refused({{"tokns", {1}}}, {"no axis 'tokns'", "did you mean 'tokens'", "tokens, topics"});
  refused({{"written", {0}}}, {"no axis 'written'", "tokens, topics"});
  refused({{"tokens", {6}}}, {"'tokens' has 6 units", "no unit 6"});
  refused({{"tokens", {-1}}}, {"no unit -1"});
  refused({{"tokens", {2, 2}}}, {"'good' (#3)", "twice"});
  refused({{"tokens", {2}}, {"tokens", {2}}}, {"'good' (#3)", "twice"});
  refused({{"tokens", {0}}}, {"'[CLS]' (#1)", "no part of the input"});
  refused({{"tokens", {1, 2, 3, 4, 5}}}, {"all 5 units", "leave at least one"});
  refused({{"topics", {0}}}, {"all 1 units of the axis 'topics'"});
}

TEST(Without, UnitsGoByLabelOrPlace) {
  const auto units = [](const std::string& text) { return parse_away(text, sentence()).units; };
  EXPECT_EQ(units("tokens:good"), (std::vector<int64_t>{2}));
  EXPECT_EQ(units("tokens:good,#2"), (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(units("tokens:film, too"), (std::vector<int64_t>{4})) << "a label may hold a comma";
  EXPECT_EQ(units("tokens:3"), (std::vector<int64_t>{5})) << "a label comes before a place";
  EXPECT_EQ(parse_away("topics:art", sentence()).axis, "topics");
}

TEST(Without, ASlipNamesTheNearest) {
  const auto slip = [](const std::string& text, const std::vector<std::string>& words) {
    expect_error(ErrorKind::InvalidArgument, words, [&] { parse_away(text, sentence()); });
  };
  slip("tokens:god", {"no unit 'god'", "did you mean 'good'"});
  slip("tokens:the", {"stands 2 times", "#2, #4"});
  slip("tokens:2", {"no unit '2'", "written #2"});
  slip("tokens:#7", {"#1 to #6", "no #7"});
  slip("tokens:#0", {"no #0"});
  slip("tokens:[CLS]", {"no part of the input"});
  slip("token:good", {"did you mean 'tokens'"});
  for (const std::string text : {"good", "", ":good", "tokens:"})
    slip(text, {"expected AXIS:UNIT", "tokens, topics"});
}

TEST(Without, TakesAllOfThemAway) {
  RulePredictor predictor;
  const Example whole = predictor.example({"u", "v", "w"});
  const Example left =
      without_units(predictor, whole, std::vector<AxisUnits>{{"units", {2}}, {"units", {0}}});
  EXPECT_TRUE(left.tensors.at("away").equal(torch::tensor({true, false, true})));
  EXPECT_EQ(left.axis("units").labels, whole.axis("units").labels);
  expect_error(ErrorKind::Unsupported, "cannot be erased", [&] {
    without_units(predictor, whole, std::vector<AxisUnits>{{"letters", {0}}});
  });
}

}  // namespace
}  // namespace fovea::without_test
