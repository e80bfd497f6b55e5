#include "fovea/tasks/forecast.h"

#include "fovea/base/error.h"
#include "fovea/data/erase.h"
#include "fovea/explain/record/average.h"
#include "fovea/metrics/attention_truth.h"
#include "fovea/metrics/regression.h"
#include "fovea/tasks/rows.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kRowsAtOnce = 256;
constexpr int64_t kRowsOfOverview = 1000;

}  // namespace

ForecastTask::ForecastTask() {
  model_.hidden = 64;
  model_.embedding = 32;
  // A window has places, not contents: what stands 12 steps back is told by where it stands.
  model_.score.name = "location-base";
  model_.score.maximum_length = data_.rows.window;
}

void ForecastTask::describe(OptionList& list) {
  list.group("data", data_);
  list.group("model", model_);
}

TrainingOptions ForecastTask::training_defaults() const {
  TrainingOptions options;
  options.epochs = 10;
  options.batch_size = 64;
  options.micro_batches = 2;
  options.learning_rate = 3e-3;
  options.schedule = "cosine";
  options.clip_norm = 1;
  return options;
}

Splits ForecastTask::load(const DataSource& source, uint64_t seed) {
  return load_series(source, data_, encoder_, seed);
}

void ForecastTask::write_data(const std::filesystem::path& folder) const {
  write_series_data(folder, data_);
}

std::unique_ptr<Model> ForecastTask::make_model() const {
  const SeriesLayout& layout = encoder_.layout();
  SequenceShape shape;
  shape.source_width = layout.inputs;
  shape.target_width = int64_t(layout.targets.size());
  shape.horizon = layout.horizon;
  Seq2SeqOptions options = model_;
  options.score.maximum_length = std::max(options.score.maximum_length, layout.window);
  return std::make_unique<Seq2Seq>(options, SearchOptions{}, shape);
}

void ForecastTask::save(const RunFolder& folder) const {
  folder.write_asset("series.json", encoder_.to_json());
}

void ForecastTask::restore(const RunFolder& folder) {
  encoder_ = SeriesEncoder::from_json(folder.read_asset("series.json"),
                                      folder.asset("series.json").string());
  const SeriesLayout& layout = encoder_.layout();
  require(layout.window == data_.rows.window && layout.horizon == data_.rows.horizon,
          ErrorKind::BadData, folder.asset("series.json").string(), ": looks at ", layout.window,
          " steps to predict ", layout.horizon, ", but config.json says ", data_.rows.window,
          " and ", data_.rows.horizon);
}

Metrics ForecastTask::measure(const Model& model, const Dataset& rows) const {
  const int64_t parts = (rows.size() + kRowsAtOnce - 1) / kRowsAtOnce;
  std::vector<at::Tensor> values(static_cast<size_t>(parts)), targets(values.size());
  std::vector<double> truth_sum(values.size()), truth_rows(values.size());
  const bool has_truth = rows.size() > 0 && rows.example(0).truth.count("attention") > 0;
  const auto do_part = [&](int64_t part) {
    torch::NoGradGuard no_gradients;
    std::vector<int64_t> picked;
    for (int64_t row = part * kRowsAtOnce; row < std::min(rows.size(), (part + 1) * kRowsAtOnce);
         ++row)
      picked.push_back(row);
    const auto at = static_cast<size_t>(part);
    const Batch batch = rows.batch(picked).to(model.device());
    Tap tap;
    values[at] = model.replay(batch, {}, &tap).cpu();   // [B, T O]
    targets[at] = batch.at("target").flatten(1).cpu();  // [B, T O]
    if (!has_truth || tap.maps().empty()) return;
    const at::Tensor keep = rows.example(picked[0]).truth.at("attention");  // the same for all
    if (const auto share = attention_truth(tap.map("attention").weights.cpu(), keep)) {
      truth_rows[at] = double(picked.size());
      truth_sum[at] = *share * truth_rows[at];
    }
  };
  if (model.device().is_cpu())
    run_parallel(parts, do_part);
  else
    for (int64_t part = 0; part < parts; ++part) do_part(part);
  const at::Tensor predicted = torch::cat(values), target = torch::cat(targets);
  Metrics metrics{{"loss", mean_squared_error(predicted, target)},
                  {"mae", mean_absolute_error(predicted, target)}};
  if (const auto r2 = r_squared(predicted, target)) metrics.push_back({"r2", *r2, true});
  double sum = 0, count = 0;
  for (size_t i = 0; i < values.size(); ++i) sum += truth_sum[i], count += truth_rows[i];
  if (count > 0) metrics.push_back({"attention_truth", sum / count, true});
  return metrics;
}

Example ForecastTask::parse(const std::string& line) const {
  return encoder_.encode_row(line);
}

