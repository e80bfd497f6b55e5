#include "fovea/data/tables/infer.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "fovea/base/error.h"
#include "fovea/base/names.h"
#include "fovea/data/formats/cells.h"
#include "fovea/data/tables/strays.h"

namespace fovea {

namespace {

constexpr int64_t kEnoughToJudge = 20;  // rows: fewer may all differ by chance

/// One column of the training rows, read as plain numbers until a cell says otherwise.
struct ColumnCells {
  std::vector<std::string_view> texts;  // trimmed
  std::vector<double> numbers;          // NaN where missing, or no number
  int64_t present = 0, not_numbers = 0, first_not_number = -1;
};

ColumnCells read_column_cells(const CsvTable& table, int64_t column) {
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
      }
    }
    cells.texts.push_back(cell);
    cells.numbers.push_back(value);
  }
  return cells;
}

/// "id", "order_id", "CustomerId", "index", "Unnamed: 0".
bool names_identifier(const std::string& name) {
  const std::string lower = lower_ascii(name);
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
  const auto numbers = double(cells.present - cells.not_numbers);  // the others are slips: "Total"
  if (double(distinct.size()) < 0.99 * numbers) return false;
  const bool dense = high - low < 2 * numbers;
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

/// With letters in them and blanks between them: an address such as anna@bern.ch is one, the
/// telephone number +41 31 123 45 67 none.
int64_t blank_separated_words(std::string_view cell) {
  int64_t words = 0;
  bool counted = false;
  for (const char c : cell) {
    const bool blank = c == ' ' || c == '\t' || c == '\n';
    const bool letter = (c & 0x80) != 0 || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    words += letter && !counted;
    counted = !blank && (counted || letter);
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

bool has_digit(std::string_view cell) {
  return std::any_of(cell.begin(), cell.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// "5 kg" and "300 g": each is a number, together they are none.
bool are_of_several_units(const ColumnCells& cells, char delimiter) {
  constexpr int64_t kEnoughNumbers = 10;
  int64_t seen = 0;
  for (const std::string_view& cell : cells.texts) {
    if (is_missing_number(cell)) continue;
    if (seen == kRowsToJudge) break;
    ++seen;
    if (!has_digit(cell) || !NumberFormat::infer(std::span(&cell, 1), delimiter)) return false;
  }
  return seen >= kEnoughNumbers;
}

InferredColumn category_column(const std::string& name, std::vector<std::string_view> cells,
                               const InferOptions& options) {
  const std::string merged = merge_spellings(cells);
  InferredColumn inferred{TableColumn::of_texts(name, cells, options.max_categories)};
  if (!merged.empty()) inferred.note = concat("column '", name, "': ", merged);
  return inferred;
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
  InferredColumn inferred = category_column(name, cells.texts, options);
  if (almost_numbers)
    inferred.note = concat("column '", name, "' is read as categories because '",
                           cells.texts[size_t(cells.first_not_number)], "' at ",
                           table.place(cells.first_not_number), " is not a number (",
                           format_count(cells.not_numbers), " such cells)");
  else if (are_of_several_units(cells, table.delimiter))
    inferred.note = concat(
        "column '", name, "' has numbers of several units, such as '",
        cells.texts[size_t(cells.first_not_number)], "' at ", table.place(cells.first_not_number),
        ": read as categories. Written in one unit they would be read as numbers");
  return inferred;
}

/// The cells, with "" for those.
std::vector<std::string_view> without(const std::vector<std::string_view>& cells,
                                      const StrayCells& strays) {
  std::vector<std::string_view> rest = cells;
  for (std::string_view& cell : rest)
    if (strays.words.contains(std::string(cell))) cell = "";
  return rest;
}

/// A few texts among numbers or dates, such as "unknown": missing ones, and said. Of a single
/// spelling there may be many where the others are no few codes: nothing is lost by it.
std::optional<InferredColumn> column_with_strays(const std::string& name, const ColumnCells& cells,
                                                 const InferOptions& options,
                                                 const CsvTable& table) {
  constexpr double kMany = 0.5;
  constexpr size_t kNoCodes = 20;
  const auto may_be = [&](const StrayCells& strays, const std::vector<std::string_view>& rest) {
    if (strays.count == 0 || strays.words.size() > StrayCells::kFewSpellings) return false;
    if (strays.are_few(cells.present)) return true;
    return strays.words.size() == 1 && double(strays.count) <= kMany * double(cells.present) &&
           std::unordered_set<std::string_view>(rest.begin(), rest.end()).size() > kNoCodes;
  };
  StrayCells no_numbers, no_digits, no_dates;
  for (size_t row = 0; row < cells.texts.size(); ++row) {
    const std::string_view cell = cells.texts[row];
    if (is_missing_number(cell)) continue;
    if (std::isnan(cells.numbers[row])) no_numbers.add(cell, table, int64_t(row));
    if (!has_digit(cell)) no_digits.add(cell, table, int64_t(row));
    if (no_dates.words.size() <= StrayCells::kFewSpellings && !DateFormat::is_date(cell))
      no_dates.add(cell, table, int64_t(row));
  }
  const auto said = [&](InferredColumn inferred, const char* what, const StrayCells& strays) {
    inferred.note += concat(inferred.note.empty() ? "" : ". ", "column '", name, "' is read as ",
                            what, "; ", strays.sentence());
    inferred.column->set_missing_words(strays.list());
    return inferred;
  };
  ColumnCells rest = cells;
  if (rest.texts = without(cells.texts, no_numbers); may_be(no_numbers, rest.texts)) {
    if (!options.keep && are_identifiers(name, cells)) return InferredColumn{{}, true};
    return said(number_column(name, rest, options, {}), "numbers", no_numbers);
  }
  if (rest.texts = without(cells.texts, no_digits); may_be(no_digits, rest.texts))
    if (const auto format = NumberFormat::infer(rest.texts, table.delimiter))
      return said(number_column(name, rest, options, *format), "numbers", no_digits);
  if (rest.texts = without(cells.texts, no_dates); may_be(no_dates, rest.texts))
    if (const auto format = DateFormat::infer(rest.texts))
      return said(date_column(name, rest, options, *format), "dates", no_dates);
  return {};
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
  if (options.category) return category_column(name, cells.texts, options);
  if (cells.not_numbers == 0) {
    if (are_compact_dates(cells))
      if (const auto format = DateFormat::infer(cells.texts))
        return date_column(name, cells, options, *format);
    if (!options.keep && are_identifiers(name, cells)) return {{}, true};
    const auto thousands = options.decimal_commas || table.delimiter == ';'
                               ? NumberFormat::infer_thousands(cells.texts)
                               : std::nullopt;
    if (!thousands) return number_column(name, cells, options, {});
    const NumberFormat format = options.decimal_commas ? *thousands : NumberFormat();
    InferredColumn inferred = number_column(name, cells, options, format);
    const auto example =
        std::find_if(cells.texts.begin(), cells.texts.end(),
                     [](std::string_view cell) { return cell.find('.') < cell.size(); });
    inferred.note =
        concat("column '", name, "': ", format.sentence(*example),
               options.decimal_commas ? ", since the file has decimal commas"
                                      : "; if that is wrong, write it without the point");
    return inferred;
  }
  // Where one column proves decimal commas, the others of the file have them too.
  const char delimiter = options.decimal_commas ? ';' : table.delimiter;
  if (const auto format = NumberFormat::infer(cells.texts, delimiter)) {
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
  if (auto inferred = column_with_strays(name, cells, options, table)) return *inferred;
  return text_column(name, cells, options, table);
}

}  // namespace fovea
