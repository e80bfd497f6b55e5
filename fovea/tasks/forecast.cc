// The task `forecast`: the next steps of numeric series from the last ones.
#include <set>

#include "fovea/base/error.h"
#include "fovea/data/erase.h"
#include "fovea/data/series/known.h"
#include "fovea/data/series/load.h"
#include "fovea/explain/record/average.h"
#include "fovea/models/series_linear.h"
#include "fovea/models/series_patches.h"
#include "fovea/models/series_seq2seq.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/outputs/forecast.h"
#include "fovea/tasks/rows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kRowsOfOverview = 1000;

class SeriesData : public DataKind {
 public:
  /// `patches`: of networks that look at those; null: at steps. `uses_known`: whether the network
  /// looks at the calendar and at columns that are known in advance.
  SeriesData(std::shared_ptr<const SeriesPatchesOptions> patches, bool uses_known)
      : patches_(std::move(patches)), uses_known_(uses_known) {}

  const SeriesEncoder& encoder() const { return encoder_; }
  const SeriesLayout& layout() const { return encoder_.layout(); }

  void describe(OptionList& list) override { options_.describe(list); }
  bool has_folds() const override { return false; }  // a series is cut in time
  Splits load(const DataSource& source, uint64_t seed) override {
    SeriesDataOptions options = options_;
    if (!uses_known_) {
      require(
          options.rows.known_columns.empty() && options.rows.static_columns.empty() &&
              !source.roles.contains("known") && !source.roles.contains("static"),
          ErrorKind::InvalidArgument,
          "model.name=seq2seq does not look at columns that are known in advance; choose linear "
          "or patches");
      options.rows.calendar = "no";
    }
    return load_series(source, options, encoder_, seed);
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
    const auto agree = [](int64_t known, int64_t asked) { return asked == 0 || known == asked; };
    require(agree(layout().window, options_.rows.window) &&
                agree(layout().horizon, options_.rows.horizon),
            ErrorKind::BadData, where, ": looks at ", layout().window, " steps to predict ",
            layout().horizon, ", but config.json says ", options_.rows.window, " and ",
            options_.rows.horizon);
  }
  std::map<std::string, int64_t> sizes() const override {
    return {{"inputs", layout().inputs},
            {"targets", int64_t(layout().targets.size())},
            {"window", layout().window},
            {"horizon", layout().horizon},
            {"known", layout().known_width()}};
  }

