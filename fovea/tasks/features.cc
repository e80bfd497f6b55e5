#include "fovea/tasks/features.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/data/erase.h"
#include "fovea/explain/record/stability.h"
#include "fovea/metrics/attention_truth.h"
#include "fovea/metrics/classification.h"
#include "fovea/metrics/regression.h"
#include "fovea/tasks/rows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using kernels::TabularLoss;

void FeaturesTask::describe(OptionList& list) {
  list.group("data", data_);
  list.group("model", model_);
}

TrainingOptions FeaturesTask::training_defaults() const {
  TrainingOptions options;  // those of the Keras tutorial
  options.epochs = 16;
  options.batch_size = 128;
  options.epsilon = 1e-7;
  return options;
}

Splits FeaturesTask::load(const DataSource& source, uint64_t seed) {
  return load_features(source, data_, encoder_, seed);
}

void FeaturesTask::write_data(const std::filesystem::path& folder) const {
  write_features_data(folder, data_);
}

std::unique_ptr<Model> FeaturesTask::make_model() const {
  const TableLayout& layout = encoder_.layout();
  FeatureShape shape{layout.columns, layout.column_of_input, 1, TabularLoss::BinaryCrossEntropy};
  if (layout.kind == TargetKind::Number) shape.loss = TabularLoss::SquaredError;
  if (layout.kind == TargetKind::Classes)
    shape.loss = TabularLoss::CrossEntropy,
    shape.outputs = static_cast<int64_t>(layout.classes.size());
  return std::make_unique<FeatureAttention>(model_, std::move(shape));
}

void FeaturesTask::save(const RunFolder& folder) const {
  folder.write_asset("columns.json", encoder_.to_json());
}
void FeaturesTask::restore(const RunFolder& folder) {
  encoder_ = TableEncoder::from_json(folder.read_asset("columns.json"),
                                     folder.asset("columns.json").string());
}

at::Tensor FeaturesTask::attention(const Model& model, const Dataset& rows) const {
  if (model_.name != "attention") return {};
  torch::NoGradGuard no_gradients;
  Tap tap;
  const Batch batch = whole(rows).to(model.device());
  model.replay(batch, model.predict(batch), &tap);
  return tap.map("attention").weights.flatten(1).cpu();  // [N, C]
}

Metrics FeaturesTask::measure(const Model& model, const Dataset& rows) const {
  const TableLayout& layout = encoder_.layout();
  const Predictions answers = model.predict(whole(rows).to(model.device()));
  const at::Tensor target = rows.columns().at("target");
  Metrics metrics;
  if (layout.kind == TargetKind::Number) {
    const at::Tensor values = answers.values.squeeze(1).cpu();
    metrics.push_back({"loss", mean_squared_error(values, target)});
    metrics.push_back({"rmse", root_mean_squared_error(values, target) * layout.target_deviation});
    metrics.push_back({"mae", mean_absolute_error(values, target) * layout.target_deviation});
    if (const auto r2 = r_squared(values, target)) metrics.push_back({"r2", *r2, true});
  } else {
    const bool two = layout.kind == TargetKind::TwoClasses;
    const at::Tensor scores = two ? answers.scores.select(1, 1).cpu() : answers.scores.cpu();
    metrics.push_back({"loss", log_loss(scores, target)});
    metrics.push_back({"accuracy", accuracy(scores, target), true});
    if (two)
      if (const auto area = auc(scores, target)) metrics.push_back({"auc", *area, true});
    if (!two)
      metrics.push_back(
          {"macro_f1", macro_f1(predicted_classes(scores), target, int64_t(layout.classes.size())),
           true});
  }
  if (rows.size() > 0 && model_.name == "attention") {
    const NamedTensors truth = rows.example(0).truth;  // the same columns matter in every row
    if (truth.count("attention"))
      if (const auto share =
              attention_truth(attention(model, rows), truth.at("attention").flatten()))
        metrics.push_back({"attention_truth", *share, true});
  }
  return metrics;
}

Example FeaturesTask::parse(const std::string& line) const {
  return parse_row(encoder_, line);
}

InputColumns FeaturesTask::input_columns(const Roles&) const {
  return {encoder_.layout().columns, encoder_.file_columns(), {}};
}

std::vector<Example> FeaturesTask::parse_table(const CsvTable& table, const InputColumns&) const {
  return all_examples(*encoder_.encode_inputs(table));
}

Json FeaturesTask::input_schema() const {
  std::vector<RowColumn> columns;
  for (const TableColumn& column : encoder_.columns())
    columns.push_back({column.name(), column.categories()});
  return row_schema(columns);
}

Json FeaturesTask::answer(const Prediction& prediction) const {
  const TableLayout& layout = encoder_.layout();
  if (layout.kind == TargetKind::Number)
    return {{"value",
             prediction.values[0].item<double>() * layout.target_deviation + layout.target_mean}};
  const auto best = static_cast<size_t>(prediction.scores.argmax().item<int64_t>());
  Json scores = Json::object();
  for (size_t c = 0; c < layout.classes.size(); ++c)
    scores[layout.classes[c]] = prediction.scores[int64_t(c)].item<double>();
  return {{"class", layout.classes[best]},
          {"probability", scores[layout.classes[best]]},
          {"scores", scores}};
}

