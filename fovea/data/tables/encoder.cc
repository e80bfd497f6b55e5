#include "fovea/data/tables/encoder.h"

#include <algorithm>
#include <array>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/encode_rows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kMaxElements = int64_t{1} << 32;  // 16 GiB of float32

at::Tensor empty_inputs(int64_t rows, int64_t inputs) {
  require(inputs == 0 || rows <= kMaxElements / inputs, ErrorKind::BadData, format_count(rows),
          " rows of ", format_count(inputs),
          " inputs need more than 16 GiB; drop columns or lower max_categories");
  return torch::zeros({rows, inputs}, torch::kFloat32);
}

/// What an unreadable cell should be: "a number is expected: …".
std::string expected_cell(const TableColumn& column) {
  const std::string expected = concat("a ", name_of(column.kind()), " is expected");
  if (column.kind() != ColumnKind::Date) {
    const std::string plain = "1234.5", written = column.written(plain);
    return concat(expected, ": the training rows had only numbers there",
                  written == plain ? "" : concat(", written as ", written));
  }
  const DateFormat& format = column.calendar().format();
  if (!format.has_date())
    return concat(expected, ": a time such as 17:30, as in the training rows");
  return concat(expected, " such as 2024-12-31 or, with the ",
                format.day_first() ? "day first, 31.12.2024" : "month first, 12/31/2024");
}

/// Cells of one column that training has not seen the like of.
struct OddCells {
  int64_t count = 0;
  std::vector<std::string> examples = {};

  void add(std::string_view cell) {
    constexpr size_t kShown = 3;
    ++count;
    const auto known = std::find(examples.begin(), examples.end(), cell);
    if (examples.size() < kShown && known == examples.end()) examples.emplace_back(cell);
  }
};

/// "training never saw it: treated as other", or "" where nothing is odd.
std::string odd_cell_phrase(CellCheck check, const TableColumn& column) {
  switch (check) {
    case CellCheck::Unseen:
      return column.kind() == ColumnKind::Text ? "training never saw any of its words"
                                               : "training never saw it: treated as other";
    case CellCheck::OutOfRange:
      return column.is_number()
                 ? concat("out of the training range ", format_number(column.number().low(), 6),
                          " to ", format_number(column.number().high(), 6))
                 : "out of the time that training saw";
    case CellCheck::Missing:
      return "training saw no missing value: treated as the mean, a category as none";
    default:
      return "";
  }
}

/// "new.csv: 12 of 500 rows: column 'city' is 'Bonn', 'Ulm', …: training never saw it: …".
std::string odd_cells_sentence(const TableColumn& column, const std::array<OddCells, 5>& found,
                               const std::string& path, int64_t rows) {
  std::vector<std::string> parts;
  for (const CellCheck check : {CellCheck::Unseen, CellCheck::OutOfRange, CellCheck::Missing}) {
    const OddCells& odd = found[size_t(check)];
    if (odd.count == 0) continue;
    std::vector<std::string> shown;
    for (const std::string& cell : odd.examples)
      shown.push_back(cell.empty() ? "empty" : concat("'", shorten_bytes(cell, 40), "'"));
    if (odd.count > int64_t(odd.examples.size())) shown.push_back("…");
    parts.push_back(concat(path, ": ", format_count(odd.count), " of ", format_count(rows),
                           " rows: column '", column.name(), "' is ", join(shown), ": ",
                           odd_cell_phrase(check, column)));
  }
  return join(parts, "; ");
}

}  // namespace

