#include "fovea/tasks/outputs/evaluation.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/metrics/threshold.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kMatrixClasses = 12;  // a confusion matrix of more is no longer read
constexpr size_t kPairsShown = 10, kNameBytes = 24;

/// At least so many digits, and all before the point: units of a target may be large.
std::string shown(double value, int digits = 4) {
  constexpr double kLargest = 1e15;
  if (std::abs(value) >= 1 && std::abs(value) < kLargest)
    digits = std::max(digits, static_cast<int>(std::log10(std::abs(value))) + 1);
  return std::isnan(value) ? "not a number" : format_number(value, digits);
}

/// Half of an interval with as many decimals as matter.
std::string half_text(const Interval& interval) {
  return format_number(interval.half(), 2);
}

Json json_number(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

TextTable metric_table(const Evaluation& evaluation) {
  std::vector<std::string> header{"metric", "value"};
  if (evaluation.interval) header.push_back("95 % interval");
  for (const BaselineResult& baseline : evaluation.baselines) header.push_back(baseline.name);
  TextTable table(header);
  for (const Metric& metric : evaluation.metrics) {
    std::vector<std::string> row{metric.name, format_number(metric.value, 6)};
    if (evaluation.interval)
      row.push_back(metric.name == evaluation.main ? concat(shown(evaluation.interval->low), " to ",
                                                            shown(evaluation.interval->high))
                                                   : "");
    for (const BaselineResult& baseline : evaluation.baselines) {
      const Metric* own = find_metric(baseline.metrics, metric.name);
      row.push_back(own ? shown(own->value) : "");
    }
    table.add(std::move(row));
  }
  return table;
}

TextTable class_table(const Evaluation& evaluation) {
  TextTable table({"class", "precision", "recall", "f1", "support"});
  const std::vector<ClassReport> reports = class_reports(evaluation.confusion);
  for (size_t c = 0; c < reports.size(); ++c)
    table.add({shorten_bytes(evaluation.classes[c], kNameBytes), shown(reports[c].precision, 3),
               shown(reports[c].recall, 3), shown(reports[c].f1, 3),
               format_count(reports[c].support)});
  return table;
}

std::string confusion_text(const Evaluation& evaluation) {
  const auto count = int64_t(evaluation.classes.size());
  const auto name = [&](int64_t c) {
    return shorten_bytes(evaluation.classes[size_t(c)], kNameBytes);
  };
  if (count <= kMatrixClasses) {
    std::vector<std::string> header{"target \\ predicted"};
    for (int64_t c = 0; c < count; ++c) header.push_back(name(c));
    TextTable table(header);
    for (int64_t target = 0; target < count; ++target) {
      std::vector<std::string> row{name(target)};
      for (int64_t c = 0; c < count; ++c)
        row.push_back(format_count(evaluation.confusion[target][c].item<int64_t>()));
      table.add(std::move(row));
    }
    return table.plain();
  }
  struct Pair {
    int64_t target, predicted, rows;
  };
  std::vector<Pair> pairs;
  for (int64_t target = 0; target < count; ++target)
    for (int64_t c = 0; c < count; ++c)
      if (const auto rows = evaluation.confusion[target][c].item<int64_t>();
          c != target && rows > 0)
        pairs.push_back({target, c, rows});
  std::ranges::stable_sort(pairs, std::greater(), &Pair::rows);
  if (pairs.empty()) return "";
  TextTable table({"most confused: target", "predicted", "rows", "share of the target's rows"});
  for (size_t i = 0; i < std::min(kPairsShown, pairs.size()); ++i) {
    const auto support = evaluation.confusion[pairs[i].target].sum().item<double>();
    table.add({name(pairs[i].target), name(pairs[i].predicted), format_count(pairs[i].rows),
               shown(double(pairs[i].rows) / support, 3)});
  }
  return table.plain();
}

std::string residuals_text(const Evaluation& evaluation) {
  const Residuals& residuals = *evaluation.residuals;
  std::vector<std::string> header{"prediction - " + evaluation.target, "mean (bias)", "deviation"};
  std::vector<std::string> row{"", shown(residuals.mean), shown(residuals.deviation)};
  for (size_t i = 0; i < residuals.quantiles.size(); ++i) {
    const double share = kResidualQuantiles[i];
    header.push_back(share == 0   ? "smallest"
                     : share == 1 ? "largest"
                                  : concat(format_number(100 * share, 3), " %"));
    row.push_back(shown(residuals.quantiles[i]));
  }
  TextTable table(header);
  table.add(row);
  TextTable worst({"worst rows: row", evaluation.target, "prediction", "difference"});
  for (const WorstRow& one : evaluation.worst)
    worst.add({format_count(one.row), shown(one.target, 6), shown(one.prediction, 6),
               shown(one.prediction - one.target)});
  return table.plain() + "\n" + worst.plain();
}

TextTable entity_table(const Evaluation& evaluation) {
  TextTable table({"entity", "precision", "recall", "f1", "support"});
  for (const auto& [type, score] : evaluation.entities)
    table.add({shorten_bytes(type, kNameBytes), shown(score.precision(), 3),
               shown(score.recall(), 3), shown(score.f1(), 3), format_count(score.wanted)});
  return table;
}

std::string errors_text(const ErrorTable& errors) {
  std::vector<std::string> header{errors.by};
  header.insert(header.end(), errors.columns.begin(), errors.columns.end());
  TextTable table(header);
  const size_t count = errors.shown.empty() ? errors.names.size() : errors.shown.size();
  for (size_t i = 0; i < count; ++i) {
    const size_t place = errors.shown.empty() ? i : errors.shown[i];
    std::vector<std::string> row{shorten_bytes(errors.names[place], kNameBytes)};
    for (const double value : errors.rows[place]) row.push_back(shown(value));
    table.add(std::move(row));
  }
  std::string text = table.plain();
  if (count < errors.names.size())
    text += concat("(", count, " of ", errors.names.size(), "; --json has all)\n");
  return text;
}

Json errors_json(const ErrorTable& errors) {
  Json json = Json::array();
  for (size_t i = 0; i < errors.names.size(); ++i) {
    Json row{{errors.by, errors.names[i]}};
    for (size_t column = 0; column < errors.columns.size(); ++column)
      row[errors.columns[column]] = json_number(errors.rows[i][column]);
    json.push_back(std::move(row));
  }
  return json;
}

}  // namespace

