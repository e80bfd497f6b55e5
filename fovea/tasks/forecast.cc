// The task `forecast`: the next steps of numeric series from the last ones.
#include "fovea/base/error.h"
#include "fovea/data/erase.h"
#include "fovea/data/series/load.h"
#include "fovea/explain/record/average.h"
#include "fovea/metrics/attention_truth.h"
#include "fovea/models/seq2seq.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/outputs/numbers.h"
#include "fovea/tasks/rows.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kRowsAtOnce = 256;
constexpr int64_t kRowsOfOverview = 1000;

class SeriesData : public DataKind {
 public:
  const SeriesEncoder& encoder() const { return encoder_; }
  const SeriesLayout& layout() const { return encoder_.layout(); }

  void describe(OptionList& list) override { options_.describe(list); }
  bool has_folds() const override { return false; }  // a series is cut in time
  Splits load(const DataSource& source, uint64_t seed) override {
    return load_series(source, options_, encoder_, seed);
  }
  void write(const std::filesystem::path& folder) const override {
    write_series_data(folder, options_);
  }
  void save(const RunFolder& folder) const override {
    folder.write_asset("series.json", encoder_.to_json());
  }
  void restore(const RunFolder& folder) override {
    const std::string where = folder.asset("series.json").string();
    encoder_ = SeriesEncoder::from_json(folder.read_asset("series.json"), where);
    require(layout().window == options_.rows.window && layout().horizon == options_.rows.horizon,
            ErrorKind::BadData, where, ": looks at ", layout().window, " steps to predict ",
            layout().horizon, ", but config.json says ", options_.rows.window, " and ",
            options_.rows.horizon);
  }
  std::map<std::string, int64_t> sizes() const override {
    return {{"inputs", layout().inputs},
            {"targets", int64_t(layout().targets.size())},
            {"window", layout().window},
            {"horizon", layout().horizon}};
  }

  Example parse(const std::string& line) const override { return encoder_.encode_row(line); }
  InputColumns input_columns(const Roles&) const override {
    return {layout().input_names(), encoder_.file_columns(), {}};
  }
  /// One step a row; the last ones are the input.
  std::vector<Example> parse_table(const CsvTable& table, const InputColumns&) const override {
    return all_examples(*encoder_.encode_inputs(table));
  }
  Json input_schema() const override {
    Json properties = Json::object();
    const auto names = layout().input_names();
    for (const std::string& name : names)
      properties[name] = {
          {"type", "array"}, {"items", {{"type", "number"}}}, {"minItems", layout().window}};
    return {{"type", "object"}, {"properties", properties}, {"required", names}};
  }
  Batch collate(std::span<const Example> examples) const override {
    return collate_series(examples);
  }
  Json input(const Dataset& rows, int64_t row) const override {
    const auto names = layout().input_names();
    const at::Tensor window = rows.example(row).tensors.at("source");  // [S, F]
    Json input = Json::object();
    for (size_t f = 0; f < names.size(); ++f)
      for (int64_t step = 0; step < window.size(0); ++step)
        input[names[f]].push_back(
            rounded(encoder_.original(window[step][int64_t(f)].item<double>(), int64_t(f))));
    return input;
  }
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    if (axis != "source") return DataKind::erase(example, axis, units);
    return erase_steps(example, "source", units);
  }

 private:
  SeriesDataOptions options_;
  SeriesEncoder encoder_;
};

/// Numbers step by step: {"y": [0.5, 0.25, …]}.
class ForecastOutput : public OutputKind {
 public:
  explicit ForecastOutput(std::shared_ptr<const SeriesData> data) : data_(std::move(data)) {}

  Metrics measure(const Model& model, const Dataset& rows, const RowProgress&) const override {
    const int64_t batches = (rows.size() + kRowsAtOnce - 1) / kRowsAtOnce;
    std::vector<at::Tensor> values(static_cast<size_t>(batches)), targets(values.size());
    std::vector<double> truth_sum(values.size()), truth_rows(values.size());
    const auto measure_batch = [&](int64_t index) {
      torch::NoGradGuard no_gradients;
      std::vector<int64_t> picked;
      for (int64_t row = index * kRowsAtOnce;
           row < std::min(rows.size(), (index + 1) * kRowsAtOnce); ++row)
        picked.push_back(row);
      const auto at = static_cast<size_t>(index);
      const Batch batch = rows.batch(picked).to(model.device());
      Tap tap;
      values[at] = model.replay(batch, {}, &tap).cpu();   // [B, T O]
      targets[at] = batch.at("target").flatten(1).cpu();  // [B, T O]
      if (!rows.has_truth() || tap.maps().empty()) return;
      const at::Tensor keep = rows.map_truth(picked[0], "attention");  // the same for all
      if (const auto share = attention_truth(tap.map("attention").weights.cpu(), keep)) {
        truth_rows[at] = double(picked.size());
        truth_sum[at] = *share * truth_rows[at];
      }
    };
    if (model.device().is_cpu())
      run_parallel(batches, measure_batch);
    else
      for (int64_t index = 0; index < batches; ++index) measure_batch(index);
    Metrics metrics = number_metrics(torch::cat(values), torch::cat(targets));
    double sum = 0, count = 0;
    for (size_t i = 0; i < values.size(); ++i) sum += truth_sum[i], count += truth_rows[i];
    if (count > 0) metrics.push_back({"attention_truth", sum / count, true});
    return metrics;
  }

