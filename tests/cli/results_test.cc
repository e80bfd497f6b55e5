// docs/results.md against what its commands printed, docs/results/NAME.json: every section has such
// a file or stands in unrecorded.txt, no command has changed since it ran, and every figure of its
// tables was printed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <regex>
#include <set>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/base/text.h"

namespace fovea::results_test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = fs::path(FOVEA_TEST_FILES) / "..";

struct Section {
  std::string title;
  std::vector<std::string> names;  // of its commands
  std::vector<std::string> rows;   // of its tables
};

std::vector<Section> read_sections() {
  const std::regex command("`\\./dev results ([a-z0-9]+)`");
  std::vector<Section> sections;
  for (const std::string& line : split(read_file(kRoot / "docs/results.md"), '\n')) {
    if (line.starts_with("#")) {
      Section& section = sections.emplace_back();
      section.title = line;
      for (std::sregex_iterator it(line.begin(), line.end(), command), end; it != end; ++it)
        section.names.push_back((*it)[1]);
    } else if (line.starts_with("|") && !sections.empty()) {
      sections.back().rows.push_back(line);
    }
  }
  return sections;
}

fs::path file_of(const std::string& name) {
  return kRoot / "docs/results" / (name + ".json");
}

struct Figure {
  std::string text;
  double value = 0, half = 0;  // half a unit of its last digit
};

/// Numbers with a decimal point; `or_whole`: those without, too, which are exact.
std::vector<Figure> figures_in(const std::string& text, bool or_whole) {
  const std::regex number(or_whole ? "-?[0-9]*\\.?([0-9]+)(e-?[0-9]+)?"
                                   : "-?[0-9]*\\.([0-9]+)(e-?[0-9]+)?");
  std::vector<Figure> figures;
  for (std::sregex_iterator it(text.begin(), text.end(), number), end; it != end; ++it) {
    const std::string exponent = (*it)[2];
    const double scale = exponent.empty() ? 1 : std::stod("1" + exponent);
    const bool is_whole = it->str().find('.') == std::string::npos;
    const double half = is_whole ? 0 : 0.5 * std::pow(10.0, -double((*it)[1].length())) * scale;
    figures.push_back({it->str(), std::stod(it->str()), half});
  }
  return figures;
}

/// The lines of a function of scripts/results.sh, as record_result.py takes them.
std::vector<std::string> script_of(const std::string& name) {
  std::vector<std::string> lines;
  bool inside = false;
  for (const std::string& line : split(read_file(kRoot / "scripts/results.sh"), '\n')) {
    if (inside && line == "}") break;
    if (inside) lines.emplace_back(trim(line));
    if (line == name + "() {") inside = true;
  }
  return lines;
}

TEST(Results, EverySectionIsRecordedOrKnownNotToBe) {
  std::set<std::string> unrecorded;
  for (const std::string& line : split(read_file(kRoot / "docs/results/unrecorded.txt"), '\n'))
    if (!line.empty() && line[0] != '#') unrecorded.insert(line);
  std::set<std::string> without_file;
  for (const Section& section : read_sections())
    for (const std::string& name : section.names) {
      EXPECT_FALSE(script_of(name).empty()) << section.title << ": scripts/results.sh has no such";
      if (!fs::exists(file_of(name))) without_file.insert(name);
    }
  EXPECT_EQ(without_file, unrecorded) << "run ./dev results NAME for a new section; one that has "
                                         "its file leaves docs/results/unrecorded.txt";
}

