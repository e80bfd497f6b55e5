// The task `documents`: which class a text, or a pair of texts, belongs to, which labels it has, or
// which number belongs to it. words reads a bag of
// words and bigrams, and says what each word adds; hierarchical attention (han) reads sentences of
// words, and shows which of both decided; BERT reads pieces of words.
#include <map>
#include <optional>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/data/documents/load.h"
#include "fovea/data/tokenisers/word_vectors.h"
#include "fovea/models/bert_classifier.h"
#include "fovea/models/hierarchical.h"
#include "fovea/models/words.h"
#include "fovea/tasks/asset.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/outputs/by_kind.h"
#include "fovea/tasks/pretrained.h"
#include "fovea/tasks/rows.h"
#include "fovea/tasks/symbols.h"
#include "fovea/tasks/text_input.h"
#include "fovea/tensor/to_vector.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

/// Texts with a class, labels or a number, whatever a model reads them as.
class DocumentsData : public CodedData<DocumentsDataOptions, DocumentCoding> {
 public:
  explicit DocumentsData(TextsAs as) : CodedData("documents.json"), as_(as) {}
  AnswerKind kind() const { return coding_.target.kind; }

  void describe(OptionList& list) override { options_.describe(list, as_); }
  Splits load(const DataSource& source, uint64_t seed) override {
    return load_documents(source, options_, as_, coding_, seed);
  }
  void write(const std::filesystem::path& folder) const override {
    write_documents_data(folder, options_, as_);
  }

  /// A text, or {"text": …, "second": …}; of pairs also both with a tab between them.
  Example parse(const std::string& line) const override {
    TextInput input = read_text_input(line);
    const size_t tab = input.text.find('\t');
    if (coding_.pairs && !input.second && !is_json_object(line) && tab != std::string::npos)
      input = {input.text.substr(0, tab), input.text.substr(tab + 1)};
    require(!coding_.pairs || input.second, ErrorKind::BadData,
            "input: this run compares two texts; expected both with a tab between them, or "
            "{\"text\": …, \"second\": …}");
    return encode({std::move(input.text), input.second.value_or("")});
  }
  bool takes_plain_text() const override { return true; }
  InputColumns input_columns(const Roles& roles) const override {
    const auto name = [&](const char* role) {
      return single_role(roles, role, single_role(coding_.columns, role, role));
    };
    InputColumns columns{
        {name("text")}, {name("second"), name("split"), "label", "labels"}, {"text"}};
    if (const auto label = coding_.columns.find("label"); label != coding_.columns.end())
      columns.known.push_back(label->second[0]);
    for (const char* role : {"label", "target"})
      if (const auto found = roles.find(role); found != roles.end())
        for (const std::string& own : found->second) {
          columns.known.push_back(own);
          for (const std::string& part : split(own, ',')) columns.known.emplace_back(trim(part));
        }
    columns.truth = name("label");
    if (coding_.pairs) columns.needed.push_back(name("second")), columns.keys.push_back("second");
    columns.quotes = options_.quotes;
    columns.texts = true;
    known_keys_ = columns.known;
    for (const char* key : {"text", "second"}) known_keys_.push_back(key);
    return columns;
  }
  std::vector<std::string> input_notes(const Example& example) const override {
    const std::string unknown = unknown_names_note(example.given, known_keys_);
    return unknown.empty() ? std::vector<std::string>() : std::vector{unknown};
  }
  Json input_schema() const override {
    if (!coding_.pairs) return {{"type", "string"}};
    const Json text{{"type", "string"}, {"contentMediaType", "text/plain"}};
    return {{"type", "object"},
            {"properties", {{"text", text}, {"second", text}}},
            {"required", {"text", "second"}}};
  }

 protected:
  virtual Example encode(const LabelledDocument& document) const = 0;

 private:
  mutable std::vector<std::string> known_keys_;  // of a JSON input, as input_columns() found them
  TextsAs as_;
};

/// As BERT reads them.
class PieceDocuments : public PieceData<DocumentsData> {
 public:
  explicit PieceDocuments(std::shared_ptr<const PretrainedBert> pretrained)
      : PieceData(std::move(pretrained), TextsAs::Pieces) {}

  /// Answers with the classifier that was read, of one text or of two.
  void open(const PretrainedBert& classifier) {
    coding_.target.kind = kind_of(classifier);
    coding_.tokeniser = classifier.tokeniser;
    if (kind() != AnswerKind::Number)
      coding_.classes = classifier.labels;
    else if (classifier.labels[0] != "LABEL_0")
      coding_.target.name = classifier.labels[0];
    coding_.any_pairs = true;
    options_.packing.longest =
        std::min(options_.packing.longest, classifier.options.maximum_length);
  }
  LinearInputs linear_inputs(const Dataset& rows) const override {
    return count_tokens(rows, "tokens", coding_.tokeniser->size());
  }
  Batch collate(std::span<const Example> examples) const override {
    return collate_tokens(examples, coding_.tokeniser->special().padding);
  }

