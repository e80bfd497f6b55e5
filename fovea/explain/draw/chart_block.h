// The drawing of a line chart. Internal to the charts.
#pragma once

#include <memory>

#include "fovea/explain/draw/block.h"
#include "fovea/explain/draw/chart.h"

namespace fovea {

/// The block points into `chart`, which must outlive it.
std::unique_ptr<Block> chart_block(const LineChart& chart);

}  // namespace fovea