Json to_json(const Metrics& metrics) {
  Json json = Json::object();
  for (const Metric& metric : metrics) json[metric.name] = json_number(metric.value);
  return json;
}

const Metric* Evaluation::find(const std::string& name) const {
  return find_metric(metrics, name);
}

void Evaluation::merge(const Metrics& more) {
  for (const Metric& metric : more) {
    const auto known = std::ranges::find(metrics, metric.name, &Metric::name);
    if (known == metrics.end())
      metrics.push_back(metric);
    else
      known->value = metric.value;
  }
}

std::string Evaluation::headline() const {
  const Metric* metric = find(main);
  if (!metric) return "";
  std::vector<std::string> others;
  for (const BaselineResult& baseline : baselines)
    if (const Metric* own = find_metric(baseline.metrics, main))
      others.push_back(concat(baseline.name, " ", shown(own->value)));
  return concat(main, " ", shown(metric->value), interval ? " ± " + half_text(*interval) : "",
                others.empty() ? "" : concat(" (", join(others), ")"));
}

std::vector<std::string> Evaluation::remarks() const {
  std::vector<std::string> remarks;
  const Metric* metric = find(main);
  for (const BaselineResult& baseline : baselines) {
    const Metric* own = metric ? find_metric(baseline.metrics, main) : nullptr;
    if (!own || baseline.is_best) continue;
    const bool ahead =
        metric->higher_is_better ? metric->value > own->value : metric->value < own->value;
    if (shown(metric->value) == shown(own->value))
      remarks.push_back(
          concat("level with the baseline '", baseline.name, "': ", main, " ", shown(own->value)));
    else if (!ahead)
      remarks.push_back(concat("this model does not beat the baseline '", baseline.name, "': ",
                               main, " ", shown(metric->value), " against ", shown(own->value)));
    else if (interval && own->value >= interval->low && own->value <= interval->high)
      remarks.push_back(concat("ahead of the baseline '", baseline.name,
                               "' by less than the interval of ", main,
                               ": more rows would be needed to tell them apart"));
  }
  if (confusion.defined() && confusion.sum().item<int64_t>() > 0) {
    const at::Tensor support = confusion.sum(1);
    const auto most = support.argmax().item<int64_t>();
    const double share = support[most].item<double>() / support.sum().item<double>();
    if (share == 1)
      remarks.push_back(
          concat("all rows are '", shorten_bytes(classes[size_t(most)], kNameBytes),
                 "': auc and average_precision, which compare classes, are left out"));
    const auto least = support.argmin().item<int64_t>();
    if (!interval && (main == "auc" || main == "average_precision"))
      remarks.push_back(concat("only ", support[least].item<int64_t>(),
                               support[least].item<int64_t>() == 1 ? " row is '" : " rows are '",
                               shorten_bytes(classes[size_t(least)], kNameBytes),
                               "': too few for an interval of ", main));
    if (main != "accuracy" && share >= kMostlyOneClass)
      remarks.push_back(concat("'", shorten_bytes(classes[size_t(most)], kNameBytes), "' is ",
                               format_number(100 * share, 3), " % of the rows, so accuracy says ",
                               "little; ", main, " decides"));
    std::vector<std::string> never;
    const at::Tensor chosen = confusion.sum(0);
    for (int64_t c = 0; c < chosen.size(0); ++c)
      if (chosen[c].item<int64_t>() == 0 && support[c].item<int64_t>() > 0)
        never.push_back("'" + shorten_bytes(classes[size_t(c)], kNameBytes) + "'");
    if (never.size() > 5) never = {never[0], never[1], concat("and ", never.size() - 2, " more")};
    const bool can_choose = classes.size() == 2 && threshold_rule != "f1";
    if (!never.empty())
      remarks.push_back(concat(join(never), never.size() == 1 ? " is" : " are", " never predicted",
                               can_choose ? "; --threshold f1 chooses another threshold than " +
                                                shown(threshold.value_or(0.5))
                                          : ""));
  }
  if (threshold)
    remarks.push_back(concat(
        "'", shorten_bytes(classes.at(1), kNameBytes), "' from a probability of ",
        shown(*threshold), " on (threshold ", threshold_rule,
        ThresholdRule(threshold_rule).is_fixed() ? ")" : ", chosen on the validation rows)"));
  else if (!threshold_rule.empty() && !ThresholdRule(threshold_rule).is_fixed())
    remarks.push_back(concat("the threshold of each label (", threshold_rule,
                             ") was chosen on the validation rows"));
  return remarks;
}