 protected:
  Example encode(const LabelledDocument& document) const override {
    const bool pair = coding_.pairs || (coding_.any_pairs && !document.second.empty());
    return DocumentEncoder{coding_.tokeniser, options_.packing, pair}.example(document);
  }

 private:
  /// As transformers reads problem_type: without one, one label is a number.
  static AnswerKind kind_of(const PretrainedBert& classifier) {
    const size_t labels = classifier.labels.size();
    const std::string& problem = classifier.problem;
    if (labels == 1 && (problem.empty() || problem == "regression")) return AnswerKind::Number;
    if (labels > 1 && problem == "multi_label_classification") return AnswerKind::Labels;
    require(labels > 1 && (problem.empty() || problem == "single_label_classification"),
            ErrorKind::Unsupported, "config.json: this classifier has ", labels,
            " labels and the problem_type '", shorten_bytes(problem, 64),
            "'; read are those that give one of several classes, any of several labels "
            "(multi_label_classification), or one number (regression)");
    return AnswerKind::Class;
  }
};

/// As words of a vocabulary, which the run keeps.
class WordDocuments : public DocumentsData {
 public:
  using DocumentsData::DocumentsData;
  std::vector<SymbolTable> symbols() const override {
    return {symbols_of("words", *coding_.words)};
  }
  void save(const RunFolder& folder) const override {
    DocumentsData::save(folder);
    folder.write_asset("words.json", coding_.words->to_json());
  }
  void restore(const RunFolder& folder) override {
    DocumentsData::restore(folder);
    coding_.words =
        std::make_shared<const Vocabulary>(read_asset_as<Vocabulary>(folder, "words.json"));
  }
};

/// As hierarchical attention reads them, perhaps with word vectors to begin with.
class SentenceDocuments : public WordDocuments {
 public:
  explicit SentenceDocuments(std::shared_ptr<HierarchicalOptions> model)
      : WordDocuments(TextsAs::Sentences), model_(std::move(model)) {}
  const std::optional<WordVectors>& vectors() const { return vectors_; }

  Splits load(const DataSource& source, uint64_t seed) override {
    const bool is_first = !coding_.fitted();
    Splits splits = DocumentsData::load(source, seed);
    if (is_first && !options_.sentences.vectors.empty())
      vectors_ =
          read_first_vectors(options_.sentences.vectors, *coding_.words,
                             {model_->embedding, HierarchicalOptions().embedding}, splits.notes);
    return splits;
  }
  LinearInputs linear_inputs(const Dataset& rows) const override {
    return count_tokens(rows, "words", coding_.words->size());
  }
  Batch collate(std::span<const Example> examples) const override {
    return collate_documents(examples);
  }
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    return erase_words(example, axis, units);
  }

 protected:
  Example encode(const LabelledDocument& document) const override {
    return HierarchicalEncoder{coding_.words, options_.sentences}.example(document);
  }

 private:
  std::shared_ptr<HierarchicalOptions> model_;
  std::optional<WordVectors> vectors_;
};

/// How often each of `units` words and bigrams stands in each row.
LinearInputs count_units(const Dataset& rows, int64_t units) {
  LinearInputs inputs;
  inputs.width = units;
  for (int64_t row = 0; row < rows.size(); ++row) {
    const Batch batch = rows.batch(std::span(&row, 1));
    const at::Tensor &all = batch.at("units"), &shares = batch.at("shares");  // [1, W, 2]
    std::map<int64_t, float> counts;
    for (int64_t i = 0; i < all.numel(); ++i)
      if (shares.data_ptr<float>()[i] > 0) ++counts[all.data_ptr<int64_t>()[i]];
    inputs.add_row({counts.begin(), counts.end()});
  }
  return inputs;
}

/// The different units of each row, with the value 1, and its class, labels or number.
SparseClasses different_units(const Dataset& rows, LinearInputs counts, AnswerKind kind) {
  SparseClasses all;
  all.offsets = std::move(counts.offsets);
  all.columns = std::move(counts.features);
  all.values.assign(all.columns.size(), 1);
  const at::Tensor targets = targets_of(rows);
  if (kind == AnswerKind::Class)
    all.classes = to_vector<int64_t>(targets.to(at::kLong));
  else
    all.targets = targets.to(at::kFloat).view({rows.size(), -1});  // [N, C]
  return all;
}

