#include "fovea/tasks/compare.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <thread>

#include "fovea/base/error.h"
#include "fovea/tasks/processes.h"
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

/// A JSON value as a user would type it.
std::string plain_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// JSON has no NaN: null stands for it.
double number_of(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

/// The options of one row: those of the grid, or the one that stands beside it.
struct RowPlan {
  std::vector<std::string> values;  // one per key, for the table
  std::vector<std::string> assignments;
};

std::vector<RowPlan> plan_rows(const CompareRequest& request, const std::vector<std::string>& keys,
                               Setup& first) {
  std::vector<RowPlan> plans;
  for (const auto& values : combinations(request.variations)) {
    RowPlan plan{values, {}};
    for (size_t i = 0; i < values.size(); ++i)
      plan.assignments.push_back(request.variations[i].key + "=" + values[i]);
    plan.values.resize(keys.size());
    for (size_t i = values.size(); i < keys.size(); ++i)
      plan.values[i] = plain_text(first.options().find(keys[i]).value());
    plans.push_back(std::move(plan));
  }
  for (const std::string& assignment : request.also) {
    RowPlan plan{std::vector<std::string>(keys.size(), "-"), {assignment}};
    const std::string key = assignment.substr(0, assignment.find('='));
    for (size_t i = 0; i < keys.size(); ++i)
      if (keys[i] == key) plan.values[i] = assignment.substr(key.size() + 1);
    plans.push_back(std::move(plan));
  }
  return plans;
}

/// What one training gave.
struct Trained {
  std::string split;
  int64_t parameters = 0;
  double seconds = 0;
  Metrics metrics;
  LengthCurve curve;
  std::string main;  // which of the metrics decides
};

/// "2-plain-seed1": values may hold what no file's name can.
std::string run_name(size_t row, const RowPlan& plan, int64_t seed) {
  std::string name = concat(row + 1);
  for (const std::string& value : plan.values) name += "-" + value;
  name += concat("-seed", seed);
  for (char& letter : name)
    if (!std::isalnum(static_cast<unsigned char>(letter)) && letter != '.') letter = '-';
  return name;
}

Trained train_one(const CompareRequest& request, size_t row, const RowPlan& plan, int64_t seed) {
  Setup setup = request.make_setup();
  for (const std::string& assignment : plan.assignments) setup.set(assignment);
  setup.common().seed = seed;
  if (setup.common().threads == 0 && request.jobs > 1)  // the processors are shared
    setup.common().threads = std::max<int64_t>(
        1, static_cast<int64_t>(std::thread::hardware_concurrency()) / request.jobs);
  TrainRequest training_request;
  training_request.hooks.should_stop = request.should_stop;
  std::optional<RunFolder> folder;
  if (!request.keep.empty()) {
    folder.emplace(request.keep / run_name(row, plan, seed));
    training_request.folder = &*folder;
  }
  const Training training = train(setup, training_request);
  const auto& test = training.splits.test;
  require(test || training.splits.validation, ErrorKind::BadData,
          "compare: the data has neither test nor validation rows");
  const Dataset& rows = test ? *test : *training.splits.validation;
  Evaluation evaluation = setup.task().evaluate(*training.model, rows, {});
  const auto is_watched = [&](const Metric& metric) {
    return training.validation.empty() || metric.name == evaluation.main ||
           std::ranges::count(training.validation, metric.name, &Metric::name) > 0;
  };
  std::erase_if(evaluation.metrics, [&](const Metric& metric) { return !is_watched(metric); });
  return {test ? "test" : "validation",
          count_parameters(*training.model),
          training.result.seconds,
          evaluation.metrics,
          setup.task().measure_by_length(*training.model, rows),
          evaluation.main};
}

Json curve_json(const LengthCurve& curve) {
  return {{"metric", curve.metric},
          {"length", curve.length},
          {"buckets", curve.buckets},
          {"values", curve.values},
          {"counts", curve.counts}};
}

Json trained_json(const Trained& trained) {
  Json metrics = Json::array();
  for (const Metric& metric : trained.metrics)
    metrics.push_back({metric.name, metric.value, metric.higher_is_better});
  return {
      {"split", trained.split}, {"parameters", trained.parameters},   {"seconds", trained.seconds},
      {"metrics", metrics},     {"curve", curve_json(trained.curve)}, {"main", trained.main}};
}

Trained trained_from_json(const Json& json) {
  Trained trained{json.at("split"), json.at("parameters"), json.at("seconds"), {}, {},
                  json.at("main")};
  for (const Json& metric : json.at("metrics"))
    trained.metrics.push_back({metric[0], number_of(metric[1]), metric[2]});
  const Json& curve = json.at("curve");
  trained.curve = {
      curve.at("metric"), curve.at("length"), curve.at("buckets"), {}, curve.at("counts")};
  for (const Json& value : curve.at("values")) trained.curve.values.push_back(number_of(value));
  return trained;
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
  Comparison comparison;
  comparison.task = first.task_name();
  std::vector<std::string>& keys = comparison.keys;
  for (const Variation& variation : request.variations) keys.push_back(variation.key);
  for (const std::string& assignment : request.also) {
    const std::string key = assignment.substr(0, assignment.find('='));
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  }
  for (const std::string& key : keys) first.options().find(key);  // a wrong key fails at once
  for (int64_t i = 0; i < request.seeds; ++i) comparison.seeds.push_back(first.common().seed + i);
  const std::vector<RowPlan> plans = plan_rows(request, keys, first);
  const auto per_row = static_cast<size_t>(request.seeds);
  const size_t total = plans.size() * per_row;
  const auto seed_of = [&](size_t index) { return comparison.seeds[index % per_row]; };
  const auto report = [&](size_t done) {
    if (!request.progress || done >= total) return;
    request.progress(static_cast<int64_t>(done), static_cast<int64_t>(total),
                     concat(join(plans[done / per_row].assignments, " "), " seed ", seed_of(done)));
  };
  const auto work = [&](size_t index) {
    Trained trained = train_one(request, index / per_row, plans[index / per_row], seed_of(index));
    require(!request.should_stop || !request.should_stop(), ErrorKind::InvalidArgument,
            "compare: interrupted; nothing was written");
    return trained;
  };
  std::vector<Trained> results;
  report(0);
  if (request.jobs > 1) {
    const auto found = run_in_processes(
        total, static_cast<size_t>(request.jobs),
        [&](size_t index) { return trained_json(work(index)); }, report, request.should_stop);
    for (const Json& one : found) results.push_back(trained_from_json(one));
  } else {
    for (size_t index = 0; index < total; ++index) {
      results.push_back(work(index));
      report(index + 1);
    }
  }
  for (size_t index = 0; index < total; ++index) {
    if (index % per_row == 0)
      comparison.rows.push_back({plans[index / per_row].values, 0, {}, {}, {}});
    CompareRow& row = comparison.rows.back();
    Trained& trained = results[index];
    comparison.split = trained.split;
    if (comparison.main.empty()) comparison.main = trained.main;
    for (const Metric& metric : trained.metrics)
      if (metric.name == comparison.main) comparison.higher_is_better = metric.higher_is_better;
    row.parameters = trained.parameters;
    row.seconds.push_back(trained.seconds);
    row.by_seed.push_back(std::move(trained.metrics));
    if (!trained.curve.buckets.empty()) row.curves.push_back(std::move(trained.curve));
  }
  return comparison;
}

std::optional<LineChart> Comparison::chart() const {
  LineChart chart;
  for (const CompareRow& row : rows) {
    if (row.curves.empty()) return std::nullopt;
    const LengthCurve& first = row.curves[0];
    if (chart.x_ticks.empty()) {
      chart.x_ticks = first.buckets;
      chart.counts = first.counts;
      chart.y_label = first.metric;
      chart.x_label = first.length;
    }
    if (first.buckets != chart.x_ticks) return std::nullopt;  // rows with different test data
    LineSeries line{join(row.values, " "), {}, {}};
    for (size_t bucket = 0; bucket < first.buckets.size(); ++bucket) {
      std::vector<double> values;
      for (const LengthCurve& curve : row.curves)
        if (std::isfinite(curve.values[bucket])) values.push_back(curve.values[bucket]);
      const bool any = !values.empty();
      const Summary summary = any ? summarize(values) : Summary{};
      line.values.push_back(any ? summary.mean : std::numeric_limits<double>::quiet_NaN());
      line.half_intervals.push_back(
          summary.interval.value_or(std::numeric_limits<double>::quiet_NaN()));
    }
    chart.series.push_back(std::move(line));
  }
  if (chart.x_ticks.empty()) return std::nullopt;
  chart.title = concat(task, ": ", chart.y_label, " by length");
  chart.notes.push_back(concat("mean over ", seeds.size(),
                               seeds.size() == 1 ? " seed, " : " seeds, ", split, " rows",
                               seeds.size() > 1 ? "; bars: 95 % interval of the mean" : ""));
  return chart;
}

std::optional<CompareWinner> Comparison::winner() const {
  std::vector<std::pair<double, size_t>> ranked;  // the best first
  for (size_t row = 0; row < rows.size(); ++row) {
    const std::vector<double> values = values_of(rows[row], main);
    const bool known = !values.empty() && std::ranges::all_of(values, [](double value) {
      return std::isfinite(value);
    });
    if (known) ranked.emplace_back(summarize(values).mean * (higher_is_better ? -1 : 1), row);
  }
  if (ranked.size() < 2) return std::nullopt;
  std::ranges::stable_sort(ranked);
  CompareWinner winner{ranked[0].second, ranked[1].second, ranked[1].first - ranked[0].first, {}};
  const std::vector<double> best = values_of(rows[winner.row], main),
                            next = values_of(rows[winner.runner_up], main);
  if (best.size() != next.size()) return winner;
  std::vector<double> differences;  // the same seed has the same rows
  for (size_t i = 0; i < best.size(); ++i) differences.push_back(best[i] - next[i]);
  winner.interval = summarize(differences).interval;
  return winner;
}

std::string Comparison::verdict() const {
  const std::optional<CompareWinner> found = winner();
  if (!found) return "";
  const double mean = summarize(values_of(rows[found->row], main)).mean;
  return concat("best by ", main, " (*): ", join(rows[found->row].values, " "), ", ",
                format_number(mean, 4), "; ahead of ", join(rows[found->runner_up].values, " "),
                " by ", format_number(found->difference, 2),
                found->interval ? " ± " + format_number(*found->interval, 2) : "",
                !found->interval      ? "; one seed cannot tell whether that is chance"
                : found->is_certain() ? ""
                                      : ", which may be chance");
}

Json Comparison::to_json() const {
  Json json{{"format", "fovea-comparison"},
            {"version", 1},
            {"task", task},
            {"split", split},
            {"seeds", seeds},
            {"main", main},
            {"rows", Json::array()}};
  if (const auto best = winner()) {
    json["winner"] = {{"row", best->row},
                      {"runner_up", best->runner_up},
                      {"difference", best->difference},
                      {"certain", best->is_certain()}};
    if (best->interval) json["winner"]["interval"] = *best->interval;
  }
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
    for (const LengthCurve& curve : row.curves) entry["by_length"].push_back(curve_json(curve));
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
  const std::optional<CompareWinner> best = winner();
  for (const CompareRow& row : rows) {
    const bool is_best = best && &row == &rows[best->row];
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
                      (summary.interval ? " ± " + format_number(*summary.interval, 2) : "") +
                      (is_best && name == main ? " *" : ""));
    }
    cells.push_back(format_number(summarize(row.seconds).median, 3));
    table.add(cells);
  }
  return table;
}

}  // namespace fovea
