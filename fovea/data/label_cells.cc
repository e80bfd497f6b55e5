#include "fovea/data/label_cells.h"

#include <algorithm>
#include <initializer_list>
#include <map>

#include "fovea/base/error.h"
#include "fovea/base/text.h"

namespace fovea {

namespace {

constexpr const char *kAuto = "auto", *kNone = "none", *kSpace = "space";
constexpr char kSeparators[] = {'|', ';', ',', ' '};  // in the order in which they are tried
constexpr char kMarks[] = {'|', ';', ','};

/// Whether cut at the separator the cells become labels; the rule of the header.
bool makes_labels(const std::set<std::string>& cells, char separator) {
  std::map<std::string, int64_t> cells_with;  // of each part, in how many different cells it stands
  bool several = false, all_alone = true;
  for (const std::string& cell : cells) {
    const std::vector<std::string> parts = labels_in(cell, std::string(1, separator));
    several = several || parts.size() > 1;
    for (const std::string& part : std::set(parts.begin(), parts.end())) {
      ++cells_with[part];
      all_alone = all_alone && cells.contains(part);
    }
  }
  if (!several || separator == ' ') return several && all_alone;
  const auto shared = std::count_if(cells_with.begin(), cells_with.end(),
                                    [](const auto& one) { return one.second > 1; });
  // A comma may be part of a name; bars and semicolons hardly ever are.
  return separator == ',' ? 2 * size_t(shared) > cells_with.size() : shared > 0;
}

std::string find_separator(const std::set<std::string>& cells) {
  for (const char separator : kSeparators)
    if (makes_labels(cells, separator)) return std::string(1, separator);
  return "";
}

/// Of cells that somebody says are labels: what separates any of them.
std::string first_separator(const std::set<std::string>& cells) {
  const std::string found = find_separator(cells);
  for (const char separator : kMarks)
    for (const std::string& cell : cells)
      if (found.empty() && cell.find(separator) != std::string::npos)
        return std::string(1, separator);
  return found;
}

/// Cells of a column called labels, but no separator makes labels of them.
void note_one_class(const std::set<std::string>& cells, std::vector<std::string>& notes) {
  for (const char separator : kMarks)
    for (const std::string& cell : cells)
      if (cell.find(separator) != std::string::npos) {
        notes.push_back(concat("every cell of the column 'labels' is read as one class, also '",
                               shorten_bytes(cell, 40), "'; data.label_separator=", separator,
                               " makes several labels of it"));
        return;
      }
}

}  // namespace

void describe_label_separator(OptionList& list, std::string& separator) {
  list.add("label_separator", separator,
           "what stands between several labels of a cell: a text, or space; none: a cell is one "
           "class; auto: , | ; or a blank in a column called labels");
}

void LabelOptions::describe(OptionList& list, const std::string& page) {
  list.add("target_kind", target_kind,
           concat("what a label is: one class, or any number of labels; auto: docs/formats/", page,
                  " has the rule"))
      .choices({kAuto, "class", "labels"});
  describe_label_separator(list, label_separator);
}

bool LabelOptions::has_separator() const {
  return label_separator != kAuto && label_separator != kNone;
}

void LabelCells::add(const std::string& label, LabelCell cell) {
  lists = lists || cell == LabelCell::List;
  perhaps = perhaps || cell == LabelCell::Perhaps;
  if (!label.empty()) cells.insert(label);
}

std::optional<std::string> decide_labels(const LabelCells& found, const LabelOptions& options,
                                         std::vector<std::string>& notes) {
  const bool asked = options.target_kind == "labels";
  if (!asked && options.target_kind != kAuto) return {};
  if (options.has_separator())
    return options.label_separator == kSpace ? " " : options.label_separator;
  const bool open = options.label_separator == kAuto;
  if (asked) return open ? first_separator(found.cells) : "";
  if (found.lists) return "";
  if (!found.perhaps || !open) return {};
  const std::string separator = find_separator(found.cells);
  if (separator.empty()) {
    note_one_class(found.cells, notes);
    return {};
  }
  notes.push_back(concat("the column 'labels' holds several labels with ",
                         separator == " " ? "a blank" : concat("'", separator, "'"),
                         " between them (data.label_separator=none makes each cell a class)"));
  return separator;
}

std::vector<std::string> labels_in(const std::string& cell, const std::string& separator) {
  std::vector<std::string> labels;
  size_t begin = 0;
  while (!separator.empty() && begin <= cell.size()) {
    const size_t end = std::min(cell.find(separator, begin), cell.size());
    if (const auto part = trim(std::string_view(cell).substr(begin, end - begin)); !part.empty())
      labels.emplace_back(part);
    begin = end + separator.size();
  }
  if (separator.empty() && !cell.empty()) labels.push_back(cell);
  return labels;
}

std::vector<std::string> known_labels(const std::string& cell, const std::string& separator,
                                      const std::vector<std::string>& known) {
  const auto all_known = [&](const std::vector<std::string>& labels) {
    return std::all_of(labels.begin(), labels.end(), [&](const std::string& label) {
      return std::find(known.begin(), known.end(), label) != known.end();
    });
  };
  if (known.empty() || all_known({cell})) return labels_in(cell, known.empty() ? separator : "");
  const std::vector<std::string> own = labels_in(cell, separator);
  if (all_known(own)) return own;
  for (const char other : kSeparators)
    if (const auto parts = labels_in(cell, std::string(1, other)); all_known(parts)) return parts;
  return own;
}

std::vector<std::string> distinct_labels(std::vector<std::string> labels) {
  std::erase_if(labels, [](const std::string& label) { return trim(label).empty(); });
  for (std::string& label : labels) label = std::string(trim(label));
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

bool says_yes(const std::string& cell, const std::string& column, const std::string& place) {
  const std::string text(trim(cell));
  double number = 0;
  if (parse_number(text, number) && (number == 0 || number == 1)) return number == 1;
  const auto is_one_of = [&](std::initializer_list<const char*> words) {
    return std::find(words.begin(), words.end(), text) != words.end();
  };
  const bool yes = is_one_of({"true", "True", "TRUE", "yes"});
  require(yes || is_one_of({"false", "False", "FALSE", "no", ""}), ErrorKind::BadData, place,
          ": the column '", column, "' is '", shorten_bytes(text, 40),
          "'; of several target columns each says 0 or 1");
  return yes;
}

}  // namespace fovea
