// What every network that maps a whole window of series to a whole horizon shares. From the past
// x [S, F] of the inputs, what is known of all steps k [S + T, K] (calendar, holidays, what never
// changes) and a network f:
//   effect    e = W k + b for each target: known things shift a series, now as in the past
//   RevIN     z = (x - e_past - mean) / deviation, over the window of each series   (Kim et al.
//   2022) forecast  y = f(z) deviation + mean + e_future loss      mean squared error, or with
//   quantiles q the mean of max(q d, (q - 1) d), d = target - y
// With channels=independent f maps each series' own past to its future, with the same weights for
// all; mixed: all inputs together to all targets.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fovea/attention/projection.h"
#include "fovea/base/options.h"
#include "fovea/models/model.h"

namespace fovea {

/// What the data says of a forecast.
struct SeriesShape {
  int64_t window = 0, horizon = 0;  // S, T
  int64_t inputs = 1;               // F
  std::vector<int64_t> targets;     // [O] the input that each target is, or -1
  int64_t known = 0;                // K
};

struct SeriesModelOptions {
  std::string channels = "auto";
  bool revin = true;
  std::vector<std::string> quantiles;  // numbers; none: the mean alone is forecast
  void describe(OptionList& list);
  /// Ascending, each between 0 and 1. InvalidArgument for others.
  std::vector<double> levels() const;
};

/// What RevIN divides by. x [B, S, C], mean [B, 1, C] -> [B, 1, C]
at::Tensor revin_deviation(const at::Tensor& x, const at::Tensor& mean);

class SeriesModel : public Model {
 public:
  SeriesModel(const SeriesModelOptions& options, SeriesShape shape);
  static constexpr double kRevinEpsilon = 1e-5;  // of the variance: a window that never changes

  const SeriesShape& shape() const { return shape_; }
  /// Each target is forecast from its own past alone.
  bool is_independent() const { return independent_; }
  bool has_revin() const { return revin_; }
  const std::vector<double>& quantiles() const { return quantiles_; }
  /// The quantile that stands for the forecast: the one nearest to 0.5.
  int64_t middle() const { return middle_; }

  void initialise(const Random& random) override;
  Schema schema() const override;
  Loss loss(const Batch& batch, const StepContext& context) override;
  /// values: the forecast [B, T O], and with quantiles behind it those of each number, ascending:
  /// [B, T O + T O q].
  Predictions predict(const Batch& batch) const override;
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;

 protected:
  /// Numbers per row and step that forward() gives: the quantiles, of one target or of all.
  int64_t row_outputs() const;
  /// Rows of one window: O where channels are independent, else 1.
  int64_t rows() const { return independent_ ? int64_t(shape_.targets.size()) : 1; }
  /// Series that each row reads.
  int64_t row_inputs() const { return independent_ ? 1 : shape_.inputs; }

  virtual void initialise_network(const Random& random) = 0;
  /// z [B R, C, S], R rows() of each window and C row_inputs(), -> [B R, T, row_outputs()]. Maps
  /// are reported as [B, R, …].
  virtual at::Tensor forward(const at::Tensor& z, const Random* random, Tap* tap) const = 0;
  /// The summary of the effect of what is known, where there is any.
  std::vector<LayerSummary> known_summary() const;
  std::string describe_channels() const;

 private:
  at::Tensor run(const Batch& batch, const Random* random, Tap* tap) const;  // [B, T, O, max(q, 1)]
  at::Tensor targets_of(const at::Tensor& inputs) const;  // [B, …, F] -> [B, …, O]

  SeriesShape shape_;
  bool independent_, revin_;
  std::vector<double> quantiles_;
  int64_t middle_ = 0;
  std::shared_ptr<Projection> effect_;  // K -> O
};

}  // namespace fovea
