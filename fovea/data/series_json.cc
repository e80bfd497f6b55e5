// SeriesEncoder as it is stored in a run.
#include <algorithm>
#include <cmath>

#include "fovea/core/error.h"
#include "fovea/data/series.h"

namespace fovea {

namespace {

void check(const SeriesLayout& layout) {
  const auto count = int64_t(layout.series.size());
  const auto usable = [](double deviation) { return std::isfinite(deviation) && deviation > 0; };
  require(
      layout.inputs >= 1 && layout.inputs <= count && !layout.targets.empty() &&
          std::all_of(layout.targets.begin(), layout.targets.end(),
                      [&](int64_t place) { return place >= 0 && place < count; }) &&
          std::all_of(layout.deviations.begin(), layout.deviations.end(), usable) &&
          layout.window >= 1 && layout.horizon >= 1 && layout.stride >= 1,
      ErrorKind::BadData,
      "series encoding: series, targets, deviations, window, horizon or stride are missing or do "
      "not agree");
}

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

SeriesEncoder SeriesEncoder::from_json(const Json& json) {
  SeriesEncoder encoder;
  SeriesLayout layout;
  try {
    require(json.at("format") == "fovea-series", ErrorKind::BadData,
            "series encoding: \"format\" is ", json.at("format").dump(),
            ", expected \"fovea-series\"");
    require(json.at("version") == 1, ErrorKind::Unsupported, "series encoding: version ",
            json.at("version").dump(), " is newer than this program, which reads 1");
    layout.window = json.at("window").get<int64_t>();
    layout.horizon = json.at("horizon").get<int64_t>();
    layout.stride = json.at("stride").get<int64_t>();
    layout.maximum_gap = json.at("maximum_gap").get<int64_t>();
    layout.time = json.at("time").get<std::string>();
    for (const Json& series : json.at("series")) {
      layout.series.push_back(series.at("name").get<std::string>());
      layout.means.push_back(series.at("mean").get<double>());
      layout.deviations.push_back(series.at("deviation").get<double>());
    }
    layout.inputs = json.at("inputs").get<int64_t>();
    for (const Json& target : json.at("targets")) {
      const auto found =
          std::find(layout.series.begin(), layout.series.end(), target.get<std::string>());
      const bool known = found != layout.series.end();
      layout.targets.push_back(known ? found - layout.series.begin() : -1);
    }
    encoder.file_columns_ = json.at("file_columns").get<std::vector<std::string>>();
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::BadData, "series encoding: ", error.what());
  }
  check(layout);
  encoder.layout_ = std::make_shared<const SeriesLayout>(std::move(layout));
  return encoder;
}

}  // namespace fovea
