#include "fovea/tasks/record_rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/explain/record/labels.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kRowsTogether = 64;  // as TaskPredictor has it
constexpr size_t kMostCells = 200;     // columns of a table; of more the rows are texts
constexpr const char* kTrusts[] = {"supported", "mixed", "unsupported", "unknown"};

/// What is known of every row, in the order of the data set.
struct JudgedRows {
  std::vector<RowAnswer> judged;
  std::vector<std::string> inputs;
  std::vector<double> lengths;
  std::vector<std::string> names;               // of the cells
  std::vector<std::vector<std::string>> cells;  // a list for each name
};

bool is_table_row(const Example& example) {
  return !example.axes.empty() && example.axes[0].kind == "column";
}

/// An input for people: members by name, lists with commas.
std::string plain_text(const Json& input) {
  if (input.is_string()) return input.get<std::string>();
  if (input.is_null()) return "";
  std::vector<std::string> parts;
  if (input.is_object())
    for (const auto& [name, value] : input.items())
      parts.push_back(concat(name, ": ", plain_text(value)));
  else if (input.is_array())
    for (const Json& value : input) parts.push_back(plain_text(value));
  else
    return input.dump();
  return join(parts, input.is_object() ? "; " : ", ");
}

/// Cells of a row of a table: as they were written, else as they were understood.
std::vector<std::string> cells_of_row(const Example& example, const Json& input,
                                      const std::vector<std::string>& names) {
  if (is_table_row(example) && example.axes[0].values.size() == names.size())
    return example.axes[0].values;
  std::vector<std::string> cells;
  for (const std::string& name : names)
    cells.push_back(input.contains(name) ? plain_text(input[name]) : "");
  return cells;
}

/// The columns of a row of a table, or of an input of numbers; empty where inputs are neither.
std::vector<std::string> names_of_cells(const Example& example, const Json& input) {
  std::vector<std::string> names;
  bool has_number = false;
  if (is_table_row(example)) {
    names = example.axes[0].labels;
  } else if (input.is_object()) {
    for (const auto& [name, value] : input.items()) {
      if (value.is_structured()) return {};
      has_number = has_number || value.is_number();
      names.push_back(name);
    }
    if (!has_number) return {};
  }
  return names.size() > kMostCells ? std::vector<std::string>() : names;
}

/// Pictures and sounds go by their number.
std::string text_of_input(const Json& input, int64_t row) {
  return input.is_null() ? concat("row ", row + 1) : plain_text(input);
}

JudgedRows judge_all(const Pipeline& pipeline, const Dataset& data, const RowProgress& progress) {
  const Task& task = pipeline.task();
  const auto count = size_t(data.size());
  JudgedRows rows;
  rows.judged.resize(count);
  rows.inputs.resize(count);
  rows.lengths.resize(count);
  if (count > 0)
    if (const Example first = data.example(0); first.media.empty())
      rows.names = names_of_cells(first, task.input(data, 0));
  rows.cells.assign(rows.names.size(), std::vector<std::string>(count));
  const RowBatches batches = batches_of_rows(pipeline.model(), data, kRowsTogether);
  over_batches(
      pipeline.model(), data, batches,
      [&](size_t index, const Batch& batch) {
        const std::vector<int64_t>& picked = batches[index];
        const Predictions answers = pipeline.model().predict(batch);
        std::vector<Example> examples;
        std::vector<Prediction> predictions;
        for (size_t i = 0; i < picked.size(); ++i) {
          examples.push_back(data.example(picked[i]));
          predictions.push_back(answers.at(int64_t(i)));
        }
        task.finish(pipeline.model(), examples, predictions);
        std::vector<RowAnswer> judged =
            task.judge_rows({pipeline.model(), data, picked, examples, predictions, batch});
        for (size_t i = 0; i < picked.size(); ++i) {
          const auto row = size_t(picked[i]);
          rows.judged[row] = std::move(judged[i]);
          rows.lengths[row] = double(data.input_length(picked[i]));
          const Json input = examples[i].media.empty() ? task.input(data, picked[i]) : Json();
          if (rows.names.empty()) {
            rows.inputs[row] = text_of_input(input, picked[i]);
            continue;
          }
          std::vector<std::string> cells = cells_of_row(examples[i], input, rows.names);
          for (size_t c = 0; c < cells.size(); ++c) rows.cells[c][row] = std::move(cells[c]);
        }
      },
      progress);
  return rows;
}

