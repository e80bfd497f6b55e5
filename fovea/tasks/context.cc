// The task `context`: a context picks the one position of the input that matters.
#include "fovea/data/erase.h"
#include "fovea/data/sequences/load.h"
#include "fovea/explain/record/average.h"
#include "fovea/models/context_attention.h"
#include "fovea/tasks/asset.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/outputs/numbers.h"
#include "fovea/tasks/rows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

class ContextData : public CodedData<ContextDataOptions, ContextEncoder> {
 public:
  ContextData() : CodedData("contexts.json") {}
  const ContextLayout& layout() const { return coding_.layout(); }

  void describe(OptionList& list) override { options_.describe(list); }
  Splits load(const DataSource& source, uint64_t seed) override {
    return load_context(source, options_, coding_, seed);
  }
  void write(const std::filesystem::path& folder) const override {
    write_context_data(folder, options_);
  }
  std::map<std::string, int64_t> sizes() const override {
    return {{"contexts", int64_t(layout().contexts.size())},
            {"positions", int64_t(layout().positions.size())}};
  }

  Example parse(const std::string& line) const override { return parse_row(coding_, line); }
  InputColumns input_columns(const Roles&) const override {
    InputColumns columns{{layout().context}, coding_.file_columns(), {}};
    columns.needed.insert(columns.needed.end(), layout().positions.begin(),
                          layout().positions.end());
    columns.truth = layout().target;
    return columns;
  }
  std::vector<Example> parse_table(const CsvTable& table, const InputColumns&) const override {
    return all_examples(*coding_.encode_inputs(table));
  }
  Json input_schema() const override {
    std::vector<SchemaColumn> columns{{layout().context, layout().contexts}};
    for (const std::string& position : layout().positions) columns.push_back({position});
    return row_schema(columns);
  }
  Json input(const Dataset& rows, int64_t row) const override {
    const NamedTensors tensors = rows.example(row).tensors;
    const int64_t context = tensors.at("context").item<int64_t>();
    Json input{{layout().context, layout().contexts[size_t(context)]}};
    for (size_t i = 0; i < layout().positions.size(); ++i) {
      const double value = tensors.at("inputs")[int64_t(i)].item<double>();
      input[layout().positions[i]] = rounded(value * layout().deviation + layout().mean);
    }
    return input;
  }
  Batch collate(std::span<const Example> examples) const override { return stack(examples); }
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    if (axis != "positions") return DataKind::erase(example, axis, units);
    return erase_inputs(example, "inputs", units, {}, layout().input_means);
  }
};

/// What the model makes of one row of the data.
Tap tap_of_row(const Model& model, const Dataset& rows, int64_t row) {
  torch::NoGradGuard no_gradients;
  Tap tap;
  model.replay(rows.batch({&row, 1}).to(model.device()), {}, &tap);
  return tap;
}

/// The first row of each context that occurs, by context.
std::vector<int64_t> representatives(const Dataset& rows, const ContextLayout& layout) {
  std::vector<int64_t> first(layout.contexts.size(), -1);
  const at::Tensor column = rows.columns().at("context").contiguous();
  const int64_t* context = column.data_ptr<int64_t>();
  for (int64_t row = 0; row < rows.size(); ++row)
    if (int64_t& place = first[size_t(context[row])]; place < 0) place = row;
  std::erase(first, -1);
  return first;
}

/// The number, and whether the heaviest position of each context is the planted one.
class ContextOutput : public NumberOutput {
 public:
  explicit ContextOutput(std::shared_ptr<const ContextData> data)
      : NumberOutput([data] {
          return Target{data->layout().target, data->layout().mean, data->layout().deviation};
        }),
        data_(data) {}

 protected:
  Metrics metrics_of(const Model& model, const Dataset& rows,
                     const PredictedNumbers& numbers) const override {
    Metrics metrics = NumberOutput::metrics_of(model, rows, numbers);
    double contexts = 0, found = 0, share = 0;
    for (const int64_t row : representatives(rows, data_->layout())) {
      const at::Tensor truth = rows.map_truth(row, "attention");  // [1, P]
      if (!truth.defined()) continue;
      const Tap tap = tap_of_row(model, rows, row);
      // What positions are multiplied with in the end: the honest map where there are two.
      const AttentionMap& map = tap.map(tap.maps().size() > 1 ? "effective" : "attention");
      const at::Tensor weights = map.weights.flatten().abs().cpu();    // [P]
      const at::Tensor keep = truth.flatten().to(torch::kBool).cpu();  // [P]
      contexts += 1;
      found += keep[weights.argmax().item<int64_t>()].item<bool>();
      share += (weights.masked_select(keep).sum() / weights.sum()).item<double>();
    }
    if (contexts > 0) {
      metrics.push_back({"attention_truth", share / contexts, true});
      metrics.push_back({"positions_found", found / contexts, true});
    }
    return metrics;
  }

 private:
  std::shared_ptr<const ContextData> data_;
};

/// All contexts side by side.
Explanation weights_of_contexts(const ContextLayout& layout, const Task& task, const Model& model,
                                const Dataset& rows) {
  std::map<std::string, MapAverage> averages;
  std::vector<std::string> order;
  for (const int64_t row : representatives(rows, layout)) {
    const Example example = rows.example(row);
    const Tap tap = tap_of_row(model, rows, row);
    for (const AttentionMap& map : tap.maps()) {
      if (averages.count(map.name) == 0) order.push_back(map.name);
      averages[map.name].add(make_view(map, example, task.explain_options()));
    }
  }
  Explanation explanation{"context",
                          "Which position each context looks at",
                          "weights of the model itself: the same for every row",
                          {},
                          {},
                          "",
                          nullptr,
                          {Axis{"positions", "position", layout.positions}}};
  for (const std::string& name : order) {
    explanation.maps.push_back(averages.at(name).result());
    explanation.maps.back().spread.clear();  // one row per context: there is nothing to spread over
    for (std::string& label : explanation.maps.back().query_labels)
      label = layout.context + " " + label;
  }
  group_free_maps(explanation.maps);
  return explanation;
}

}  // namespace

static std::unique_ptr<Task> make_context_task() {
  const auto data = std::make_shared<ContextData>();
  const auto options = std::make_shared<ContextAttentionOptions>();
  TrainingOptions training;  // those of the PyTorch tutorial
  training.epochs = 4;
  training.batch_size = 1;
  training.shuffle = false;
  training.usual_steps = 30'000;
  ModelSpec spec = model_spec(
      {"free", "softmax"}, options, training,
      [data](const ContextAttentionOptions& own) {
        const ContextLayout& layout = data->layout();
        return std::make_unique<ContextAttention>(
            own, ContextAttentionShape{int64_t(layout.contexts.size()),
                                       int64_t(layout.positions.size())});
      },
      [options] {
        return ExplainTitles{
            "Which position the context looks at",
            {{"attention", options->is_free() ? "Weight of each position, A"
                                              : "Share of each position, softmax(A)"},
             {"effective", "Weight times what the position counts for, A*w"}}};
      });
  spec.overview = [data](const Task& task, const Model& model, const Dataset& rows) {
    return weights_of_contexts(data->layout(), task, model, rows);
  };
  return std::make_unique<Task>("context", data, std::make_shared<ContextOutput>(data),
                                std::vector{std::move(spec)});
}

TaskRow context_task() {
  return {"context", "a context picks the position that matters", "context -> positions",
          "CSV or TSV with a header: context, one column per position, y", make_context_task};
}

}  // namespace fovea
