#include "fovea/tasks/outputs/forecast.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/metrics/attention_truth.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kRowsAtOnce = 256;
constexpr int64_t kBaselineRows =
    20000;  // windows of single series that the linear one learns from
constexpr size_t kShownRows = 12, kShownTargets = 8;
constexpr int64_t kFewestBlocks = 5;  // of windows that share no step to forecast

int64_t count_batches(const Dataset& rows) {
  return (rows.size() + kRowsAtOnce - 1) / kRowsAtOnce;
}

/// A patch is right when a step of it is. truth [T, S] -> [T, P]
at::Tensor truth_of_patches(const at::Tensor& truth, const PatchPlaces& places) {
  std::vector<at::Tensor> columns;
  for (const std::vector<int64_t>& steps : places.steps)
    columns.push_back(truth.index_select(1, torch::tensor(steps)).any(1));  // [T]
  return torch::stack(columns, 1);
}

/// The mean of max(q d, (q - 1) d) over all numbers. quantiles [B, T, O, q]
double pinball(const at::Tensor& quantiles, const at::Tensor& target,
               const std::vector<double>& levels) {
  const at::Tensor level = torch::tensor(levels, quantiles.options());
  const at::Tensor difference = target.unsqueeze(-1) - quantiles;
  return at::maximum(level * difference, (level - 1) * difference).mean().item<double>();
}

/// Windows that follow each other share most of what they forecast: resampled are blocks of
/// `length` of them (Künsch 1989). Nothing where there are too few.
std::optional<Interval> block_interval(const std::vector<double>& windows, int64_t length) {
  if ((int64_t(windows.size()) + length - 1) / length < kFewestBlocks) return {};
  SummedMetric mean;
  for (const double window : windows) mean.rows.push_back({window, 1});
  return bootstrap_interval(mean.in_blocks(length));
}

/// The first, the last and some between them.
std::vector<size_t> spread_steps(size_t count) {
  std::vector<size_t> rows;
  if (count <= kShownRows) return rows;
  for (size_t i = 0; i < kShownRows; ++i) rows.push_back(i * (count - 1) / (kShownRows - 1));
  return rows;
}

/// Those with the largest number in `column`.
std::vector<size_t> worst_rows(const ErrorTable& table, size_t column) {
  if (table.rows.size() <= kShownRows) return {};
  std::vector<size_t> rows(table.rows.size());
  std::iota(rows.begin(), rows.end(), size_t(0));
  std::ranges::stable_sort(rows, std::greater(),
                           [&](size_t row) { return table.rows[row][column]; });
  rows.resize(kShownRows);
  return rows;
}

Json numbers_json(const at::Tensor& values) {
  const at::Tensor whole = values.to(at::kCPU, at::kDouble).contiguous();
  Json list = Json::array();
  for (int64_t i = 0; i < whole.numel(); ++i) list.push_back(whole.data_ptr<double>()[i]);
  return list;
}

}  // namespace

std::vector<int64_t> inputs_of_targets(const SeriesLayout& layout) {
  std::vector<int64_t> inputs;
  for (const int64_t place : layout.targets) inputs.push_back(place < layout.inputs ? place : -1);
  return inputs;
}

std::vector<int64_t> ForecastOutput::target_inputs() const {
  return inputs_of_targets(layout_());
}

at::Tensor ForecastOutput::target_scale(const at::Tensor& scale) const {
  return scale.index_select(-1, torch::tensor(layout_().targets).to(scale.device()));
}

ForecastOutput::Forecasts ForecastOutput::split(const at::Tensor& values) const {
  const SeriesLayout& layout = layout_();
  const int64_t T = layout.horizon, O = int64_t(layout.targets.size()), B = values.size(0);
  Forecasts forecasts;
  forecasts.values = values.narrow(1, 0, T * O).reshape({B, T, O});
  if (values.size(1) == T * O) return forecasts;
  const at::Tensor levels = values.narrow(1, T * O, values.size(1) - T * O).reshape({B, T, O, -1});
  forecasts.low = levels.select(-1, 0);
  forecasts.high = levels.select(-1, levels.size(-1) - 1);
  forecasts.quantiles = levels;
  return forecasts;
}

