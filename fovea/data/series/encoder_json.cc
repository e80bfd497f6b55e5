// SeriesEncoder as it is stored in a run.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/series/encoder.h"

namespace fovea {

namespace {

constexpr int64_t kMostSteps = 65536;  // as the options have it

/// What runs have since there are several series in one file; older ones have none of it.
void read_what_is_known(const Field& root, SeriesLayout& layout) {
  layout.series_column = root.text_or_empty("series_column");
  if (const auto scales = root.find("scales"))
    scales->each_member([&](const std::string& name, const Field& list) {
      list.each(layout.series.size(), [&](const Field& scale) {
        layout.scales[name].push_back(
            {scale.at("mean").finite(), scale.at("deviation").deviation()});
      });
    });
  layout.season = root.integer_or("season", 1, 1, kMostSteps);
  if (const auto interval = root.find("interval")) {
    layout.interval.length = interval->at("length").finite();
    layout.interval.months = interval->at("months").integer(0, 12000);
    layout.interval.dates = interval->at("dates").mark();
  }
  if (const auto calendar = root.find("calendar"))
    calendar->each({}, [&](const Field& cycle) {
      layout.calendar.push_back(cycle.text());
      cycle.expect(is_calendar_cycle(layout.calendar.back()), "hour, weekday, day or month");
    });
  if (const auto columns = root.find("known"))
    columns->each({}, [&](const Field& column) {
      layout.known.push_back({column.at("name").text(),
                              column.at("static").mark(),
                              column.at("levels").texts(),
                              {column.at("mean").finite(), column.at("deviation").deviation()}});
    });
}

}  // namespace

Json SeriesEncoder::to_json() const {
  const SeriesLayout& known = layout();
  Json series = Json::array();
  for (size_t i = 0; i < known.series.size(); ++i) {
    series.push_back(
        {{"name", known.series[i]}, {"mean", known.means[i]}, {"deviation", known.deviations[i]}});
    if (const NumberFormat* format = known.format_of(known.series[i]))
      series.back()["format"] = format->to_json();
  }
  Json by_series = Json::object();
  for (const auto& [name, scales] : known.scales)
    for (const SeriesScale& scale : scales)
      by_series[name].push_back({{"mean", scale.mean}, {"deviation", scale.deviation}});
  Json columns = Json::array();
  for (const KnownColumn& column : known.known)
    columns.push_back({{"name", column.name},
                       {"static", column.is_static},
                       {"levels", column.levels},
                       {"mean", column.scale.mean},
                       {"deviation", column.scale.deviation}});
  const StepInterval& interval = known.interval;
  return Json{
      {"format", "fovea-series"},
      {"version", 1},
      {"window", known.window},
      {"horizon", known.horizon},
      {"stride", known.stride},
      {"maximum_gap", known.maximum_gap},
      {"time", known.time},
      {"series", series},
      {"inputs", known.inputs},
      {"targets", known.target_names()},
      {"file_columns", file_columns_},
      {"series_column", known.series_column},
      {"scales", by_series},
      {"season", known.season},
      {"interval",
       {{"length", interval.length}, {"months", interval.months}, {"dates", interval.dates}}},
      {"calendar", known.calendar},
      {"known", columns}};
}

SeriesEncoder SeriesEncoder::from_json(const Json& json, const std::string& where) {
  SeriesEncoder encoder;
  SeriesLayout layout;
  const Field root = Field::root(json, where);
  check_format(root, "fovea-series");
  layout.window = root.at("window").integer(1, kMostSteps);
  layout.horizon = root.at("horizon").integer(1, kMostSteps);
  layout.stride = root.at("stride").integer(1, kMostSteps);
  layout.maximum_gap = root.at("maximum_gap").integer(0, INT64_MAX);
  layout.time = root.at("time").text();
  root.at("series").each({}, [&](const Field& series) {
    layout.series.push_back(series.at("name").text());
    layout.means.push_back(series.at("mean").finite());
    layout.deviations.push_back(series.at("deviation").deviation());
    if (const auto format = series.find("format"))
      layout.formats.emplace(layout.series.back(), NumberFormat::from_json(*format));
  });
  layout.inputs = root.at("inputs").integer(1, int64_t(layout.series.size()));
  root.at("targets").each({}, [&](const Field& target) {
    const auto found = std::find(layout.series.begin(), layout.series.end(), target.text());
    target.expect(found != layout.series.end(), "the name of one of the series");
    layout.targets.push_back(found - layout.series.begin());
  });
  require(!layout.targets.empty(), ErrorKind::BadData, where, ": it has no targets");
  encoder.file_columns_ = root.at("file_columns").texts();
  read_what_is_known(root, layout);
  encoder.layout_ = std::make_shared<const SeriesLayout>(std::move(layout));
  return encoder;
}

}  // namespace fovea
