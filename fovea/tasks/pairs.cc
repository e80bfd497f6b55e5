// The tasks on pairs of texts, which differ in their synthetic data and their defaults: `dates`, a
// date as people write it becomes yyyy-mm-dd, and `translate`, a sentence becomes a sentence in
// another language.
#include "fovea/tasks/outputs/pairs.h"
#include "fovea/base/error.h"
#include "fovea/data/erase.h"
#include "fovea/data/formats/json_rows.h"
#include "fovea/data/pairs/load.h"
#include "fovea/data/pairs/prepared.h"
#include "fovea/data/pairs/reader.h"
#include "fovea/data/pairs/synthetic_dates.h"
#include "fovea/data/pairs/synthetic_phrases.h"
#include "fovea/models/seq2seq.h"
#include "fovea/models/t5.h"
#include "fovea/models/transformer.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/rows.h"
#include "fovea/tasks/symbols.h"
#include "fovea/tasks/t5_folder.h"
#include "fovea/training/checkpoint.h"

namespace fovea {

namespace {

/// What draws the synthetic pairs of a task.
struct PairsGenerator {
  std::function<void(OptionList&)> describe;
  std::function<SplitRows<TextPair>()> draw;
  std::function<Json()> options;
};

template <class Options, class Drawn>
PairsGenerator pairs_generator(Drawn (*draw)(const Options&)) {
  const auto options = std::make_shared<Options>();
  return {[options](OptionList& list) { options->describe(list); },
          [options, draw]() -> SplitRows<TextPair> { return draw(*options); },
          [options] { return options_json(*options); }};
}

class PairsData : public DataKind {
 public:
  PairsData(PairsOptions options, PairsGenerator generator)
      : options_(std::move(options)), generator_(std::move(generator)) {}
  const PairTokenisers& tokenisers() const { return tokenisers_; }
  /// Those of weights from elsewhere. `needs_data`: built-in pairs are none for them.
  void take(const PairTokenisers& tokenisers, bool needs_data) {
    tokenisers_ = tokenisers;
    needs_data_ = needs_data;
  }

  void describe(OptionList& list) override {
    generator_.describe(list);
    options_.describe(list);
  }
  Splits load(const DataSource& source, uint64_t seed) override {
    if (!source.path.empty()) return load_pairs(source, options_, tokenisers_, seed);
    require(!needs_data_, ErrorKind::InvalidArgument,
            "a Hugging Face folder has no data of its own; name it: fovea evaluate FOLDER DATA");
    check_roles(source, {});
    return load_synthetic_pairs(generator_.draw(), generator_.options(), options_, tokenisers_);
  }
  void prepare(const DataSource& source, uint64_t seed,
               const std::filesystem::path& path) override {
    const Splits splits = load(source, seed);
    write_prepared(path, splits, tokenisers_, options_.task, options_json(options_));
  }
  void write(const std::filesystem::path& folder) const override {
    write_pairs(folder, generator_.draw(), options_.task, generator_.options());
  }
  std::vector<SymbolTable> symbols() const override {
    return {symbols_of("source", tokenisers_.source->vocabulary()),
            symbols_of("target", tokenisers_.target->vocabulary())};
  }
  void save(const RunFolder& folder) const override { save_tokenisers(folder, tokenisers_); }
  void restore(const RunFolder& folder) override { tokenisers_ = load_tokenisers(folder); }

  Example parse(const std::string& line) const override {
    std::string text = line;
    if (is_json_object(line)) {
      const Json json = parse_json(line, "input");
      if (!json.contains("source") || !json["source"].is_string())
        fail(ErrorKind::BadData, "input: expected {\"source\": \"a text\"}; found the keys ",
             quoted_list(keys_of(json)));
      text = json["source"].get<std::string>();
    }
    return encode_source(*tokenisers_.source, text);
  }
  std::vector<std::string> input_notes(const Example& example) const override {
    const std::string unknown = unknown_names_note(example.given, known_keys_);
    return unknown.empty() ? std::vector<std::string>() : std::vector{unknown};
  }
  LinearInputs linear_inputs(const Dataset& rows) const override {
    return count_tokens(rows, "source", tokenisers_.source->vocabulary().size());
  }
  Json input_schema() const override { return {{"type", "string"}}; }
  bool takes_plain_text() const override { return true; }
  InputColumns input_columns(const Roles& roles) const override {
    // The columns of such files have no names of their own.
    int64_t number = 0;
    if (options_.swap || parse_integer(single_role(roles, "source", ""), number)) return {};
    Direction names{"source", "target"};
    if (!options_.direction.empty()) names = parse_direction(options_.direction);
    InputColumns columns{{single_role(roles, "source", names.source)}, {names.target}, {"source"}};
    if (const auto targets = roles.find("target"); targets != roles.end())
      columns.known = targets->second;
    for (const char* role : {"links", "split"})
      columns.known.push_back(single_role(roles, role, role));
    columns.quotes = "no";
    columns.texts = true;
    columns.truth = columns.known.front();
    known_keys_ = columns.known;
    known_keys_.push_back(columns.keys.front());
    return columns;
  }
  Batch collate(std::span<const Example> examples) const override {
    return collate_sources(examples);
  }
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    if (axis != "source") return DataKind::erase(example, axis, units);
    return erase_symbols(example, "source", units,
                         tokenisers_.source->vocabulary().special().unknown);
  }

