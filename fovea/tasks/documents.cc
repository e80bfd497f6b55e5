#include "fovea/tasks/documents.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/metrics/classification.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kTokensTogether = 8192;  // of a batch that is measured

}  // namespace

void DocumentsTask::describe(OptionList& list) {
  struct Data {
    DocumentsDataOptions& options;
    TextsAs texts;
    void describe(OptionList& own) { options.describe(own, texts); }
  } data{data_, texts_as()};
  list.group("data", data);
  if (is_bert())
    list.group("model", bert_);
  else
    list.group("model", hierarchical_);
  list.find("model.name").choices(models());
}

TrainingOptions DocumentsTask::training_defaults() const {
  TrainingOptions options;
  options.epochs = 12;
  options.batch_size = 32;
  options.pool_batches = 50;
  options.micro_batches = 2;
  options.optimiser = "adamw";
  options.learning_rate = 1e-3;
  options.weight_decay = 0.01;
  options.schedule = "linear";
  options.warmup_steps = 100;
  options.clip_norm = 1;
  options.monitor = {"accuracy"};
  if (is_bert()) return options;
  options.epochs = 10;
  options.batch_size = 64;
  options.optimiser = "adam";
  options.learning_rate = 2e-3;
  options.weight_decay = 0;
  options.schedule = "cosine";
  options.warmup_steps = 50;
  options.monitor = {"loss"};
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
  const bool is_first = !coding_.fitted();
  Splits splits = noted(load_documents(source, data_, texts_as(), coding_, seed));
  if (is_first && !is_bert() && !data_.sentences.vectors.empty()) read_vectors(splits);
  if (splits.train) {
    const auto& rows = dynamic_cast<const LabelledDataset&>(*splits.train);
    class_counts_.assign(coding_.classes.size(), 0);
    for (int64_t row = 0; row < rows.size(); ++row)
      ++class_counts_[size_t(rows.document(row).label)];
  }
  return splits;
}

/// Their size becomes model.embedding, unless that was set to another one.
void DocumentsTask::read_vectors(Splits& splits) {
  vectors_ = read_word_vectors(data_.sentences.vectors, *coding_.words);
  splits.notes.push_back(vectors_->note);
  const int64_t size = vectors_->size();
  if (hierarchical_.embedding == size) return;
  require(hierarchical_.embedding == HierarchicalOptions().embedding, ErrorKind::InvalidArgument,
          data_.sentences.vectors, ": its words have ", size,
          " numbers, but model.embedding=", hierarchical_.embedding, "; leave that out");
  hierarchical_.embedding = size;
  splits.notes.push_back(concat("model.embedding is ", size, ", as the vectors have it"));
}

void DocumentsTask::write_data(const std::filesystem::path& folder) const {
  write_documents_data(folder, data_, texts_as());
}

void DocumentsTask::load_pretrained(const std::filesystem::path& run_or_folder) {
  require(is_bert(), ErrorKind::InvalidArgument,
          "--from: model.name=han takes no other run; data.vectors=FILE gives it word vectors");
  BertTask::load_pretrained(run_or_folder);
}

void DocumentsTask::copy_pretrained(Model& model) const {
  if (vectors_)
    dynamic_cast<HierarchicalAttention&>(model).take_vectors(vectors_->vectors, vectors_->known);
  BertTask::copy_pretrained(model);
}

std::unique_ptr<Model> DocumentsTask::make_model() const {
  const auto classes = static_cast<int64_t>(coding_.classes.size());
  if (is_bert())
    return std::make_unique<BertClassifier>(bert_,
                                            DocumentShape{.vocabulary = coding_.tokeniser->size(),
                                                          .classes = classes,
                                                          .window = data_.packing.longest,
                                                          .class_counts = class_counts_});
  return std::make_unique<HierarchicalAttention>(
      hierarchical_, HierarchicalShape{.words = coding_.words->size(),
                                       .classes = classes,
                                       .longest_sentence = data_.sentences.maximum_words,
                                       .longest_document = data_.sentences.maximum_sentences,
                                       .class_counts = class_counts_});
}

void DocumentsTask::save(const RunFolder& folder) const {
  folder.write_asset("documents.json", coding_.to_json());
  if (is_bert())
    save_wordpiece(folder, *coding_.tokeniser);
  else
    folder.write_asset("words.json", coding_.words->to_json());
}

