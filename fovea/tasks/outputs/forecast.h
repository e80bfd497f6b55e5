// Numbers step by step: {"y": [0.5, 0.25, …]}, in the units of the series, with the interval of
// each where quantiles are forecast.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fovea/data/series/encoder.h"
#include "fovea/metrics/forecast.h"
#include "fovea/models/series_patches.h"
#include "fovea/tasks/outputs/output.h"

namespace fovea {

/// Errors of a model, or of a baseline, on some rows.
struct ForecastReport {
  ForecastErrors all;
  double loss = 0;                        // what training minimises
  std::optional<double> attention_truth;  // where it is planted
  Metrics metrics() const;
  std::vector<std::pair<std::string, ForecastErrors>> by_series;  // where rows name their series
  std::vector<double> windows;  // of each the absolute error, as the main metric measures it
};

class ForecastOutput : public OutputKind {
 public:
  /// What the chosen network adds to the layout of the data.
  struct Network {
    std::vector<double> quantiles = {};
    const SeriesPatchesOptions* patches = nullptr;  // null: it looks at steps
  };
  ForecastOutput(std::function<const SeriesLayout&()> layout, std::function<Network()> network)
      : layout_(std::move(layout)), network_(std::move(network)) {}

  /// loss (squared error, or pinball with quantiles, standardised) and those of ForecastErrors.
  Metrics measure(const Model& model, const Dataset& rows,
                  const RowProgress& progress) const override;
  /// Beside it the errors by series and by step ahead, and an interval of the main metric: mae, or
  /// mae_standardised of targets with units of their own.
  Evaluation evaluate(const Model& model, const Dataset& rows,
                      const RowProgress& progress) const override;
  ForecastReport report(const Model& model, const Dataset& rows, const RowProgress& progress) const;

  /// "season" [1] of seasonal naive, and "linear" [S, T], where a target is an input.
  NamedTensors fit_baselines(const Dataset& train, const LinearInputs& inputs) const override;
  std::vector<BaselineResult> measure_baselines(const NamedTensors& fitted, const Dataset& rows,
                                                const LinearInputs& inputs) const override;
  std::vector<std::pair<std::string, ForecastReport>> report_baselines(const NamedTensors& fitted,
                                                                       const Dataset& rows) const;
  std::vector<std::string> metric_notes(const Dataset& rows) const override;

  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  /// With the axis "patches" where the network looks at those.
  Example describe_output(const Example& example, const Prediction& prediction) const override;

 private:
  /// Of one batch of rows: the forecast [B, T, O] and, with quantiles, low, high and all of them
  /// [B, T, O, q].
  struct Forecasts {
    at::Tensor values, low, high, quantiles;
    std::optional<double> attention_truth = {};
  };
  using Forecaster = std::function<Forecasts(const Batch&, std::span<const int64_t> rows)>;
  ForecastReport report_of(const Dataset& rows, const Forecaster& forecast, bool parallel,
                           const RowProgress& progress) const;
  Forecasts split(const at::Tensor& values) const;
  at::Tensor target_scale(const at::Tensor& scale) const;  // [B, 2, series] -> [B, 2, O]
  std::vector<int64_t> target_inputs() const;
  std::string naive_name() const;  // of the simplest baseline: it repeats a season or a step
  bool has_one_unit() const { return layout_().targets.size() == 1; }
  /// Of the model, beside the simplest baseline.
  ErrorTable errors_by_series(const ForecastReport& model, const ForecastReport& naive) const;
  ErrorTable errors_by_step(const ForecastReport& model, const ForecastReport& naive) const;
  /// When the forecast steps are, [T]; empty where the times before do not tell.
  std::vector<std::string> forecast_times(const Example& example) const;
  /// [T, O] standardised -> in the units of the example's series.
  at::Tensor in_units(const at::Tensor& values, const Example& example) const;

  std::function<const SeriesLayout&()> layout_;
  std::function<Network()> network_;
};

/// Of each target the input that it is, or -1.
std::vector<int64_t> inputs_of_targets(const SeriesLayout& layout);

}  // namespace fovea
