#include "fovea/explain/draw/chart.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/explain/draw/svg_canvas.h"
#include "tests/explain/drawn_text.h"
#include "tests/explain/samples.h"
#include "tests/explain/xml.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea::chart_test {
namespace {

const double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string svg_of(const LineChart& chart) {
  return dynamic_cast<SvgCanvas&>(*draw(chart, make_svg_canvas)).document();
}

LineChart one_line(std::vector<double> values, std::vector<double> half_intervals = {}) {
  LineChart chart;
  for (size_t i = 0; i < values.size(); ++i) chart.x_ticks.push_back("t" + std::to_string(i));
  chart.series = {{"line", std::move(values), std::move(half_intervals)}};
  return chart;
}

LineChart large_chart(size_t ticks, size_t lines) {
  LineChart chart;
  chart.title = "large";
  for (size_t i = 0; i < ticks; ++i) chart.x_ticks.push_back("bucket " + std::to_string(i));
  for (size_t line = 0; line < lines; ++line) {
    LineSeries series{"network " + std::to_string(line), {}, std::vector<double>(ticks, 0.1)};
    for (size_t i = 0; i < ticks; ++i)
      series.values.push_back(std::sin(static_cast<double>(i + 3 * line)));
    chart.series.push_back(series);
  }
  chart.counts.assign(ticks, 12345678);
  return chart;
}

/// The first line that starts so, or "".
std::string line_with(const std::string& picture, const std::string& start) {
  for (const std::string& line : split(picture, '\n'))
    if (line.starts_with(start)) return line;
  return "";
}

TEST(Chart, SizesThatDoNotFitAreInternalErrors) {
  auto expect = [](const LineChart& chart, const std::vector<std::string>& words) {
    testing::expect_error(ErrorKind::Internal, words, [&] { check_sizes(chart); });
  };
  LineChart chart = sample_chart();
  EXPECT_NO_THROW(check_sizes(chart));
  chart.series[1].values.pop_back();
  expect(chart, {"7 values of 'without attention'", "8 ticks"});
  chart = sample_chart();
  chart.series[0].half_intervals.push_back(1);
  expect(chart, {"9 intervals", "8 ticks"});
  chart = sample_chart();
  chart.counts.resize(3);
  expect(chart, {"3 counts", "8 ticks"});
  chart = sample_chart();
  chart.series[0].half_intervals[2] = -1;
  expect(chart, {"-1", "0 or more"});
}

TEST(Chart, TheAxisHoldsValuesAndIntervalsAndStartsAtZero) {
  const ValueAxis bleu = value_axis(sample_chart());
  EXPECT_DOUBLE_EQ(bleu.low, 0);
  EXPECT_DOUBLE_EQ(bleu.high, 40);
  EXPECT_EQ(bleu.steps(), 4);
  EXPECT_DOUBLE_EQ(bleu.share(10), 0.25);
  EXPECT_DOUBLE_EQ(bleu.share(-3), 0);
  EXPECT_DOUBLE_EQ(value_axis(one_line({0.8}, {0.3})).high, 1.25);
  EXPECT_DOUBLE_EQ(value_axis(one_line({0.01, 1}, {0.5, 0})).low, 0) << "an interval alone";
  const ValueAxis both = value_axis(one_line({-0.3, 1}));
  EXPECT_LE(both.low, -0.3);
  EXPECT_GE(both.high, 1);
  EXPECT_DOUBLE_EQ(both.value(both.steps()), both.high);
  for (const LineChart& chart : {one_line({}), one_line({kNaN}), one_line({0, 0})}) {
    EXPECT_LT(value_axis(chart).low, value_axis(chart).high);
    EXPECT_GT(value_axis(chart).steps(), 0);
  }
}

TEST(Chart, SvgShowsEverything) {
  const std::string svg = svg_of(sample_chart());
  EXPECT_EQ(xml_problem(svg), "");
  for (const char* text : {"Translation by length of the source", "words of the source", "BLEU",
                           "with attention", "without attention", "interval", "11-15", "51+",
                           "examples", "1,893", "30", "intervals: 95 % over 5 seeds"})
    EXPECT_TRUE(contains(svg, concat(">", text, "</text>"))) << text;
  // 8 discs of one polygon and 7 hollow squares of two, and one of each in the legend.
  EXPECT_EQ(occurrences(svg, "<polygon"), 9u + 2 * 8);
  // 15 whiskers of three lines in paler colours, 8 orange and 7 blue.
  EXPECT_EQ(occurrences(svg, concat("stroke=\"#ee9547\"")), 3u * 8);
  EXPECT_EQ(occurrences(svg, concat("stroke=\"#5e8bc7\"")), 3u * 7);
}

TEST(Chart, AGapBreaksTheLine) {
  EXPECT_EQ(occurrences(svg_of(one_line({1, 2, 3, 4})), "stroke=\"#e8710a\""), 3u + 1);
  EXPECT_EQ(occurrences(svg_of(one_line({1, kNaN, 3, 4})), "stroke=\"#e8710a\""), 1u + 1);
  EXPECT_EQ(occurrences(svg_of(one_line({1, kNaN, 3, 4})), "<polygon"), 3u + 1);
}

TEST(Chart, SizesThatCouldBreakIt) {
  for (const LineChart& chart :
       {LineChart(), one_line({}), one_line({1}), one_line({kNaN}), one_line({1e9, -1e-9}),
        large_chart(400, 3), large_chart(5, 14), large_chart(200, 14)}) {
    EXPECT_EQ(xml_problem(svg_of(chart)), "");
    for (const int width : {0, 40, 60, 80, 200})
      for (const bool unicode : {true, false})
        for (const std::string& line :
             split(render_chart_terminal(chart, plain(width, unicode)), '\n'))
          EXPECT_LE(display_width(line), static_cast<size_t>(std::max(width, 40))) << line;
  }
  EXPECT_TRUE(contains(svg_of({}), "This chart is empty."));
  EXPECT_TRUE(contains(render_chart_terminal({}, plain(80)), "This chart is empty.\n"));
}

TEST(Chart, OddTextsAreSafe) {
  LineChart chart = one_line({1, 2});
  chart.title = "<b>\x1b[31m";
  chart.series[0].name = "line\nbreak \xFF";
  chart.x_ticks = {"\x07", "日本語"};
  EXPECT_EQ(xml_problem(svg_of(chart)), "");
  const std::string text = render_chart_terminal(chart, plain(80));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_TRUE(contains(text, "line\\nbreak"));
  EXPECT_EQ(chart_to_json(chart)["series"][0]["name"], "line\nbreak \xEF\xBF\xBD");
}

TEST(Chart, JsonHoldsEverything) {
  const Json json = chart_to_json(sample_chart());
  EXPECT_EQ(json["format"], "fovea-chart");
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["x_ticks"].size(), 8u);
  EXPECT_EQ(json["series"][0]["values"][2], 34.2);
  EXPECT_TRUE(json["series"][1]["values"][6].is_null());
  EXPECT_TRUE(json["series"][1]["half_intervals"][6].is_null());
  EXPECT_EQ(json["counts"][1], 1893);
  EXPECT_EQ(json["notes"].size(), 1u);
  const Json bare = chart_to_json(one_line({1}));
  EXPECT_FALSE(bare.contains("counts"));
  EXPECT_FALSE(bare["series"][0].contains("half_intervals"));
}