TEST(Results, NoCommandHasChangedSinceItRan) {
  for (const auto& entry : fs::directory_iterator(kRoot / "docs/results")) {
    if (entry.path().extension() != ".json") continue;
    const std::string name = entry.path().stem().string();
    const Json record = read_json_file(entry.path());
    std::vector<std::string> ran;
    for (const std::string line : record["script"]) ran.emplace_back(trim(line));
    EXPECT_EQ(ran, script_of(name)) << "run ./dev results " << name << " again";
    const Json functions = record.value("functions", Json::object());
    const auto calls = [](const std::string& line) {
      return line.find("scripts/results_") != std::string::npos;
    };
    EXPECT_EQ(!functions.empty(), std::ranges::any_of(ran, calls))
        << name << ": the functions that it calls are recorded";
    for (const auto& [path, of_file] : functions.items())
      for (const auto& [function, text] : of_file.items())
        EXPECT_NE(read_file(kRoot / path).find(text.get<std::string>()), std::string::npos)
            << path << ", " << function << ": run ./dev results " << name << " again";
    for (const auto& [path, text] : record["configs"].items())
      EXPECT_EQ(read_file(kRoot / path), text.get<std::string>())
          << path << ": run ./dev results " << name << " again";
  }
}

/// What a command printed, as the page has it: without headings, frames and empty lines.
std::vector<std::string> shown(const std::vector<std::string>& lines) {
  std::vector<std::string> kept;
  for (const std::string& line : lines)
    if (!trim(line).empty() && line != "```" && !line.starts_with("== ")) kept.push_back(line);
  return kept;
}

TEST(Results, BlocksOfThePageAreWhatTheCommandsPrinted) {
  const std::string page = read_file(kRoot / "docs/results.md");
  const std::regex block("<!-- results ([a-z0-9]+) -->\n([^]*?)<!-- end -->");
  int blocks = 0;
  for (std::sregex_iterator it(page.begin(), page.end(), block), end; it != end; ++it, ++blocks) {
    const Json record = read_json_file(file_of((*it)[1]));
    std::vector<std::string> lines = shown(split(std::string((*it)[2]), '\n'));
    ASSERT_FALSE(lines.empty()) << (*it)[1];
    lines.pop_back();  // when and where
    EXPECT_EQ(lines, shown(record["output"].get<std::vector<std::string>>()))
        << "scripts/record_result.py " << (*it)[1] << " writes it";
  }
  EXPECT_GT(blocks, 0);
}

/// Expects every figure of the rows in what the commands printed; how many there were. None where a
/// command has no file yet.
int expect_printed(const std::vector<std::string>& names, const std::vector<std::string>& rows,
                   const std::string& place) {
  std::vector<Figure> printed;
  for (const std::string& name : names) {
    if (!fs::exists(file_of(name))) return 0;
    const Json record = read_json_file(file_of(name));
    for (const std::string line : record["output"])
      for (const Figure& figure : figures_in(line, true)) printed.push_back(figure);
  }
  int checked = 0;
  for (const std::string& row : rows)
    for (const Figure& figure : figures_in(row, false)) {
      ++checked;
      EXPECT_TRUE(std::ranges::any_of(printed,
                                      [&](const Figure& other) {
                                        return std::abs(other.value - figure.value) <=
                                               figure.half * (1 + 1e-6);
                                      }))
          << place << ": " << figure.text << " was not printed";
    }
  return checked;
}

TEST(Results, EveryFigureOfARecordedSectionWasPrinted) {
  int checked = 0;
  for (const Section& section : read_sections())
    if (!section.names.empty())
      checked += expect_printed(section.names, section.rows, section.title);
  EXPECT_GT(checked, 0);
}

TEST(Results, EveryFigureOfTheReadmeWasPrinted) {
  const std::regex row("\\|.*\\| `\\./dev results ([a-z0-9]+)` \\| (.*) \\| .*\\|");
  int checked = 0, rows = 0;
  for (const std::string& line : split(read_file(kRoot / "README.md"), '\n')) {
    std::smatch match;
    if (!std::regex_match(line, match, row)) continue;
    ++rows;
    EXPECT_FALSE(script_of(match[1]).empty()) << line;
    checked += expect_printed({match[1]}, {match[2]}, "README.md, " + match[1].str());
  }
  EXPECT_GT(rows, 20) << "a table with the columns command, ours, published";
  EXPECT_GT(checked, 0);
}

}  // namespace
}  // namespace fovea::results_test
