#include "fovea/data/tables/infer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_set>

#include "fovea/base/error.h"
#include "fovea/data/formats/cells.h"

namespace fovea {

namespace {

constexpr int64_t kEnoughToJudge = 20;  // rows: fewer may all differ by chance

/// One column of the training rows, read as plain numbers until a cell says otherwise.
struct ColumnCells {
  std::vector<std::string_view> texts;  // trimmed
  std::vector<double> numbers;          // NaN where missing, or no number
  int64_t present = 0, not_numbers = 0, first_not_number = -1;
  std::map<std::string, int64_t> strays;  // cells that are no numbers, while there are few
};

ColumnCells read_column_cells(const CsvTable& table, int64_t column) {
  constexpr size_t kFewStrays = 4;
  ColumnCells cells;
  cells.texts.reserve(size_t(table.rows()));
  cells.numbers.reserve(size_t(table.rows()));
  for (int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view cell = trim_cell(table.cell(row, column));
    double value = NAN;
    if (!is_missing(cell)) {
      ++cells.present;
      if (!parse_cell(cell, value)) {
        value = NAN;
        if (cells.not_numbers++ == 0) cells.first_not_number = row;
        if (cells.strays.size() < kFewStrays) ++cells.strays[std::string(cell)];
      }
    }
    cells.texts.push_back(cell);
    cells.numbers.push_back(value);
  }
  return cells;
}

std::string lower_case_column(std::string_view name) {
  std::string lower(name);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return lower;
}

/// "id", "order_id", "CustomerId", "index", "Unnamed: 0".
bool names_identifier(const std::string& name) {
  const std::string lower = lower_case_column(name);
  for (const char* usual : {"id", "index", "idx", "key", "uuid", "guid", "row", "rownum",
                            "row_number", "rownumber", "no", "no.", "nr", "#"})
    if (lower == usual) return true;
  return lower.starts_with("unnamed: ") || lower.ends_with("_id") || lower.ends_with(" id") ||
         lower.ends_with("-id") || lower.ends_with("_no") || name.ends_with("Id") ||
         name.ends_with("ID") || lower.starts_with("id_");
}

/// Whole numbers of which nearly every row has another: called like an identifier, or counting up
/// through the file with hardly a gap.
bool are_identifiers(const std::string& name, const ColumnCells& cells) {
  if (cells.present < kEnoughToJudge) return false;
  std::unordered_set<double> distinct;
  bool counts_up = true;
  double low = INFINITY, high = -INFINITY, before = -INFINITY;
  for (const double value : cells.numbers) {
    if (std::isnan(value)) continue;
    if (value != std::floor(value)) return false;
    distinct.insert(value);
    counts_up &= value > before;
    before = value;
    low = std::min(low, value), high = std::max(high, value);
  }
  if (double(distinct.size()) < 0.99 * double(cells.present)) return false;
  const bool dense = high - low < 2 * double(cells.present);
  return names_identifier(name) || (counts_up && dense);
}

/// 20110131 in every cell.
bool are_compact_dates(const ColumnCells& cells) {
  return cells.present >= kEnoughToJudge &&
         std::all_of(cells.texts.begin(), cells.texts.end(), [](std::string_view cell) {
           return is_missing_number(cell) ||
                  (cell.size() == 8 && (cell.starts_with("19") || cell.starts_with("20")));
         });
}

InferredColumn number_column(const std::string& name, const ColumnCells& cells,
                             const InferOptions& options, const NumberFormat& format) {
  std::vector<double> values = cells.numbers;
  if (!format.is_plain())
    for (size_t row = 0; row < values.size(); ++row)
      if (is_missing_number(cells.texts[row]) || !format.parse(cells.texts[row], values[row]))
        values[row] = NAN;
  return {TableColumn::of_numbers(name, values, options.numbers, format)};
}

InferredColumn date_column(const std::string& name, const ColumnCells& cells,
                           const InferOptions& options, const DateFormat& format) {
  std::vector<double> times(cells.texts.size(), NAN);
  for (size_t row = 0; row < times.size(); ++row)
    if (const auto time = format.parse(cells.texts[row])) times[row] = time->in_days();
  InferredColumn inferred{TableColumn::of_dates(name, times, format, options.numbers)};
  if (format.is_guess())
    inferred.note = concat("column '", name, "': whether day or month comes first is not clear; ",
                           format.day_first() ? "the day is" : "the month is",
                           " taken to be first. Dates such as 2011-01-31 leave no doubt");
  return inferred;
}

/// With blanks between them: an address such as anna@bern.ch is one.
int64_t blank_separated_words(std::string_view cell) {
  int64_t words = 0;
  bool inside = false;
  for (const char c : cell) {
    const bool blank = c == ' ' || c == '\t' || c == '\n';
    words += !blank && !inside;
    inside = !blank;
  }
  return words;
}

/// How many different cells there are, and words in one of them.
struct TextShape {
  double distinct_share = 0, words = 0;
};

TextShape text_shape(const ColumnCells& cells) {
  std::unordered_set<std::string_view> distinct;
  int64_t words = 0;
  for (const std::string_view cell : cells.texts)
    if (!is_missing(cell) && distinct.insert(cell).second) words += blank_separated_words(cell);
  return {double(distinct.size()) / double(cells.present), double(words) / double(distinct.size())};
}

InferredColumn text_column(const std::string& name, const ColumnCells& cells,
                           const InferOptions& options, const CsvTable& table) {
  constexpr double kMostlyDistinct = 0.5, kNearlyDistinct = 0.95, kSeveralWords = 3;
  const TextShape shape = text_shape(cells);
  const bool enough = cells.present >= kEnoughToJudge;
  const bool almost_numbers = cells.not_numbers * 10 < cells.present;  // a mistake in the file?
  if (enough && shape.distinct_share >= kMostlyDistinct && shape.words >= kSeveralWords) {
    constexpr int64_t kFewRows = 2000, kFewWords = 256, kManyWords = 1024;
    TableColumn column =
        TableColumn::of_words(name, cells.texts, cells.present < kFewRows ? kFewWords : kManyWords);
    if (column.inputs() > 1) return {std::move(column)};
  }
  if (enough && shape.distinct_share >= kNearlyDistinct && !options.keep && !almost_numbers)
    return {{}, true};
  InferredColumn inferred{TableColumn::of_texts(name, cells.texts, options.max_categories)};
  if (almost_numbers)
    inferred.note = concat("column '", name, "' is read as categories because '",
                           cells.texts[size_t(cells.first_not_number)], "' at ",
                           table.place(cells.first_not_number), " is not a number (",
                           format_count(cells.not_numbers), " such cells)");
  return inferred;
}

/// A few texts among many numbers, such as "unknown": no numbers there, and said.
std::optional<InferredColumn> number_column_with_strays(const std::string& name,
                                                        const ColumnCells& cells,
                                                        const InferOptions& options,
                                                        const CsvTable& table) {
  constexpr double kFew = 0.05;
  constexpr size_t kFewSpellings = 3;
  if (cells.strays.size() > kFewSpellings ||
      double(cells.not_numbers) > kFew * double(cells.present))
    return {};
  InferredColumn inferred{TableColumn::of_numbers(name, cells.numbers, options.numbers)};
  std::vector<std::string> words;
  for (const auto& [word, count] : cells.strays) words.push_back(word);
  inferred.note = concat("column '", name, "' is read as numbers; ", quoted_list(words),
                         " (first at ", table.place(cells.first_not_number), ", ",
                         format_count(cells.not_numbers), " such cells) is taken as missing");
  inferred.column->set_missing_words(std::move(words));
  return inferred;
}

}  // namespace

bool has_decimal_commas(const CsvTable& table) {
  std::vector<std::string_view> cells;
  for (int64_t column = 0; column < table.columns(); ++column) {
    cells.clear();
    for (int64_t row = 0; row < std::min(table.rows(), kRowsToJudge); ++row)
      cells.push_back(trim_cell(table.cell(row, column)));
    const auto format = NumberFormat::infer(cells, table.delimiter);
    if (format && format->has_decimal_comma() && !format->is_guess()) return true;
  }
  return false;
}

InferredColumn infer_column(const CsvTable& table, const std::string& name,
                            const InferOptions& options) {
  const ColumnCells cells = read_column_cells(table, table.column(name));
  if (cells.present == 0) return {};
  if (options.category) return {TableColumn::of_texts(name, cells.texts, options.max_categories)};
  if (cells.not_numbers == 0) {
    if (are_compact_dates(cells))
      if (const auto format = DateFormat::infer(cells.texts))
        return date_column(name, cells, options, *format);
    if (!options.keep && are_identifiers(name, cells)) return {{}, true};
    const auto thousands =
        options.decimal_commas ? NumberFormat::infer_thousands(cells.texts) : std::nullopt;
    if (!thousands) return number_column(name, cells, options, {});
    InferredColumn inferred = number_column(name, cells, options, *thousands);
    const auto example =
        std::find_if(cells.texts.begin(), cells.texts.end(),
                     [](std::string_view cell) { return cell.find('.') < cell.size(); });
    inferred.note = concat("column '", name, "': ", thousands->sentence(*example),
                           ", since the file has decimal commas");
    return inferred;
  }
  if (const auto format = NumberFormat::infer(cells.texts, table.delimiter)) {
    InferredColumn inferred = number_column(name, cells, options, *format);
    const std::string_view example = cells.texts[size_t(cells.first_not_number)];
    if (!is_missing_number(example))
      inferred.note =
          concat("column '", name, "': ", format->sentence(example),
                 format->is_guess() ? "; if that is wrong, write it without the comma" : "");
    return inferred;
  }
  if (const auto format = DateFormat::infer(cells.texts))
    return date_column(name, cells, options, *format);
  if (auto inferred = number_column_with_strays(name, cells, options, table)) return *inferred;
  return text_column(name, cells, options, table);
}

}  // namespace fovea
