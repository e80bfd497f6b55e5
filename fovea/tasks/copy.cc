#include "fovea/tasks/copy.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/erase.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kStepsTogether = 4096;  // of a batch that is measured
constexpr size_t kMostLengths = 8;        // that are measured one by one
constexpr const char* kAsset = "copy.json";

/// What is counted of some sequences.
struct Errors {
  double rows = 0, wrong_rows = 0;  // sequences, and those with a wrong bit
  double bits = 0, wrong_bits = 0;
  double cost = 0;  // -ln p of the right bits

  void add(const Errors& more) {
    rows += more.rows, wrong_rows += more.wrong_rows;
    bits += more.bits, wrong_bits += more.wrong_bits;
    cost += more.cost;
  }
};

/// Of each row.
std::vector<Errors> errors_of(const Model& model, const Dataset& rows,
                              const std::function<void(int64_t)>& progress) {
  const auto& copier = dynamic_cast<const CopyModel&>(model);
  std::vector<Errors> errors(size_t(rows.size()));
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
        for (size_t i = 0; i < picked.size(); ++i) {
          Errors& own = errors[size_t(picked[i])];
          own.rows = 1;
          own.bits = due[int64_t(i)].item<double>() * double(copier.bits());
          own.wrong_bits = wrong_bits[int64_t(i)].item<double>();
          own.wrong_rows = own.wrong_bits > 0;
          own.cost = cost[int64_t(i)].item<double>();
        }
      },
      progress);
  return errors;
}

std::map<int64_t, Errors> by_length(const std::vector<Errors>& errors, const Dataset& rows) {
  const auto& sequences = dynamic_cast<const CopyDataset&>(rows);
  std::map<int64_t, Errors> lengths;
  for (int64_t row = 0; row < rows.size(); ++row)
    lengths[int64_t(sequences.sequence(row).size())].add(errors[size_t(row)]);
  return lengths;
}

}  // namespace

void CopyTask::describe(OptionList& list) {
  list.group("data", data_);
  if (is_ntm())
    list.group("model", machine_);
  else
    list.group("model", lstm_);
  list.find("model.name").choices(models());
}

TrainingOptions CopyTask::training_defaults() const {
  TrainingOptions options;
  options.epochs = 6;
  options.schedule = "cosine";
  options.batch_size = 16;
  options.pool_batches = 20;
  options.learning_rate = 1e-3;
  options.clip_norm = 0.5;  // a rare large gradient would throw what is learned away
  options.monitor = {"bit_error", "loss"};
  if (is_ntm()) return options;
  options.epochs = 30;
  options.schedule = "constant";
  options.batch_size = 32;
  options.clip_norm = 5;
  options.micro_batches = 2;
  return options;
}

Splits CopyTask::load(const DataSource& source, uint64_t seed) {
  return load_copies(source, data_, bits_, seed);
}

void CopyTask::write_data(const std::filesystem::path& folder) const {
  write_copies_data(folder, data_);
}

std::unique_ptr<Model> CopyTask::make_model() const {
  if (is_ntm()) return std::make_unique<TuringMachine>(machine_, bits_);
  return std::make_unique<CopyLstm>(lstm_, bits_);
}

void CopyTask::save(const RunFolder& folder) const {
  folder.write_asset(kAsset, {{"bits", bits_}});
}

void CopyTask::restore(const RunFolder& folder) {
  const Json json = folder.read_asset(kAsset);
  bits_ = Field::root(json, folder.asset(kAsset).string()).at("bits").integer(1, 32);
}

Metrics CopyTask::measure(const Model& model, const Dataset& rows) const {
  const std::vector<Errors> errors = errors_of(model, rows, progress);
  Errors all;
  for (const Errors& one : errors) all.add(one);
  Metrics metrics{{"loss", all.cost / all.bits},
                  {"bits", all.cost / std::log(2.0) / all.rows},
                  {"bit_error", all.wrong_bits / all.bits},
                  {"sequence_error", all.wrong_rows / all.rows}};
  const std::map<int64_t, Errors> lengths = by_length(errors, rows);
  if (lengths.size() > kMostLengths || lengths.size() < 2) return metrics;
  for (const auto& [length, own] : lengths) {
    metrics.push_back({concat("bit_error_", length), own.wrong_bits / own.bits});
    metrics.push_back({concat("sequence_error_", length), own.wrong_rows / own.rows});
  }
  return metrics;
}

