#include "fovea/data/documents/targets.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/text.h"
#include "fovea/data/load.h"

namespace fovea {

namespace {

using Texts = SplitRows<LabelledText>;

constexpr const char *kAuto = "auto", *kNone = "none", *kSpace = "space";
constexpr char kSeparators[] = {'|', ';', ',', ' '};  // in the order in which they are tried

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

/// What stands where the labels are, of all rows.
struct LabelCells {
  std::set<std::string> different = {};
  bool lists = false, perhaps = false;  // some rows have such cells

  explicit LabelCells(const Texts& rows) {
    rows.for_each([&](const LabelledText& row, Split) {
      if (!row.label.empty()) different.insert(row.label);
      lists = lists || row.cell == LabelCell::List;
      perhaps = perhaps || row.cell == LabelCell::Perhaps;
    });
  }
};

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

/// Of cells that somebody says are labels: what parts any of them.
std::string first_separator(const std::set<std::string>& cells) {
  const std::string found = find_separator(cells);
  for (const char separator : {'|', ';', ','})
    for (const std::string& cell : cells)
      if (found.empty() && cell.find(separator) != std::string::npos)
        return std::string(1, separator);
  return found;
}

/// All are numbers, and more than class numbers would be.
bool are_numbers(const std::set<std::string>& cells) {
  std::set<double> values;
  bool whole = true;
  for (const std::string& cell : cells) {
    double value = 0;
    if (!parse_number(cell, value) || !std::isfinite(value)) return false;
    values.insert(value);
    whole = whole && value == std::floor(value);
  }
  return !whole && values.size() >= 3;
}

std::string shown_separator(const std::string& separator) {
  return separator == " " ? "a blank" : concat("'", separator, "'");
}

/// Labels are cells of a column of that name, but no separator makes labels of them.
void note_one_class(const std::set<std::string>& cells, Notes& notes) {
  for (const char separator : {'|', ';', ','})
    for (const std::string& cell : cells)
      if (cell.find(separator) != std::string::npos) {
        notes.push_back(concat("every cell of the column 'labels' is read as one class, also '",
                               shorten_bytes(cell, 40), "'; data.label_separator=", separator,
                               " makes several labels of it"));
        return;
      }
}

/// What the options leave open.
void decide_kind(const Texts& rows, const DocumentTargetOptions& options, DocumentTarget& target,
                 Notes& notes) {
  const auto [cells, lists, perhaps] = LabelCells(rows);
  const bool given = options.label_separator != kAuto && options.label_separator != kNone;
  if (lists || given) {
    target.kind = AnswerKind::Labels;
  } else if (are_numbers(cells)) {
    target.kind = AnswerKind::Number;
    notes.push_back(concat("the labels are ", cells.size(),
                           " different numbers, not all of them whole: a number is learned "
                           "(data.target_kind=class makes each a class)"));
  } else if (perhaps && options.label_separator == kAuto) {
    target.separator = find_separator(cells);
    if (target.separator.empty()) return note_one_class(cells, notes);
    target.kind = AnswerKind::Labels;
    notes.push_back(concat("the column 'labels' holds several labels with ",
                           shown_separator(target.separator),
                           " between them (data.label_separator=none makes each cell a class)"));
  }
}

/// mean and deviation of the training rows.
void fit_numbers(const Texts& rows, DocumentTarget& target) {
  double sum = 0, squares = 0;
  const auto count = double(rows.train.size());
  rows.train.for_each([&](const LabelledText& row) { sum += label_number(row.label); });
  target.mean = sum / std::max(count, 1.0);
  rows.train.for_each([&](const LabelledText& row) {
    squares += std::pow(label_number(row.label) - target.mean, 2);
  });
  target.deviation = std::sqrt(squares / std::max(count, 1.0));
  require(target.deviation > 0, ErrorKind::BadData, "all training texts have the number ",
          format_number(target.mean, 6), "; there is nothing to learn");
}

/// A cell as the labels that the run knows: as a whole, or cut where that gives known ones.
std::vector<std::string> known_labels(const std::string& cell, const DocumentTarget& target,
                                      const std::vector<std::string>& known) {
  const auto all_known = [&](const std::vector<std::string>& labels) {
    return std::all_of(labels.begin(), labels.end(), [&](const std::string& label) {
      return std::find(known.begin(), known.end(), label) != known.end();
    });
  };
  if (known.empty() || all_known({cell}))
    return labels_in(cell, known.empty() ? target.separator : "");
  const std::vector<std::string> own = labels_in(cell, target.separator);
  if (all_known(own)) return own;
  for (const char separator : kSeparators)
    if (const auto parts = labels_in(cell, std::string(1, separator)); all_known(parts))
      return parts;
  return own;
}

}  // namespace

void DocumentTargetOptions::describe(OptionList& list) {
  list.add("target_kind", target_kind,
           "what a label is: one class, any number of labels, or a number; auto: "
           "docs/formats/labelled-text.md has the rule")
      .choices({kAuto, "class", "labels", "number"});
  list.add("label_separator", label_separator,
           "what stands between several labels of a cell: a text, or space; none: a cell is one "
           "class; auto: , | ; or a blank in a column called labels");
}

double label_number(const std::string& label) {
  double number = 0;
  require(parse_number(label, number) && std::isfinite(number), ErrorKind::BadData,
          "a text has the label '", shorten_bytes(label, 60),
          "', where a number is expected (data.target_kind)");
  return number;
}

DocumentTarget decide_target(Texts& rows, const DocumentTargetOptions& options, Notes& notes) {
  DocumentTarget target;
  const std::string& asked = options.target_kind;
  const bool given = options.label_separator != kAuto && options.label_separator != kNone;
  if (asked == kAuto)
    decide_kind(rows, options, target, notes);
  else
    target.kind = AnswerKind(std::find(kAnswerKinds.begin(), kAnswerKinds.end(), asked) -
                             kAnswerKinds.begin());
  if (target.kind == AnswerKind::Labels && given)
    target.separator = options.label_separator == kSpace ? " " : options.label_separator;
  else if (asked == "labels" && options.label_separator == kAuto)
    target.separator = first_separator(LabelCells(rows).different);
  apply_target(target, {}, rows, notes);
  if (target.kind == AnswerKind::Number) fit_numbers(rows, target);
  return target;
}

void apply_target(const DocumentTarget& target, const std::vector<std::string>& known, Texts& rows,
                  Notes& notes) {
  if (target.kind == AnswerKind::Labels) {
    rows.transform([target, known](LabelledText& row) {
      if (row.cell != LabelCell::List) put_labels(known_labels(row.label, target, known), row);
    });
    return;
  }
  int64_t without = 0;
  for (int split = 0; split < kSplitCount; ++split)
    without += rows[split].erase_if([kind = target.kind, split](const LabelledText& row) {
      require(row.labels.size() <= 1, ErrorKind::BadData, "a ", kSplitNames[split],
              " text has the labels ", join(row.labels), ", where one ", name_of(kind),
              " is expected (data.target_kind)");
      return row.label.empty();
    });
  if (without > 0)
    notes.push_back(concat(format_count(without), " rows without a label were left out"));
}

}  // namespace fovea
