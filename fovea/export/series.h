// models/series_model.h as nodes: what surrounds the network of a forecast.
#pragma once

#include <functional>
#include <memory>

#include "fovea/export/weights.h"
#include "fovea/models/series_model.h"

namespace fovea::onnx {

/// z [B R, C, S] -> [B R, T, M], as SeriesModel::forward.
using SeriesNetwork = std::function<Value(const Value& z)>;

/// Inputs `source` and, where there is any, `known`; outputs `value` and, with quantiles,
/// `quantiles`. `graph` gets what the network makes besides.
void put_out_series(Graph& graph, const Weights& weights, const SeriesModel& model,
                    const SeriesNetwork& network);

}  // namespace fovea::onnx
