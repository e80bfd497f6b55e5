// One column of a table and how its cells become inputs. A number becomes its value and pieces
// (number.h), followed by a 0/1 input for "missing" when training saw missing cells; a category
// becomes one 0/1 input per category (the most frequent first), one for the rest ("other") and one
// for "missing", where training saw them. A column that is always the same becomes one zero.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fovea/base/json_field.h"
#include "fovea/data/tables/number.h"

namespace fovea {

/// What an input says of its column. A linear model does without the pieces.
enum class InputRole { Value, Piece, Category, Missing };

class TableColumn {
 public:
  /// From the training values; NaN stands for a missing one, and at least one value is there.
  static TableColumn of_numbers(std::string name, std::span<const double> values,
                                const NumberFit& fit);
  /// From the training cells, already trimmed. At most `max_categories` get an input of their own.
  static TableColumn of_texts(std::string name, std::span<const std::string_view> cells,
                              int64_t max_categories);

  Json to_json() const;
  static TableColumn from_json(const Field& field);

  const std::string& name() const { return name_; }
  bool is_number() const { return number_; }
  bool is_constant() const { return constant_; }
  double mean() const { return number_encoding_.mean(); }
  double deviation() const { return number_encoding_.deviation(); }
  const NumberEncoding& number() const { return number_encoding_; }
  double missing_share() const { return missing_share_; }
  double other_share() const { return other_share_; }
  const std::vector<std::string>& categories() const { return categories_; }

  int64_t inputs() const;
  std::vector<std::string> input_names() const;  // "age", "age=(missing)", "sex=Female"
  std::vector<double> input_means() const;       // over the training rows
  std::vector<InputRole> input_roles() const;

  /// Writes the cell's inputs() numbers; `inputs` holds zeros before. False for text where a number
  /// is due.
  bool encode(std::string_view cell, float* inputs) const;
  void encode(double value, float* inputs) const;  // numbers only; NaN is missing
  /// The cell that gives these inputs; "" for a missing one, and for a category without a name.
  std::string decode(const float* inputs) const;

 private:
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  void index_categories();

  std::string name_;
  bool number_ = true, constant_ = false;
  NumberEncoding number_encoding_;
  double missing_share_ = 0, other_share_ = 0;
  std::vector<std::string> categories_;
  std::vector<double> shares_;  // of each category in training
  std::unordered_map<std::string, int64_t, TextHash, std::equal_to<>> index_;
};

}  // namespace fovea
