#include "fovea/explain/draw/terminal.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "fovea/base/file.h"
#include "fovea/base/text.h"
#include "tests/explain/drawn_text.h"
#include "tests/explain/samples.h"

namespace fovea::terminal_test {
namespace {

/// Compares with a file under golden/explain; FOVEA_WRITE_GOLDEN=1 writes it anew, to be looked at
/// before it is committed.
void expect_golden(const std::string& text, const std::string& name) {
  const std::string path = std::string(FOVEA_TEST_FILES) + "/golden/explain/" + name;
  if (std::getenv("FOVEA_WRITE_GOLDEN") != nullptr) write_file(path, text);
  EXPECT_EQ(text, read_file(path)) << name;
}

/// Without escape codes.
std::string uncoloured(const std::string& text) {
  std::string result;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\x1b') {
      at = text.find('m', at);
    } else {
      result += text[at];
    }
  }
  return result;
}

TEST(Terminal, GoldenPictures) {
  for (const int width : {60, 80, 120}) {
    const std::string ending = "_" + std::to_string(width) + ".txt";
    expect_golden(render_terminal(sample_features(), plain(width)), "features" + ending);
    expect_golden(render_terminal(sample_contexts(), plain(width)), "contexts" + ending);
    expect_golden(render_terminal(sample_matrix(), plain(width)), "matrix" + ending);
  }
  expect_golden(render_terminal(sample_date(), plain(80)), "date_80.txt");
  expect_golden(render_terminal(sample_translation(), plain(80)), "translation_80.txt");
  expect_golden(render_terminal(sample_arabic(), plain(80)), "arabic_80.txt");
  expect_golden(render_terminal(sample_chinese(), plain(80)), "chinese_80.txt");
  expect_golden(render_terminal(sample_document(), plain(120)), "document_120.txt");
  expect_golden(render_terminal(sample_long(), plain(80)), "long_80.txt");
  expect_golden(render_terminal(sample_odd(), plain(80)), "odd_80.txt");
  expect_golden(render_terminal(sample_features(), plain(80, false)), "features_ascii.txt");
  expect_golden(render_terminal(sample_contexts(), plain(80, false)), "contexts_ascii.txt");
  expect_golden(render_terminal(sample_matrix(), plain(80, false)), "matrix_ascii.txt");
}

TEST(Terminal, NoLineIsWiderThanTheTerminal) {
  for (const Explanation& sample :
       {sample_features(), sample_contexts(), sample_matrix(), sample_long(), sample_odd(),
        sample_date(), sample_translation(), sample_arabic(), sample_chinese(),
        sample_document()}) {
    for (const int width : {40, 60, 80, 120, 200}) {
      for (const bool unicode : {true, false}) {
        const std::string text = render_terminal(sample, plain(width, unicode));
        for (const std::string& line : split(text, '\n'))
          EXPECT_LE(display_width(line), static_cast<size_t>(width)) << sample.task << "\n" << line;
      }
    }
  }
}

TEST(Terminal, ColourOnlyAddsEscapeCodes) {
  for (const Explanation& sample : {sample_features(), sample_contexts(), sample_matrix()}) {
    TerminalOptions options = plain(80);
    const std::string without = render_terminal(sample, options);
    options.colour = true;
    const std::string with = render_terminal(sample, options);
    EXPECT_EQ(without.find('\x1b'), std::string::npos);
    EXPECT_NE(with.find("\x1b[38;5;208m"), std::string::npos);
    // Trailing spaces differ: inside a colour they cannot be trimmed.
    for (size_t i = 0; i < split(without, '\n').size(); ++i)
      EXPECT_EQ(std::string(trim(split(uncoloured(with), '\n')[i])),
                std::string(trim(split(without, '\n')[i])));
  }
}

TEST(Terminal, AsciiMeansAscii) {
  for (const Explanation& sample : {sample_features(), sample_contexts(), sample_matrix(),
                                    sample_odd(), sample_long(), sample_date(), sample_chinese()})
    for (const char byte : render_terminal(sample, plain(80, false)))
      EXPECT_TRUE(byte == '\n' || (byte >= ' ' && byte <= '~')) << static_cast<int>(byte);
}

TEST(Terminal, ControlCharactersOfLabelsNeverReachTheTerminal) {
  const std::string text = render_terminal(sample_odd(), plain(80));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("line\\nbreak"), std::string::npos);
}

TEST(Terminal, WideAndCombiningLabelsStayAligned) {
  const std::string text = render_terminal(sample_odd(), plain(80));
  size_t lines = 0;
  for (const std::string& line : split(text, '\n')) {
    const size_t bar = line.find("█");
    if (bar == std::string::npos) continue;
    ++lines;
    EXPECT_EQ(display_width(line.substr(0, bar)), std::string("line\\nbreak  ").size()) << line;
    EXPECT_EQ(display_width(line), 80u) << line;
  }
  EXPECT_GE(lines, 3u);
}