TEST(Chart, WritesByEnding) {
  const testing::TemporaryFolder folder;
  write_chart(sample_chart(), folder / "x.svg");
  EXPECT_EQ(read_file(folder / "x.svg"), svg_of(sample_chart()));
  write_chart(sample_chart(), folder / "x.json");
  EXPECT_EQ(read_json_file(folder / "x.json"), chart_to_json(sample_chart()));
  testing::expect_error(ErrorKind::Unsupported, {".svg, .png or .json", ".pdf"},
                        [&] { write_chart(sample_chart(), folder / "x.pdf"); });
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"x.json", "x.svg"}));
}

TEST(Chart, GoldenTerminalPictures) {
  auto expect_golden = [](const std::string& text, const std::string& name) {
    const std::string path = std::string(FOVEA_TEST_FILES) + "/golden/explain/" + name;
    if (std::getenv("FOVEA_WRITE_GOLDEN") != nullptr) write_file(path, text);
    EXPECT_EQ(text, read_file(path)) << name;
  };
  expect_golden(render_chart_terminal(sample_chart(), plain(80)), "chart_80.txt");
  expect_golden(render_chart_terminal(sample_chart(), plain(60, false)), "chart_ascii.txt");
}

TEST(Chart, TerminalMarksStandBesideTheirTicks) {
  const std::string text = render_chart_terminal(one_line({0.2, 1, 0.6}), plain(60));
  const std::string base = line_with(text, "    └");
  size_t tick = std::string::npos;
  for (const char* label : {"0.2 ┤", "  1 ┤", "0.6 ┤"}) {
    tick = base.find("┴", tick + 1);
    const std::string line = line_with(text, label);
    ASSERT_TRUE(contains(line, "●")) << text;
    EXPECT_EQ(display_width(line.substr(0, line.find("●"))), display_width(base.substr(0, tick)))
        << text;
  }
}

TEST(Chart, TerminalWithoutColourAndUnicodeStillTellsLinesApart) {
  const std::string text = render_chart_terminal(sample_chart(), plain(80, false));
  for (const char byte : text)
    EXPECT_TRUE(byte == '\n' || (byte >= ' ' && byte <= '~')) << static_cast<int>(byte);
  EXPECT_TRUE(contains(text, "o with attention  x without attention  | interval\n")) << text;
  TerminalOptions coloured = plain(80);
  coloured.colour = true;
  EXPECT_TRUE(contains(render_chart_terminal(sample_chart(), coloured), "\x1b[38;5;208m●"));
}

}  // namespace
}  // namespace fovea::chart_test
