#include "fovea/explain/draw/picture.h"

#include <gtest/gtest.h>

#include <string>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/explain/draw/block.h"
#include "fovea/explain/draw/svg_canvas.h"
#include "fovea/explain/record/json.h"
#include "tests/explain/drawn_text.h"
#include "tests/explain/samples.h"
#include "tests/explain/xml.h"
#include "tests/support/temporary_folder.h"

namespace fovea::picture_test {
namespace {

std::string svg_of(const Explanation& explanation, const PictureOptions& options = {}) {
  return dynamic_cast<SvgCanvas&>(*draw(explanation, make_svg_canvas, options)).document();
}

Explanation one_map(size_t queries, size_t keys) {
  MapView map;
  map.name = map.title = "m";
  for (size_t i = 0; i < queries; ++i) map.query_labels.push_back("query " + std::to_string(i));
  for (size_t i = 0; i < keys; ++i) map.key_labels.push_back("key " + std::to_string(i));
  map.weights.assign(queries * keys, 1.0 / static_cast<double>(keys + 1));
  return {"", "", "", {map}, {}};
}

TEST(Picture, EverySampleIsWellFormed) {
  for (const Explanation& sample :
       {sample_features(), sample_contexts(), sample_matrix(), sample_long(), sample_odd(),
        sample_date(), sample_translation(), sample_arabic(), sample_chinese(), sample_document()})
    EXPECT_EQ(xml_problem(svg_of(sample)), "") << sample.title;
}

TEST(Picture, BarsShowLabelsValuesTruthAndSpread) {
  const std::string svg = svg_of(sample_features());
  EXPECT_TRUE(contains(svg, ">income (EUR)</text>"));
  EXPECT_TRUE(contains(svg, ">0.312 ± 0.041</text>"));
  EXPECT_TRUE(contains(svg, ">known to matter</text>"));
  EXPECT_EQ(occurrences(svg, "fill=\"#e8710a\""), 11u);  // ten bars and the legend
}

TEST(Picture, PanelsOnePerContext) {
  const std::string svg = svg_of(sample_contexts());
  for (const char* title : {">context 0<", ">context 4<"}) EXPECT_TRUE(contains(svg, title));
  EXPECT_EQ(occurrences(svg, "fill=\"#96d4a0\""), 6u);   // five true positions and the legend
  EXPECT_EQ(occurrences(svg, "fill=\"#e8710a\""), 41u);  // 5 x 8 bars and the legend
  EXPECT_EQ(occurrences(svg, "fill=\"#fabe82\""), 41u);
}

TEST(Picture, ManyColumnsAreCutToTheHeaviest) {
  const std::string svg = svg_of(one_map(1, 104));
  EXPECT_TRUE(contains(svg, ">… and 74 more, together 0.7</text>"));
  EXPECT_FALSE(contains(svg, ">key 103</text>"));
  EXPECT_FALSE(contains(svg_of(one_map(1, 104), {BarOrder::Keys, 200}), "more, together"));
}

TEST(Picture, AnEvenMapLooksEvenAndPale) {
  Explanation even = one_map(4, 4);
  even.maps[0].weights.assign(16, 0.25);
  const std::string svg = svg_of(even);
  EXPECT_TRUE(contains(svg, ">0.25: the equal share, all looked at alike</text>")) << svg;
  EXPECT_EQ(occurrences(svg, "fill=\"#6e2c00\""), 1u) << "only the scale reaches the last shade";
  even.maps[0].weights[0] = 1;
  EXPECT_GT(occurrences(svg_of(even), "fill=\"#6e2c00\""), 1u);
  even.maps[0].kind = MapKind::Free;
  EXPECT_FALSE(contains(svg_of(even), "equal share")) << "these are no shares of 1";
  EXPECT_TRUE(contains(svg_of(one_map(1, 4)), "0.25: the equal share")) << "bars have the mark too";
}

TEST(Picture, TellsAnswerTruthCutAndVerdict) {
  Explanation explanation = one_map(2, 40);
  explanation.input = "a text";
  explanation.prediction = "good (0.9)";
  explanation.truth = KnownTruth{"bad", false, ""};
  explanation.cuts = {{"tokens", 512, 2290}};
  const std::string alone = svg_of(explanation);
  for (const char* words : {">Input: a text<", ">good (0.9)<", ">Wrong. The right answer: bad<",
                            "Read 512 of 2,290 tokens.", "Not measured for this map."})
    EXPECT_TRUE(contains(alone, words)) << words;
  Faithfulness judged;
  judged.map = "m";
  judged.trust = "unsupported";
  judged.verdict = "It rests on something else.";
  explanation.faithfulness = {judged};
  EXPECT_TRUE(contains(svg_of(explanation), "No. It rests on something else."));
  explanation.faithfulness[0].judged_as = "rollout";  // not this layer
  EXPECT_TRUE(contains(svg_of(explanation), "Not measured for this map."));
}

TEST(Picture, SizesThatCouldBreakIt) {
  for (const auto& [queries, keys] : {std::pair<size_t, size_t>{1, 0},
                                      {0, 3},
                                      {1, 1},
                                      {1, 10000},
                                      {2, 10000},
                                      {300, 2},
                                      {40, 40}}) {
    Explanation explanation = one_map(queries, keys);
    EXPECT_EQ(xml_problem(svg_of(explanation)), "") << queries << " x " << keys;
    explanation.maps[0].group = "panels";
    EXPECT_EQ(xml_problem(svg_of(explanation)), "") << queries << " x " << keys;
  }
  EXPECT_EQ(xml_problem(svg_of({})), "");
  EXPECT_TRUE(contains(svg_of(one_map(1, 0)), "This map is empty."));
}

TEST(Picture, OddLabelsAreEscapedAndGapsNoted) {
  const std::string svg = svg_of(sample_odd());
  EXPECT_TRUE(contains(svg, "line\\nbreak"));
  EXPECT_TRUE(contains(svg, "esc\\x1b[31m"));
  EXPECT_TRUE(contains(svg, "&lt;b&gt;&amp;&quot;&#39;"));
  EXPECT_TRUE(contains(svg, "-0.250"));
  EXPECT_TRUE(contains(svg, "no number"));
  EXPECT_TRUE(contains(svg, "2 of 8 weights are not numbers"));
}

TEST(Picture, SignedMatricesHaveTwoColours) {
  Explanation explanation = sample_matrix();
  EXPECT_FALSE(contains(svg_of(explanation), "#2864b4"));
  explanation.maps[0].kind = MapKind::Contribution;
  explanation.maps[0].weights[0] = -1;
  EXPECT_TRUE(contains(svg_of(explanation), "#2864b4"));
}

TEST(Picture, BarsBelowZeroHaveAColourOfTheirOwn) {
  Explanation explanation = one_map(1, 3);
  EXPECT_FALSE(contains(svg_of(explanation), "#2864b4"));
  MapView& map = explanation.maps[0];
  map.kind = MapKind::Contribution;
  map.total = "score";
  map.weights = {0.5, -0.25, 0.125};
  const std::string svg = svg_of(explanation);
  EXPECT_EQ(occurrences(svg, "fill=\"#2864b4\""), 2u);  // a bar and the legend
  EXPECT_EQ(occurrences(svg, "fill=\"#e8710a\""), 3u);
  EXPECT_TRUE(contains(svg, ">raises the score</text>"));
  EXPECT_TRUE(contains(svg, ">lowers it</text>"));
}

TEST(Picture, ColumnLabelsStandAsTheyFit) {
  const std::string letters = svg_of(sample_date());  // level
  EXPECT_EQ(occurrences(letters, "rotate("), 0u);
  EXPECT_EQ(occurrences(letters, ">␣</text>"), 3u);
  const std::string words = svg_of(sample_translation());
  EXPECT_EQ(occurrences(words, "rotate(-50 "), 14u);
  EXPECT_TRUE(contains(words, ">außergewöhnlich</text>"));
  const std::string many = svg_of(sample_document());
  EXPECT_EQ(occurrences(many, "rotate(-90 "), 80u);  // upright, and not one left out
  EXPECT_TRUE(contains(many, ">Wort59</text>"));
}

TEST(Picture, TruthIsOutlinedWithoutLinesBetweenTrueCells) {
  // Four cells alone, a block of 2 x 3, a block of 2 x 1: 4 * 4 + 10 + 6 sides, and the legend.
  const std::string svg = svg_of(sample_date());
  EXPECT_EQ(occurrences(svg, "fill=\"#1e8c3e\""), 4u * 4 + 10 + 6 + 4);
}

TEST(Picture, SmallFiguresStandOnASmallPage) {
  auto width = [](const Explanation& explanation) {
    return draw(explanation, make_svg_canvas)->width();
  };
  EXPECT_LT(width(sample_date()), width(sample_features()));
  EXPECT_GT(width(sample_document()), width(sample_features()));
  Explanation titled = one_map(2, 2);
  titled.title = std::string(60, 'W');
  EXPECT_GT(width(titled), width(one_map(2, 2)));
}

TEST(Picture, AxisScalesAreRound) {
  EXPECT_DOUBLE_EQ(axis_scale(0.437).end, 0.5);
  EXPECT_DOUBLE_EQ(axis_scale(1).end, 1);
  EXPECT_DOUBLE_EQ(axis_scale(1).step, 0.2);
  EXPECT_DOUBLE_EQ(axis_scale(0).end, 1);
  for (const double largest : {1e-7, 0.013, 0.2, 0.99, 7.0, 1234.0}) {
    const AxisScale scale = axis_scale(largest);
    EXPECT_GE(scale.end, largest * 0.998);
    EXPECT_LE(scale.end, largest * 2);
    EXPECT_LE(scale.end / scale.step, 6);
  }
}

TEST(Picture, WritesByEnding) {
  const testing::TemporaryFolder folder;
  write_picture(sample_features(), folder.path() / "x.SVG");
  EXPECT_EQ(read_file(folder.path() / "x.SVG").substr(0, 5), "<?xml");
  write_picture(sample_features(), folder.path() / "x.json");
  EXPECT_EQ(read_explanation(folder.path() / "x.json").maps.size(), 1u);
  write_picture(sample_features(), folder.path() / "x.html");
  EXPECT_EQ(read_file(folder.path() / "x.html").substr(0, 9), "<!doctype");
  for (const char* name : {"x.pdf", "x"}) {
    try {
      write_picture(sample_features(), folder.path() / name);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
      EXPECT_TRUE(contains(error.what(), ".svg, .png, .json or .html"));
    }
    EXPECT_FALSE(std::filesystem::exists(folder.path() / name));
  }
  try {
    write_picture(sample_features(), folder.path() / "missing" / "x.svg");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_TRUE(error.kind() == ErrorKind::Io || error.kind() == ErrorKind::NotFound);
  }
}

}  // namespace
}  // namespace fovea::picture_test