/// As a bag of words and bigrams.
class BagDocuments : public WordDocuments {
 public:
  BagDocuments() : WordDocuments(TextsAs::Bag) {}

  Splits load(const DataSource& source, uint64_t seed) override {
    const bool is_first = !coding_.fitted();
    Splits splits = DocumentsData::load(source, seed);
    if (is_first) train_ = splits.train, validation_ = splits.validation;
    return splits;
  }
  /// What the training rows count decides the first weights.
  void fit(Words& model) {
    if (!train_) return;
    counts_ = count(*train_);
    model.fit(
        different_units(*train_, *counts_, kind()),
        validation_ ? different_units(*validation_, count(*validation_), kind()) : SparseClasses());
    counted_ = std::exchange(train_, nullptr);
    validation_ = nullptr;
  }
  WordsShape shape() const {
    WordsShape shape{coding_.words->size(), coding_.outputs(), coding_.class_counts, {}};
    shape.kind = kind();
    shape.rows = coding_.target.rows;
    for (int64_t unit = 0; unit < shape.units; ++unit)
      shape.is_bigram.push_back(!Vocabulary::is_special(unit) &&
                                coding_.words->token(unit).find(' ') != std::string::npos);
    return shape;
  }
  LinearInputs linear_inputs(const Dataset& rows) const override {
    if (!counts_ || &rows != counted_.get()) return count(rows);
    counted_ = nullptr;
    return *std::exchange(counts_, std::nullopt);
  }
  Batch collate(std::span<const Example> examples) const override { return collate_bags(examples); }
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    if (axis != "words") return DataKind::erase(example, axis, units);
    return erase_bag_words(example, units);
  }

 protected:
  Example encode(const LabelledDocument& document) const override {
    return BagEncoder{coding_.words, options_.bag}.example(document);
  }

 private:
  LinearInputs count(const Dataset& rows) const { return count_units(rows, coding_.words->size()); }

  std::shared_ptr<const Dataset> train_, validation_;  // until fit()
  // The training rows, which fit() counted and the baselines ask for right after it, once.
  mutable std::optional<LinearInputs> counts_;
  mutable std::shared_ptr<const Dataset> counted_;
};

KindOutput::Known answers_of(const std::shared_ptr<const DocumentsData>& data) {
  const auto classes = [data]() -> const std::vector<std::string>& {
    return data->coding().classes;
  };
  const auto target = [data] {
    const DocumentTarget& own = data->coding().target;
    return NumberOutput::Target{own.name, own.mean, own.deviation};
  };
  return {[data] { return data->kind(); }, classes, target};
}

/// The document that looks at its words or sentences is called by its class, labels or number.
class WholeDocumentOutput : public KindOutput {
 public:
  WholeDocumentOutput(const std::shared_ptr<const DocumentsData>& data,
                      std::vector<AttentionTruth> truths)
      : KindOutput(answers_of(data), std::move(truths)), data_(data) {}
  Example describe_output(const Example& example, const Prediction& prediction) const override {
    Example described = example;
    for (Axis& axis : described.axes)
      if (axis.name == "document") {
        axis.labels = {name_of_answer(example, prediction)};
        axis.output = true;
      }
    return described;
  }

 private:
  std::string name_of_answer(const Example& example, const Prediction& prediction) const {
    const Json json = answer(example, prediction);
    if (data_->kind() == AnswerKind::Class) return json["class"];
    if (data_->kind() == AnswerKind::Number) return format_number(json["value"], 4);
    return json["labels"].empty() ? "no label"
                                  : join(json["labels"].get<std::vector<std::string>>());
  }

  std::shared_ptr<const DocumentsData> data_;
};

TrainingOptions classifier_training() {
  TrainingOptions options = bert_training();
  options.epochs = 12;
  options.monitor = {"accuracy"};
  options.usual_steps = 1500;
  return options;
}

ModelSpec bert_classifier_spec() {
  const auto pretrained = std::make_shared<PretrainedBert>();
  const auto data = std::make_shared<PieceDocuments>(pretrained);
  const auto options = std::make_shared<BertClassifierOptions>();
  ModelSpec spec = model_spec(
      {"bert"}, options, classifier_training(),
      [data](const BertClassifierOptions& own) {
        return std::make_unique<BertClassifier>(
            own, DocumentShape{.vocabulary = data->coding().tokeniser->size(),
                               .classes = data->coding().outputs(),
                               .window = data->options().packing.longest,
                               .class_counts = data->coding().class_counts,
                               .kind = data->kind(),
                               .rows = data->coding().target.rows});
      },
      [] {
        return ExplainTitles{"Where BERT looks while it reads a text",
                             {{"attention", "tokens look at tokens"}}};
      });
  spec.data = data;
  spec.output =
      std::make_shared<KindOutput>(answers_of(data), std::vector<AttentionTruth>{{"attention"}});
  spec.fine_tuning = [] {  // as Devlin et al. 2019
    TrainingOptions training = classifier_training();
    training.epochs = 3;
    training.learning_rate = 5e-5;
    training.usual_steps = 1200;
    training.fewest_epochs = 3;
    training.most_epochs = 20;
    return training;
  };
  accept_pretrained(spec, options, data, pretrained);
  return spec;
}

