#include "fovea/tasks/context.h"

#include "fovea/base/error.h"
#include "fovea/data/erase.h"
#include "fovea/explain/record/average.h"
#include "fovea/metrics/regression.h"
#include "fovea/tasks/rows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

void ContextTask::describe(OptionList& list) {
  list.group("data", data_);
  list.group("model", model_);
}

TrainingOptions ContextTask::training_defaults() const {
  TrainingOptions options;  // those of the PyTorch tutorial
  options.epochs = 4;
  options.batch_size = 1;
  options.shuffle = false;
  return options;
}

Splits ContextTask::load(const DataSource& source, uint64_t seed) {
  return load_context(source, data_, encoder_, seed);
}

void ContextTask::write_data(const std::filesystem::path& folder) const {
  write_context_data(folder, data_);
}

std::unique_ptr<Model> ContextTask::make_model() const {
  const ContextLayout& layout = encoder_.layout();
  return std::make_unique<ContextAttention>(
      model_,
      ContextAttentionShape{int64_t(layout.contexts.size()), int64_t(layout.positions.size())});
}

void ContextTask::save(const RunFolder& folder) const {
  folder.write_asset("contexts.json", encoder_.to_json());
}
void ContextTask::restore(const RunFolder& folder) {
  encoder_ = ContextEncoder::from_json(folder.read_asset("contexts.json"),
                                       folder.asset("contexts.json").string());
}

namespace {

/// The first row of each context that occurs, by context.
std::vector<int64_t> representatives(const Dataset& rows, size_t contexts) {
  std::vector<int64_t> first(contexts, -1);
  const at::Tensor column = rows.columns().at("context").contiguous();
  const int64_t* context = column.data_ptr<int64_t>();
  for (int64_t row = 0; row < rows.size(); ++row)
    if (int64_t& place = first[size_t(context[row])]; place < 0) place = row;
  std::erase(first, -1);
  return first;
}

/// What the model multiplies each position with, for one context: the honest map where there are
/// two.
const AttentionMap& honest_map(const Tap& tap) {
  return tap.map(tap.maps().size() > 1 ? "effective" : "attention");
}

struct Found {
  int64_t contexts = 0, right = 0;  // whose heaviest position is the planted one
  double share = 0;                 // sum of the shares of weight on it
};

Found look_for_truth(const Model& model, const Dataset& rows, size_t contexts) {
  torch::NoGradGuard no_gradients;
  Found found;
  for (int64_t row : representatives(rows, contexts)) {
    const Example example = rows.example(row);
    if (example.truth.count("attention") == 0) continue;
    Tap tap;
    std::vector<int64_t> one{row};
    model.replay(rows.batch(one).to(model.device()), {}, &tap);
    const at::Tensor weights = honest_map(tap).weights.flatten().abs().cpu();          // [P]
    const at::Tensor keep = example.truth.at("attention").flatten().to(torch::kBool);  // [P]
    found.contexts += 1;
    found.right += keep[weights.argmax().item<int64_t>()].item<bool>();
    found.share += (weights.masked_select(keep).sum() / weights.sum()).item<double>();
  }
  return found;
}

}  // namespace

Metrics ContextTask::measure(const Model& model, const Dataset& rows) const {
  const ContextLayout& layout = encoder_.layout();
  const at::Tensor values = model.predict(whole(rows).to(model.device())).values.squeeze(1).cpu();
  const at::Tensor target = rows.columns().at("target");
  Metrics metrics{{"loss", mean_squared_error(values, target)},
                  {"mae", mean_absolute_error(values, target) * layout.deviation}};
  if (const auto r2 = r_squared(values, target)) metrics.push_back({"r2", *r2, true});
  const Found found = look_for_truth(model, rows, layout.contexts.size());
  if (found.contexts > 0) {
    metrics.push_back({"attention_truth", found.share / double(found.contexts), true});
    metrics.push_back({"positions_found", double(found.right) / double(found.contexts), true});
  }
  return metrics;
}