void TableOptions::describe(OptionList& list) {
  list.add("target", target, "column to predict; empty: one called target, label, class or y");
  list.add("split", split,
           "column that says train, val or test; empty: one called split, if its cells say so");
  list.add("drop", drop, "columns to leave out");
  list.add("features", features, "the only columns to use; empty: all that remain");
  list.add("keep", keep, "columns to keep although they have another value in every row");
  list.add("categories", categories, "columns to read as categories although they are numbers");
  list.add("target_kind", target_kind, "what the target is")
      .choices({"auto", "two-classes", "classes", "number"});
  list.add(
          "target_transform", target_transform,
          "what is learned of a number: itself, its logarithm or its quantile; auto: the logarithm "
          "where it is above 0 and very skewed. Answers and metrics are in its own unit always")
      .choices({"auto", "none", "log", "quantile"});
  list.add("standardise", standardise,
           "numbers to mean 0, deviation 1; auto: yes for a file of yours, no for built-in data")
      .choices({"auto", "yes", "no"});
  list.add("numbers", numbers,
           "how numbers become inputs: standard (the value alone) or pieces (the value and "
           "piecewise-linear pieces between the thresholds of a small tree on the target)")
      .choices({"pieces", "standard"});
  list.add("bins", bins, "pieces of a number at most; 0: by rows and columns, at most 48")
      .within(0, 1024);
  list.add("max_categories", max_categories,
           "categories of a column with an input of their own, the rest share one; 0: a fifth of "
           "the "
           "rows, at least 100, at most 1,000")
      .at_least(0);
  list.add("validation_fraction", validation_fraction,
           "share of the rows held out when the data has no validation split; below 0: a fifth, of "
           "many rows 2,000 or a twentieth; of the built-in data 0.3")
      .below(1);
}

TableDataset::TableDataset(NamedTensors columns, std::shared_ptr<const TableLayout> layout,
                           int64_t dropped_rows)
    : ColumnDataset(std::move(columns)), layout_(std::move(layout)), dropped_rows_(dropped_rows) {}

void TableDataset::set_truth(const std::vector<std::string>& columns) {
  truth_ = torch::zeros({1, int64_t(layout_->columns.size())}, torch::kBool);  // [1, C]
  for (size_t i = 0; i < layout_->columns.size(); ++i)
    truth_.data_ptr<bool>()[i] =
        std::find(columns.begin(), columns.end(), layout_->columns[i]) != columns.end();
}

Example TableDataset::example(int64_t row) const {
  Example example = row_example(row);
  example.axes = {Axis{"columns", "column", layout_->columns}};
  if (truth_.defined()) example.truth["attention"] = truth_;
  return example;
}

void TableEncoder::finish() {
  auto layout = std::make_shared<TableLayout>();
  for (const TableColumn& column : columns_) {
    const auto names = column.input_names();
    const auto means = column.input_means();
    const auto roles = column.input_roles();
    layout->input_names.insert(layout->input_names.end(), names.begin(), names.end());
    layout->input_means.insert(layout->input_means.end(), means.begin(), means.end());
    layout->input_roles.insert(layout->input_roles.end(), roles.begin(), roles.end());
    layout->column_of_input.insert(layout->column_of_input.end(), names.size(),
                                   int64_t(layout->columns.size()));
    layout->columns.push_back(column.name());
  }
  layout->target = target_.name();
  layout->kind = target_.kind();
  layout->classes = target_.classes();
  layout->target_mean = target_.mean();
  layout->target_deviation = target_.deviation();
  layout->target_transform = target_.transform();
  layout_ = std::move(layout);
}

const TableLayout& TableEncoder::layout() const {
  require(fitted(), ErrorKind::Internal, "the table encoder was neither fitted nor loaded");
  return *layout_;
}

void TableEncoder::encode_block(const CsvTable& table, std::span<const int64_t> places,
                                float* inputs) const {
  const int64_t width = int64_t(layout().input_names.size());
  for_each_row(table.rows(), [&](int64_t row) {
    float* next = inputs + row * width;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string_view cell = table.cell(row, places[i]);
      if (!columns_[i].encode(cell, next)) [[unlikely]]
        fail(ErrorKind::BadData, table.place(row), ": column '", columns_[i].name(), "' is '",
             shorten_bytes(cell, 100), "', ", expected_cell(columns_[i]));
      next += columns_[i].inputs();
    }
  });
}

at::Tensor TableEncoder::encode_columns(const TableRows& rows) const {
  const int64_t width = int64_t(layout().input_names.size());
  const std::vector<int64_t> places = places_of(rows.head());
  at::Tensor inputs = empty_inputs(rows.rows(), width);  // [N, I]
  rows.for_each_block([&](const CsvTable& table, int64_t before) {
    encode_block(table, places, inputs.data_ptr<float>() + before * width);
  });
  return inputs;
}