/// How far off a row is; the sign of a number does not matter.
double error_of(const RowAnswer& row) {
  if (!std::isnan(row.answer_number)) return std::abs(row.answer_number - row.truth_number);
  if (!row.right || *row.right) return -1;  // no error
  // The surer, the worse; of answers that may be nearly right their distance counts first.
  const double sure = std::isnan(row.probability) ? 0 : row.probability;
  return std::isnan(row.distance) ? sure : row.distance + sure / 2;
}

/// Half of them the worst, half the most surprising; no row twice.
std::vector<int64_t> rows_to_explain(const std::vector<RowAnswer>& judged, int64_t count) {
  const auto ranked = [&](auto measure) {
    std::vector<int64_t> order(judged.size());
    std::iota(order.begin(), order.end(), int64_t{0});
    std::erase_if(order, [&](int64_t row) { return !(measure(judged[size_t(row)]) >= 0); });
    std::ranges::stable_sort(order, std::greater(),
                             [&](int64_t row) { return measure(judged[size_t(row)]); });
    return order;
  };
  const std::vector<int64_t> lists[] = {ranked(error_of),
                                        ranked([](const RowAnswer& row) { return row.surprisal; })};
  std::vector<int64_t> chosen;
  for (size_t i = 0; i < judged.size(); ++i)
    for (const std::vector<int64_t>& list : lists)
      if (i < list.size() && int64_t(chosen.size()) < count &&
          std::ranges::find(chosen, list[i]) == chosen.end())
        chosen.push_back(list[i]);
  return chosen;
}

template <class Value>
auto column_of(const std::vector<RowAnswer>& judged, Value RowAnswer::*member) {
  std::vector<Value> values;
  for (const RowAnswer& row : judged) values.push_back(row.*member);
  return values;
}

void add_numbers(const JudgedRows& rows, double RowAnswer::*member, RowColumn column,
                 RowsRecord& record) {
  column.numbers = column_of(rows.judged, member);
  const auto is_known = [](double number) { return !std::isnan(number); };
  if (std::ranges::any_of(column.numbers, is_known)) record.columns.push_back(std::move(column));
}

/// Answer or truth, as the kind of output has it.
RowColumn answer_column(const JudgedRows& rows, const RowsRecord& record, bool is_truth,
                        const std::vector<std::string>& names) {
  RowColumn column{is_truth ? "truth" : "answer", is_truth ? "truth" : "answer"};
  if (record.kind == "number") {
    column.exact = true;
    column.numbers =
        column_of(rows.judged, is_truth ? &RowAnswer::truth_number : &RowAnswer::answer_number);
  } else if (record.kind == "class" || record.kind == "labels") {
    column.names = names;
    for (const RowAnswer& row : rows.judged) {
      const std::vector<int64_t>& own = is_truth ? row.truth_classes : row.answer_classes;
      if (record.kind == "class")
        column.places.push_back(own.empty() ? -1 : own[0]);
      else
        column.sets.push_back(own);
    }
  } else {
    column.texts = column_of(rows.judged, is_truth ? &RowAnswer::truth : &RowAnswer::answer);
  }
  return column;
}

