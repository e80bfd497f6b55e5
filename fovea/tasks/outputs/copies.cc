#include "fovea/tasks/outputs/copies.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fovea/metrics/dynamic_ngrams.h"
#include "fovea/models/turing_machine.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kStepsTogether = 4096;  // of a batch that is measured
constexpr size_t kMostLengths = 8;        // that are measured one by one
constexpr const char *kChance = "chance", *kOrder = "order";

/// What is counted of some sequences.
struct CopyErrors {
  double rows = 0, wrong_rows = 0;  // sequences, and those with a wrong bit
  double bits = 0, wrong_bits = 0;
  double cost = 0;  // -ln p of the right bits

  void add(const CopyErrors& more) {
    rows += more.rows, wrong_rows += more.wrong_rows;
    bits += more.bits, wrong_bits += more.wrong_bits;
    cost += more.cost;
  }
  double cost_in_bits() const { return cost / std::numbers::ln2 / rows; }  // of a sequence
};

struct CountedRow {
  CopySize size;
  CopyErrors errors;
};

/// Of each row.
std::vector<CountedRow> count_errors(const Model& model, const Dataset& rows,
                                     const RowProgress& progress) {
  const auto& copier = dynamic_cast<const CopyModel&>(model);
  std::vector<CountedRow> counted(size_t(rows.size()));
  over_rows(
      model, rows, kStepsTogether,
      [&](std::span<const int64_t> picked, const Batch& batch) {
        const at::Tensor logits = copier.logits(batch).to(at::kDouble);           // [B, S, W]
        const at::Tensor keep = batch.at("target.keep").unsqueeze(-1);            // [B, S, 1]
        const at::Tensor target = batch.at("target").to(at::kDouble);             // [B, S, W]
        const at::Tensor wrong = ((logits >= 0) != (target > 0.5)) & keep;        // [B, S, W]
        const at::Tensor costs = at::softplus(logits * (1 - 2 * target)) * keep;  // [B, S, W]
        const at::Tensor wrong_bits = wrong.flatten(1).sum(1).cpu();
        const at::Tensor cost = costs.flatten(1).sum(1).cpu();
        const at::Tensor due = keep.flatten(1).sum(1).cpu();
        const at::Tensor sizes = batch.at("size").cpu();
        for (size_t i = 0; i < picked.size(); ++i) {
          CountedRow& one = counted[size_t(picked[i])];
          const at::Tensor size = sizes[int64_t(i)];
          one.size = {size[0].item<int64_t>(), size[1].item<int64_t>()};
          CopyErrors& own = one.errors;
          own.rows = 1;
          own.bits = due[int64_t(i)].item<double>() * double(copier.bits());
          own.wrong_bits = wrong_bits[int64_t(i)].item<double>();
          own.wrong_rows = own.wrong_bits > 0;
          own.cost = cost[int64_t(i)].item<double>();
        }
      },
      progress);
  return counted;
}

std::map<CopySize, CopyErrors> by_size(const std::vector<CountedRow>& counted) {
  std::map<CopySize, CopyErrors> sizes;
  for (const CountedRow& row : counted) sizes[row.size].add(row.errors);
  return sizes;
}

/// "20", of what is repeated "20x10".
std::string size_name(const CopySize& size, const CopyKind& kind) {
  return kind.repeats ? concat(size.length, "x", size.repeats) : concat(size.length);
}

/// What the optimal estimator makes of the bits of all rows.
CopyErrors optimal_errors(const Dataset& rows, int64_t order) {
  CopyErrors errors;
  for (int64_t row = 0; row < rows.size(); ++row) {
    const Batch batch = rows.batch(std::span(&row, 1));
    const at::Tensor target = batch.at("target")[0]
                                  .masked_select(batch.at("target.keep")[0].unsqueeze(-1))
                                  .to(at::kLong)
                                  .contiguous();
    const std::span<const int64_t> bits(target.data_ptr<int64_t>(), size_t(target.numel()));
    const std::vector<double> guesses = optimal_ngrams(bits, order);
    errors.rows += 1;
    errors.bits += double(bits.size());
    for (size_t i = 0; i < bits.size(); ++i) {
      errors.cost -= std::log(bits[i] ? guesses[i] : 1 - guesses[i]);
      errors.wrong_bits += double((guesses[i] >= 0.5) != (bits[i] != 0));
    }
  }
  return errors;
}

Metrics metrics_of(const std::vector<CountedRow>& counted, const CopyKind& kind) {
  CopyErrors all;
  for (const CountedRow& one : counted) all.add(one.errors);
  Metrics metrics{{"loss", all.cost / all.bits},
                  {"bits", all.cost_in_bits()},
                  {"bit_error", all.wrong_bits / all.bits}};
  if (!kind.is_guess) metrics.push_back({"sequence_error", all.wrong_rows / all.rows});
  const std::map<CopySize, CopyErrors> sizes = by_size(counted);
  if (sizes.size() > kMostLengths || sizes.size() < 2) return metrics;
  for (const auto& [size, own] : sizes) {
    if (kind.in_bits)
      metrics.push_back({concat("bits_", size_name(size, kind)), own.cost_in_bits()});
    metrics.push_back({concat("bit_error_", size_name(size, kind)), own.wrong_bits / own.bits});
    if (!kind.is_guess)
      metrics.push_back(
          {concat("sequence_error_", size_name(size, kind)), own.wrong_rows / own.rows});
  }
  return metrics;
}

}  // namespace