ForecastReport ForecastOutput::report_of(const Dataset& rows, const Forecaster& forecast,
                                         bool parallel, const RowProgress& progress) const {
  struct BatchErrors {
    ForecastErrors all;
    std::map<int64_t, ForecastErrors> by_series;
    std::map<int64_t, int64_t> first_rows;  // of each series
    std::vector<double> windows;
    double loss = 0;
    std::optional<double> truth;
  };
  const int64_t batches = count_batches(rows);
  std::vector<BatchErrors> all_batches(static_cast<size_t>(batches));
  const auto measure_batch = [&](int64_t index) {
    torch::NoGradGuard no_gradients;
    const std::vector<int64_t> picked = rows_from(rows, index * kRowsAtOnce, kRowsAtOnce);
    const Batch batch = rows.batch(picked);
    const Forecasts found = forecast(batch, picked);
    const at::Tensor deviation = target_scale(batch.at("scale")).select(1, 1);  // [B, O]
    const at::Tensor& target = batch.at("target");
    BatchErrors& errors_of_batch = all_batches[size_t(index)];
    errors_of_batch.all.add(found.values, target, deviation, found.low, found.high);
    errors_of_batch.truth = found.attention_truth;
    at::Tensor error = (found.values - target).abs();  // [B, T, O]
    if (has_one_unit()) error = error * deviation.unsqueeze(1);
    const at::Tensor of_windows = error.mean({1, 2}).to(at::kDouble).contiguous();  // [B]
    errors_of_batch.windows.assign(of_windows.data_ptr<double>(),
                                   of_windows.data_ptr<double>() + of_windows.numel());
    if (found.quantiles.defined())
      errors_of_batch.loss =
          pinball(found.quantiles, target, network_().quantiles) * double(picked.size());
    if (!batch.has("series")) return;
    const at::Tensor series = batch.at("series").contiguous();  // [B]
    std::map<int64_t, std::vector<int64_t>> places;
    for (size_t i = 0; i < picked.size(); ++i)
      places[series.data_ptr<int64_t>()[i]].push_back(int64_t(i));
    for (const auto& [one, own] : places) {
      const at::Tensor chosen = torch::tensor(own);
      const auto pick = [&](const at::Tensor& x) {
        return x.defined() ? x.index_select(0, chosen) : x;
      };
      errors_of_batch.by_series[one].add(pick(found.values), pick(target), pick(deviation),
                                         pick(found.low), pick(found.high));
      errors_of_batch.first_rows[one] = picked[size_t(own[0])];
    }
  };
  if (parallel)
    run_parallel(batches, measure_batch);
  else
    for (int64_t index = 0; index < batches; ++index) {
      measure_batch(index);
      if (progress) progress(std::min(rows.size(), (index + 1) * kRowsAtOnce));
    }
  ForecastReport report;
  std::map<int64_t, ForecastErrors> by_series;
  std::map<int64_t, int64_t> first_rows;
  double truth = 0, truth_windows = 0;
  for (const BatchErrors& errors_of_batch : all_batches) {
    report.all.add(errors_of_batch.all);
    report.loss += errors_of_batch.loss / double(rows.size());
    report.windows.insert(report.windows.end(), errors_of_batch.windows.begin(),
                          errors_of_batch.windows.end());
    if (errors_of_batch.truth)
      truth += *errors_of_batch.truth * errors_of_batch.all.windows(),
          truth_windows += errors_of_batch.all.windows();
    for (const auto& [series, errors] : errors_of_batch.by_series) by_series[series].add(errors);
    first_rows.insert(errors_of_batch.first_rows.begin(), errors_of_batch.first_rows.end());
  }
  require(!report.all.empty(), ErrorKind::BadData, "there are no windows to measure");
  if (network_().quantiles.empty())
    report.loss = report.all.mean_squared_standardised().mean().item<double>();
  if (truth_windows > 0) report.attention_truth = truth / truth_windows;
  for (auto& [series, errors] : by_series)
    report.by_series.emplace_back(rows.example(first_rows.at(series)).axis("series").labels.at(0),
                                  std::move(errors));
  return report;
}

