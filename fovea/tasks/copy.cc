// The task `copy`: hear symbols, then say them again, and the other four tasks of Graves et al.
// 2014 (data/copies/kind.h). Not useful in themselves: they show whether a network has learned to
// store and to fetch, by how it does on sequences longer than any that it was trained on. A neural
// Turing machine, and an LSTM beside it.
#include <map>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/copies/dataset.h"
#include "fovea/data/erase.h"
#include "fovea/models/copy_lstm.h"
#include "fovea/models/turing_machine.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/outputs/copies.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr const char* kCopyAsset = "copy.json";

class CopyData : public DataKind {
 public:
  /// `machine`: whose slots are an axis; null for a network without a memory.
  explicit CopyData(std::shared_ptr<const TuringMachineOptions> machine) : machine_(machine) {}
  CopyWidths widths() const { return {layout().inputs(), layout().outputs()}; }
  int64_t slots() const { return machine_ ? machine_->slots : 0; }
  CopyAnswers answers() const { return {layout(), slots(), options_.generator.order}; }

  void describe(OptionList& list) override { options_.describe(list); }
  Splits load(const DataSource& source, uint64_t seed) override {
    return load_copies(source, options_, layout_, seed);
  }
  void write(const std::filesystem::path& folder) const override {
    write_copies_data(folder, options_);
  }
  void save(const RunFolder& folder) const override {
    Json json{{"bits", layout_.bits}};
    if (layout_.kind->repeats)
      json.update({{"repeats_mean", layout_.repeats_mean},
                   {"repeats_deviation", layout_.repeats_deviation}});
    folder.write_asset(kCopyAsset, json);
  }
  void restore(const RunFolder& folder) override {
    const Json json = folder.read_asset(kCopyAsset);
    const Field root = Field::root(json, folder.asset(kCopyAsset).string());
    layout_ = layout();
    layout_.bits = root.at("bits").integer(1, kMostSymbolBits);
    if (!layout_.kind->repeats) return;
    layout_.repeats_mean = root.at("repeats_mean").finite();
    layout_.repeats_deviation = root.at("repeats_deviation").deviation();
  }
  std::map<std::string, int64_t> sizes() const override {
    return {{"bits", layout_.bits}, {"inputs", widths().inputs}, {"outputs", widths().outputs}};
  }

  /// A row as the kind has it, "0110 1011", or {"symbols": "0110 1011"}.
  Example parse(const std::string& line) const override {
    std::string text = line;
    if (is_json_object(line)) {
      const Json json = parse_json(line, "input");
      require(json.contains("symbols") && json["symbols"].is_string(), ErrorKind::BadData,
              "input: expected {\"symbols\": \"", format_symbol(6, layout_.bits), " …\"}");
      text = json["symbols"].get<std::string>();
    }
    int64_t bits = layout_.bits;
    return copy_example(layout_.kind->parse(text, bits, "input"), layout_);
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
  /// As far as the options say it.
  CopyLayout layout() const {
    CopyLayout layout = layout_;
    layout.kind = &copy_kind(options_.generator.kind);
    layout.highest = options_.generator.highest;
    return layout;
  }

  CopyDataOptions options_;
  CopyLayout layout_;  // of 0 bits: nothing was loaded yet
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
        return std::make_unique<TuringMachine>(own, data->widths());
      },
      copy_titles);
  spec.data = data;
  spec.output = std::make_shared<CopiesOutput>([data] { return data->answers(); });
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
      [data](const CopyLstmOptions& own) {
        return std::make_unique<CopyLstm>(own, data->widths());
      },
      copy_titles);
  spec.data = data;
  spec.output = std::make_shared<CopiesOutput>([data] { return data->answers(); });
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