InputColumns ForecastTask::input_columns(const Roles&) const {
  return {encoder_.layout().input_names(), encoder_.file_columns(), {}};
}

std::vector<Example> ForecastTask::parse_table(const CsvTable& table, const InputColumns&) const {
  return all_examples(*encoder_.encode_inputs(table));
}

Json ForecastTask::input_schema() const {
  Json properties = Json::object();
  const auto names = encoder_.layout().input_names();
  for (const std::string& name : names)
    properties[name] = {
        {"type", "array"}, {"items", {{"type", "number"}}}, {"minItems", encoder_.layout().window}};
  return {{"type", "object"}, {"properties", properties}, {"required", names}};
}

Batch ForecastTask::collate(std::span<const Example> examples) const {
  return collate_series(examples);
}

std::vector<std::vector<double>> ForecastTask::forecast(const Prediction& prediction) const {
  const SeriesLayout& layout = encoder_.layout();
  const at::Tensor values = prediction.values.to(torch::kCPU, torch::kDouble).contiguous();
  const double* value = values.data_ptr<double>();
  std::vector<std::vector<double>> steps;
  for (int64_t step = 0; step < layout.horizon; ++step) {
    steps.emplace_back();
    for (const int64_t series : layout.targets)
      steps.back().push_back(encoder_.original(*value++, series));
  }
  return steps;
}

Json ForecastTask::answer(const Example& example, const Prediction& prediction) const {
  Json json = Json::object();
  const auto names = encoder_.layout().target_names();
  const auto steps = forecast(prediction);
  for (size_t series = 0; series < names.size(); ++series) {
    json[names[series]] = Json::array();
    for (const auto& step : steps) json[names[series]].push_back(step[series]);
  }
  return json;
}

std::string ForecastTask::answer_line(const Example& example, const Prediction& prediction) const {
  std::vector<std::string> steps;
  for (const auto& step : forecast(prediction)) {
    std::vector<std::string> numbers;
    for (const double value : step) numbers.push_back(format_number(value, 7));
    steps.push_back(join(numbers, ";"));
  }
  return join(steps, ",");
}

Explanation ForecastTask::overview(const Model& model, const Dataset& rows) const {
  torch::NoGradGuard no_gradients;
  const int64_t count = std::min(rows.size(), kRowsOfOverview);
  require(count > 0, ErrorKind::BadData, "there are no windows to explain");
  MapAverage average;
  const SeriesLayout& layout = encoder_.layout();
  for (int64_t row = 0; row < count; ++row) {
    std::vector<int64_t> one{row};
    Tap tap;
    model.replay(rows.batch(one).to(model.device()), {}, &tap);
    if (tap.maps().empty()) break;
    Example example = rows.example(row);
    for (Axis& axis : example.axes) {  // places, not dates: only those are the same in every window
      axis.labels.clear();
      for (int64_t i = 0; axis.name == "source" && i < layout.window; ++i)
        axis.labels.push_back(concat("t-", layout.window - 1 - i));
      for (int64_t i = 0; axis.name == "target" && i < layout.horizon; ++i)
        axis.labels.push_back(concat("t+", i + 1));
    }
    average.add(make_view(tap.map("attention"), example, explain_options()));
  }
  Explanation explanation{"forecast",
                          "Which past step each forecast step looks at",
                          concat("mean over ", format_count(count), " windows"),
                          {},
                          {}};
  if (model_.attention == "none")
    explanation.notes.push_back("this model has no attention");
  else
    explanation.maps.push_back(average.result());
  return explanation;
}

Example ForecastTask::erase(const Example& example, const std::string& axis,
                            std::span<const int64_t> units) const {
  if (axis != "source") return Task::erase(example, axis, units);
  return erase_steps(example, "source", units);
}

std::vector<Json> ForecastTask::example_inputs(const Dataset& rows, int64_t count) const {
  const SeriesLayout& layout = encoder_.layout();
  const auto names = layout.input_names();
  std::vector<Json> inputs;
  for (int64_t row = 0; row < std::min(count, rows.size()); ++row) {
    const at::Tensor window = rows.example(row).tensors.at("source");  // [S, F]
    Json input = Json::object();
    for (size_t f = 0; f < names.size(); ++f)
      for (int64_t step = 0; step < window.size(0); ++step)
        input[names[f]].push_back(
            rounded(encoder_.original(window[step][int64_t(f)].item<double>(), int64_t(f))));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

ExplainOptions ForecastTask::explain_options() const {
  ExplainOptions options;
  options.task = "forecast";
  options.title = "Which past step each forecast step looks at";
  options.map_titles = {{"attention", concat(model_.score.name, ", ", model_.alignment.name)}};
  options.describe = [this](const Example& example, const Prediction& prediction) {
    return answer_line(example, prediction);
  };
  return options;
}

}  // namespace fovea