LengthCurve CopyTask::measure_by_length(const Model& model, const Dataset& rows) const {
  LengthCurve curve{"bit_error", "symbols", {}, {}, {}};
  for (const auto& [length, own] : by_length(errors_of(model, rows, progress), rows)) {
    curve.buckets.push_back(concat(length));
    curve.values.push_back(own.wrong_bits / own.bits);
    curve.counts.push_back(int64_t(own.rows));
  }
  return curve;
}

Example CopyTask::parse(const std::string& line) const {
  std::string text = line;
  if (is_json_object(line)) {
    const Json json = parse_json(line, "input");
    require(json.contains("symbols") && json["symbols"].is_string(), ErrorKind::BadData,
            "input: expected {\"symbols\": \"", text_of_symbol(6, bits_), " …\"}");
    text = json["symbols"].get<std::string>();
  }
  int64_t bits = bits_;
  return copy_example(parse_sequence(text, bits, "input"), bits);
}

Json CopyTask::input_schema() const {
  return {{"type", "string"}};
}

Batch CopyTask::collate(std::span<const Example> examples) const {
  return collate_copies(examples);
}

void CopyTask::finish(const Model&, std::span<const Example>,
                      std::vector<Prediction>& predictions) const {
  for (Prediction& prediction : predictions)
    for (Decoded& output : prediction.outputs) output.text = text_of_sequence(output.tokens, bits_);
}

Json CopyTask::answer(const Example& example, const Prediction& prediction) const {
  const Decoded& output = prediction.outputs.at(0);
  return {{"copy", output.text}, {"log_probability", output.log_probability}};
}

std::string CopyTask::answer_line(const Example& example, const Prediction& prediction) const {
  return prediction.outputs.at(0).text;
}

Example CopyTask::describe_output(const Example& example, const Prediction& prediction) const {
  Example described = example;
  const std::vector<int64_t>& symbols = prediction.outputs.at(0).tokens;
  for (Axis& axis : described.axes) {
    if (axis.name != "steps" || symbols.size() > axis.labels.size()) continue;
    for (size_t i = 0; i < symbols.size(); ++i)
      axis.labels[axis.labels.size() - symbols.size() + i] =
          concat("→ ", text_of_symbol(symbols[i], bits_));
  }
  Axis slots{"slots", "slot", {}};
  for (int64_t slot = 0; slot < machine_.slots; ++slot) slots.labels.push_back(concat(slot + 1));
  if (is_ntm()) described.axes.push_back(std::move(slots));
  return described;
}

Explanation CopyTask::overview(const Model& model, const Dataset& rows) const {
  require(is_ntm(), ErrorKind::Unsupported,
          "explain: an LSTM has no memory to look at; train with model.name=ntm");
  return Task::overview(model, rows);
}

ExplainOptions CopyTask::explain_options() const {
  ExplainOptions options;
  options.task = "copy";
  options.title = "Where symbols are written to, and read from";
  options.map_titles = {{"write", "Slots that are written to, step by step"},
                        {"read", "Slots that are read from, step by step"}};
  options.describe = [this](const Example& example, const Prediction& prediction) {
    return answer_line(example, prediction);
  };
  return options;
}

Example CopyTask::erase(const Example& example, const std::string& axis,
                        std::span<const int64_t> units) const {
  if (axis == "steps") return erase_steps(example, "inputs", units);
  if (axis != "slots" || !is_ntm()) return Task::erase(example, axis, units);
  Example erased = example;
  at::Tensor& slots = erased.tensors["slots"];
  slots = slots.defined() ? slots.clone() : torch::ones({machine_.slots});
  for (const int64_t unit : units) {
    require(unit >= 0 && unit < machine_.slots, ErrorKind::InvalidArgument, "slot ", unit,
            " cannot be erased; there are ", machine_.slots);
    slots[unit] = 0;
  }
  return erased;
}

std::vector<Json> CopyTask::example_inputs(const Dataset& rows, int64_t count) const {
  const auto& sequences = dynamic_cast<const CopyDataset&>(rows);
  std::vector<Json> inputs;
  for (int64_t row = 0; row < std::min(count, rows.size()); ++row)
    inputs.push_back(text_of_sequence(sequences.sequence(row), bits_));
  return inputs;
}

}  // namespace fovea