std::vector<int64_t> TableEncoder::places_of(const CsvTable& table) const {
  std::vector<int64_t> places;
  for (const TableColumn& column : columns_) places.push_back(table.column(column.name()));
  return places;
}

struct TableEncoder::OddColumns {
  std::vector<std::array<OddCells, 5>> found;  // of each column, by CellCheck
};

void TableEncoder::check_block(const CsvTable& table, std::span<const int64_t> places,
                               OddColumns& odd) const {
  odd.found.resize(columns_.size());
  run_parallel(int64_t(columns_.size()), [&](int64_t i) {
    for (int64_t row = 0; row < table.rows(); ++row) {
      const std::string_view cell = table.cell(row, places[size_t(i)]);
      const CellCheck check = columns_[size_t(i)].check(cell);
      if (check != CellCheck::Usual) odd.found[size_t(i)][size_t(check)].add(trim_cell(cell));
    }
  });
}

std::vector<std::string> TableEncoder::odd_notes(const OddColumns& odd, const std::string& path,
                                                 int64_t rows) const {
  std::vector<std::string> notes;
  for (size_t i = 0; i < odd.found.size(); ++i)
    if (std::string note = odd_cells_sentence(columns_[i], odd.found[i], path, rows); !note.empty())
      notes.push_back(std::move(note));
  return notes;
}

std::vector<std::string> TableEncoder::check(const TableRows& rows) const {
  const std::vector<int64_t> places = places_of(rows.head());
  OddColumns odd;
  rows.for_each_block([&](const CsvTable& table, int64_t) { check_block(table, places, odd); });
  return odd_notes(odd, rows.head().path, rows.rows());
}

std::vector<std::string> TableEncoder::check(const CsvTable& table) const {
  OddColumns odd;
  check_block(table, places_of(table), odd);
  return odd_notes(odd, table.path, table.rows());
}

std::vector<std::string> TableEncoder::check(const Example& row) const {
  std::vector<std::string> notes;
  if (row.axes.empty() || row.axes[0].values.size() != columns_.size()) return notes;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const std::string& cell = row.axes[0].values[i];
    const std::string what = odd_cell_phrase(columns_[i].check(cell), columns_[i]);
    if (!what.empty())
      notes.push_back(concat("column '", columns_[i].name(), "' is ",
                             trim_cell(cell).empty() ? "missing" : concat("'", cell, "'"), ": ",
                             what));
  }
  return notes;
}

std::shared_ptr<TableDataset> TableEncoder::encode(const TableRows& all) const {
  const std::string& name = layout().target;
  const std::string& path = all.head().path;
  const std::vector<std::string>& names = all.head().names;
  const bool is_row = std::ranges::any_of(names, [](const std::string& cell) {
    double number = 0;
    return parse_number(trim_cell(cell), number);
  });
  require(all.head().find(name) >= 0, ErrorKind::NotFound, path, ": there is no column '", name,
          "', the target to measure by",
          is_row ? ". The first line must be a header, the names of the columns; is it missing?"
                 : suggestion(name, names) + ";",
          is_row ? " Answers" : " answers", " alone need none: fovea predict RUN --input ", path);
  const CsvTable targets = all.with_column(name);
  const std::vector<int64_t> known =
      TableTarget::known_rows(targets, name, target_.missing_words());
  require(!known.empty(), ErrorKind::BadData, path, ": target '", name,
          "' is missing in every row");
  const CsvTable table = targets.select(known);
  const int64_t column = table.column(name);
  at::Tensor target = torch::empty({table.rows()}, torch::kFloat64);  // [N]
  double* values = target.data_ptr<double>();
  for (int64_t row = 0; row < table.rows(); ++row)
    values[row] = target_.encode(trim_cell(table.cell(row, column)), table, row);
  const auto type = target_.kind() == TargetKind::Classes ? torch::kInt64 : torch::kFloat32;
  NamedTensors columns{{"inputs", encode_columns(all.select(known))}, {"target", target.to(type)}};
  return std::make_shared<TableDataset>(std::move(columns), layout_, all.rows() - table.rows());
}

