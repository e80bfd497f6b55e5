// The column to predict: two classes (the second in natural order is the positive one), several
// classes, or a number, which is standardised inside. The kind is inferred unless it is told:
// exactly two different values are two classes; text is classes; whole numbers with at most 20
// different values are classes; any other numbers are a number, money and percentages too.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/json_field.h"
#include "fovea/data/formats/cells.h"
#include "fovea/data/formats/csv.h"
#include "fovea/data/tables/categories.h"
#include "fovea/data/tables/strays.h"
#include "fovea/data/tables/target_transform.h"

namespace fovea {

enum class TargetKind { TwoClasses, Classes, Number };

/// "two-classes", "classes", "number": the words of the option target_kind and of the run's files.
const char* name_of(TargetKind kind);

class TableTarget {
 public:
  /// From the rows of `table` that have a target; `kind` is "auto" or a name of TargetKind. BadData
  /// when nothing can be learnt. `decimal_commas`: the file has them, so that 1.234 may be 1234.
  /// `transform` of numbers: target_transform.h.
  static TableTarget fit(const CsvTable& table, const std::string& name, const std::string& kind,
                         bool decimal_commas = false, const std::string& transform = "none");
  /// A few texts among numbers, such as "sold": rows that have no target.
  static StrayCells find_strays(const CsvTable& table, const std::string& name,
                                const std::string& kind);
  /// The rows that have a target: where the others are numbers, "-" is none.
  static std::vector<int64_t> known_rows(const CsvTable& table, const std::string& name,
                                         const std::vector<std::string>& missing_words);

  Json to_json() const;
  static TableTarget from_json(const Field& field);

  const std::string& name() const { return name_; }
  /// Texts that stand for a missing target.
  const std::vector<std::string>& missing_words() const { return missing_words_; }
  void set_missing_words(std::vector<std::string> words) { missing_words_ = std::move(words); }
  /// A text where a number is due.
  bool is_stray(std::string_view trimmed) const;
  TargetKind kind() const { return kind_; }
  const std::vector<std::string>& classes() const { return classes_; }
  double mean() const { return mean_; }
  double deviation() const { return deviation_; }
  const TargetTransform& transform() const { return transform_; }

  /// The class index, or the standardised number. BadData, beginning with `place`, for what
  /// training has never seen.
  double encode(std::string_view trimmed, const CsvTable& table, int64_t row) const;

  /// Whether encode() takes it, or it is missing.
  bool knows(std::string_view trimmed) const;

  /// "target 'income': two classes 0, 1 (24.1 % are 1)".
  std::string sentence(std::span<const int64_t> class_counts) const;
  /// What else a user should know: how the kind can be changed, a rare class.
  std::vector<std::string> advice(std::span<const int64_t> class_counts) const;

 private:
  int64_t class_index(std::string_view trimmed) const;  // or -1
  std::string name_;
  TargetKind kind_ = TargetKind::TwoClasses;
  std::vector<std::string> classes_;  // as first spelt in the training file
  std::vector<double>
      class_numbers_;  // their values when all are numbers, so that 1 and 1.0 are one class
  CategoryIndex class_index_;
  std::vector<std::string> truth_values_;  // all spellings, where they were taken together
  std::vector<std::string> missing_words_;
  NumberFormat format_;
  bool whole_ = false;               // a number that is always a whole one
  double mean_ = 0, deviation_ = 1;  // of numbers, in their own unit
  TargetTransform transform_;
};

}  // namespace fovea