  Example parse(const std::string& line) const override { return encoder_.encode_row(line); }
  InputColumns input_columns(const Roles&) const override {
    std::vector<std::string> needed = layout().input_names();
    for (const std::string& name : layout().known_names()) needed.push_back(name);
    if (!layout().series_column.empty()) needed.push_back(layout().series_column);
    if (!layout().calendar.empty()) needed.push_back(layout().time);
    return {needed, encoder_.file_columns(), {}};
  }
  /// One step a row; the last ones of each series are an input.
  std::vector<Example> parse_table(const CsvTable& table, const InputColumns&) const override {
    return all_examples(*encoder_.encode_inputs(table));
  }
  Json input_schema() const override {
    Json properties = Json::object();
    std::vector<std::string> required = layout().input_names();
    for (const std::string& name : required)
      properties[name] = {
          {"type", "array"}, {"items", {{"type", "number"}}}, {"minItems", layout().window}};
    for (const KnownColumn& column : layout().known) {
      const Json item{{"type", column.levels.empty() ? "number" : "string"}};
      properties[column.name] = {{"anyOf",
                                  {item,
                                   {{"type", "array"},
                                    {"items", item},
                                    {"minItems", layout().window + layout().horizon}}}}};
      required.push_back(column.name);
    }
    if (!layout().calendar.empty()) {
      properties[layout().time] = {
          {"type", "array"}, {"items", {{"type", "string"}}}, {"minItems", layout().window}};
      required.push_back(layout().time);
    }
    if (!layout().series_column.empty()) properties[layout().series_column] = {{"type", "string"}};
    return {{"type", "object"}, {"properties", properties}, {"required", required}};
  }
  Batch collate(std::span<const Example> examples) const override {
    return collate_series(examples);
  }
  Json input(const Dataset& rows, int64_t row) const override {
    const auto names = layout().input_names();
    const Example example = rows.example(row);
    const at::Tensor window = example.tensors.at("source");  // [S, F]
    const at::Tensor scale = example.tensors.at("scale");    // [2, series]
    Json input = Json::object();
    if (!layout().series_column.empty())
      input[layout().series_column] = example.axis("series").labels.at(0);
    if (!layout().calendar.empty()) input[layout().time] = example.axis("source").labels;
    for (size_t f = 0; f < names.size(); ++f)
      for (int64_t step = 0; step < window.size(0); ++step)
        input[names[f]].push_back(
            rounded(window[step][int64_t(f)].item<double>() * scale[1][int64_t(f)].item<double>() +
                    scale[0][int64_t(f)].item<double>()));
    int64_t place = 2 * int64_t(layout().calendar.size());
    for (const KnownColumn& column : layout().known) {
      const at::Tensor known =
          example.tensors.at("known").narrow(1, place, column.width()).contiguous();  // [S + T, …]
      for (int64_t step = 0; step < known.size(0); ++step)
        input[column.name].push_back(
            decode_known_cell(column, known.data_ptr<float>() + step * column.width()));
      place += column.width();
    }
    return input;
  }
  /// Steps become the mean of those that are left.
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    std::vector<int64_t> steps(units.begin(), units.end());
    if (axis == "patches" && patches_) {
      const PatchPlaces places(layout().window, *patches_);
      std::set<int64_t> all;
      for (const int64_t unit : units) {
        require(unit >= 0 && unit < places.count(), ErrorKind::InvalidArgument, "patch ", unit,
                " is not in 0 … ", places.count() - 1);
        all.insert(places.steps[size_t(unit)].begin(), places.steps[size_t(unit)].end());
      }
      steps.assign(all.begin(), all.end());
    } else if (axis != "source") {
      return DataKind::erase(example, axis, units);
    }
    Example erased = erase_steps(example, "source", steps);
    at::Tensor& source = erased.tensors.at("source");  // [S, F]
    if (const int64_t left = source.size(0) - int64_t(steps.size()); left > 0) {
      const at::Tensor mean = source.sum(0) / double(left);  // [F]; erased steps are 0
      for (const int64_t step : steps) source[step] = mean;
    }
    return erased;
  }

 private:
  SeriesDataOptions options_;
  SeriesEncoder encoder_;
  std::shared_ptr<const SeriesPatchesOptions> patches_;
  bool uses_known_;
};

/// The mean of the network's map over many windows, by place in the window.
Explanation mean_over_windows(const SeriesLayout& layout, const Task& task, const Model& model,
                              const Dataset& rows) {
  torch::NoGradGuard no_gradients;
  const int64_t count = std::min(rows.size(), kRowsOfOverview);
  require(count > 0, ErrorKind::BadData, "there are no windows to explain");
  MapAverage average;
  bool has_map = false;
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
    average.add(
        make_view(tap.maps().back(), task.describe_output(example, {}), task.explain_options()));
    has_map = true;
  }
  Explanation explanation{"forecast",
                          task.explain_options().title,
                          concat("mean over ", format_count(count), " windows"),
                          {},
                          {}};
  if (has_map)
    explanation.maps.push_back(average.result());
  else
    explanation.notes.push_back("this model has no attention");
  return explanation;
}

}  // namespace

