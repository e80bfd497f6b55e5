#include "fovea/tasks/outputs/output.h"

#include "fovea/base/error.h"

namespace fovea {

namespace {

/// Members of members as one object: {"user": {"known": true}} is user.known, a list of numbers is
/// y.1, y.2, …; what else there is in lists is JSON text.
void flatten_answer(const std::string& name, const Json& value, Json& row) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.items())
      flatten_answer(name.empty() ? key : name + "." + key, member, row);
  } else if (value.is_array() && !value.empty() && value[0].is_number()) {
    for (size_t i = 0; i < value.size(); ++i) row[concat(name, ".", i + 1)] = value[i];
  } else {
    row[name] = value.is_array() ? Json(value.dump()) : value;
  }
}

}  // namespace

Evaluation OutputKind::evaluate(const Model& model, const Dataset& rows,
                                const RowProgress& progress) const {
  Evaluation evaluation;
  evaluation.metrics = measure(model, rows, progress);
  // Training watches a loss; people ask for what they would count themselves.
  for (const Metric& metric : evaluation.metrics)
    if (metric.higher_is_better && evaluation.main.empty()) evaluation.main = metric.name;
  if (evaluation.main.empty() && !evaluation.metrics.empty())
    evaluation.main = evaluation.metrics[0].name;
  return evaluation;
}

std::string OutputKind::truth(const Dataset& rows, int64_t row) const {
  const std::vector<std::string> references = rows.references(row);
  return references.empty() ? "" : references.front();
}

Json OutputKind::answer_row(const Example& example, const Prediction& prediction) const {
  Json row{{"prediction", answer_line(example, prediction)}};
  flatten_answer("", answer(example, prediction), row);
  return row;
}

std::vector<RowAnswer> OutputKind::judge_rows(const PredictedRows&) const {
  fail(ErrorKind::Internal, "these answers are not compared row by row");
}

StreamReport OutputKind::stream(const Model&, const std::filesystem::path&, bool,
                                const std::function<void(const std::string&)>&) const {
  fail(ErrorKind::Internal, "these inputs are no stream of events");
}

}  // namespace fovea