TEST(Terminal, MatrixMarksNegativeWeightsAndGaps) {
  Explanation explanation = sample_matrix();
  explanation.maps[0].kind = MapKind::Contribution;
  explanation.maps[0].truth.clear();
  explanation.maps[0].weights[5] = -0.57;
  explanation.maps[0].weights[6] = std::nan("");
  const std::string text = render_terminal(explanation, plain(80));
  EXPECT_NE(text.find("    2 ██▒▒░░    █-xx\n"), std::string::npos) << text;
  EXPECT_NE(text.find("- negative  x no number\n"), std::string::npos) << text;
}

// Keys that are cells of a picture are drawn as that picture, a tile for each query.
TEST(Terminal, CellsOfAPictureAreTiles) {
  MapView map;
  map.name = map.title = "attention";
  map.query_axis = "caption";
  map.key_axis = "cells";
  map.query_labels = {"a", "red", "circle", "</s>", "and more"};
  map.key_labels = {"1", "2", "3", "4", "5", "6"};
  for (size_t query = 0; query < 5; ++query)
    for (size_t key = 0; key < 6; ++key) map.weights.push_back(key == query ? 1 : 0);
  Axis cells{"cells", "cell", map.key_labels};
  cells.grid_rows = 2;
  cells.grid_columns = 3;
  Explanation explanation{"caption", "", "", {map}, {}};
  explanation.axes = {cells};
  const std::string text = render_terminal(explanation, plain(40));
  EXPECT_NE(text.find("a        red      circle   </s>\n"
                      "|██    | |  ██  | |    ██| |      |\n"
                      "|      | |      | |      | |██    |\n"
                      "and mo…\n"
                      "|      |\n"
                      "|  ██  |\n"),
            std::string::npos)
      << text;
  explanation.axes[0].grid_columns = 4;
  EXPECT_EQ(render_terminal(explanation, plain(40)).find('|'), std::string::npos)
      << "a grid of another size";
}

// Where cells look at each other behind a class token, its row is the picture.
TEST(Terminal, AClassTokenLooksAtThePicture) {
  MapView map;
  map.name = map.title = "attention";
  map.query_axis = map.key_axis = "patches";
  map.query_labels = map.key_labels = {"class token", "1", "2", "3", "4"};
  for (size_t query = 0; query < 5; ++query)
    for (size_t key = 0; key < 5; ++key) map.weights.push_back(key == 4 - query ? 1 : 0);
  Axis patches{"patches", "patch", map.key_labels};
  patches.special = {0};
  patches.grid_rows = patches.grid_columns = 2;
  Explanation explanation{"images", "", "", {map}, {}};
  explanation.axes = {patches};
  const std::string text = render_terminal(explanation, plain(40));
  EXPECT_NE(text.find("clas…\n|    |\n|  ██|\n"), std::string::npos) << text;
}

TEST(Terminal, WideLettersOverAMatrixStayThemselves) {
  Explanation explanation = sample_chinese();
  const std::string text = render_terminal(explanation, plain(80));
  EXPECT_NE(text.find("          我昨天在图书馆看了新书。\n"), std::string::npos) << text;
  // Too many for the width: fewer cells, but none so narrow that a letter would not fit.
  MapView& map = explanation.maps[0];
  const size_t keys = map.keys();
  for (size_t i = keys; i < 60; ++i) map.key_labels.push_back(map.key_labels[i % keys]);
  map.weights.assign(map.queries() * map.keys(), 1.0 / 60);
  const std::string narrow = render_terminal(explanation, plain(60));
  EXPECT_NE(narrow.find("each cell shows the largest of 1 x 3 weights"), std::string::npos);
  EXPECT_NE(narrow.find("          我在馆新"), std::string::npos) << narrow;
  EXPECT_EQ(narrow.find('?'), std::string::npos);
}

TEST(Terminal, AFaintRowStillShows) {
  const std::string text = render_terminal(sample_date(), plain(80));
  std::string faint = "<end> ";
  for (int i = 0; i < 19; ++i) faint += "░░";
  EXPECT_NE(text.find(faint + "\n"), std::string::npos) << text;
}

TEST(Terminal, EmptyAndHugeMaps) {
  EXPECT_EQ(render_terminal({}, plain(80)), "");
  Explanation explanation = sample_features();
  explanation.maps[0] = MapView();
  EXPECT_NE(render_terminal(explanation, plain(80)).find("This map is empty."), std::string::npos);
  MapView& map = explanation.maps[0];
  map.query_labels = {"a", "b"};
  for (int i = 0; i < 10000; ++i) map.key_labels.push_back(std::to_string(i));
  map.weights.assign(20000, 1e-4);
  const std::string matrix = render_terminal(explanation, plain(80));
  EXPECT_NE(matrix.find("each cell shows the largest of 1 x 129 weights"), std::string::npos);
  map.query_labels = {"a"};
  map.weights.resize(10000);
  EXPECT_NE(render_terminal(explanation, plain(80)).find("… and 9,970 more, together 1\n"),
            std::string::npos);
}

}  // namespace
}  // namespace fovea::terminal_test
