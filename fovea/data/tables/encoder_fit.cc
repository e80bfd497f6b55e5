// The half of TableEncoder that learns; table.cc is the half that applies what was learnt.
#include <algorithm>
#include <cmath>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/data/tables/encoder.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

/// The columns to learn from, in the order of the file.
std::vector<std::string> choose_features(const std::vector<std::string>& names,
                                         const std::string& target, const TableOptions& options,
                                         const std::string& where) {
  const auto has = [](const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  for (const auto* list : {&options.drop, &options.features})
    for (const std::string& name : *list) {
      require(has(names, name), ErrorKind::NotFound, where, ": there is no column '", name, "'",
              suggestion(name, names), "; the columns are: ", quoted_list(names, 30));
      require(name != target, ErrorKind::InvalidArgument, "column '", name,
              "' is the target: it cannot be ", list == &options.drop ? "dropped" : "an input",
              " as well");
    }
  std::vector<std::string> chosen;
  for (const std::string& name : names) {
    const bool wanted =
        options.features.empty() ? name != options.split : has(options.features, name);
    if (wanted && name != target && !has(options.drop, name)) chosen.push_back(name);
  }
  require(!chosen.empty(), ErrorKind::BadData, where, ": no column is left to predict '", target,
          "' from");
  return chosen;
}

/// One column of the training rows, read as numbers until a cell says otherwise.
struct ColumnCells {
  std::vector<std::string_view> texts;
  std::vector<double> numbers;  // NaN where missing
  int64_t present = 0, not_numbers = 0, first_not_number = -1;
};

ColumnCells read_column(const CsvTable& table, int64_t column) {
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

/// The target of each training row, for the trees that cut numbers into pieces.
struct TargetRows {
  std::vector<double> values;    // a number, or two classes as 0 and 1
  std::vector<int32_t> classes;  // several classes
  std::vector<int64_t> counts;   // of each class

  void add(const TableTarget& target, double encoded) {
    if (target.kind() == TargetKind::Classes)
      classes.push_back(int32_t(encoded));
    else
      values.push_back(encoded);
    if (target.kind() == TargetKind::Number) return;
    counts.resize(target.classes().size());
    ++counts[size_t(encoded)];
  }
  SplitTarget split_target() const {
    return {values, classes, classes.empty() ? 0 : int64_t(counts.size())};
  }
};

/// More rows bear more pieces; many columns leave room for fewer.
int64_t choose_bins(int64_t rows, int64_t columns) {
  constexpr int64_t kMostBins = 48, kMostPieces = 4096;
  constexpr int64_t kMostFloats = int64_t{1} << 28;  // 1 GiB of all rows
  const auto by_rows = int64_t(std::llround(std::pow(double(rows), 0.4)));
  const int64_t by_memory = kMostFloats / (rows * columns) - 2;
  return std::clamp<int64_t>(std::min({by_rows, kMostPieces / columns, by_memory}), 0, kMostBins);
}

NumberFit number_fit(const TableOptions& options, bool standardise, const TargetRows& target,
                     int64_t rows, int64_t columns) {
  return {standardise, options.numbers == "pieces",
          options.bins > 0 ? options.bins : choose_bins(rows, columns), target.split_target()};
}

}  // namespace

void TableEncoder::fit(const CsvTable& train, const TableOptions& options) {
  TableEncoder fresh;
  fresh.file_columns_ = train.names;
  const std::string target = choose_target(train, options.target);
  const CsvTable rows = rows_with(train, train.column(target));
  fresh.target_ = TableTarget::fit(rows, target, options.target_kind);
  TargetRows target_rows;
  for (int64_t row = 0, at = rows.column(target); row < rows.rows(); ++row)
    target_rows.add(fresh.target_, fresh.target_.encode(trim_cell(rows.cell(row, at)), rows, row));

  const std::vector<std::string> names = choose_features(train.names, target, options, train.path);
  const NumberFit numbers = number_fit(options, options.standardise != "no", target_rows,
                                       rows.rows(), int64_t(names.size()));
  std::vector<std::optional<TableColumn>> columns(names.size());
  std::vector<std::string> notes(names.size());
  run_parallel(int64_t(names.size()), [&](int64_t i) {
    const std::string& name = names[size_t(i)];
    const ColumnCells cells = read_column(rows, rows.column(name));
    if (cells.present == 0) {
      notes[size_t(i)] = concat("column '", name, "' has no values: it is left out");
      return;
    }
    if (cells.not_numbers == 0) {
      columns[size_t(i)] = TableColumn::of_numbers(name, cells.numbers, numbers);
      return;
    }
    columns[size_t(i)] = TableColumn::of_texts(name, cells.texts, options.max_categories);
    if (cells.not_numbers * 10 < cells.present)
      notes[size_t(i)] = concat("column '", name, "' is read as categories because '",
                                cells.texts[size_t(cells.first_not_number)], "' at ",
                                rows.place(cells.first_not_number), " is not a number (",
                                format_count(cells.not_numbers), " such cells)");
  });
  for (size_t i = 0; i < names.size(); ++i) {
    if (columns[i]) fresh.columns_.push_back(*std::move(columns[i]));
    if (!notes[i].empty()) fresh.notes_.push_back(notes[i]);
  }
  require(!fresh.columns_.empty(), ErrorKind::BadData, train.path,
          ": every column beside the target '", target, "' is empty");
  fresh.finish();
  fresh.note_columns();

  fresh.notes_.insert(fresh.notes_.begin(), fresh.target_.sentence(target_rows.counts));
  *this = std::move(fresh);
}

void TableEncoder::fit(const NumberTable& train, const TableOptions& options) {
  TableEncoder fresh;
  fresh.file_columns_ = train.names;
  fresh.file_columns_.push_back(train.target);
  fresh.target_ = TableTarget::of_two_classes(train.target, train.classes);
  const int64_t rows = train.inputs.size(0), width = train.inputs.size(1);
  const float* values = train.inputs.data_ptr<float>();
  TargetRows target_rows;
  const at::Tensor labels = train.labels.contiguous();  // [N]
  for (int64_t row = 0; row < rows; ++row)
    target_rows.add(fresh.target_, double(labels.data_ptr<int64_t>()[row]));
  std::vector<double> column(static_cast<size_t>(rows));
  const std::vector<std::string> features =
      choose_features(fresh.file_columns_, train.target, options, "built-in data");
  const NumberFit numbers = number_fit(options, options.standardise == "yes", target_rows, rows,
                                       int64_t(features.size()));
  for (const std::string& name : features) {
    const int64_t at =
        std::find(train.names.begin(), train.names.end(), name) - train.names.begin();
    for (int64_t row = 0; row < rows; ++row) column[size_t(row)] = values[row * width + at];
    fresh.columns_.push_back(TableColumn::of_numbers(name, column, numbers));
  }
  fresh.finish();
  fresh.note_columns();
  const int64_t positive = train.labels.sum().item<int64_t>();
  require(positive > 0 && positive < rows, ErrorKind::BadData, "built-in data: target '",
          train.target,
          "' is the same in every training row; nothing can be learnt. Draw more rows");
  fresh.notes_.insert(fresh.notes_.begin(),
                      fresh.target_.sentence(std::vector<int64_t>{rows - positive, positive}));
  *this = std::move(fresh);
}

void TableEncoder::note_columns() {
  int64_t numbers = 0;
  std::vector<std::string> constant, capped, missing;
  for (const TableColumn& column : columns_) {
    numbers += column.is_number();
    if (column.is_constant()) constant.push_back(column.name());
    if (column.other_share() > 0)
      capped.push_back(concat(column.name(), " (", format_number(100 * column.other_share(), 3),
                              " % of the rows)"));
    if (column.missing_share() > 0)
      missing.push_back(
          concat(column.name(), " (", format_number(100 * column.missing_share(), 3), " %)"));
  }
  notes_.push_back(concat(columns_.size(), " columns: ", numbers, " numbers, ",
                          int64_t(columns_.size()) - numbers, " categories; ",
                          layout_->input_names.size(), " inputs"));
  if (!constant.empty())
    notes_.push_back(concat("always the same, encoded as zeros: ", quoted_list(constant)));
  if (!missing.empty())
    notes_.push_back(concat("missing values get an input of their own: ", join(missing)));
  if (!capped.empty())
    notes_.push_back(concat("rare categories are taken together as 'other': ", join(capped)));
}

}  // namespace fovea