std::string Evaluation::text() const {
  std::vector<std::string> parts{metric_table(*this).plain()};
  if (confusion.defined()) {
    parts.push_back(class_table(*this).plain());
    if (const std::string matrix = confusion_text(*this); !matrix.empty()) parts.push_back(matrix);
  }
  if (uncalibrated_error && find("calibration_error"))
    parts.push_back(concat("temperature ", shown(temperature), ", fitted on the validation rows: ",
                           "calibration error ", shown(*uncalibrated_error), " before, ",
                           shown(find("calibration_error")->value), " after\n"));
  if (residuals) parts.push_back(residuals_text(*this));
  for (const ErrorTable& table : errors) parts.push_back(errors_text(table));
  if (!entities.empty()) parts.push_back(entity_table(*this).plain());
  return join(parts, "\n");
}

Json Evaluation::to_json() const {
  Json json{{"metrics", fovea::to_json(metrics)}};
  if (const Metric* metric = find(main)) {
    json["main"] = {{"metric", main},
                    {"value", json_number(metric->value)},
                    {"higher_is_better", metric->higher_is_better}};
    if (interval)
      json["main"].update({{"low", json_number(interval->low)},
                           {"high", json_number(interval->high)},
                           {"level", 0.95},
                           {"method", interval->method}});
  }
  json["baselines"] = Json::object();
  for (const BaselineResult& baseline : baselines)
    json["baselines"][baseline.name] = fovea::to_json(baseline.metrics);
  if (confusion.defined()) {
    const std::vector<ClassReport> reports = class_reports(confusion);
    json["classes"] = Json::array();
    json["confusion_matrix"] = {{"classes", classes}, {"counts", Json::array()}};
    for (size_t c = 0; c < reports.size(); ++c) {
      json["classes"].push_back({{"class", classes[c]},
                                 {"precision", reports[c].precision},
                                 {"recall", reports[c].recall},
                                 {"f1", reports[c].f1},
                                 {"support", reports[c].support}});
      Json row = Json::array();
      for (size_t p = 0; p < reports.size(); ++p)
        row.push_back(confusion[int64_t(c)][int64_t(p)].item<int64_t>());
      json["confusion_matrix"]["counts"].push_back(std::move(row));
    }
  }
  if (threshold) json["threshold"] = {{"value", *threshold}, {"rule", threshold_rule}};
  if (uncalibrated_error)
    json["calibration"] = {{"temperature", temperature},
                           {"error_before", json_number(*uncalibrated_error)},
                           {"error_after", json_number(find("calibration_error")->value)}};
  if (residuals) {
    Json quantiles = Json::object();
    for (size_t i = 0; i < residuals->quantiles.size(); ++i)
      quantiles[format_number(kResidualQuantiles[i], 3)] = json_number(residuals->quantiles[i]);
    json["residuals"] = {{"target", target},
                         {"mean", json_number(residuals->mean)},
                         {"deviation", json_number(residuals->deviation)},
                         {"quantiles", quantiles},
                         {"worst", Json::array()}};
    for (const WorstRow& one : worst)
      json["residuals"]["worst"].push_back({{"row", one.row},
                                            {"target", json_number(one.target)},
                                            {"prediction", json_number(one.prediction)}});
  }
  for (const ErrorTable& table : errors) json["by_" + table.by] = errors_json(table);
  for (const auto& [type, score] : entities)
    json["entities"][type] = {{"precision", score.precision()},
                              {"recall", score.recall()},
                              {"f1", score.f1()},
                              {"support", score.wanted}};
  if (const std::vector<std::string> said = remarks(); !said.empty()) json["remarks"] = said;
  return json;
}

}  // namespace fovea