ForecastReport ForecastOutput::report(const Model& model, const Dataset& rows,
                                      const RowProgress& progress) const {
  const Forecaster forecast = [&](const Batch& batch, std::span<const int64_t> picked) {
    const Batch moved = batch.to(model.device());
    if (!rows.has_truth()) return split(model.predict(moved).values.cpu());
    Tap tap;
    Forecasts found = split(model.replay(moved, {}, &tap).cpu());
    const at::Tensor keep = rows.map_truth(picked[0], "attention");  // [T, S], the same for all
    const bool looks = !tap.maps().empty() && tap.maps().back().name == "attention";
    if (!looks || !keep.defined()) return found;
    const at::Tensor weights = tap.map("attention").weights.cpu();
    const SeriesPatchesOptions* patches = network_().patches;
    found.attention_truth = attention_truth(
        weights, patches ? truth_of_patches(keep, PatchPlaces(layout_().window, *patches)) : keep);
    return found;
  };
  return report_of(rows, forecast, model.device().is_cpu(), progress);
}

Metrics ForecastReport::metrics() const {
  Metrics metrics{{"loss", loss}};
  const Metrics errors = all.metrics();
  metrics.insert(metrics.end(), errors.begin(), errors.end());
  if (attention_truth) metrics.push_back({"attention_truth", *attention_truth, true});
  return metrics;
}

Metrics ForecastOutput::measure(const Model& model, const Dataset& rows,
                                const RowProgress& progress) const {
  return report(model, rows, progress).metrics();
}

Evaluation ForecastOutput::evaluate(const Model& model, const Dataset& rows,
                                    const RowProgress& progress) const {
  const SeriesLayout& layout = layout_();
  const ForecastReport found = report(model, rows, progress);
  Evaluation evaluation;
  evaluation.metrics = found.metrics();
  evaluation.main = has_one_unit() ? "mae" : "mae_standardised";
  evaluation.interval =
      block_interval(found.windows, (layout.horizon + layout.stride - 1) / layout.stride);
  const ForecastReport naive = report_baselines({}, rows).at(0).second;
  evaluation.errors = {errors_by_series(found, naive), errors_by_step(found, naive)};
  return evaluation;
}

ErrorTable ForecastOutput::errors_by_series(const ForecastReport& model,
                                            const ForecastReport& naive) const {
  ErrorTable table{"series", {"mae", "rmse", "mae_standardised", concat("mae of ", naive_name())}};
  const std::vector<std::string> targets = layout_().target_names();
  const auto add = [&](const std::string& series, const ForecastErrors& own,
                       const ForecastErrors& other) {
    const auto mean = [](const at::Tensor& errors, size_t target) {  // [T, O]
      return errors.select(1, int64_t(target)).mean().item<double>();
    };
    for (size_t target = 0; target < targets.size(); ++target) {
      table.names.push_back(series.empty()        ? targets[target]
                            : targets.size() == 1 ? series
                                                  : concat(series, ": ", targets[target]));
      table.rows.push_back(
          {mean(own.mean_absolute(), target), std::sqrt(mean(own.mean_squared(), target)),
           mean(own.mean_absolute_standardised(), target), mean(other.mean_absolute(), target)});
    }
  };
  if (model.by_series.empty()) add("", model.all, naive.all);
  for (size_t i = 0; i < model.by_series.size(); ++i)
    add(model.by_series[i].first, model.by_series[i].second, naive.by_series.at(i).second);
  table.shown = worst_rows(table, 2);
  return table;
}

