// The task `copy`: hear symbols, then say them again (Graves et al. 2014). Not useful in itself: it
// shows whether a network has learned to store and to fetch, by how it does on sequences longer
// than any that it was trained on. A neural Turing machine, and an LSTM beside it.
#include <cmath>
#include <map>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/copies/dataset.h"
#include "fovea/data/erase.h"
#include "fovea/models/copy_lstm.h"
#include "fovea/models/turing_machine.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kStepsTogether = 4096;  // of a batch that is measured
constexpr size_t kMostLengths = 8;        // that are measured one by one
constexpr const char* kCopyAsset = "copy.json";

class CopyData : public DataKind {
 public:
  /// `machine`: whose slots are an axis; null for a network without a memory.
  explicit CopyData(std::shared_ptr<const TuringMachineOptions> machine) : machine_(machine) {}
  int64_t bits() const { return bits_; }
  int64_t slots() const { return machine_ ? machine_->slots : 0; }

  void describe(OptionList& list) override { options_.describe(list); }
  Splits load(const DataSource& source, uint64_t seed) override {
    return load_copies(source, options_, bits_, seed);
  }
  void write(const std::filesystem::path& folder) const override {
    write_copies_data(folder, options_);
  }
  void save(const RunFolder& folder) const override {
    folder.write_asset(kCopyAsset, {{"bits", bits_}});
  }
  void restore(const RunFolder& folder) override {
    const Json json = folder.read_asset(kCopyAsset);
    bits_ = Field::root(json, folder.asset(kCopyAsset).string()).at("bits").integer(1, 32);
  }
  std::map<std::string, int64_t> sizes() const override { return {{"bits", bits_}}; }

  /// Symbols with blanks between them, "0110 1011", or {"symbols": "0110 1011"}.
  Example parse(const std::string& line) const override {
    std::string text = line;
    if (is_json_object(line)) {
      const Json json = parse_json(line, "input");
      require(json.contains("symbols") && json["symbols"].is_string(), ErrorKind::BadData,
              "input: expected {\"symbols\": \"", format_symbol(6, bits_), " …\"}");
      text = json["symbols"].get<std::string>();
    }
    int64_t bits = bits_;
    return copy_example(parse_sequence(text, bits, "input"), bits);
  }
  Json input_schema() const override { return {{"type", "string"}}; }
  Batch collate(std::span<const Example> examples) const override {
    return collate_copies(examples);
  }
  /// "steps" become silence; what lies in "slots" cannot be read.
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    if (axis == "steps") return erase_steps(example, "inputs", units);
    if (axis != "slots" || slots() == 0) return DataKind::erase(example, axis, units);
    Example erased = example;
    at::Tensor& keep = erased.tensors["slots"];
    keep = keep.defined() ? keep.clone() : torch::ones({slots()});
    for (const int64_t unit : units) {
      require(unit >= 0 && unit < slots(), ErrorKind::InvalidArgument, "slot ", unit,
              " cannot be erased; there are ", slots());
      keep[unit] = 0;
    }
    return erased;
  }

 private:
  std::shared_ptr<const TuringMachineOptions> machine_;
  CopyDataOptions options_;
  int64_t bits_ = 0;  // of a symbol; 0: nothing was loaded yet
};

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
};