 private:
  PairsOptions options_;
  PairsGenerator generator_;
  PairTokenisers tokenisers_;
  bool needs_data_ = false;
  mutable std::vector<std::string> known_keys_;  // of a JSON input, as input_columns() found them
};

SequenceShape pairs_shape(const PairTokenisers& tokenisers) {
  SequenceShape shape;
  shape.source_symbols = tokenisers.source->vocabulary().size();
  shape.target_symbols = tokenisers.target->vocabulary().size();
  shape.shared_vocabulary = tokenisers.source == tokenisers.target;
  const Vocabulary::Special& special = tokenisers.target->vocabulary().special();
  shape.padding = special.padding;
  shape.begin = special.begin;
  shape.end = special.end;
  return shape;
}

/// What the tasks differ in.
struct PairsDefaults {
  PairsOptions pairs;
  Seq2SeqOptions seq2seq;
  TransformerOptions transformer;
  T5Options t5;
  TrainingOptions training, transformer_training;
  Json tutorial = Json::object();  // of seq2seq: what its tutorial sets besides
  bool is_translation = false;
};

/// "Where each output character looked".
std::string looks_of_output(const Tokeniser* target) {
  const std::string kind = target ? target->kind() : "";
  const char* unit = kind == "characters" ? "character" : kind == "words" ? "word" : "token";
  return concat("Where each output ", unit, " looked");
}

ExplainTitles transformer_titles(const std::string& title, const Tokeniser* target) {
  return {title,
          {{"attention", looks_of_output(target)},
           {"encoder", "How the source looked at itself"},
           {"decoder", "How the output looked at what was written"}}};
}

/// From fresh weights, a run, or a Hugging Face folder.
ModelSpec t5_spec(const PairsDefaults& defaults, std::shared_ptr<PairsData> data,
                  std::shared_ptr<PairsDecoding> decoding, const std::string& title) {
  const auto options = std::make_shared<T5Options>(defaults.t5);
  const auto pretrained = std::make_shared<PretrainedT5>();
  ModelSpec spec = model_spec(
      {"t5"}, options, defaults.transformer_training,
      [data, decoding](const T5Options& own) {
        return std::make_unique<T5>(own, *decoding, pairs_shape(data->tokenisers()));
      },
      [title, data] { return transformer_titles(title, data->tokenisers().target.get()); });
  spec.fine_tuning = [training = defaults.transformer_training]() mutable {
    training.epochs = 3;
    training.batch_size = 16;
    training.optimiser = "adamw";
    training.learning_rate = 3e-4;
    training.warmup_steps = 50;
    training.usual_steps = 500;
    return training;
  };
  const auto read = [=, usual = defaults.t5](const std::filesystem::path& path, bool needs_data) {
    *pretrained = read_t5(path);
    take_sizes(*options, usual, *pretrained);
    data->take(pretrained->tokenisers, needs_data);
  };
  spec.load_pretrained = [read](const std::filesystem::path& path) { read(path, false); };
  spec.open_pretrained = [read](const std::filesystem::path& path) {
    read(path, true);
    return std::vector<std::string>();
  };
  spec.copy_pretrained = [pretrained](Model& model) {
    if (!pretrained->weights.empty()) load_state(model, pretrained->weights, pretrained->where);
  };
  spec.write_hugging_face = [](const std::filesystem::path& run,
                               const std::filesystem::path& folder) {
    write_t5(folder, read_t5(run));
    return std::vector<std::string>();
  };
  return spec;
}

std::unique_ptr<Task> make_pairs_task(const PairsDefaults& defaults, PairsGenerator generator) {
  const auto data = std::make_shared<PairsData>(defaults.pairs, std::move(generator));
  const auto decoding = std::make_shared<PairsDecoding>();
  const auto seq2seq = std::make_shared<Seq2SeqOptions>(defaults.seq2seq);
  const auto transformer = std::make_shared<TransformerOptions>(defaults.transformer);
  const std::string title = "Where the decoder looks while it writes";
  std::vector<ModelSpec> specs;
  specs.push_back(model_spec(
      {"seq2seq"}, seq2seq, defaults.training,
      [data, decoding](const Seq2SeqOptions& own) {
        return std::make_unique<Seq2Seq>(own, *decoding, pairs_shape(data->tokenisers()));
      },
      [title, data] {
        return ExplainTitles{title,
                             {{"attention", looks_of_output(data->tokenisers().target.get())}}};
      }));
  specs.push_back(model_spec(
      {"transformer"}, transformer, defaults.transformer_training,
      [data, decoding](const TransformerOptions& own) {
        return std::make_unique<Transformer>(own, *decoding, pairs_shape(data->tokenisers()));
      },
      [title, data] { return transformer_titles(title, data->tokenisers().target.get()); }));
  specs.push_back(t5_spec(defaults, data, decoding, title));
  const PairsOutput::Data texts{
      [data]() -> const Tokeniser& { return *data->tokenisers().target; },
      [data](std::span<const Example> examples) { return data->collate(examples); }};
  const auto with_written =
      std::make_shared<TransformerPairsOutput>(texts, decoding, defaults.is_translation);
  for (size_t i = 1; i < specs.size(); ++i) specs[i].output = with_written;
  for (ModelSpec& spec : specs) spec.configs["tutorial"]["data"] = {{"pairs_per_piece", 0}};
  specs[0].configs["tutorial"].merge_patch(defaults.tutorial);
  return std::make_unique<Task>(
      defaults.pairs.task, data,
      std::make_shared<PairsOutput>(texts, decoding, defaults.is_translation), std::move(specs));
}

}  // namespace

