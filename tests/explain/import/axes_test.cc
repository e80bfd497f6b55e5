// Which labels go to which tensor, through import_weights.
#include "fovea/explain/import/axes.h"

#include "fovea/tensor/torch.h"
#include "tests/explain/import/samples.h"
#include "tests/support/expect_error.h"

namespace fovea::axes_test {
namespace {

using testing::expect_error;
using Texts = std::vector<std::string>;

const MapView& map_of(const Explanation& explanation, const std::string& name) {
  for (const MapView& map : explanation.maps)
    if (map.name == name) return map;
  throw std::runtime_error("no map " + name);
}

TEST(ImportedAxes, WithoutLabelsUnitsAreNumbered) {
  const Explanation square = explain({{"a", uniform(2, 2)}});
  EXPECT_EQ(square.maps[0].query_axis, "tokens");
  EXPECT_EQ(square.maps[0].key_axis, "tokens");
  EXPECT_EQ(square.maps[0].key_labels, (Texts{"0", "1"}));
  EXPECT_EQ(square.axes.at(0).kind, "position");
  const Explanation wide = explain({{"a", uniform(1, 2)}});
  EXPECT_EQ(wide.maps[0].query_axis, "queries");
  EXPECT_EQ(wide.maps[0].key_axis, "keys");
  EXPECT_TRUE(wide.notes.empty());
}

TEST(ImportedAxes, OneListServesBothSidesOfTheSameSize) {
  const Explanation explanation = explain({{"a", uniform(2, 2)}}, "x,y");
  EXPECT_EQ(explanation.maps[0].query_labels, (Texts{"x", "y"}));
  EXPECT_EQ(explanation.axes.size(), 1u);
  const Explanation queries = explain({{"a", uniform(2, 2)}}, R"({"queries": ["x", "y"]})");
  EXPECT_EQ(queries.maps[0].key_labels, (Texts{"x", "y"}));
}

TEST(ImportedAxes, OneListGoesWhereItFits) {
  const Explanation of_keys = explain({{"a", uniform(3, 2)}}, "x,y");
  EXPECT_EQ(of_keys.maps[0].key_labels, (Texts{"x", "y"}));
  EXPECT_EQ(of_keys.maps[0].query_labels, (Texts{"0", "1", "2"}));
  EXPECT_TRUE(has_note(of_keys, "no labels fit the 3 units of the axis 'queries' of 'a'"));
  const Explanation of_queries = explain({{"a", uniform(2, 3)}}, "x,y");
  EXPECT_EQ(of_queries.maps[0].query_labels, (Texts{"x", "y"}));
  EXPECT_EQ(of_queries.maps[0].key_labels, (Texts{"0", "1", "2"}));
}

TEST(ImportedAxes, TwoListsAreTwoAxesUnlessTheyAreEqual) {
  const Explanation two =
      explain({{"a", uniform(2, 2)}}, R"({"queries": ["x", "y"], "keys": ["a", "b"]})");
  EXPECT_EQ(two.maps[0].query_labels, (Texts{"x", "y"}));
  EXPECT_EQ(two.maps[0].key_labels, (Texts{"a", "b"}));
  EXPECT_EQ(two.axes.size(), 2u);
  const Explanation one =
      explain({{"a", uniform(2, 2)}}, R"({"queries": ["x", "y"], "keys": ["x", "y"]})");
  EXPECT_EQ(one.axes.size(), 1u);
}

TEST(ImportedAxes, EncoderDecoderAndCrossShareSourceAndTarget) {
  const Tensors tensors{
      {"encoder_attentions.0", uniform(3, 3)}, {"decoder_attentions.0", uniform(3, 3)},
      {"cross_attentions.0", uniform(3, 3)},   {"encoder_attentions.1", uniform(3, 3)},
      {"decoder_attentions.1", uniform(3, 3)}, {"cross_attentions.1", uniform(3, 3)}};
  const Explanation explanation =
      explain(tensors, R"({"queries": ["le", "chat", "."], "keys": ["the", "cat", "!"]})");
  const MapView encoder = map_of(explanation, "encoder_attentions");
  const MapView decoder = map_of(explanation, "decoder_attentions");
  const MapView cross = map_of(explanation, "cross_attentions");
  EXPECT_EQ(encoder.query_axis, "source");
  EXPECT_EQ(encoder.key_axis, "source");
  EXPECT_EQ(encoder.key_labels[0], "the");
  EXPECT_EQ(decoder.query_axis, "target");
  EXPECT_EQ(decoder.key_labels[0], "le");
  EXPECT_EQ(cross.query_axis, "target");
  EXPECT_EQ(cross.key_axis, "source");
  ASSERT_EQ(explanation.axes.size(), 2u);
  for (const Axis& axis : explanation.axes) EXPECT_EQ(axis.output, axis.name == "target");
  EXPECT_TRUE(explanation.notes.empty());
}

TEST(ImportedAxes, AListThatFitsOneSizeIsNotForcedOnAnother) {
  const Tensors tensors{{"encoder_attentions", uniform(3, 3)},
                        {"decoder_attentions", uniform(4, 4)},
                        {"cross_attentions", uniform(4, 3)}};
  const Explanation explanation = explain(tensors, "the,cat,!");
  EXPECT_EQ(map_of(explanation, "encoder_attentions").key_labels[0], "the");
  EXPECT_EQ(map_of(explanation, "decoder_attentions").key_labels, (Texts{"0", "1", "2", "3"}));
  EXPECT_EQ(map_of(explanation, "cross_attentions").key_labels[0], "the");
  EXPECT_EQ(map_of(explanation, "cross_attentions").query_labels.size(), 4u);
  EXPECT_TRUE(has_note(explanation, "no labels fit the 4 units of the axis 'target' of 'decoder"));
}

TEST(ImportedAxes, ATensorAloneCalledEncoderIsNoTranslation) {
  const Explanation explanation = explain({{"bert.encoder.layer.0.attn", uniform(2, 2)}}, "a,b");
  EXPECT_EQ(explanation.maps[0].key_axis, "tokens");
  EXPECT_FALSE(explanation.axes.at(0).output);
}

TEST(ImportedAxes, LabelsOfOneTensorComeFirst) {
  const Explanation explanation =
      explain({{"a.layer.1", uniform(2, 2)}, {"a.layer.2", uniform(2, 2)}, {"b", uniform(2, 2)}},
              R"({"tokens": ["x", "y"], "tensors": {"a": ["p", "q"], "a.layer.2": ["r", "s"]}})");
  EXPECT_EQ(explanation.maps.at(0).key_labels, (Texts{"p", "q"}));
  EXPECT_EQ(explanation.maps.at(1).key_labels, (Texts{"r", "s"}));
  EXPECT_EQ(explanation.maps.at(2).key_labels, (Texts{"x", "y"}));
  EXPECT_EQ(explanation.maps.at(0).key_axis, "tokens");
  EXPECT_EQ(explanation.maps.at(1).key_axis, "tokens-2");
  EXPECT_EQ(explanation.maps.at(2).key_axis, "tokens-3");
}

TEST(ImportedAxes, PaddingBehindIsCutOff) {
  at::Tensor weights = torch::zeros({2, 4, 4}, at::kDouble);
  weights.narrow(2, 0, 3).fill_(1.0 / 3);
  const Explanation explanation = explain({{"a", weights}}, "x,y,z", kHeads);
  ASSERT_EQ(explanation.maps.size(), 2u);
  EXPECT_EQ(explanation.maps[0].queries(), 3u);
  EXPECT_EQ(explanation.maps[0].keys(), 3u);
  EXPECT_EQ(explanation.maps[0].weights, std::vector<double>(9, 1.0 / 3));
  EXPECT_EQ(explanation.maps[0].kind, MapKind::Distribution);
  EXPECT_TRUE(has_note(explanation,
                       "'tokens' has 4 units and 3 labels: padding of 1 behind them is cut off"));
  EXPECT_EQ(explanation.notes.size(), 1u);
}

TEST(ImportedAxes, PaddingBeforeIsSeenByTheLastQuery) {
  at::Tensor weights = torch::full({1, 4, 4}, 0.25, at::kDouble);  // a padding query sees all
  for (int64_t query = 2; query < 4; ++query)
    for (int64_t key = 0; key < 4; ++key)
      weights[0][query][key] = key < 2 || key > query ? 0.0 : 1.0 / double(query - 1);
  const Explanation explanation = explain({{"a", weights}}, "x,y");
  EXPECT_EQ(explanation.maps[0].weights, (std::vector<double>{1, 0, 0.5, 0.5}));
  EXPECT_TRUE(has_note(explanation, "padding of 2 before them is cut off"));
}

TEST(ImportedAxes, WeightThatIsLostIsSaid) {
  const Explanation explanation = explain({{"a", uniform(4, 4)}}, "x,y,z");
  EXPECT_TRUE(has_note(explanation, "'a' puts up to 0.25 of a row on keys that were cut off"));
  EXPECT_EQ(explanation.maps[0].kind, MapKind::Partial);
}

TEST(ImportedAxes, MoreLabelsThanUnitsAreRefused) {
  expect_error(ErrorKind::InvalidArgument, {"'a'", "[2, 2]", "has 2 units", "found 3 labels"}, [&] {
    explain({{"a", uniform(2, 2)}}, "x,y,z");
  });
}

TEST(ImportedAxes, TextAndSpansComeAlong) {
  const Explanation explanation =
      explain({{"a", uniform(2, 2)}},
              R"({"tokens": ["[CLS]", "hi"], "text": "hi", "offsets": [[0, 0], [0, 2]]})");
  EXPECT_EQ(explanation.input, "hi");
  EXPECT_EQ(explanation.axes.at(0).text, "hi");
  ASSERT_EQ(explanation.axes.at(0).spans.size(), 2u);
  EXPECT_EQ(explanation.axes.at(0).spans[0].begin, -1);
  EXPECT_EQ(explanation.axes.at(0).spans[1].end, 2);
}

}  // namespace
}  // namespace fovea::axes_test
