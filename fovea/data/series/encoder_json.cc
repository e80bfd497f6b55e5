// SeriesEncoder as it is stored in a run.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/series/encoder.h"

namespace fovea {

namespace {

constexpr int64_t kMostSteps = 65536;  // as the options have it

}  // namespace

Json SeriesEncoder::to_json() const {
  const SeriesLayout& known = layout();
  Json series = Json::array();
  for (size_t i = 0; i < known.series.size(); ++i)
    series.push_back(
        {{"name", known.series[i]}, {"mean", known.means[i]}, {"deviation", known.deviations[i]}});
  return Json{{"format", "fovea-series"},     {"version", 1},
              {"window", known.window},       {"horizon", known.horizon},
              {"stride", known.stride},       {"maximum_gap", known.maximum_gap},
              {"time", known.time},           {"series", series},
              {"inputs", known.inputs},       {"targets", known.target_names()},
              {"file_columns", file_columns_}};
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
  });
  layout.inputs = root.at("inputs").integer(1, int64_t(layout.series.size()));
  root.at("targets").each({}, [&](const Field& target) {
    const auto found = std::find(layout.series.begin(), layout.series.end(), target.text());
    target.expect(found != layout.series.end(), "the name of one of the series");
    layout.targets.push_back(found - layout.series.begin());
  });
  require(!layout.targets.empty(), ErrorKind::BadData, where, ": it has no targets");
  encoder.file_columns_ = root.at("file_columns").texts();
  encoder.layout_ = std::make_shared<const SeriesLayout>(std::move(layout));
  return encoder;
}

}  // namespace fovea