Example ContextTask::parse(const std::string& line) const {
  return parse_row(encoder_, line);
}

InputColumns ContextTask::input_columns(const Roles&) const {
  InputColumns columns{{encoder_.layout().context}, encoder_.file_columns(), {}};
  const auto& positions = encoder_.layout().positions;
  columns.needed.insert(columns.needed.end(), positions.begin(), positions.end());
  return columns;
}

std::vector<Example> ContextTask::parse_table(const CsvTable& table, const InputColumns&) const {
  return all_examples(*encoder_.encode_inputs(table));
}

Json ContextTask::input_schema() const {
  std::vector<RowColumn> columns{{encoder_.layout().context, encoder_.layout().contexts}};
  for (const std::string& position : encoder_.layout().positions) columns.push_back({position});
  return row_schema(columns);
}

Json ContextTask::answer(const Example& example, const Prediction& prediction) const {
  return {{"value", prediction.values[0].item<double>() * encoder_.layout().deviation +
                        encoder_.layout().mean}};
}

std::string ContextTask::answer_line(const Example& example, const Prediction& prediction) const {
  return format_number(answer(example, prediction)["value"], 7);
}

Explanation ContextTask::overview(const Model& model, const Dataset& rows) const {
  torch::NoGradGuard no_gradients;
  std::map<std::string, MapAverage> averages;
  std::vector<std::string> order;
  for (int64_t row : representatives(rows, encoder_.layout().contexts.size())) {
    Tap tap;
    std::vector<int64_t> one{row};
    model.replay(rows.batch(one).to(model.device()), {}, &tap);
    for (const AttentionMap& map : tap.maps()) {
      const Example example = rows.example(row);
      if (averages.count(map.name) == 0) order.push_back(map.name);
      averages[map.name].add(make_view(map, example, explain_options()));
    }
  }
  Explanation explanation{"context",
                          "Which position each context looks at",
                          "weights of the model itself: the same for every row",
                          {},
                          {},
                          "",
                          nullptr,
                          {Axis{"positions", "position", encoder_.layout().positions}}};
  for (const std::string& name : order) {
    explanation.maps.push_back(averages.at(name).result());
    explanation.maps.back().spread.clear();  // one row per context: there is nothing to spread over
    for (std::string& label : explanation.maps.back().query_labels)
      label = encoder_.layout().context + " " + label;
  }
  group_free_maps(explanation.maps);
  return explanation;
}

Example ContextTask::erase(const Example& example, const std::string& axis,
                           std::span<const int64_t> units) const {
  if (axis != "positions") return Task::erase(example, axis, units);
  return erase_inputs(example, "inputs", units, {}, encoder_.layout().input_means);
}

std::vector<Json> ContextTask::example_inputs(const Dataset& rows, int64_t count) const {
  const ContextLayout& layout = encoder_.layout();
  std::vector<Json> inputs;
  for (int64_t row = 0; row < std::min(count, rows.size()); ++row) {
    const NamedTensors tensors = rows.example(row).tensors;
    Json input{{layout.context, layout.contexts[size_t(tensors.at("context").item<int64_t>())]}};
    for (size_t i = 0; i < layout.positions.size(); ++i) {
      const double value = tensors.at("inputs")[int64_t(i)].item<double>();
      input[layout.positions[i]] = rounded(value * layout.deviation + layout.mean);
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

ExplainOptions ContextTask::explain_options() const {
  ExplainOptions options;
  options.task = "context";
  options.title = "Which position the context looks at";
  const bool free = model_.name == "free";
  options.map_titles = {{"attention", free ? "A" : "softmax(A)"}, {"effective", "A*w"}};
  options.describe = [this](const Example& example, const Prediction& prediction) {
    return encoder_.layout().target + " = " + answer_line(example, prediction);
  };
  return options;
}

}  // namespace fovea
