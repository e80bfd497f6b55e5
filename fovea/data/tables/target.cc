#include "fovea/data/tables/target.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_set>

#include "fovea/base/error.h"
#include "fovea/base/names.h"
#include "fovea/data/formats/cells.h"
#include "fovea/data/formats/named_cells.h"

namespace fovea {

namespace {

constexpr size_t kMaxIntegerClasses =
    20;  // more different whole numbers than this are a number to predict
constexpr size_t kMaxClasses = 1000;
constexpr int64_t kEnoughTargets = 20;  // rows: fewer may all differ by chance

/// The target's training cells, read once.
struct TargetCells {
  NumberFormat format;
  std::vector<std::string_view> texts;
  std::vector<double> numbers;  // empty unless every cell is a number
  int64_t first_text = -1;      // row of the first cell that is not a number
  std::vector<double> distinct_numbers;
  std::vector<std::string> distinct_texts;
  size_t distinct() const { return std::max(distinct_numbers.size(), distinct_texts.size()); }
};

bool read_numbers(TargetCells& cells) {
  cells.numbers.clear();
  cells.first_text = -1;
  for (size_t row = 0; row < cells.texts.size() && cells.first_text < 0; ++row) {
    double value = 0;
    if (cells.format.parse(cells.texts[row], value))
      cells.numbers.push_back(value);
    else
      cells.first_text = int64_t(row);
  }
  return cells.first_text < 0;
}

/// What the texts are.
void read_cells(TargetCells& cells, char delimiter, bool decimal_commas) {
  if (read_numbers(cells)) {
    if (decimal_commas)
      if (const auto format = NumberFormat::infer_thousands(cells.texts)) {
        cells.format = *format;
        read_numbers(cells);
      }
  } else {
    const int64_t first_text = cells.first_text;
    const auto format = NumberFormat::infer(cells.texts, delimiter);
    cells.format = format.value_or(NumberFormat());
    if (!format || !read_numbers(cells)) cells.format = {}, cells.first_text = first_text;
  }
  if (cells.first_text >= 0) {
    cells.numbers.clear();
    const std::unordered_set<std::string_view> distinct(cells.texts.begin(), cells.texts.end());
    cells.distinct_texts.assign(distinct.begin(), distinct.end());
    sort_naturally(cells.distinct_texts);
  } else {
    cells.distinct_numbers = cells.numbers;
    std::sort(cells.distinct_numbers.begin(), cells.distinct_numbers.end());
    const auto end = std::unique(cells.distinct_numbers.begin(), cells.distinct_numbers.end());
    cells.distinct_numbers.erase(end, cells.distinct_numbers.end());
  }
}

TargetCells read_target(const CsvTable& table, int64_t column, bool decimal_commas) {
  TargetCells cells;
  for (int64_t row = 0; row < table.rows(); ++row)
    cells.texts.push_back(trim_cell(table.cell(row, column)));
  read_cells(cells, table.delimiter, decimal_commas);
  return cells;
}

TargetKind infer_kind(const TargetCells& cells) {
  if (cells.distinct() == 2) return TargetKind::TwoClasses;
  if (cells.first_text >= 0) return TargetKind::Classes;
  const std::vector<double>& values = cells.distinct_numbers;
  const bool whole = std::all_of(values.begin(), values.end(),
                                 [](double value) { return value == std::floor(value); });
  return whole && values.size() <= kMaxIntegerClasses ? TargetKind::Classes : TargetKind::Number;
}

TargetKind parse_kind(const std::string& name) {
  for (const TargetKind kind : {TargetKind::TwoClasses, TargetKind::Classes, TargetKind::Number})
    if (name == name_of(kind)) return kind;
  fail(ErrorKind::InvalidArgument, "target kind '", name,
       "' is not one of auto, two-classes, classes, number");
}

/// Each distinct number as it is first spelt.
std::vector<std::string> first_spellings(const TargetCells& cells) {
  std::vector<std::string> spellings(cells.distinct_numbers.size());
  for (size_t row = 0; row < cells.numbers.size(); ++row) {
    const auto& values = cells.distinct_numbers;
    const auto at =
        std::lower_bound(values.begin(), values.end(), cells.numbers[row]) - values.begin();
    if (spellings[size_t(at)].empty()) spellings[size_t(at)] = cells.texts[row];
  }
  return spellings;
}

}  // namespace

StrayCells TableTarget::find_strays(const CsvTable& table, const std::string& name,
                                    const std::string& kind) {
  if (kind != "auto" && kind != name_of(TargetKind::Number)) return {};
  const int64_t column = table.column(name);
  int64_t present = 0;
  StrayCells no_numbers, no_digits;
  std::vector<std::string_view> texts;
  for (int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view cell = trim_cell(table.cell(row, column));
    if (is_missing_number(cell)) continue;
    texts.push_back(cell);
    ++present;
    double value = 0;
    if (!parse_cell(cell, value)) no_numbers.add(cell, table, row);
    if (cell.find_first_of("0123456789") == std::string_view::npos) no_digits.add(cell, table, row);
  }
  for (const StrayCells* strays : {&no_numbers, &no_digits}) {
    if (strays->count == 0 || !strays->are_few(present)) continue;
    TargetCells rest;
    for (const std::string_view cell : texts)
      if (!strays->words.contains(std::string(cell))) rest.texts.push_back(cell);
    read_cells(rest, table.delimiter, false);
    if (rest.first_text < 0 && (kind != "auto" || infer_kind(rest) == TargetKind::Number))
      return *strays;
  }
  return {};
}

bool TableTarget::is_stray(std::string_view trimmed) const {
  double value = 0;
  return kind_ == TargetKind::Number && !is_missing_number(trimmed) &&
         !format_.parse(trimmed, value) &&
         std::find(missing_words_.begin(), missing_words_.end(), trimmed) == missing_words_.end();
}

std::vector<int64_t> TableTarget::known_rows(const CsvTable& table, const std::string& name,
                                             const std::vector<std::string>& missing_words) {
  const int64_t column = table.column(name);
  std::vector<std::string_view> cells;
  std::vector<int64_t> present, known;
  for (int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view cell = trim_cell(table.cell(row, column));
    if (is_missing(cell) ||
        std::find(missing_words.begin(), missing_words.end(), cell) != missing_words.end())
      continue;
    cells.push_back(cell);
    present.push_back(row);
    if (!is_missing_number(cell)) known.push_back(row);
  }
  const bool dashes = known.size() < present.size();
  return dashes && NumberFormat::infer(cells, table.delimiter) ? known : present;
}

const char* name_of(TargetKind kind) {
  switch (kind) {
    case TargetKind::TwoClasses:
      return "two-classes";
    case TargetKind::Classes:
      return "classes";
    case TargetKind::Number:
      return "number";
  }
  return "number";
}

TableTarget TableTarget::fit(const CsvTable& table, const std::string& name,
                             const std::string& kind, bool decimal_commas,
                             const std::string& transform) {
  const std::string subject = concat(table.path, ": target '", name, "'");
  require(table.rows() > 0, ErrorKind::BadData, subject,
          " is missing in every row; nothing can be learnt");
  TargetCells cells = read_target(table, table.column(name), decimal_commas);
  require(cells.distinct() > 1, ErrorKind::BadData, subject, " is always '",
          shorten_bytes(cells.texts[0], 100), "' in the ", format_count(table.rows()),
          table.rows() == 1 ? " training row" : " training rows", "; nothing can be learnt");
  TableTarget target;
  target.name_ = name;
  target.format_ = cells.format;
  if (cells.first_text >= 0 && kind != name_of(TargetKind::Classes)) {
    std::map<std::string_view, int64_t> counts;
    for (const std::string_view text : cells.texts) ++counts[text];
    if (const auto spellings = truth_spellings(counts)) {
      target.truth_values_ = cells.distinct_texts;
      cells.distinct_texts.assign(spellings->begin(), spellings->end());
    }
  }
  target.kind_ = kind == "auto" ? infer_kind(cells) : parse_kind(kind);
  if (target.kind_ == TargetKind::Number) {
    if (cells.first_text >= 0)
      fail(ErrorKind::BadData, table.place(cells.first_text), ": target '", name, "' is '",
           cells.texts[size_t(cells.first_text)], "', a number is expected (target_kind=number)");
    double sum = 0, squares = 0;
    for (const double value : cells.numbers) sum += value;
    target.mean_ = sum / double(cells.numbers.size());
    for (const double value : cells.numbers)
      squares += (value - target.mean_) * (value - target.mean_);
    target.deviation_ = std::sqrt(squares / double(cells.numbers.size()));
    require(target.deviation_ > 0, ErrorKind::BadData, subject, " varies too little to be learnt");
    target.transform_ = TargetTransform::fit(transform, cells.numbers, subject);
    target.whole_ = std::all_of(cells.numbers.begin(), cells.numbers.end(),
                                [](double value) { return value == std::floor(value); });
    return target;
  }
  require(target.kind_ == TargetKind::Classes || cells.distinct() == 2, ErrorKind::BadData, subject,
          " has ", cells.distinct(), " different values; target_kind=two-classes needs exactly 2");
  const std::string no_number =
      cells.first_text < 0 ? ""
                           : concat(" (it is no number because of '",
                                    shorten_bytes(cells.texts[size_t(cells.first_text)], 100),
                                    "' at ", table.place(cells.first_text), ")");
  if (cells.distinct() > kMaxClasses)
    fail(ErrorKind::BadData, subject, " has ", format_count(int64_t(cells.distinct())),
         " classes; at most ", format_count(kMaxClasses), " can be learnt",
         cells.first_text < 0 ? "; with target_kind=number it is a number" : no_number);
  const bool identifiers = cells.first_text >= 0 && table.rows() >= kEnoughTargets &&
                           int64_t(cells.distinct()) > table.rows() / 2;
  require(!identifiers || kind != "auto", ErrorKind::BadData, subject, " has ",
          format_count(int64_t(cells.distinct())), " different values in ",
          format_count(table.rows()), " rows", no_number,
          ": is it a name or a text rather than a class? --set data.target_kind=classes learns it "
          "all the same");
  target.class_numbers_ = cells.distinct_numbers;
  target.classes_ = cells.first_text >= 0 ? cells.distinct_texts : first_spellings(cells);
  target.class_index_ = CategoryIndex(target.classes_);
  return target;
}

int64_t TableTarget::class_index(std::string_view trimmed) const {
  double value;
  if (class_numbers_.empty() || !format_.parse(trimmed, value)) return class_index_.find(trimmed);
  const auto found = std::lower_bound(class_numbers_.begin(), class_numbers_.end(), value);
  return found != class_numbers_.end() && *found == value ? found - class_numbers_.begin() : -1;
}

double TableTarget::encode(std::string_view trimmed, const CsvTable& table, int64_t row) const {
  if (kind_ == TargetKind::Number) {
    double value;
    if (!format_.parse(trimmed, value))
      fail(ErrorKind::BadData, table.place(row), ": target '", name_, "' is '", trimmed,
           "', a number is expected");
    if (transform_.is_none()) return (value - mean_) / deviation_;
    const double encoded = transform_.encode(value);
    require(std::isfinite(encoded), ErrorKind::BadData, table.place(row), ": target '", name_,
            "' is '", trimmed,
            "', which has no logarithm as those of the training rows have; "
            "--set data.target_transform=quantile takes any number");
    return encoded;
  }
  const int64_t index = class_index(trimmed);
  if (index < 0)
    fail(ErrorKind::BadData, table.place(row), ": target '", name_, "' is '", trimmed,
         "', a class that the training rows do not have; they have ", quoted_list(classes_, 20));
  return double(index);
}

bool TableTarget::knows(std::string_view trimmed) const {
  if (kind_ == TargetKind::Number) return !is_stray(trimmed);
  return is_missing(trimmed) || class_index(trimmed) >= 0 ||
         std::find(missing_words_.begin(), missing_words_.end(), trimmed) != missing_words_.end();
}

std::string TableTarget::sentence(std::span<const int64_t> class_counts) const {
  if (kind_ == TargetKind::Number)
    return concat(
        "target '", name_, "': a number, mean ", format_number(mean_), ", deviation ",
        format_number(deviation_),
        transform_.is_none()
            ? ""
            : concat("; its ", transform_.name() == "log" ? "logarithm is" : "quantiles are",
                     " learned (data.target_transform)"));
  double total = 0;
  for (const int64_t count : class_counts) total += double(count);
  if (kind_ == TargetKind::TwoClasses)
    return concat("target '", name_, "': two classes ", classes_[0], ", ", classes_[1], " (",
                  format_number(100 * double(class_counts[1]) / total, 3), " % are ", classes_[1],
                  ")");
  const auto most = std::max_element(class_counts.begin(), class_counts.end());
  constexpr size_t kShown = 10;
  const std::span<const std::string> shown(classes_.data(), std::min(classes_.size(), kShown));
  return concat("target '", name_, "': ", classes_.size(), " classes ", join(shown),
                classes_.size() > kShown ? ", …" : "", " (",
                format_number(100 * double(*most) / total, 3), " % are ",
                classes_[size_t(most - class_counts.begin())], ")");
}

std::vector<std::string> TableTarget::advice(std::span<const int64_t> class_counts) const {
  std::vector<std::string> advice;
  if (kind_ == TargetKind::Number && whole_)
    advice.push_back(concat("target '", name_,
                            "': whole numbers; --set data.target_kind=classes makes classes of "
                            "them"));
  if (kind_ == TargetKind::Classes && !class_numbers_.empty())
    advice.push_back(concat("target '", name_,
                            "': its classes are numbers; --set data.target_kind=number predicts a "
                            "number"));
  if (!truth_values_.empty())
    advice.push_back(concat("target '", name_, "': ", quoted_list(truth_values_),
                            " are read as truth values, two classes; "
                            "--set data.target_kind=classes keeps them apart"));
  std::map<std::string, std::string> spellings;
  for (const std::string& name : classes_) {
    const auto [known, fresh] = spellings.emplace(lower_ascii(name), name);
    if (!fresh)
      advice.push_back(concat("target '", name_, "': the classes '", known->second, "' and '", name,
                              "' differ only in case; if they are the same, write them alike"));
  }
  constexpr double kRare = 0.05;
  double total = 0;
  for (const int64_t count : class_counts) total += double(count);
  if (kind_ != TargetKind::TwoClasses || class_counts.size() != 2) return advice;
  const size_t rare = class_counts[1] <= class_counts[0] ? 1 : 0;
  if (double(class_counts[rare]) < kRare * total)
    advice.push_back(concat("only ", format_number(100 * double(class_counts[rare]) / total, 3),
                            " % of the rows are '", classes_[rare],
                            "': accuracy says little, look at auc"));
  return advice;
}

Json TableTarget::to_json() const {
  Json json{{"name", name_}, {"kind", name_of(kind_)}};
  if (!format_.is_plain()) json["format"] = format_.to_json();
  if (!missing_words_.empty()) json["missing_words"] = missing_words_;
  if (kind_ == TargetKind::Number) {
    json["mean"] = mean_;
    json["deviation"] = deviation_;
    if (!transform_.is_none()) json["transform"] = transform_.to_json();
  } else {
    json["classes"] = classes_;
    json["class_numbers"] = class_numbers_;
  }
  return json;
}

TableTarget TableTarget::from_json(const Field& field) {
  TableTarget target;
  target.name_ = field.at("name").text();
  target.kind_ = parse_kind(field.at("kind").text());
  if (const auto format = field.find("format")) target.format_ = NumberFormat::from_json(*format);
  if (const auto words = field.find("missing_words")) target.missing_words_ = words->texts();
  if (target.kind_ == TargetKind::Number) {
    target.mean_ = field.at("mean").finite();
    target.deviation_ = field.at("deviation").deviation();
    if (const auto transform = field.find("transform"))
      target.transform_ = TargetTransform::from_json(*transform);
    return target;
  }
  const Field classes = field.at("classes");
  target.classes_ = classes.texts();
  const bool two = target.kind_ == TargetKind::TwoClasses;
  require(target.classes_.size() >= 2 && (!two || target.classes_.size() == 2), ErrorKind::BadData,
          classes.place(), ": found ", target.classes_.size(), ", expected ",
          two ? "two" : "at least two");
  target.class_numbers_ = field.at("class_numbers").finites();
  require(target.class_numbers_.empty() || target.class_numbers_.size() == target.classes_.size(),
          ErrorKind::BadData, field.place(), ": has ", target.classes_.size(), " classes and ",
          target.class_numbers_.size(), " class numbers");
  target.class_index_ = CategoryIndex(target.classes_);
  return target;
}

}  // namespace fovea