namespace {

using Network = ForecastOutput::Network;

/// What every network of the task shares: the data as it sees them, its output and its overview.
void finish_spec(ModelSpec& spec, const std::shared_ptr<SeriesData>& data,
                 std::function<Network()> network) {
  spec.data = data;
  spec.output = std::make_shared<ForecastOutput>(
      [data]() -> const SeriesLayout& { return data->layout(); }, std::move(network));
  spec.overview = [data](const Task& task, const Model& model, const Dataset& rows) {
    return mean_over_windows(data->layout(), task, model, rows);
  };
}

SeriesShape series_shape(const SeriesLayout& layout) {
  return {layout.window, layout.horizon, layout.inputs, inputs_of_targets(layout),
          layout.known_width()};
}

TrainingOptions series_training() {
  TrainingOptions training;
  training.epochs = 10;
  training.batch_size = 64;
  training.micro_batches = 2;
  training.schedule = "cosine";
  training.clip_norm = 1;
  training.usual_steps = 1500;
  return training;
}

/// Of networks that see whole windows: absolute errors choose the epoch, since few large ones of a
/// short validation split decide the squared error.
TrainingOptions window_training() {
  TrainingOptions training = series_training();
  training.monitor = {"mae_standardised"};
  training.patience = 0;  // most is gained at the end, when the rate falls; the best epoch is kept
  return training;
}

ModelSpec patches_spec() {
  const auto options = std::make_shared<SeriesPatchesOptions>();
  const auto data = std::make_shared<SeriesData>(options, true);
  TrainingOptions training = window_training();
  training.learning_rate = 1e-3;
  // Windows that follow each other are nearly the same: few at a time tell as much as many. The
  // mean of the last weights is steadier where the horizon is long.
  training.batch_size = 32;
  training.micro_batches = 1;
  training.ema = 0.995;
  ModelSpec spec = model_spec(
      {"patches"}, options, training,
      [data](const SeriesPatchesOptions& own) {
        return std::make_unique<SeriesPatches>(own, series_shape(data->layout()));
      },
      [] {
        return ExplainTitles{
            "Which stretch of the past each forecast step looks at",
            {{"attention", "Where each forecast step looked, stretch by stretch"}}};
      });
  finish_spec(spec, data, [options] { return Network{options->series.levels(), options.get()}; });
  return spec;
}

ModelSpec linear_spec() {
  const auto options = std::make_shared<SeriesLinearOptions>();
  const auto data = std::make_shared<SeriesData>(nullptr, true);
  TrainingOptions training = window_training();
  training.learning_rate = 2e-3;
  ModelSpec spec = model_spec(
      {"linear"}, options, training,
      [data](const SeriesLinearOptions& own) {
        return std::make_unique<SeriesLinear>(own, series_shape(data->layout()));
      },
      [] {
        return ExplainTitles{"What each past step adds to each forecast step",
                             {{"contribution", "What each past step adds: weight times value"}}};
      });
  spec.configs["tutorial"] = {{"model", {{"name", "seq2seq"}}}};
  finish_spec(spec, data, [options] { return Network{options->series.levels(), nullptr}; });
  return spec;
}

ModelSpec seq2seq_spec() {
  const auto options = std::make_shared<SeriesSeq2SeqOptions>();
  options->hidden = 64;
  options->embedding = 32;
  // A window has places, not contents: what stands 12 steps back is told by where it stands.
  options->score.name = "location-base";
  options->score.maximum_length = 24;
  const auto data = std::make_shared<SeriesData>(nullptr, false);
  TrainingOptions training = series_training();
  training.learning_rate = 3e-3;
  ModelSpec spec = model_spec(
      {"seq2seq"}, options, training,
      [data](SeriesSeq2SeqOptions own) -> std::unique_ptr<Model> {
        const SeriesLayout& layout = data->layout();
        SequenceShape shape;
        shape.source_width = layout.inputs;
        shape.target_width = int64_t(layout.targets.size());
        shape.horizon = layout.horizon;
        own.score.maximum_length = std::max(own.score.maximum_length, layout.window);
        if (own.revin) return std::make_unique<RevinSeq2Seq>(own, shape, series_shape(layout));
        return std::make_unique<Seq2Seq>(own, SearchOptions{}, shape);
      },
      [] {
        return ExplainTitles{"Which past step each forecast step looks at",
                             {{"attention", "Where each forecast step looked"}}};
      });
  finish_spec(spec, data, [] { return Network{}; });
  return spec;
}

}  // namespace

static std::unique_ptr<Task> make_forecast_task() {
  std::vector<ModelSpec> specs;
  specs.push_back(linear_spec());  // the usual one: it is hard to beat, and trains in seconds
  specs.push_back(patches_spec());
  specs.push_back(seq2seq_spec());
  const auto data = specs[0].data;
  const auto output = specs[0].output;
  return std::make_unique<Task>("forecast", data, output, std::move(specs));
}

TaskRow forecast_task() {
  return {"forecast", "the next steps of numeric series from the last ones",
          "output step -> past step",
          "CSV with a header: one row per step, one column per series, or rows of several series",
          make_forecast_task};
}

}  // namespace fovea