void DocumentsTask::restore(const RunFolder& folder) {
  coding_ = DocumentCoding::from_json(folder.read_asset("documents.json"),
                                      folder.asset("documents.json").string());
  if (is_bert())
    coding_.tokeniser = load_wordpiece(folder);
  else
    coding_.words = std::make_shared<const Vocabulary>(Vocabulary::from_json(
        folder.read_asset("words.json"), folder.asset("words.json").string()));
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
  if (!dynamic_cast<const LabelledDataset&>(rows).has_truth()) return metrics;
  const auto add_truth = [&](const char* map, const char* name) {
    if (const auto share = planted_truth(model, rows, map)) metrics.push_back({name, *share, true});
  };
  if (is_bert()) {
    add_truth("attention", "attention_truth");
  } else {
    add_truth("sentences", "attention_truth_sentences");
    add_truth("words", "attention_truth_words");
  }
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
  const LabelledDocument document{std::move(input.text), input.second.value_or("")};
  if (is_bert())
    return DocumentEncoder{coding_.tokeniser, data_.packing, coding_.pairs}.example(document);
  return HierarchicalEncoder{coding_.words, data_.sentences}.example(document);
}

InputColumns DocumentsTask::input_columns(const Roles& roles) const {
  const auto name = [&](const char* role) { return single_role(roles, role, role); };
  InputColumns columns{{name("text")}, {name("second"), name("label"), name("split")}, {"text"}};
  if (coding_.pairs) columns.needed.push_back(name("second")), columns.keys.push_back("second");
  columns.quotes = data_.quotes;
  columns.texts = true;
  return columns;
}

Json DocumentsTask::input_schema() const {
  if (!coding_.pairs) return {{"type", "string"}};
  return {{"type", "object"},
          {"properties", {{"text", {{"type", "string"}}}, {"second", {{"type", "string"}}}}},
          {"required", {"text", "second"}}};
}

Batch DocumentsTask::collate(std::span<const Example> examples) const {
  return is_bert() ? collate_tokens(examples, coding_.tokeniser->special().padding)
                   : collate_documents(examples);
}

Json DocumentsTask::answer(const Example& example, const Prediction& prediction) const {
  const auto best = static_cast<size_t>(prediction.scores.argmax().item<int64_t>());
  Json scores = Json::object();
  for (size_t c = 0; c < coding_.classes.size(); ++c)
    scores[coding_.classes[c]] = prediction.scores[int64_t(c)].item<double>();
  return {{"class", coding_.classes[best]},
          {"probability", scores[coding_.classes[best]]},
          {"scores", scores}};
}

std::string DocumentsTask::answer_line(const Example& example, const Prediction& prediction) const {
  const Json json = answer(example, prediction);
  return concat(json["class"].get<std::string>(), "\t", format_number(json["probability"], 6));
}

Example DocumentsTask::describe_output(const Example& example, const Prediction& prediction) const {
  Example described = example;
  for (Axis& axis : described.axes)
    if (axis.name == "document") {
      axis.labels = {answer(example, prediction)["class"].get<std::string>()};
      axis.output = true;
    }
  return described;
}

ExplainOptions DocumentsTask::explain_options() const {
  ExplainOptions options;
  options.task = "documents";
  options.title = is_bert() ? "Where BERT looks while it reads a text"
                            : "Which sentences decided, and which words in them";
  options.map_titles = {{"attention", "tokens look at tokens"},
                        {"sentences", "sentences of the document"},
                        {"words", "words of each sentence"}};
  options.describe = [this](const Example& example, const Prediction& prediction) {
    const Json json = answer(example, prediction);
    return concat(json["class"].get<std::string>(), " (", format_number(json["probability"], 3),
                  ")");
  };
  return options;
}

Example DocumentsTask::erase(const Example& example, const std::string& axis,
                             std::span<const int64_t> units) const {
  if (!is_bert()) return erase_words(example, axis, units);
  if (axis != "tokens") return Task::erase(example, axis, units);
  return erase_tokens(example, *coding_.tokeniser, units);
}

std::vector<Json> DocumentsTask::example_inputs(const Dataset& rows, int64_t count) const {
  const auto& documents = dynamic_cast<const LabelledDataset&>(rows);
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
