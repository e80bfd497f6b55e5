#include "fovea/export/series.h"

#include "fovea/tensor/torch.h"

namespace fovea::onnx {

namespace {

/// Row o has a 1 where input f is target o: [O, F].
at::Tensor places_of_targets(const SeriesShape& shape) {
  at::Tensor places = at::zeros({int64_t(shape.targets.size()), shape.inputs});
  for (size_t target = 0; target < shape.targets.size(); ++target)
    if (shape.targets[target] >= 0) places[int64_t(target)][shape.targets[target]] = 1;
  return places;
}

Value mean_over_steps(const Value& x, int64_t steps) {
  return sum(x, 1, true) / double(steps);  // [B, 1, C]
}

}  // namespace

void put_out_series(Graph& graph, const Weights& weights, const SeriesModel& model,
                    const SeriesNetwork& network) {
  const SeriesShape& shape = model.shape();
  const int64_t S = shape.window, T = shape.horizon;
  const auto O = int64_t(shape.targets.size()),
             q = std::max<int64_t>(1, int64_t(model.quantiles().size()));
  Value x = graph.input({"source",
                         ElementType::Float,
                         {"batch", S, shape.inputs},
                         "the encoded numbers, the newest last"});
  Value future;
  if (shape.known > 0) {
    const Value known = graph.input({"known",
                                     ElementType::Float,
                                     {"batch", S + T, shape.known},
                                     "what is known of these steps and of those to forecast"});
    const Values effect =
        split(weights.linear("effect", known), 1, {S, T});  // [B, S, O], [B, T, O]
    x = x - matmul(effect[0], graph.constant(places_of_targets(shape)));
    future = unsqueeze(effect[1], {3});  // [B, T, O, 1]
  }
  if (model.is_independent()) x = select(x, 2, shape.targets);  // [B, S, O]
  Value mean, deviation;
  if (model.has_revin()) {
    mean = mean_over_steps(x, S);  // [B, 1, C]
    const Value rest = x - mean;
    deviation = sqrt(mean_over_steps(rest * rest, S) + SeriesModel::kRevinEpsilon);
    x = rest / deviation;
  }
  Value z = transpose(x, {0, 2, 1});  // [B, C, S]
  if (model.is_independent()) z = reshape(z, {-1, 1, S});
  Value y = network(z);  // [B R, T, M]
  y = model.is_independent() ? transpose(reshape(y, {-1, O, T, q}), {0, 2, 1, 3})
                             : reshape(y, {-1, T, O, q});  // [B, T, O, q]
  if (model.has_revin()) {
    const auto scale = [&](const Value& own) {
      return unsqueeze(model.is_independent() ? own : select(own, 2, shape.targets), {3});
    };
    y = y * scale(deviation) + scale(mean);
  }
  if (future.defined()) y = y + future;
  if (!model.quantiles().empty()) {
    y = graph.node("TopK", {y, graph.integers({q})}, 2,
                   {{"axis", int64_t(-1)}, {"largest", int64_t(0)}, {"sorted", int64_t(1)}})[0];
    graph.output({"quantiles", ElementType::Float, {"batch", T, O, q}, "of each number, ascending"},
                 y);
  }
  graph.output({"value", ElementType::Float, {"batch", T, O}, "the forecast, encoded"},
               pick(y, 3, model.middle()));
}

}  // namespace fovea::onnx
