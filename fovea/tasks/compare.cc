#include "fovea/tasks/compare.h"

#include "fovea/core/error.h"
#include "fovea/tasks/train.h"

namespace fovea {

namespace {

/// All combinations, the last variation changing fastest.
std::vector<std::vector<std::string>> combinations(const std::vector<Variation>& variations) {
  std::vector<std::vector<std::string>> all{{}};
  for (const Variation& variation : variations) {
    require(!variation.values.empty(), ErrorKind::InvalidArgument, "--vary ", variation.key,
            ": there is no value");
    std::vector<std::vector<std::string>> longer;
    for (const auto& values : all)
      for (const std::string& value : variation.values) {
        longer.push_back(values);
        longer.back().push_back(value);
      }
    all = std::move(longer);
  }
  return all;
}

void train_one(const CompareRequest& request, int64_t seed, CompareRow& row, std::string& split) {
  Setup setup = request.make_setup();
  for (size_t i = 0; i < row.values.size(); ++i)
    setup.options().set(request.variations[i].key, row.values[i]);
  setup.common().seed = seed;
  TrainRequest training_request;
  training_request.hooks.should_stop = request.should_stop;
  const Training training = train(setup, training_request);
  const auto& test = training.splits.test;
  require(test || training.splits.validation, ErrorKind::BadData,
          "compare: the data has neither test nor validation rows");
  split = test ? "test" : "validation";
  row.parameters = count_parameters(*training.model);
  row.by_seed.push_back(test ? setup.task().measure(*training.model, *test) : training.validation);
  row.seconds.push_back(training.result.seconds);
}

std::vector<double> values_of(const CompareRow& row, const std::string& metric) {
  std::vector<double> values;
  for (const Metrics& metrics : row.by_seed)
    for (const Metric& one : metrics)
      if (one.name == metric) values.push_back(one.value);
  return values;
}

/// Names of all metrics, in the order in which they first occur: one model may have attention, the
/// next may not.
std::vector<std::string> metric_names(const std::vector<CompareRow>& rows) {
  std::vector<std::string> names;
  for (const CompareRow& row : rows)
    for (const Metrics& metrics : row.by_seed)
      for (const Metric& metric : metrics)
        if (std::find(names.begin(), names.end(), metric.name) == names.end())
          names.push_back(metric.name);
  return names;
}

}  // namespace

Comparison compare(const CompareRequest& request) {
  Setup first = request.make_setup();
  for (const Variation& variation : request.variations)
    first.options().find(variation.key);  // a wrong key fails at once
  Comparison comparison{first.task_name(), "", {}, {}, {}};
  for (const Variation& variation : request.variations) comparison.keys.push_back(variation.key);
  for (int64_t i = 0; i < request.seeds; ++i) comparison.seeds.push_back(first.common().seed + i);
  const auto all = combinations(request.variations);
  const auto total = static_cast<int64_t>(all.size()) * request.seeds;
  int64_t done = 0;
  for (const auto& values : all) {
    CompareRow row;
    row.values = values;
    for (int64_t seed : comparison.seeds) {
      if (request.progress)
        request.progress(done, total, concat(join(values, " "), " seed ", seed));
      train_one(request, seed, row, comparison.split);
      ++done;
      require(!request.should_stop || !request.should_stop(), ErrorKind::InvalidArgument,
              "compare: interrupted; nothing was written");
    }
    comparison.rows.push_back(std::move(row));
  }
  return comparison;
}

Json Comparison::to_json() const {
  Json json{{"format", "fovea-comparison"},
            {"version", 1},
            {"task", task},
            {"split", split},
            {"seeds", seeds},
            {"rows", Json::array()}};
  for (const CompareRow& row : rows) {
    Json entry{{"options", Json::object()},
               {"parameters", row.parameters},
               {"seconds", row.seconds},
               {"metrics", Json::object()}};
    for (size_t i = 0; i < keys.size(); ++i) entry["options"][keys[i]] = row.values[i];
    for (const std::string& name : metric_names({row})) {
      const Summary summary = summarize(values_of(row, name));
      entry["metrics"][name] = {{"mean", summary.mean},
                                {"median", summary.median},
                                {"minimum", summary.minimum},
                                {"maximum", summary.maximum},
                                {"values", values_of(row, name)}};
      if (summary.interval) entry["metrics"][name]["interval"] = *summary.interval;
    }
    json["rows"].push_back(entry);
  }
  return json;
}

TextTable Comparison::table() const {
  const std::vector<std::string> names = metric_names(rows);
  std::vector<std::string> header = keys;
  header.push_back("parameters");
  header.insert(header.end(), names.begin(), names.end());
  header.push_back("seconds");
  TextTable table(header);
  for (const CompareRow& row : rows) {
    std::vector<std::string> cells = row.values;
    cells.push_back(format_count(row.parameters));
    for (const std::string& name : names) {
      const std::vector<double> values = values_of(row, name);
      if (values.empty()) {
        cells.push_back("-");
        continue;
      }
      const Summary summary = summarize(values);
      cells.push_back(format_number(summary.mean, 4) +
                      (summary.interval ? " ± " + format_number(*summary.interval, 2) : ""));
    }
    cells.push_back(format_number(summarize(row.seconds).median, 3));
    table.add(cells);
  }
  return table;
}

}  // namespace fovea