std::vector<std::string> CopiesOutput::monitors(const std::vector<std::string>& usual) const {
  return answers_().layout.kind->is_guess ? std::vector<std::string>{"loss"} : usual;
}

Metrics CopiesOutput::measure(const Model& model, const Dataset& rows,
                              const RowProgress& progress) const {
  return metrics_of(count_errors(model, rows, progress), *answers_().layout.kind);
}

Evaluation CopiesOutput::evaluate(const Model& model, const Dataset& rows,
                                  const RowProgress& progress) const {
  const CopyKind& kind = *answers_().layout.kind;
  const std::vector<CountedRow> counted = count_errors(model, rows, progress);
  Evaluation evaluation;
  evaluation.metrics = metrics_of(counted, kind);
  evaluation.main = kind.in_bits ? "bits" : "bit_error";
  SummedMetric decides;
  for (const auto& [size, own] : counted)
    decides.rows.push_back(kind.in_bits ? std::vector{own.cost_in_bits(), 1.0}
                                        : std::vector{own.wrong_bits, own.bits});
  evaluation.interval = bootstrap_interval(decides);
  if (!kind.in_bits || !rows.has_truth() || answers_().slots == 0) return evaluation;
  // y_t sees what is read at t, and through the controller what was read at t - 1: a network learns
  // to use either.
  double found = 0;
  for (const int64_t before : {0, 1}) {
    const auto share = planted_truth(model, rows, kCopySources, [before](const Tap& tap) {
      const at::Tensor read = steps_read(tap.map("write").weights, tap.map("read").weights);
      return before == 0 ? read : read.roll(before, 1);  // [B, S, S]
    });
    if (share) found = std::max(found, *share);
  }
  evaluation.metrics.push_back({"attention_truth", found, true});
  return evaluation;
}

LengthCurve CopiesOutput::measure_by_length(const Model& model, const Dataset& rows,
                                            const RowProgress& progress) const {
  const CopyKind& kind = *answers_().layout.kind;
  LengthCurve curve{"bit_error", kind.counts, {}, {}, {}};
  for (const auto& [size, own] : by_size(count_errors(model, rows, progress))) {
    curve.buckets.push_back(size_name(size, kind));
    curve.values.push_back(own.wrong_bits / own.bits);
    curve.counts.push_back(int64_t(own.rows));
  }
  return curve;
}

NamedTensors CopiesOutput::fit_baselines(const Dataset&, const LinearInputs&) const {
  const CopyAnswers answers = answers_();
  NamedTensors fitted{{kChance, torch::full({1}, 0.5, torch::kDouble)}};
  if (answers.layout.kind->is_guess) fitted[kOrder] = torch::full({1}, answers.order, torch::kLong);
  return fitted;
}

std::vector<BaselineResult> CopiesOutput::measure_baselines(const NamedTensors& fitted,
                                                            const Dataset& rows,
                                                            const LinearInputs&) const {
  double bits = 0;
  const int64_t outputs = answers_().layout.outputs();
  for (int64_t row = 0; row < rows.size(); ++row)
    bits += rows.batch(std::span(&row, 1)).at("target.keep").sum().item<double>() * double(outputs);
  std::vector<BaselineResult> results{{kChance,
                                       {{"loss", std::numbers::ln2},
                                        {"bits", bits / double(rows.size())},
                                        {"bit_error", fitted.at(kChance).item<double>()}}}};
  if (fitted.count(kOrder) == 0) return results;
  const CopyErrors optimal = optimal_errors(rows, fitted.at(kOrder).item<int64_t>());
  results.push_back({"optimal",
                     {{"loss", optimal.cost / optimal.bits},
                      {"bits", optimal.cost_in_bits()},
                      {"bit_error", optimal.wrong_bits / optimal.bits}},
                     true});
  return results;
}

void CopiesOutput::finish(const Model&, std::span<const Example>,
                          std::vector<Prediction>& predictions) const {
  const CopyLayout layout = answers_().layout;
  for (Prediction& prediction : predictions)
    for (Decoded& output : prediction.outputs) output.text = format_output(output.tokens, layout);
}

Json CopiesOutput::answer(const Example&, const Prediction& prediction) const {
  const Decoded& output = prediction.outputs.at(0);
  return {{answers_().layout.kind->answer, output.text},
          {"log_probability", output.log_probability}};
}

std::string CopiesOutput::answer_line(const Example&, const Prediction& prediction) const {
  return prediction.outputs.at(0).text;
}

Example CopiesOutput::describe_output(const Example& example, const Prediction& prediction) const {
  const CopyAnswers answers = answers_();
  Example described = example;
  const std::vector<int64_t>& symbols = prediction.outputs.at(0).tokens;
  for (Axis& axis : described.axes) {
    if (axis.name != "steps" || symbols.size() > axis.labels.size()) continue;
    for (size_t i = 0; i < symbols.size(); ++i) {
      std::string& label = axis.labels[axis.labels.size() - symbols.size() + i];
      const std::string symbol = concat("→ ", format_output({symbols[i]}, answers.layout));
      label = label.starts_with("output ") ? symbol : concat(label, " ", symbol);
    }
  }
  Axis slots{"slots", "slot", {}};
  for (int64_t slot = 0; slot < answers.slots; ++slot) slots.labels.push_back(concat(slot + 1));
  if (answers.slots > 0) described.axes.push_back(std::move(slots));
  return described;
}

}  // namespace fovea