ErrorTable ForecastOutput::errors_by_step(const ForecastReport& model,
                                          const ForecastReport& naive) const {
  ErrorTable table{"step", {}};
  std::vector<at::Tensor> columns;  // [T] each
  const auto add = [&](const std::string& name, const at::Tensor& errors) {
    table.columns.push_back(name);
    columns.push_back(errors.contiguous());
  };
  const std::vector<std::string> targets = layout_().target_names();
  if (has_one_unit()) {
    add("mae", model.all.mean_absolute().select(1, 0));
    add("rmse", model.all.mean_squared().select(1, 0).sqrt());
    add(concat("mae of ", naive_name()), naive.all.mean_absolute().select(1, 0));
  } else if (targets.size() <= kShownTargets) {
    for (size_t target = 0; target < targets.size(); ++target)
      add(concat("mae ", targets[target]), model.all.mean_absolute().select(1, int64_t(target)));
  } else {  // the units of many series say nothing together
    add("mae_standardised", model.all.mean_absolute_standardised().mean(1));
    add(concat("mae_standardised of ", naive_name()),
        naive.all.mean_absolute_standardised().mean(1));
  }
  for (int64_t step = 0; step < layout_().horizon; ++step) {
    table.names.push_back(concat("t+", step + 1));
    std::vector<double>& row = table.rows.emplace_back();
    for (const at::Tensor& column : columns) row.push_back(column.data_ptr<double>()[step]);
  }
  table.shown = spread_steps(table.names.size());
  return table;
}

NamedTensors ForecastOutput::fit_baselines(const Dataset& train, const LinearInputs&) const {
  torch::NoGradGuard no_gradients;
  const SeriesLayout& layout = layout_();
  LinearForecast linear(layout.window, layout.horizon);
  const int64_t wanted = std::max<int64_t>(1, kBaselineRows / int64_t(layout.targets.size()));
  const int64_t stride = std::max<int64_t>(1, train.size() / wanted);
  std::vector<int64_t> picked;
  for (int64_t row = 0; row < train.size(); row += stride) {
    picked.push_back(row);
    if (int64_t(picked.size()) < kRowsAtOnce && row + stride < train.size()) continue;
    const Batch batch = train.batch(picked);
    linear.add(batch.at("source"), batch.at("target"), target_inputs());
    picked.clear();
  }
  NamedTensors fitted{{"season", torch::tensor({double(layout.season)}, at::kFloat)}};
  if (const at::Tensor map = linear.solve(); map.defined()) fitted["linear"] = map;
  return fitted;
}

std::string ForecastOutput::naive_name() const {
  const SeriesLayout& layout = layout_();
  if (std::ranges::all_of(target_inputs(), [](int64_t input) { return input < 0; })) return "mean";
  return layout.season > 1 && layout.season <= layout.window ? "seasonal naive" : "naive";
}

std::vector<std::pair<std::string, ForecastReport>> ForecastOutput::report_baselines(
    const NamedTensors& fitted, const Dataset& rows) const {
  const SeriesLayout& layout = layout_();
  std::vector<std::pair<std::string, ForecastReport>> reports;
  const auto add = [&](const std::string& name, const auto& forecast) {
    reports.emplace_back(name, report_of(rows,
                                         [&](const Batch& batch, std::span<const int64_t>) {
                                           Forecasts found;
                                           found.values = forecast(batch.at("source"));
                                           return found;
                                         },
                                         true, {}));
  };
  add(naive_name(), [&](const at::Tensor& source) {
    return seasonal_naive(source, target_inputs(), layout.season, layout.horizon);
  });
  if (const auto map = fitted.find("linear"); map != fitted.end())
    add("linear regression", [&](const at::Tensor& source) {
      return LinearForecast::forecast(map->second, source, target_inputs());
    });
  return reports;
}

std::vector<BaselineResult> ForecastOutput::measure_baselines(const NamedTensors& fitted,
                                                              const Dataset& rows,
                                                              const LinearInputs&) const {
  std::vector<BaselineResult> results;
  for (const auto& [name, found] : report_baselines(fitted, rows))
    results.push_back({name, found.all.metrics()});
  return results;
}

std::vector<std::string> ForecastOutput::metric_notes(const Dataset&) const {
  const SeriesLayout& layout = layout_();
  std::vector<std::string> notes{
      concat("mae and rmse in the unit of ",
             layout.targets.size() == 1 ? "'" + layout.target_names()[0] + "'" : "each series",
             "; _standardised by the deviation of its training steps")};
  if (const std::string name = naive_name(); name != "mean")
    notes.push_back(concat(name, " repeats the last ",
                           name == "naive" ? "step" : concat(layout.season, " steps, a season")));
  const std::vector<double> levels = network_().quantiles;
  if (levels.size() > 1)
    notes.push_back(concat("coverage: the share of numbers between the quantiles ", levels.front(),
                           " and ", levels.back(), ", which should be ",
                           format_number(levels.back() - levels.front())));
  return notes;
}