/// Of each row.
std::vector<CopyErrors> count_errors(const Model& model, const Dataset& rows,
                                     const RowProgress& progress) {
  const auto& copier = dynamic_cast<const CopyModel&>(model);
  std::vector<CopyErrors> errors(size_t(rows.size()));
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
          CopyErrors& own = errors[size_t(picked[i])];
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

/// By the number of symbols.
std::map<int64_t, CopyErrors> by_symbols(const std::vector<CopyErrors>& errors,
                                         const Dataset& rows) {
  std::map<int64_t, CopyErrors> lengths;
  for (int64_t row = 0; row < rows.size(); ++row)
    lengths[(rows.length(row) - 1) / 2].add(errors[size_t(row)]);  // 2 L + 1 steps
  return lengths;
}

class CopyOutput : public OutputKind {
 public:
  explicit CopyOutput(std::shared_ptr<const CopyData> data) : data_(std::move(data)) {}

  /// Where all rows together have few lengths, errors also by length: bit_error_20, ….
  Metrics measure(const Model& model, const Dataset& rows,
                  const RowProgress& progress) const override {
    const std::vector<CopyErrors> errors = count_errors(model, rows, progress);
    CopyErrors all;
    for (const CopyErrors& one : errors) all.add(one);
    Metrics metrics{{"loss", all.cost / all.bits},
                    {"bits", all.cost / std::log(2.0) / all.rows},
                    {"bit_error", all.wrong_bits / all.bits},
                    {"sequence_error", all.wrong_rows / all.rows}};
    const std::map<int64_t, CopyErrors> lengths = by_symbols(errors, rows);
    if (lengths.size() > kMostLengths || lengths.size() < 2) return metrics;
    for (const auto& [length, own] : lengths) {
      metrics.push_back({concat("bit_error_", length), own.wrong_bits / own.bits});
      metrics.push_back({concat("sequence_error_", length), own.wrong_rows / own.rows});
    }
    return metrics;
  }

  LengthCurve measure_by_length(const Model& model, const Dataset& rows,
                                const RowProgress& progress) const override {
    LengthCurve curve{"bit_error", "symbols", {}, {}, {}};
    for (const auto& [length, own] : by_symbols(count_errors(model, rows, progress), rows)) {
      curve.buckets.push_back(concat(length));
      curve.values.push_back(own.wrong_bits / own.bits);
      curve.counts.push_back(int64_t(own.rows));
    }
    return curve;
  }

  void finish(const Model&, std::span<const Example>,
              std::vector<Prediction>& predictions) const override {
    for (Prediction& prediction : predictions)
      for (Decoded& output : prediction.outputs)
        output.text = format_sequence(output.tokens, data_->bits());
  }
  Json answer(const Example&, const Prediction& prediction) const override {
    const Decoded& output = prediction.outputs.at(0);
    return {{"copy", output.text}, {"log_probability", output.log_probability}};
  }
  std::string answer_line(const Example&, const Prediction& prediction) const override {
    return prediction.outputs.at(0).text;
  }
  /// Steps of the output are called by what was put out; the slots of a memory are an axis.
  Example describe_output(const Example& example, const Prediction& prediction) const override {
    Example described = example;
    const std::vector<int64_t>& symbols = prediction.outputs.at(0).tokens;
    for (Axis& axis : described.axes) {
      if (axis.name != "steps" || symbols.size() > axis.labels.size()) continue;
      for (size_t i = 0; i < symbols.size(); ++i)
        axis.labels[axis.labels.size() - symbols.size() + i] =
            concat("→ ", format_symbol(symbols[i], data_->bits()));
    }
    Axis slots{"slots", "slot", {}};
    for (int64_t slot = 0; slot < data_->slots(); ++slot) slots.labels.push_back(concat(slot + 1));
    if (data_->slots() > 0) described.axes.push_back(std::move(slots));
    return described;
  }

 private:
  std::shared_ptr<const CopyData> data_;
};

ExplainTitles copy_titles() {
  return {"Where symbols are written to, and read from",
          {{"write", "Slots that are written to, step by step"},
           {"read", "Slots that are read from, step by step"}}};
}

TrainingOptions turing_machine_training() {
  TrainingOptions training;
  training.epochs = 6;
  training.schedule = "cosine";
  training.batch_size = 16;
  training.pool_batches = 20;
  training.learning_rate = 1e-3;
  training.clip_norm = 0.5;  // a rare large gradient would throw what is learned away
  training.monitor = {"bit_error", "loss"};
  training.usual_steps = 3000;
  return training;
}

ModelSpec turing_machine_spec() {
  const auto options = std::make_shared<TuringMachineOptions>();
  const auto data = std::make_shared<CopyData>(options);
  ModelSpec spec = model_spec(
      {"ntm"}, options, turing_machine_training(),
      [data](const TuringMachineOptions& own) {
        return std::make_unique<TuringMachine>(own, data->bits());
      },
      copy_titles);
  spec.data = data;
  spec.output = std::make_shared<CopyOutput>(data);
  return spec;
}

ModelSpec copy_lstm_spec() {
  TrainingOptions training = turing_machine_training();
  const auto data = std::make_shared<CopyData>(nullptr);
  training.epochs = 30;
  training.schedule = "constant";
  training.batch_size = 32;
  training.clip_norm = 5;
  training.micro_batches = 2;
  ModelSpec spec = model_spec(
      {"lstm"}, std::make_shared<CopyLstmOptions>(), std::move(training),
      [data](const CopyLstmOptions& own) { return std::make_unique<CopyLstm>(own, data->bits()); },
      copy_titles);
  spec.data = data;
  spec.output = std::make_shared<CopyOutput>(data);
  spec.has_attention = [] { return false; };  // and no memory to look at
  return spec;
}

}  // namespace

static std::unique_ptr<Task> make_copy_task() {
  ModelSpec machine = turing_machine_spec();
  ModelSpec lstm = copy_lstm_spec();
  const auto data = machine.data;
  const auto output = machine.output;
  return std::make_unique<Task>("copy", data, output,
                                std::vector{std::move(machine), std::move(lstm)});
}

TaskRow copy_task() {
  return {"copy", "hear symbols, then say them again: does a network store and fetch?",
          "step -> slots of the memory", "text, one sequence a line, symbols as bits: 0110 1011",
          make_copy_task};
}

}  // namespace fovea
