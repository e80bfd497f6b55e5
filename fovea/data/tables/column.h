// One column of a table and how its cells become inputs, by its kind:
//   number    its value and pieces (number.h)
//   category  one 0/1 input per category, the most frequent first, and one for the rest ("other")
//   date      days, year, month, weekday, hour (calendar.h)
//   text      words (words.h)
// and one 0/1 input for "missing" at the end, where training saw missing cells. A column that is
// always the same becomes one zero.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/json_field.h"
#include "fovea/data/formats/cells.h"
#include "fovea/data/tables/calendar.h"
#include "fovea/data/tables/categories.h"
#include "fovea/data/tables/number.h"
#include "fovea/data/tables/words.h"

namespace fovea {

enum class ColumnKind { Number, Category, Date, Text };

/// "number", "category", "date", "text": the words of the run's files.
const char* name_of(ColumnKind kind);

/// What an input says of its column. A linear model does without the pieces.
enum class InputRole { Value, Piece, Category, Missing, Word };

/// What a cell is beside the training cells.
enum class CellCheck {
  Usual,
  Unseen,      // a category, or a text none of whose words, training saw
  OutOfRange,  // a number or a date far from those of training
  Missing,     // training saw no missing one
  Unreadable,  // text where a number or a date is due
};

class TableColumn {
 public:
  /// From the training values; NaN stands for a missing one, and at least one value is there.
  static TableColumn of_numbers(std::string name, std::span<const double> values,
                                const NumberFit& fit, const NumberFormat& format = {});
  /// From the training cells, already trimmed. At most `max_categories` get an input of their own.
  static TableColumn of_texts(std::string name, std::span<const std::string_view> cells,
                              int64_t max_categories);
  /// From the training times in days; NaN stands for a missing one.
  static TableColumn of_dates(std::string name, std::span<const double> times,
                              const DateFormat& format, const NumberFit& fit);
  /// From the training cells, with at most `most` words.
  static TableColumn of_words(std::string name, std::span<const std::string_view> cells,
                              int64_t most);

  Json to_json() const;
  static TableColumn from_json(const Field& field);

  const std::string& name() const { return name_; }
  ColumnKind kind() const { return kind_; }
  bool is_number() const { return kind_ == ColumnKind::Number; }
  bool is_constant() const { return constant_; }
  double mean() const { return number_.mean(); }
  double deviation() const { return number_.deviation(); }
  const NumberEncoding& number() const { return number_; }
  const CalendarEncoding& calendar() const { return calendar_; }
  double missing_share() const { return missing_share_; }
  double other_share() const { return other_share_; }
  const std::vector<std::string>& categories() const { return categories_; }
  /// Texts among the training numbers that were taken for missing ones.
  const std::vector<std::string>& missing_words() const { return missing_words_; }
  void set_missing_words(std::vector<std::string> words) { missing_words_ = std::move(words); }

  int64_t inputs() const { return inputs_; }
  std::vector<std::string> input_names() const;  // "age", "age[17..25]", "sex=Female"
  std::vector<double> input_means() const;       // over the training rows
  std::vector<InputRole> input_roles() const;

  /// Writes the cell's inputs() numbers; `inputs` holds zeros before. False for an unreadable cell.
  bool encode(std::string_view cell, float* inputs) const;
  void encode(double value, float* inputs) const;  // numbers and dates only; NaN is missing
  CellCheck check(std::string_view cell) const;
  /// The cell that gives these inputs; "" for a missing one, and for a category without a name.
  std::string decode(const float* inputs) const;
  /// A plain number as the cells of this column are written.
  std::string written(const std::string& plain_number) const;

 private:
  void finish();
  bool is_missing_cell(std::string_view trimmed) const;
  bool parse(std::string_view trimmed, double& value) const;  // numbers and dates
  std::vector<double> own_means() const;                      // without the one for "missing"

  std::string name_;
  ColumnKind kind_ = ColumnKind::Number;
  bool constant_ = false;
  double missing_share_ = 0, other_share_ = 0;
  int64_t inputs_ = 0;
  std::vector<std::string> missing_words_;
  NumberFormat format_;
  NumberEncoding number_;
  CalendarEncoding calendar_;
  WordEncoding words_;
  std::vector<std::string> categories_;
  std::vector<double> shares_;  // of each category in training
  CategoryIndex index_;
};

}  // namespace fovea