std::vector<Example> TableEncoder::encode_inputs(const CsvTable& table) const {
  const std::vector<int64_t> places = places_of(table);
  at::Tensor inputs = empty_inputs(table.rows(), int64_t(layout().input_names.size()));  // [N, I]
  encode_block(table, places, inputs.data_ptr<float>());
  std::vector<Example> examples(size_t(table.rows()));
  for (int64_t row = 0; row < table.rows(); ++row) {
    Example& example = examples[size_t(row)];
    example.tensors["inputs"] = inputs.select(0, row).clone();  // [I]
    example.axes = {Axis{"columns", "column", layout_->columns}};
    for (const int64_t place : places) example.axes[0].values.emplace_back(table.cell(row, place));
  }
  return examples;
}

Example TableEncoder::encode_row(const NamedCells& row) const {
  const bool complete =
      std::all_of(columns_.begin(), columns_.end(),
                  [&](const TableColumn& column) { return row.contains(column.name()); });
  if (!complete) check_names(row, file_columns_);
  Example example;
  at::Tensor inputs = empty_inputs(1, int64_t(layout().input_names.size()));
  float* next = inputs.data_ptr<float>();
  for (const TableColumn& column : columns_) {
    const std::string& cell = named_cell(row, column.name());
    require(column.encode(cell, next), ErrorKind::BadData, "input row: column '", column.name(),
            "' is '", shorten_bytes(cell, 100), "', ", expected_cell(column));
    next += column.inputs();
  }
  example.tensors["inputs"] = inputs[0];  // [I]
  example.axes = {Axis{"columns", "column", layout_->columns}};
  for (const TableColumn& column : columns_)
    example.axes[0].values.push_back(named_cell(row, column.name()));
  return example;
}

std::vector<std::string> TableEncoder::decode_row(const at::Tensor& inputs) const {
  const at::Tensor row = inputs.contiguous();  // [I]
  const float* next = row.data_ptr<float>();
  std::vector<std::string> cells;
  for (const TableColumn& column : columns_) {
    cells.push_back(column.decode(next));
    next += column.inputs();
  }
  return cells;
}

std::string TableEncoder::written(const std::string& column,
                                  const std::string& plain_number) const {
  for (const TableColumn& own : columns_)
    if (own.name() == column) return own.written(plain_number);
  return plain_number;
}

Example TableEncoder::encode_row(const std::vector<std::string>& cells) const {
  const NamedCells row = name_cells(cells, file_columns_, layout().columns, layout().target);
  if (const auto target = row.find(layout().target);
      target != row.end() && !target_.knows(trim_cell(target->second)))
    fail(ErrorKind::BadData, "input row: target '", layout().target, "' is '",
         shorten_bytes(target->second, 100), "', ",
         target_.kind() == TargetKind::Number
             ? "a number is expected"
             : concat("no class of this run: ", quoted_list(target_.classes(), 20)),
         ". A row has the cells ", quoted_list(layout().columns, 30),
         ", or all of the training file: ", quoted_list(file_columns_, 30), ", with '",
         std::string(1, delimiter_), "' between them");
  return encode_row(row);
}

Json TableEncoder::to_json() const {
  Json columns = Json::array();
  for (const TableColumn& column : columns_) columns.push_back(column.to_json());
  require(fitted(), ErrorKind::Internal, "the table encoder was neither fitted nor loaded");
  return Json{{"format", "fovea-table"},       {"version", 1},
              {"target", target_.to_json()},   {"columns", columns},
              {"file_columns", file_columns_}, {"delimiter", std::string(1, delimiter_)}};
}

TableEncoder TableEncoder::from_json(const Json& json, const std::string& where) {
  TableEncoder encoder;
  const Field root = Field::root(json, where);
  check_format(root, "fovea-table");
  encoder.target_ = TableTarget::from_json(root.at("target"));
  root.at("columns").each(
      {}, [&](const Field& column) { encoder.columns_.push_back(TableColumn::from_json(column)); });
  encoder.file_columns_ = root.at("file_columns").texts();
  if (const auto delimiter = root.find("delimiter")) {
    const std::string text = delimiter->text();
    delimiter->expect(text == "," || text == ";" || text == "\t" || text == "|",
                      "a comma, semicolon, tab or bar");
    encoder.delimiter_ = text[0];
  }
  require(!encoder.columns_.empty(), ErrorKind::BadData, where, ": it has no columns");
  encoder.finish();
  return encoder;
}

}  // namespace fovea
