#include "fovea/data/sequences/encoder.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/source.h"
#include "fovea/tensor/torch.h"

namespace fovea {

void ContextOptions::describe(OptionList& list) {
  list.add("context", context, "column with the context labels; empty: one called context");
  list.add("target", target, "column to predict; empty: one called target, label, class or y");
  list.add("split", split,
           "column that says train, val or test; empty: one called split, if its cells say so");
  list.add("position_columns", position_columns,
           "columns of the positions; empty: all other columns of numbers");
  list.add("standardise", standardise,
           "one mean and deviation for all positions and the target; auto: no")
      .choices({"auto", "yes", "no"});
  describe_share(
      list, "validation_fraction", validation_fraction,
      "share of the rows held out when the data has no validation split; "
      "built-in data: validation rows drawn beside the training rows, as a share of these");
}

ContextDataset::ContextDataset(NamedTensors columns, std::shared_ptr<const ContextLayout> layout,
                               int64_t dropped_rows)
    : ColumnDataset(std::move(columns)), layout_(std::move(layout)), dropped_rows_(dropped_rows) {}

void ContextDataset::set_truth(const ContextTruth& truth) {
  truth_.assign(layout_->contexts.size(), {});
  for (size_t i = 0; i < layout_->contexts.size(); ++i) {
    const auto known = truth.find(layout_->contexts[i]);
    if (known == truth.end()) continue;
    truth_[i] = torch::zeros({1, int64_t(layout_->positions.size())}, torch::kBool);  // [1, P]
    for (size_t p = 0; p < layout_->positions.size(); ++p)
      truth_[i].data_ptr<bool>()[p] = layout_->positions[p] == known->second;
  }
}

Example ContextDataset::example(int64_t row) const {
  Example example = row_example(row);
  const auto context = size_t(example.tensors.at("context").item<int64_t>());
  example.axes = {Axis{"context", "context", {layout_->contexts[context]}},
                  Axis{"positions", "position", layout_->positions}};
  if (context < truth_.size() && truth_[context].defined())
    example.truth["attention"] = example.truth["effective"] = truth_[context];  // of both maps
  return example;
}

const ContextLayout& ContextEncoder::layout() const {
  require(fitted(), ErrorKind::Internal, "the context encoder was neither fitted nor loaded");
  return *layout_;
}

void ContextEncoder::finish(ContextLayout layout) {
  context_index_.clear();
  for (size_t i = 0; i < layout.contexts.size(); ++i)
    context_index_.emplace(layout.contexts[i], int64_t(i));
  layout_ = std::make_shared<const ContextLayout>(std::move(layout));
}

int64_t ContextEncoder::context_index(std::string_view cell, const std::string& place) const {
  const auto found = context_index_.find(std::string(trim_cell(cell)));
  require(found != context_index_.end(), ErrorKind::BadData, place, ": context '", cell,
          "' was not in the training rows; they have ", quoted_list(layout_->contexts, 20));
  return found->second;
}

float ContextEncoder::position_value(std::string_view cell, size_t position, bool& valid) const {
  cell = trim_cell(cell);
  if (is_missing(cell)) return float(layout_->input_means[position]);
  double value = 0;
  valid = parse_cell(cell, value);
  return float((value - layout_->mean) / layout_->deviation);
}

NamedTensors ContextEncoder::encode_columns(const CsvTable& table) const {
  const int64_t rows = table.rows(), width = int64_t(layout().positions.size());
  const int64_t context_column = table.column(layout_->context);
  std::vector<int64_t> columns;
  for (const std::string& name : layout_->positions) columns.push_back(table.column(name));
  at::Tensor inputs = torch::empty({rows, width}, torch::kFloat32);  // [N, P]
  at::Tensor contexts = torch::empty({rows}, torch::kInt64);         // [N]
  float* next = inputs.data_ptr<float>();
  for (int64_t row = 0; row < rows; ++row) {
    for (size_t i = 0; i < columns.size(); ++i) {
      bool valid = true;
      *next++ = position_value(table.cell(row, columns[i]), i, valid);
      if (!valid) [[unlikely]]
        fail(ErrorKind::BadData, table.place(row), ": column '", layout_->positions[i], "' is '",
             table.cell(row, columns[i]), "', a number is expected");
    }
    const std::string_view label = table.cell(row, context_column);
    const auto found = context_index_.find(std::string(trim_cell(label)));
    contexts.data_ptr<int64_t>()[row] =
        found != context_index_.end() ? found->second : context_index(label, table.place(row));
  }
  return {{"inputs", inputs}, {"context", contexts}};
}

std::shared_ptr<ContextDataset> ContextEncoder::encode(const CsvTable& all) const {
  const int64_t column = all.column(layout().target);
  const CsvTable table = rows_with(all, column);
  require(table.rows() > 0, ErrorKind::BadData, all.path, ": target '", layout_->target,
          "' is missing in every row");
  NamedTensors columns = encode_columns(table);
  at::Tensor target = torch::empty({table.rows()}, torch::kFloat32);  // [N]
  for (int64_t row = 0; row < table.rows(); ++row) {
    double value = 0;
    if (!parse_cell(trim_cell(table.cell(row, column)), value))
      fail(ErrorKind::BadData, table.place(row), ": target '", layout_->target, "' is '",
           table.cell(row, column), "', a number is expected");
    target.data_ptr<float>()[row] = float((value - layout_->mean) / layout_->deviation);
  }
  columns["target"] = target;
  return std::make_shared<ContextDataset>(std::move(columns), layout_, all.rows() - table.rows());
}

std::shared_ptr<ContextDataset> ContextEncoder::encode_inputs(const CsvTable& table) const {
  return std::make_shared<ContextDataset>(encode_columns(table), layout_, 0);
}

Example ContextEncoder::encode_row(const NamedCells& row) const {
  check_names(row, file_columns_);
  Example example;
  at::Tensor inputs = torch::empty({int64_t(layout().positions.size())}, torch::kFloat32);  // [P]
  for (size_t i = 0; i < layout_->positions.size(); ++i) {
    const std::string& cell = named_cell(row, layout_->positions[i]);
    bool valid = true;
    inputs.data_ptr<float>()[i] = position_value(cell, i, valid);
    require(valid, ErrorKind::BadData, "input row: column '", layout_->positions[i], "' is '", cell,
            "', a number is expected");
  }
  const int64_t context = context_index(named_cell(row, layout_->context), "input row");
  example.tensors = {{"inputs", inputs}, {"context", torch::tensor(context, torch::kInt64)}};
  example.axes = {Axis{"context", "context", {layout_->contexts[size_t(context)]}},
                  Axis{"positions", "position", layout_->positions}};
  for (const std::string& position : layout_->positions)
    example.axes[1].values.push_back(named_cell(row, position));
  return example;
}

Example ContextEncoder::encode_row(const std::vector<std::string>& cells) const {
  std::vector<std::string> inputs{layout().context};
  inputs.insert(inputs.end(), layout_->positions.begin(), layout_->positions.end());
  return encode_row(name_cells(cells, file_columns_, inputs, layout_->target));
}

Json ContextEncoder::to_json() const {
  const ContextLayout& known = layout();
  return Json{{"format", "fovea-context"},    {"version", 1},
              {"context", known.context},     {"contexts", known.contexts},
              {"positions", known.positions}, {"input_means", known.input_means},
              {"target", known.target},       {"mean", known.mean},
              {"deviation", known.deviation}, {"file_columns", file_columns_}};
}

ContextEncoder ContextEncoder::from_json(const Json& json, const std::string& where) {
  ContextEncoder encoder;
  ContextLayout layout;
  const Field root = Field::root(json, where);
  check_format(root, "fovea-context");
  layout.context = root.at("context").text();
  layout.contexts = root.at("contexts").texts();
  layout.positions = root.at("positions").texts();
  layout.input_means = root.at("input_means").finites(layout.positions.size());
  layout.target = root.at("target").text();
  layout.mean = root.at("mean").finite();
  layout.deviation = root.at("deviation").deviation();
  encoder.file_columns_ = root.at("file_columns").texts();
  require(!layout.contexts.empty() && !layout.positions.empty(), ErrorKind::BadData, where,
          ": it has no contexts or no positions");
  encoder.finish(std::move(layout));
  return encoder;
}

}  // namespace fovea
