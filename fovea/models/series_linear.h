// DLinear, Zeng et al. 2023: a window is cut into its moving average and what is left, and each of
// the two goes through one linear map from all past steps to all future ones:
//   trend_s = mean of x over the `moving_average` steps around s, ends repeated
//   y = W_t trend + W_s (x - trend) + b
// It has no attention, but its answer is a sum: the map "contribution" says what each past step
// adds to each forecast step, exactly.
#pragma once

#include "fovea/models/series_model.h"

namespace fovea {

struct SeriesLinearOptions {
  std::string name = "linear";
  SeriesModelOptions series;
  int64_t moving_average = 25;
  bool shared = true;
  void describe(OptionList& list);
};

class SeriesLinear : public SeriesModel {
 public:
  SeriesLinear(SeriesLinearOptions options, SeriesShape shape);
  const SeriesLinearOptions& options() const { return options_; }
  std::vector<LayerSummary> summary() const override;
  /// Both maps as one of the window itself: [G, T q, C S], G 1 or O maps.
  at::Tensor whole_map() const;
  const at::Tensor& bias() const { return bias_; }  // [G, T q]

 protected:
  void initialise_network(const Random& random) override;
  at::Tensor forward(const at::Tensor& z, const Random* random, Tap* tap) const override;

 private:
  at::Tensor contributions(const at::Tensor& z, Tap& tap) const;

  SeriesLinearOptions options_;
  at::Tensor trend_, seasonal_;  // [G, T q, C S]
  at::Tensor bias_;              // [G, T q]
  at::Tensor average_;           // [S, S]: z average_ is the moving average; no parameter
};

}  // namespace fovea