ModelSpec han_spec() {
  const auto options = std::make_shared<HierarchicalOptions>();
  const auto data = std::make_shared<SentenceDocuments>(options);
  TrainingOptions training = classifier_training();
  training.epochs = 10;
  training.batch_size = 64;
  training.optimiser = "adam";
  training.learning_rate = 2e-3;
  training.weight_decay = 0;
  training.schedule = "cosine";
  training.warmup_steps = 50;
  training.monitor = {"loss"};
  training.usual_steps = 1000;
  ModelSpec spec = model_spec(
      {"han"}, options, training,
      [data](const HierarchicalOptions& own) {
        const HierarchicalDataOptions& limits = data->options().sentences;
        return std::make_unique<HierarchicalAttention>(
            own, HierarchicalShape{.words = data->coding().words->size(),
                                   .classes = data->coding().outputs(),
                                   .longest_sentence = limits.maximum_words,
                                   .longest_document = limits.maximum_sentences,
                                   .class_counts = data->coding().class_counts,
                                   .kind = data->kind(),
                                   .rows = data->coding().target.rows});
      },
      [] {
        return ExplainTitles{
            "Which sentences decided, and which words in them",
            {{"sentences", "sentences of the document"}, {"words", "words of each sentence"}}};
      });
  spec.data = data;
  spec.output = std::make_shared<WholeDocumentOutput>(
      data, std::vector<AttentionTruth>{{"sentences", "attention_truth_sentences"},
                                        {"words", "attention_truth_words"}});
  spec.load_pretrained = [](const std::filesystem::path&) {
    fail(ErrorKind::InvalidArgument,
         "--from: model.name=han takes no other run; data.vectors=FILE gives it word vectors");
  };
  spec.copy_pretrained = of_network<HierarchicalAttention>([data](HierarchicalAttention& network) {
    if (const auto& vectors = data->vectors())
      network.take_vectors(vectors->vectors, vectors->known);
  });
  return spec;
}

ModelSpec words_spec() {
  const auto data = std::make_shared<BagDocuments>();
  TrainingOptions training = classifier_training();  // goes on from Words::fit()
  training.epochs = 3;
  training.batch_size = 64;
  training.optimiser = "adam";
  training.learning_rate = 2e-3;
  training.weight_decay = 0;
  training.warmup_steps = 0;
  training.clip_norm = 0;
  training.monitor = {"loss"};
  ModelSpec spec = model_spec(
      {"words"}, std::make_shared<WordsOptions>(), training,
      [data](const WordsOptions& own) { return std::make_unique<Words>(own, data->shape()); },
      [] {
        return ExplainTitles{
            "Which words decided",
            {{"words", "words of the document"}, {"contributions", "what each word adds"}}};
      });
  spec.training = training;  // few epochs at any size: it goes on from fit()
  spec.configs["tutorial"] = bert_classifier_spec().configs["tutorial"];
  spec.configs["tutorial"]["model"]["name"] = "bert";
  spec.data = data;
  spec.output = std::make_shared<WholeDocumentOutput>(data, std::vector<AttentionTruth>{{"words"}});
  spec.load_pretrained = [](const std::filesystem::path&) {
    fail(ErrorKind::InvalidArgument,
         "--from: model.name=words starts from nothing; add --set model.name=bert");
  };
  spec.copy_pretrained = of_network<Words>([data](Words& words) { data->fit(words); });
  return spec;
}

}  // namespace

static std::unique_ptr<Task> make_documents_task() {
  const ModelSpec words = words_spec();
  return std::make_unique<Task>("documents", words.data, words.output,
                                std::vector{words, han_spec(), bert_classifier_spec()});
}

TaskRow documents_task() {
  return {"documents", "which class, labels or number a text, or a pair of texts, has",
          "token -> token, document -> sentence -> word, or document -> word",
          "CSV, TSV or JSONL with a text, perhaps a second one, and a label; a folder of such",
          make_documents_task};
}

}  // namespace fovea
