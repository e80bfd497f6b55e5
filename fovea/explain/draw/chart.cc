#include "fovea/explain/draw/chart.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/explain/draw/page.h"
#include "fovea/explain/record/json.h"
#include "fovea/explain/record/labels.h"

namespace fovea {
namespace {

constexpr const char* kFormat = "fovea-chart";
constexpr int kVersion = 1;

void expect_size(size_t found, const LineChart& chart, const std::string& what) {
  require(found == chart.x_ticks.size(), ErrorKind::Internal, "chart '", chart.title, "' has ",
          found, " ", what, " for ", chart.x_ticks.size(), " ticks");
}

}  // namespace

void check_sizes(const LineChart& chart) {
  if (!chart.counts.empty()) expect_size(chart.counts.size(), chart, "counts");
  for (const LineSeries& series : chart.series) {
    expect_size(series.values.size(), chart, concat("values of '", series.name, "'"));
    if (!series.half_intervals.empty())
      expect_size(series.half_intervals.size(), chart, concat("intervals of '", series.name, "'"));
    for (const double half : series.half_intervals)
      require(!(half < 0), ErrorKind::Internal, "chart '", chart.title, "': '", series.name,
              "' has the half interval ", half, ", expected 0 or more");
  }
}

int ValueAxis::steps() const {
  return int(std::lround((high - low) / step));
}

double ValueAxis::share(double value) const {
  return std::clamp((value - low) / (high - low), 0.0, 1.0);
}

ValueAxis value_axis(const LineChart& chart) {
  double lowest = 0, least = 0, highest = 0;  // with and without intervals, with them
  for (const LineSeries& series : chart.series)
    for (size_t i = 0; i < series.values.size(); ++i) {
      const double value = series.values[i];
      if (!std::isfinite(value)) continue;
      const double half = series.half_intervals.empty() || !std::isfinite(series.half_intervals[i])
                              ? 0
                              : series.half_intervals[i];
      lowest = std::min(lowest, value - half);
      least = std::min(least, value);
      highest = std::max(highest, value + half);
    }
  if (!(least < 0)) lowest = 0;
  const double step = axis_scale(std::max(highest, -lowest)).step;
  ValueAxis axis{step * std::floor(lowest / step * 0.999), step * std::ceil(highest / step * 0.999),
                 step};
  if (!(axis.high > axis.low)) axis.high = axis.low + 4 * step;
  return axis;
}

bool has_intervals(const LineChart& chart) {
  return std::ranges::any_of(chart.series, [](const LineSeries& series) {
    return std::ranges::any_of(series.half_intervals,
                               [](double half) { return half > 0 && std::isfinite(half); });
  });
}

Json chart_to_json(const LineChart& chart) {
  check_sizes(chart);
  Json value;
  value["format"] = kFormat;
  value["version"] = kVersion;
  value["title"] = valid_utf8(chart.title);
  value["x_label"] = valid_utf8(chart.x_label);
  value["y_label"] = valid_utf8(chart.y_label);
  value["x_ticks"] = texts_to_json(chart.x_ticks);
  value["series"] = Json::array();
  for (const LineSeries& series : chart.series) {
    Json line;
    line["name"] = valid_utf8(series.name);
    line["values"] = numbers_to_json(series.values);
    if (!series.half_intervals.empty())
      line["half_intervals"] = numbers_to_json(series.half_intervals);
    value["series"].push_back(std::move(line));
  }
  if (!chart.counts.empty()) value["counts"] = chart.counts;
  value["notes"] = texts_to_json(chart.notes);
  return value;
}

std::unique_ptr<Canvas> draw(const LineChart& chart, const CanvasFactory& make_canvas) {
  check_sizes(chart);
  Page page{chart.title, {}, {}, chart.notes};
  page.sections.push_back({"", "", chart_block(chart)});
  return draw_page(page, make_canvas);
}

void write_chart(const LineChart& chart, const std::filesystem::path& path) {
  write_by_ending(path, {[&](const CanvasFactory& factory) { return draw(chart, factory); },
                         [&](const std::filesystem::path& place) {
                           write_file(place, chart_to_json(chart).dump() + "\n");
                         }});
}

}  // namespace fovea
