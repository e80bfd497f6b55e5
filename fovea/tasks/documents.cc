#include "fovea/tasks/documents.h"

#include <algorithm>

#include "fovea/core/error.h"
#include "fovea/core/torch.h"
#include "fovea/metrics/classification.h"
#include "fovea/tasks/over_rows.h"

namespace fovea {

namespace {

constexpr int64_t kTokensTogether = 8192;  // of a batch that is measured

}  // namespace

void DocumentsTask::describe(OptionList& list) {
  list.group("data", data_);
  list.group("model", model_);
}

TrainingOptions DocumentsTask::training_defaults() const {
  TrainingOptions options;
  options.epochs = 12;
  options.batch_size = 32;
  options.pool_batches = 50;
  options.parts = 2;
  options.optimiser = "adamw";
  options.learning_rate = 1e-3;
  options.weight_decay = 0.01;
  options.schedule = "linear";
  options.warmup_steps = 100;
  options.clip_norm = 1;
  options.monitor = {"accuracy"};
  return options;
}

/// As Devlin et al. 2019 fine-tune.
TrainingOptions DocumentsTask::fine_tuning_defaults() const {
  TrainingOptions options = training_defaults();
  options.epochs = 3;
  options.learning_rate = 5e-5;
  return options;
}

Splits DocumentsTask::load(const DataSource& source, uint64_t seed) {
  Splits splits = noted(load_documents(source, data_, coding_, seed));
  if (splits.train) {
    const auto& rows = dynamic_cast<const DocumentDataset&>(*splits.train);
    class_counts_.assign(coding_.classes.size(), 0);
    for (int64_t row = 0; row < rows.size(); ++row)
      ++class_counts_[size_t(rows.document(row).label)];
  }
  return splits;
}

void DocumentsTask::write_data(const std::filesystem::path& folder) const {
  write_documents_data(folder, data_);
}

std::unique_ptr<Model> DocumentsTask::make_model() const {
  DocumentShape shape;
  shape.vocabulary = coding_.tokeniser->size();
  shape.classes = static_cast<int64_t>(coding_.classes.size());
  shape.window = data_.frames.longest;
  shape.class_counts = class_counts_;
  return std::make_unique<BertClassifier>(model_, std::move(shape));
}

void DocumentsTask::save(const RunFolder& folder) const {
  save_wordpiece(folder, *coding_.tokeniser);
  folder.write_asset("documents.json", coding_.to_json());
}

void DocumentsTask::restore(const RunFolder& folder) {
  coding_ = DocumentCoding::from_json(folder.read_asset("documents.json"),
                                      folder.asset("documents.json").string());
  coding_.tokeniser = load_wordpiece(folder);
}

Metrics DocumentsTask::measure(const Model& model, const Dataset& rows) const {
  const auto classes = static_cast<int64_t>(coding_.classes.size());
  const at::Tensor scores = torch::zeros({rows.size(), classes});
  const at::Tensor target = torch::zeros({rows.size()}, torch::kLong);
  over_rows(
      model, rows, kTokensTogether,
      [&](std::span<const int64_t> picked, const Batch& batch) {
        const at::Tensor own = model.predict(batch).scores.cpu();
        const at::Tensor wanted = batch.at("target").cpu();
        for (size_t i = 0; i < picked.size(); ++i) {
          scores[picked[i]].copy_(own[int64_t(i)]);
          target[picked[i]].copy_(wanted[int64_t(i)]);
        }
      },
      progress);
  Metrics metrics{{"loss", log_loss(scores, target)},
                  {"accuracy", accuracy(scores, target), true},
                  {"macro_f1", macro_f1(predicted_classes(scores), target, classes), true}};
  if (classes == 2)
    if (const auto area = auc(scores.select(1, 1), target)) metrics.push_back({"auc", *area, true});
  if (dynamic_cast<const DocumentDataset&>(rows).has_truth())
    if (const auto share = planted_truth(model, rows, "attention"))
      metrics.push_back({"attention_truth", *share, true});
  return metrics;
}

Example DocumentsTask::parse(const std::string& line) const {
  TextInput input = read_text_input(line);
  const size_t tab = input.text.find('\t');
  if (coding_.pairs && !input.second && !is_json_object(line) && tab != std::string::npos)
    input = {input.text.substr(0, tab), input.text.substr(tab + 1)};
  require(!coding_.pairs || input.second, ErrorKind::BadData,
          "input: this run compares two texts; expected both with a tab between them, or "
          "{\"text\": …, \"second\": …}");
  LabelledDocument document{std::move(input.text), input.second.value_or("")};
  return encoder().example(document);
}

Json DocumentsTask::input_schema() const {
  if (!coding_.pairs) return {{"type", "string"}};
  return {{"type", "object"},
          {"properties", {{"text", {{"type", "string"}}}, {"second", {{"type", "string"}}}}},
          {"required", {"text", "second"}}};
}

Batch DocumentsTask::collate(std::span<const Example> examples) const {
  return collate_tokens(examples, coding_.tokeniser->special().padding);
}

Json DocumentsTask::answer(const Prediction& prediction) const {
  const auto best = static_cast<size_t>(prediction.scores.argmax().item<int64_t>());
  Json scores = Json::object();
  for (size_t c = 0; c < coding_.classes.size(); ++c)
    scores[coding_.classes[c]] = prediction.scores[int64_t(c)].item<double>();
  return {{"class", coding_.classes[best]},
          {"probability", scores[coding_.classes[best]]},
          {"scores", scores}};
}

std::string DocumentsTask::answer_line(const Prediction& prediction) const {
  const Json json = answer(prediction);
  return concat(json["class"].get<std::string>(), "\t", format_number(json["probability"], 6));
}

ExplainOptions DocumentsTask::explain_options() const {
  ExplainOptions options;
  options.task = "documents";
  options.title = "Where BERT looks while it reads a text";
  options.map_titles = {{"attention", "tokens look at tokens"}};
  options.describe = [this](const Prediction& prediction) {
    const Json json = answer(prediction);
    return concat(json["class"].get<std::string>(), " (", format_number(json["probability"], 3),
                  ")");
  };
  return options;
}

Example DocumentsTask::erase(const Example& example, const std::string& axis,
                             std::span<const int64_t> units) const {
  if (axis != "tokens") return Task::erase(example, axis, units);
  return erase_tokens(example, *coding_.tokeniser, units);
}

std::vector<Json> DocumentsTask::example_inputs(const Dataset& rows, int64_t count) const {
  const auto& documents = dynamic_cast<const DocumentDataset&>(rows);
  std::vector<Json> inputs;
  for (int64_t row = 0; row < std::min(count, rows.size()); ++row) {
    const LabelledDocument& document = documents.document(row);
    if (coding_.pairs)
      inputs.push_back({{"text", document.text}, {"second", document.second}});
    else
      inputs.push_back(document.text);
  }
  return inputs;
}

}  // namespace fovea