at::Tensor ForecastOutput::in_units(const at::Tensor& values, const Example& example) const {
  const at::Tensor scale = target_scale(example.tensors.at("scale").cpu());  // [2, O]
  return values.to(at::kDouble) * scale[1] + scale[0];                       // [T, O]
}

std::vector<std::string> ForecastOutput::forecast_times(const Example& example) const {
  const SeriesLayout& layout = layout_();
  const std::string& last = example.axis("source").labels.back();
  if (layout.time.empty() || !layout.interval.known()) return {};
  const StepTimes now = parse_step_times({&last, 1});
  if (now.values.empty() || now.dates != layout.interval.dates) return {};
  std::vector<std::string> times;
  for (int64_t step = 1; step <= layout.horizon; ++step)
    times.push_back(format_step_time(layout.interval.after(now.values[0], step), now.dates, last));
  return times;
}

Json ForecastOutput::answer(const Example& example, const Prediction& prediction) const {
  const Forecasts found = split(prediction.values.cpu().unsqueeze(0));
  const std::vector<std::string> names = layout_().target_names();
  Json json = Json::object();
  if (!layout_().series_column.empty())
    json[layout_().series_column] = example.axis("series").labels.at(0);
  if (const std::vector<std::string> times = forecast_times(example); !times.empty())
    json[layout_().time] = times;
  const auto add = [&](const at::Tensor& values, const std::string& suffix) {
    const at::Tensor own = in_units(values[0], example);  // [T, O]
    for (size_t series = 0; series < names.size(); ++series)
      json[names[series] + suffix] = numbers_json(own.select(1, int64_t(series)));
  };
  add(found.values, "");
  if (found.low.defined()) add(found.low, "_low"), add(found.high, "_high");
  return json;
}

std::string ForecastOutput::answer_line(const Example& example,
                                        const Prediction& prediction) const {
  const Forecasts found = split(prediction.values.cpu().unsqueeze(0));
  const at::Tensor values = in_units(found.values[0], example).contiguous();  // [T, O]
  at::Tensor low, high;
  if (found.low.defined()) {
    low = in_units(found.low[0], example).contiguous();
    high = in_units(found.high[0], example).contiguous();
  }
  std::vector<std::string> steps;
  for (int64_t step = 0; step < values.size(0); ++step) {
    std::vector<std::string> numbers;
    for (int64_t series = 0; series < values.size(1); ++series) {
      const int64_t at = step * values.size(1) + series;
      std::string number = format_number(values.data_ptr<double>()[at], 7);
      if (low.defined())
        number += concat(" [", format_number(low.data_ptr<double>()[at], 7), " ",
                         format_number(high.data_ptr<double>()[at], 7), "]");
      numbers.push_back(number);
    }
    steps.push_back(join(numbers, ";"));
  }
  const std::string line = join(steps, ",");
  return layout_().series_column.empty() ? line
                                         : concat(example.axis("series").labels.at(0), ": ", line);
}

Example ForecastOutput::describe_output(const Example& example, const Prediction&) const {
  const SeriesPatchesOptions* patches = network_().patches;
  if (patches == nullptr) return example;
  const PatchPlaces places(layout_().window, *patches);
  Example described = example;
  const std::vector<std::string>& steps = example.axis("source").labels;
  Axis axis{"patches", "step", {}};
  for (const std::vector<int64_t>& patch : places.steps) {
    const std::string &first = steps.at(size_t(patch.front())),
                      &last = steps.at(size_t(patch.back()));
    axis.labels.push_back(first == last ? first : concat(first, " … ", last));
  }
  described.axes.push_back(std::move(axis));
  if (const auto truth = described.truth.find("attention"); truth != described.truth.end())
    truth->second = truth_of_patches(truth->second, places);
  return described;
}

}  // namespace fovea