  Json answer(const Example&, const Prediction& prediction) const override {
    Json json = Json::object();
    const auto names = data_->layout().target_names();
    const auto steps = forecast(prediction);
    for (size_t series = 0; series < names.size(); ++series) {
      json[names[series]] = Json::array();
      for (const auto& step : steps) json[names[series]].push_back(step[series]);
    }
    return json;
  }
  std::string answer_line(const Example&, const Prediction& prediction) const override {
    std::vector<std::string> steps;
    for (const auto& step : forecast(prediction)) {
      std::vector<std::string> numbers;
      for (const double value : step) numbers.push_back(format_number(value, 7));
      steps.push_back(join(numbers, ";"));
    }
    return join(steps, ",");
  }

 private:
  /// Step by step, each target series: [T][O], in the series' own units.
  std::vector<std::vector<double>> forecast(const Prediction& prediction) const {
    const SeriesLayout& layout = data_->layout();
    const at::Tensor values = prediction.values.to(torch::kCPU, torch::kDouble).contiguous();
    const double* value = values.data_ptr<double>();
    std::vector<std::vector<double>> steps(static_cast<size_t>(layout.horizon));
    for (std::vector<double>& step : steps)
      for (const int64_t series : layout.targets)
        step.push_back(data_->encoder().original(*value++, series));
    return steps;
  }

  std::shared_ptr<const SeriesData> data_;
};

/// The mean attention over many windows, by place in the window.
Explanation mean_over_windows(const SeriesLayout& layout, const Task& task, const Model& model,
                              const Dataset& rows, bool has_attention) {
  torch::NoGradGuard no_gradients;
  const int64_t count = std::min(rows.size(), kRowsOfOverview);
  require(count > 0, ErrorKind::BadData, "there are no windows to explain");
  MapAverage average;
  for (int64_t row = 0; row < count; ++row) {
    Tap tap;
    model.replay(rows.batch({&row, 1}).to(model.device()), {}, &tap);
    if (tap.maps().empty()) break;
    Example example = rows.example(row);
    for (Axis& axis : example.axes) {  // places, not dates: only those are the same in every window
      axis.labels.clear();
      for (int64_t i = 0; axis.name == "source" && i < layout.window; ++i)
        axis.labels.push_back(concat("t-", layout.window - 1 - i));
      for (int64_t i = 0; axis.name == "target" && i < layout.horizon; ++i)
        axis.labels.push_back(concat("t+", i + 1));
    }
    average.add(make_view(tap.map("attention"), example, task.explain_options()));
  }
  Explanation explanation{"forecast",
                          "Which past step each forecast step looks at",
                          concat("mean over ", format_count(count), " windows"),
                          {},
                          {}};
  if (has_attention)
    explanation.maps.push_back(average.result());
  else
    explanation.notes.push_back("this model has no attention");
  return explanation;
}

}  // namespace

static std::unique_ptr<Task> make_forecast_task() {
  const auto data = std::make_shared<SeriesData>();
  const auto options = std::make_shared<Seq2SeqOptions>();
  options->hidden = 64;
  options->embedding = 32;
  // A window has places, not contents: what stands 12 steps back is told by where it stands.
  options->score.name = "location-base";
  options->score.maximum_length = SeriesOptions().window;
  TrainingOptions training;
  training.epochs = 10;
  training.batch_size = 64;
  training.micro_batches = 2;
  training.learning_rate = 3e-3;
  training.schedule = "cosine";
  training.clip_norm = 1;
  training.usual_steps = 1500;
  ModelSpec spec = model_spec(
      {"seq2seq"}, options, training,
      [data](Seq2SeqOptions own) {
        const SeriesLayout& layout = data->layout();
        SequenceShape shape;
        shape.source_width = layout.inputs;
        shape.target_width = int64_t(layout.targets.size());
        shape.horizon = layout.horizon;
        own.score.maximum_length = std::max(own.score.maximum_length, layout.window);
        return std::make_unique<Seq2Seq>(own, SearchOptions{}, shape);
      },
      [options] {
        return ExplainTitles{
            "Which past step each forecast step looks at",
            {{"attention", concat(options->score.name, ", ", options->alignment.name)}}};
      });
  spec.overview = [data, options](const Task& task, const Model& model, const Dataset& rows) {
    return mean_over_windows(data->layout(), task, model, rows, options->attention != "none");
  };
  return std::make_unique<Task>("forecast", data, std::make_shared<ForecastOutput>(data),
                                std::vector{std::move(spec)});
}

TaskRow forecast_task() {
  return {"forecast", "the next steps of numeric series from the last ones",
          "output step -> past step", "CSV with a header: one row per step, one column per series",
          make_forecast_task};
}

}  // namespace fovea