std::string FeaturesTask::answer_line(const Prediction& prediction) const {
  const Json json = answer(prediction);
  if (json.contains("value")) return format_number(json["value"], 7);
  return concat(json["class"].get<std::string>(), "\t", format_number(json["probability"], 6));
}

namespace {

/// How well the mean over the rows is known. weights [N, C]
void add_interval(const at::Tensor& weights, MapView& map) {
  constexpr int64_t kMostRows = 2000;  // of more rows an even choice: the interval is rougher then
  const int64_t rows = std::min(weights.size(0), kMostRows);
  if (rows < 2) return;
  std::vector<MapView> views(size_t(rows), map);
  for (int64_t i = 0; i < rows; ++i) {
    const at::Tensor row = weights[i * weights.size(0) / rows].contiguous();  // [C]
    views[size_t(i)].weights.assign(row.data_ptr<double>(), row.data_ptr<double>() + row.numel());
    views[size_t(i)].spread.clear();
  }
  const MapView known = mean_with_bootstrap(views);
  map.low = known.low;
  map.high = known.high;
  map.interval_of = known.interval_of;
}

}  // namespace

Explanation FeaturesTask::overview(const Model& model, const Dataset& rows) const {
  require(model_.name == "attention", ErrorKind::Unsupported, "explain: a ", model_.name,
          " model has no attention to show; train with "
          "model.name=attention");
  const TableLayout& layout = encoder_.layout();
  const at::Tensor weights = attention(model, rows).to(torch::kFloat64);  // [N, C]
  const at::Tensor mean = weights.mean(0), deviation = weights.std(0, /*unbiased=*/rows.size() > 1);
  MapView map;
  map.name = "attention";
  map.title = "attention over columns";
  map.kind = MapKind::Distribution;
  map.key_axis = "columns";
  map.query_labels = {layout.target};
  map.key_labels = layout.columns;
  map.weights.assign(mean.data_ptr<double>(), mean.data_ptr<double>() + mean.numel());
  map.spread.assign(deviation.data_ptr<double>(), deviation.data_ptr<double>() + deviation.numel());
  add_interval(weights, map);
  const NamedTensors truth = rows.example(0).truth;
  if (truth.count("attention")) {
    const at::Tensor keep = truth.at("attention").flatten().to(torch::kChar).contiguous();
    map.truth.assign(keep.data_ptr<int8_t>(), keep.data_ptr<int8_t>() + keep.numel());
  }
  return {"features",
          "Where the model looks to predict " + layout.target,
          concat("mean over ", format_count(rows.size()), " rows, ± one standard deviation"),
          {map},
          {},
          "",
          nullptr,
          {Axis{"columns", "column", layout.columns}}};
}

Example FeaturesTask::erase(const Example& example, const std::string& axis,
                            std::span<const int64_t> units) const {
  if (axis != "columns") return Task::erase(example, axis, units);
  return erase_inputs(example, "inputs", units, encoder_.layout().column_of_input,
                      encoder_.layout().input_means);
}

std::vector<Json> FeaturesTask::example_inputs(const Dataset& rows, int64_t count) const {
  std::vector<Json> inputs;
  for (int64_t row = 0; row < std::min(count, rows.size()); ++row)
    inputs.push_back(row_object(encoder_.layout().columns,
                                encoder_.decode_row(rows.example(row).tensors.at("inputs"))));
  return inputs;
}

ExplainOptions FeaturesTask::explain_options() const {
  ExplainOptions options;
  options.task = "features";
  options.title = "Where the model looks to predict " + encoder_.layout().target;
  options.map_titles = {{"attention", "attention over columns"}};
  options.describe = [this](const Prediction& prediction) {
    const Json json = answer(prediction);
    if (json.contains("value"))
      return concat(encoder_.layout().target, " = ", format_number(json["value"], 5));
    return concat(encoder_.layout().target, " = ", json["class"].get<std::string>(), " (",
                  format_number(json["probability"], 3), ")");
  };
  return options;
}

std::vector<std::string> FeaturesTask::keep_most_attended(const Model& model, const Dataset& rows,
                                                          int64_t count) {
  const TableLayout& layout = encoder_.layout();
  require(model_.name == "attention", ErrorKind::Unsupported, "prune: a ", model_.name,
          " model has no attention to prune by");
  const auto columns = static_cast<int64_t>(layout.columns.size());
  require(count >= 1 && count < columns, ErrorKind::InvalidArgument, "prune: --keep ", count,
          " of ", columns, " columns; expected 1 to ", columns - 1);
  const at::Tensor mean = attention(model, rows).to(torch::kFloat64).mean(0);
  std::vector<int64_t> order(layout.columns.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return mean[a].item<double>() > mean[b].item<double>();
  });
  order.resize(static_cast<size_t>(count));
  std::sort(order.begin(), order.end());
  std::vector<std::string> kept;
  for (int64_t column : order) kept.push_back(layout.columns[size_t(column)]);
  data_.table.features = kept;
  encoder_ = {};  // the next load() fits the kept columns alone
  return kept;
}

}  // namespace fovea