static std::unique_ptr<Task> make_dates_task() {
  PairsDefaults defaults;
  defaults.pairs.task = "dates";
  defaults.pairs.tokens = "characters";
  defaults.seq2seq.hidden = 128;
  defaults.seq2seq.embedding = 32;
  defaults.seq2seq.score.name = "general";
  TransformerOptions& transformer = defaults.transformer;
  transformer.hidden = 128;
  transformer.layers = 2;
  transformer.heads = 4;
  transformer.feed_forward = 256;
  transformer.dropout = transformer.attention_dropout = 0;
  transformer.label_smoothing = 0;
  T5Options& t5 = defaults.t5;
  t5.hidden = transformer.hidden;
  t5.layers = transformer.layers;
  t5.heads = transformer.heads;
  t5.feed_forward = transformer.feed_forward;
  t5.dropout = 0;
  TrainingOptions& training = defaults.training = sequence_training();
  training.epochs = 4;
  training.batch_size = 64;
  training.pool_batches = 20;
  training.learning_rate = 5e-3;
  training.warmup_steps = 100;
  training.usual_steps = 2500;
  defaults.transformer_training = training;
  defaults.transformer_training.epochs = 6;
  defaults.transformer_training.learning_rate = 2e-3;
  return make_pairs_task(defaults, pairs_generator(draw_dates));
}

static std::unique_ptr<Task> make_translate_task() {
  PairsDefaults defaults;
  defaults.is_translation = true;
  defaults.pairs.task = "translate";
  defaults.pairs.tokens = "unigram";
  defaults.pairs.vocabulary_size = 8000;
  defaults.pairs.pairs_per_piece = 4;
  defaults.pairs.maximum_length = 100;
  defaults.seq2seq.hidden = 256;
  defaults.seq2seq.embedding = 128;
  // A few thousand pairs are soon known by heart.
  defaults.seq2seq.dropout = 0.3;
  defaults.seq2seq.tie_embeddings = true;
  defaults.seq2seq.label_smoothing = 0.1;
  defaults.seq2seq.score.name = "general";
  defaults.tutorial = {
      {"model", {{"dropout", 0.2}, {"tie_embeddings", false}, {"label_smoothing", 0.0}}},
      {"training", {{"learning_rate", 1e-3}}}};
  TrainingOptions& training = defaults.training = sequence_training();
  training.epochs = 10;
  training.batch_size = 64;
  training.pool_batches = 50;
  training.learning_rate = 1e-3;
  training.warmup_steps = 200;
  training.monitor = {"bleu"};
  training.usual_steps = 4000;
  training.most_epochs = 100;
  training.evaluate_rows = 500;  // each of them is written by the decoder
  defaults.transformer_training = training;
  training.learning_rate = 2e-3;
  defaults.transformer_training.warmup_steps = 1000;
  defaults.transformer_training.beta2 = 0.98;
  defaults.transformer_training.epsilon = 1e-9;
  return make_pairs_task(defaults, pairs_generator(draw_phrases));
}

TaskRow dates_task() {
  return {"dates", "a date as people write it becomes yyyy-mm-dd",
          "output character -> source character", "TSV with two columns: text, date",
          make_dates_task};
}

TaskRow translate_task() {
  return {"translate", "a sentence becomes a sentence in another language",
          "output token -> source token",
          "TSV with two or more columns: source, target, further references; two parallel text "
          "files; a "
          "folder of either",
          make_translate_task};
}

}  // namespace fovea