void add_columns(const JudgedRows& rows, const RowsKind& kind,
                 const std::vector<std::string>& names, RowsRecord& record) {
  if (record.rows == 0) return;
  if (rows.names.empty()) record.columns.push_back({"input", "input", "", rows.inputs});
  record.columns.push_back(answer_column(rows, record, false, names));
  record.columns.push_back(answer_column(rows, record, true, names));
  RowColumn right{"right", "result"};
  right.names = {"wrong", "right"};
  bool judged = false;
  for (const RowAnswer& row : rows.judged) {
    right.places.push_back(row.right ? *row.right : -1);
    judged = judged || row.right;
  }
  if (judged) record.columns.push_back(std::move(right));
  add_numbers(rows, &RowAnswer::probability, {"probability", "probability", "of the answer"},
              record);
  add_numbers(rows, &RowAnswer::surprisal,
              {"surprisal", "surprisal", concat("−ln p(truth), ", kind.surprisal)}, record);
  add_numbers(rows, &RowAnswer::distance, {"distance", kind.distance}, record);
  const auto [shortest, longest] = std::ranges::minmax(rows.lengths);
  if (shortest < longest) {
    RowColumn length{"length", "length", "of the input, in units of the network"};
    length.numbers = rows.lengths;
    record.columns.push_back(std::move(length));
  }
  for (size_t c = 0; c < rows.names.size(); ++c)
    record.columns.push_back(column_of_cells(rows.names[c], rows.cells[c]));
}

std::vector<Explanation> explain_chosen(const Pipeline& pipeline, const Dataset& data,
                                        const JudgedRows& rows, const RecordOptions& options,
                                        RowsRecord& record) {
  std::vector<Explanation> explanations;
  RowColumn supported{"supported", "picture"};
  supported.about = "whether the first map shows what the network used";
  supported.names.assign(std::begin(kTrusts), std::end(kTrusts));
  supported.places.assign(size_t(record.rows), -1);
  for (const int64_t row : record.explained) {
    Example example = data.example(row);
    if (example.given.empty() && example.media.empty()) {
      const Json input = pipeline.task().input(data, row);
      if (!input.is_null())
        example.given = input.is_string() ? input.get<std::string>() : input.dump();
    }
    explanations.push_back(pipeline.explain(example, HeadChoice(Heads::All)));
    if (options.faithfulness) {
      explanations.back().faithfulness = measure_faithfulness(pipeline, {&example, 1});
      if (const auto& found = explanations.back().faithfulness; !found.empty())
        supported.places[size_t(row)] =
            std::ranges::find(kTrusts, found[0].trust) - std::begin(kTrusts);
    }
    if (options.explaining) options.explaining(int64_t(explanations.size()));
  }
  if (options.faithfulness && !explanations.empty()) record.columns.push_back(std::move(supported));
  return explanations;
}

}  // namespace

void check_rows_kind(const Pipeline& pipeline) {
  require(!pipeline.task().rows_kind().name.empty(), ErrorKind::Unsupported, "the answers of ",
          pipeline.task_name(),
          " are not right or wrong row by row; a table of rows needs classes, labels, numbers, "
          "texts, tags, spans or choices");
}

RecordedRows record_rows(const Pipeline& pipeline, const Dataset& data,
                         const RecordOptions& options) {
  check_rows_kind(pipeline);
  const RowsKind kind = pipeline.task().rows_kind();
  const JudgedRows rows = judge_all(pipeline, data, options.progress);
  RecordedRows recorded;
  RowsRecord& record = recorded.record;
  record.task = pipeline.task_name();
  record.title = pipeline.task().explain_options().title;
  record.run = pipeline.folder().path().filename().string();
  record.kind = kind.name;
  record.target = kind.target;
  record.rows = data.size();
  add_columns(rows, kind, pipeline.task().class_names(), record);
  if (options.explain > 0 && pipeline.task().has_attention()) {
    record.explained = rows_to_explain(rows.judged, options.explain);
    recorded.explanations = explain_chosen(pipeline, data, rows, options, record);
  }
  return recorded;
}

}  // namespace fovea
