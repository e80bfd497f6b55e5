// Lines over buckets: a measure against, say, the length of the source, one line per network, with
// intervals. Written as SVG, PNG or JSON and as text for a terminal. Lines differ in their markers
// and dashes, never in colour alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/explain/draw/canvas.h"
#include "fovea/explain/draw/terminal.h"

namespace fovea {

struct LineSeries {
  std::string name;
  std::vector<double> values;          // one per tick; NaN is a gap in the line
  std::vector<double> half_intervals;  // one per tick or none; NaN where there is no interval
};

struct LineChart {
  std::string title, x_label, y_label;
  std::vector<std::string> x_ticks;  // buckets: "1-5", "6-10", …
  std::vector<LineSeries> series;
  std::vector<int64_t> counts;     // examples per bucket, or none
  std::vector<std::string> notes;  // what the intervals are, over how many seeds, …
};

/// Throws Internal, with both numbers, when ticks, values, intervals and counts do not fit
/// together.
void check_sizes(const LineChart& chart);

/// The value axis: round ends that hold every value and interval. It starts at 0 unless a value is
/// negative; an interval alone never makes it so.
struct ValueAxis {
  double low = 0, high = 1, step = 0.25;
  int steps() const;
  double value(int tick) const { return low + tick * step; }
  /// 0 at the low end, 1 at the high end, clamped.
  double share(double value) const;
};
ValueAxis value_axis(const LineChart& chart);

bool has_intervals(const LineChart& chart);

/// {"format": "fovea-chart", "version": 1, …}, docs/formats/explanation.md. NaN becomes null.
Json chart_to_json(const LineChart& chart);

std::unique_ptr<Canvas> draw(const LineChart& chart, const CanvasFactory& make_canvas);

/// Writes .svg, .png or .json by the ending of `path`; Unsupported for any other.
void write_chart(const LineChart& chart, const std::filesystem::path& path);

/// Lines of braille dots with a marker at each value; ASCII when the terminal has nothing else.
std::string render_chart_terminal(const LineChart& chart, const TerminalOptions& options = {});

}  // namespace fovea
