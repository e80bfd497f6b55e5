// Tables for the task `features`: predict one column from the others. The encoder learns from the
// training rows how each column becomes inputs (data/tables/column.h) and what the target is
// (data/tables/target.h); stored in the run, it turns raw rows into the same numbers ever after.
// Tensors: "inputs" [N, I] float32 and "target" [N], float32 for two classes (0/1) and for a number
// (standardised), int64 for several classes.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/data/dataset.h"
#include "fovea/data/formats/cells.h"
#include "fovea/data/formats/csv.h"
#include "fovea/data/formats/named_cells.h"
#include "fovea/data/formats/table_rows.h"
#include "fovea/data/tables/column.h"
#include "fovea/data/tables/target.h"

namespace fovea {

/// How a table is read; keys under data.
struct TableOptions {
  std::string target;  // empty: a column called target, label, class or y
  std::string split;   // empty: a column called split whose cells are train, val, …, test
  std::vector<std::string> drop;        // columns to leave out
  std::vector<std::string> features;    // only these columns; empty: all that remain
  std::vector<std::string> keep;        // although every row has another value
  std::vector<std::string> categories;  // although they are numbers
  std::string target_kind = "auto";
  std::string target_transform = "auto";  // of a number: target_transform.h
  std::string standardise = "auto";
  std::string numbers = "pieces";
  int64_t bins = 0;            // pieces of a number at most; 0: by rows and columns
  int64_t max_categories = 0;  // 0: by rows and columns
  double validation_fraction =
      -1;  // below 0: as split_rows() has it; of the built-in data 0.3, its tail
  void describe(OptionList& list);
};

/// What a model must know of an encoded table. I inputs belong to C columns: one attention weight
/// per column.
struct TableLayout {
  std::vector<std::string> columns;
  std::vector<int64_t> column_of_input;  // [I], ascending
  std::vector<std::string> input_names;  // [I]
  std::vector<InputRole> input_roles;    // [I]
  std::vector<double> input_means;  // [I], over the training rows: what an erased column becomes
  std::string target;
  TargetKind kind = TargetKind::TwoClasses;
  std::vector<std::string> classes;              // for two classes the second is the positive one
  double target_mean = 0, target_deviation = 1;  // of a number
  TargetTransform target_transform;
};

class TableDataset : public ColumnDataset {
 public:
  TableDataset(NamedTensors columns, std::shared_ptr<const TableLayout> layout,
               int64_t dropped_rows);
  Example example(int64_t row) const override;
  /// Only these columns matter: planted truth for every row.
  void set_truth(const std::vector<std::string>& columns);
  int64_t dropped_rows() const { return dropped_rows_; }  // rows of the file without a target

 private:
  std::shared_ptr<const TableLayout> layout_;
  at::Tensor truth_;  // [1, C] bool, or undefined
  int64_t dropped_rows_;
};

class TableEncoder {
  struct OddColumns;

 public:
  /// Learns the encodings from the training rows. standardise "auto" means yes here.
  void fit(const TableRows& train, const TableOptions& options);
  /// Texts among the numbers and dates of rows that were held out from fit(), while there are few
  /// of them among all rows of the source: missing ones, and noted.
  void accept_strays(const TableRows& held_out, int64_t all_rows);
  bool fitted() const { return layout_ != nullptr; }

  Json to_json() const;
  static TableEncoder from_json(const Json& json, const std::string& where = "table encoding");

  const TableLayout& layout() const;
  const std::vector<std::string>& notes() const {
    return notes_;
  }  // what fit() inferred, one sentence each
  const std::vector<std::string>& file_columns() const { return file_columns_; }

  /// Rows without a target are left out. NotFound for a missing column, BadData with path:line for
  /// a bad cell.
  std::shared_ptr<TableDataset> encode(const TableRows& table) const;
  /// Every row, with labelled axes and no target: for prediction.
  std::vector<Example> encode_inputs(const CsvTable& table) const;

  /// What the rows hold that training did not, one sentence for each column: unseen categories,
  /// numbers out of range, missing cells.
  std::vector<std::string> check(const TableRows& table) const;
  std::vector<std::string> check(const CsvTable& table) const;
  /// The same of one row that was encoded with its cells.
  std::vector<std::string> check(const Example& row) const;

  /// One raw row for prediction, with labelled axes and no target. Names that training did not know
  /// are ignored where all others are there.
  Example encode_row(const NamedCells& row) const;
  /// Cells in the order of the input columns, of the training file, or of the training file without
  /// the target.
  Example encode_row(const std::vector<std::string>& cells) const;
  /// What separates the cells of the training file.
  char delimiter() const { return delimiter_; }
  /// Whether a row may have as many.
  bool takes_cells(size_t count) const {
    return count == columns_.size() || count == file_columns_.size() ||
           count + 1 == file_columns_.size();
  }

  /// The row [I] as a user would write it, one cell per column.
  std::vector<std::string> decode_row(const at::Tensor& inputs) const;
  const std::vector<TableColumn>& columns() const { return columns_; }
  /// A plain number as the cells of that column are written.
  std::string written(const std::string& column, const std::string& plain_number) const;

 private:
  void finish();
  void note_columns();
  at::Tensor encode_columns(const TableRows& table) const;
  /// Writes the inputs of these rows, [N, I] of zeros before.
  void encode_block(const CsvTable& table, std::span<const int64_t> places, float* inputs) const;
  void check_block(const CsvTable& table, std::span<const int64_t> places, OddColumns& odd) const;
  std::vector<std::string> odd_notes(const OddColumns& odd, const std::string& path,
                                     int64_t rows) const;
  std::vector<int64_t> places_of(const CsvTable& table) const;  // of the columns in the table
  std::vector<TableColumn> columns_;
  TableTarget target_;
  std::vector<std::string> file_columns_, notes_;
  char delimiter_ = ',';
  std::shared_ptr<const TableLayout> layout_;
};

}  // namespace fovea
