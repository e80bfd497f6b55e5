#include "fovea/data/documents/targets.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/text.h"
#include "fovea/data/load.h"

namespace fovea {

namespace {

using Texts = SplitRows<LabelledText>;

constexpr const char* kAuto = "auto";

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

/// What the options leave open.
void decide_kind(const LabelCells& found, const DocumentTargetOptions& options,
                 DocumentTarget& target, Notes& notes) {
  if (!found.lists && !options.has_separator() && are_numbers(found.cells)) {
    target.kind = AnswerKind::Number;
    notes.push_back(concat("the labels are ", found.cells.size(),
                           " different numbers, not all of them whole: a number is learned "
                           "(data.target_kind=class makes each a class)"));
  } else if (const auto separator = decide_labels(found, options, notes)) {
    target.kind = AnswerKind::Labels;
    target.separator = *separator;
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

}  // namespace

void DocumentTargetOptions::describe(OptionList& list) {
  list.add("target_kind", target_kind,
           "what a label is: one class, any number of labels, or a number; auto: "
           "docs/formats/labelled-text.md has the rule")
      .choices({kAuto, "class", "labels", "number"});
  describe_label_separator(list, label_separator);
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
  LabelCells found;
  rows.for_each([&](const LabelledText& row, Split) { found.add(row.label, row.cell); });
  if (options.target_kind == kAuto) {
    decide_kind(found, options, target, notes);
  } else {
    target.kind =
        AnswerKind(std::find(kAnswerKinds.begin(), kAnswerKinds.end(), options.target_kind) -
                   kAnswerKinds.begin());
    target.separator = decide_labels(found, options, notes).value_or("");
  }
  apply_target(target, {}, rows, notes);
  if (target.kind == AnswerKind::Number) fit_numbers(rows, target);
  return target;
}

void apply_target(const DocumentTarget& target, const std::vector<std::string>& known, Texts& rows,
                  Notes& notes) {
  if (target.kind == AnswerKind::Labels) {
    rows.transform([separator = target.separator, known](LabelledText& row) {
      if (row.cell != LabelCell::List) put_labels(known_labels(row.label, separator, known), row);
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
