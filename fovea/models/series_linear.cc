#include "fovea/models/series_linear.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/models/initialise.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

/// Column s takes the mean of the `width` steps around step s; steps beyond the ends are the ends.
Tensor moving_average_matrix(int64_t steps, int64_t width) {
  Tensor matrix = torch::zeros({steps, steps});
  auto values = matrix.accessor<float, 2>();
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t i = step - (width - 1) / 2; i <= step + width / 2; ++i)
      values[std::clamp<int64_t>(i, 0, steps - 1)][step] += 1 / float(width);
  return matrix;
}

}  // namespace

void SeriesLinearOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"linear"});
  series.describe(list);
  list.add("moving_average", moving_average, "steps of the moving average that is the trend")
      .within(1, 65536);
  list.add("shared", shared, "all series share the maps; no: each target has its own");
}

SeriesLinear::SeriesLinear(SeriesLinearOptions options, SeriesShape shape)
    : SeriesModel(options.series, std::move(shape)), options_(std::move(options)) {
  const int64_t maps = options_.shared ? 1 : rows();
  const int64_t out = this->shape().horizon * row_outputs();
  const int64_t in = row_inputs() * this->shape().window;
  trend_ = register_parameter("trend", torch::zeros({maps, out, in}));
  seasonal_ = register_parameter("seasonal", torch::zeros({maps, out, in}));
  bias_ = register_parameter("bias", torch::zeros({maps, out}));
  average_ = moving_average_matrix(this->shape().window, options_.moving_average);
}

void SeriesLinear::initialise_network(const Random& random) {
  const int64_t in = trend_.size(2);
  initialise_like_pytorch(trend_, in, random.split("trend"));
  initialise_like_pytorch(seasonal_, in, random.split("seasonal"));
  bias_.zero_();
}

std::vector<LayerSummary> SeriesLinear::summary() const {
  std::vector<LayerSummary> layers = known_summary();
  layers.push_back({concat("trend and remainder (", describe_channels(), ")"),
                    {shape().horizon, int64_t(shape().targets.size())},
                    trend_.numel() + seasonal_.numel() + bias_.numel()});
  return layers;
}

Tensor SeriesLinear::whole_map() const {
  const int64_t S = shape().window;
  // W_t A^T + W_s (I - A^T), by the steps of each input
  const Tensor difference = (trend_ - seasonal_).reshape({-1, S});  // [G T q C, S]
  return seasonal_ + at::matmul(difference, average_.to(trend_.device()).t()).view_as(trend_);
}

Tensor SeriesLinear::forward(const Tensor& z, const Random*, Tap* tap) const {
  const int64_t count = z.size(0), T = shape().horizon;
  if (tap != nullptr) return contributions(z, *tap);
  const Tensor map = whole_map();  // [G, T q, C S]
  const Tensor x = z.flatten(1);   // [B R, C S]
  if (map.size(0) == 1) return torch::linear(x, map[0], bias_[0]).view({count, T, row_outputs()});
  const Tensor by_series = x.view({-1, rows(), x.size(1)}).transpose(0, 1);          // [R, B, S]
  const Tensor y = at::baddbmm(bias_.unsqueeze(1), by_series, map.transpose(1, 2));  // [R, B, T q]
  return y.transpose(0, 1).reshape({count, T, row_outputs()});
}

Tensor SeriesLinear::contributions(const Tensor& z, Tap& tap) const {
  const int64_t R = rows(), T = shape().horizon, C = row_inputs(), S = shape().window;
  const int64_t B = z.size(0) / R, M = row_outputs();
  const Tensor map = whole_map().view({-1, T, M, C, S});  // [G, T, M, C, S]
  const Tensor x = z.view({B, R, 1, 1, C, S});
  const Tensor parts = (x * map.unsqueeze(0)).sum(4);  // [B, R, T, M, S]
  AttentionMap shown;
  shown.name = "contribution";
  shown.query_axis = "target";
  shown.key_axis = "source";
  shown.kind = MapKind::Contribution;
  shown.total = has_revin() ? "forecast minus the window's mean, in its deviations, minus bias"
                            : "forecast minus bias";
  shown.weights = parts.permute({0, 1, 3, 2, 4}).reshape({B, R * M, T, S});  // [B, H, T, S]
  const Tensor used = tap.report(std::move(shown)).view({B, R, M, T, S});
  const Tensor y = used.sum(-1).permute({0, 1, 3, 2});  // [B, R, T, M]
  return (y + bias_.view({-1, T, M}).unsqueeze(0)).reshape({B * R, T, M});
}

}  // namespace fovea
