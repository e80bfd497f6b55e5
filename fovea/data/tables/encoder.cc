#include "fovea/data/tables/encoder.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
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

}  // namespace

void TableOptions::describe(OptionList& list) {
  list.add("target", target, "column to predict; empty: one called target, label, class or y");
  list.add("split", split,
           "column that says train, val or test; empty: one called split, if its cells say so");
  list.add("drop", drop, "columns to leave out");
  list.add("features", features, "the only columns to use; empty: all that remain");
  list.add("target_kind", target_kind, "what the target is")
      .choices({"auto", "two-classes", "classes", "number"});
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
           "categories of a column with an input of their own; the rest share one")
      .at_least(1);
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
  layout_ = std::move(layout);
}

const TableLayout& TableEncoder::layout() const {
  require(fitted(), ErrorKind::Internal, "the table encoder was neither fitted nor loaded");
  return *layout_;
}

at::Tensor TableEncoder::encode_columns(const CsvTable& table) const {
  const int64_t width = int64_t(layout().input_names.size());
  std::vector<int64_t> at_column;
  for (const TableColumn& column : columns_) at_column.push_back(table.column(column.name()));
  at::Tensor inputs = empty_inputs(table.rows(), width);  // [N, I]
  float* next = inputs.data_ptr<float>();
  for (int64_t row = 0; row < table.rows(); ++row)
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string_view cell = table.cell(row, at_column[i]);
      if (!columns_[i].encode(cell, next)) [[unlikely]]
        fail(ErrorKind::BadData, table.place(row), ": column '", columns_[i].name(), "' is '", cell,
             "', a number is expected: the training rows had only numbers there");
      next += columns_[i].inputs();
    }
  return inputs;
}

std::shared_ptr<TableDataset> TableEncoder::encode(const CsvTable& all) const {
  const int64_t column = all.column(layout().target);
  const CsvTable table = rows_with(all, column);
  require(table.rows() > 0, ErrorKind::BadData, all.path, ": target '", layout().target,
          "' is missing in every row");
  at::Tensor target = torch::empty({table.rows()}, torch::kFloat64);  // [N]
  double* values = target.data_ptr<double>();
  for (int64_t row = 0; row < table.rows(); ++row)
    values[row] = target_.encode(trim_cell(table.cell(row, column)), table, row);
  const auto type = target_.kind() == TargetKind::Classes ? torch::kInt64 : torch::kFloat32;
  NamedTensors columns{{"inputs", encode_columns(table)}, {"target", target.to(type)}};
  return std::make_shared<TableDataset>(std::move(columns), layout_, all.rows() - table.rows());
}

std::shared_ptr<TableDataset> TableEncoder::encode_inputs(const CsvTable& table) const {
  return std::make_shared<TableDataset>(NamedTensors{{"inputs", encode_columns(table)}}, layout_,
                                        0);
}

std::shared_ptr<TableDataset> TableEncoder::encode(const NumberTable& table) const {
  const int64_t rows = table.inputs.size(0), width = table.inputs.size(1);
  const int64_t inputs_per_row = int64_t(layout().input_names.size());
  at::Tensor inputs = empty_inputs(rows, inputs_per_row);  // [N, I]
  const float* from = table.inputs.data_ptr<float>();
  float* first = inputs.data_ptr<float>();
  int64_t offset = 0;
  for (const TableColumn& column : columns_) {
    const int64_t at =
        std::find(table.names.begin(), table.names.end(), column.name()) - table.names.begin();
    require(at < width && column.is_number(), ErrorKind::NotFound,
            "the built-in data has no column of numbers called '", column.name(),
            "'; was the run trained on other data?");
    for (int64_t row = 0; row < rows; ++row)
      column.encode(double(from[row * width + at]), first + row * inputs_per_row + offset);
    offset += column.inputs();
  }
  require(target_.kind() == TargetKind::TwoClasses && target_.name() == table.target &&
              target_.classes() == table.classes,
          ErrorKind::InvalidArgument, "the built-in data has the target '", table.target,
          "' with the classes ", join(table.classes), ", the run has '", target_.name(),
          "'; name the data it was trained on");
  NamedTensors columns{{"inputs", inputs}, {"target", table.labels.to(torch::kFloat32)}};
  return std::make_shared<TableDataset>(std::move(columns), layout_, 0);
}

Example TableEncoder::encode_row(const NamedCells& row) const {
  check_names(row, file_columns_);
  Example example;
  at::Tensor inputs = empty_inputs(1, int64_t(layout().input_names.size()));
  float* next = inputs.data_ptr<float>();
  for (const TableColumn& column : columns_) {
    const std::string& cell = named_cell(row, column.name());
    require(column.encode(cell, next), ErrorKind::BadData, "input row: column '", column.name(),
            "' is '", cell, "', a number is expected");
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

Example TableEncoder::encode_row(const std::vector<std::string>& cells) const {
  return encode_row(name_cells(cells, file_columns_, layout().columns, layout().target));
}

Json TableEncoder::to_json() const {
  Json columns = Json::array();
  for (const TableColumn& column : columns_) columns.push_back(column.to_json());
  require(fitted(), ErrorKind::Internal, "the table encoder was neither fitted nor loaded");
  return Json{{"format", "fovea-table"},
              {"version", 1},
              {"target", target_.to_json()},
              {"columns", columns},
              {"file_columns", file_columns_}};
}

TableEncoder TableEncoder::from_json(const Json& json, const std::string& where) {
  TableEncoder encoder;
  const Field root = Field::root(json, where);
  check_format(root, "fovea-table");
  encoder.target_ = TableTarget::from_json(root.at("target"));
  root.at("columns").each(
      {}, [&](const Field& column) { encoder.columns_.push_back(TableColumn::from_json(column)); });
  encoder.file_columns_ = root.at("file_columns").texts();
  require(!encoder.columns_.empty(), ErrorKind::BadData, where, ": it has no columns");
  encoder.finish();
  return encoder;
}

}  // namespace fovea
