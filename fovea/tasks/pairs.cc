// The tasks on pairs of texts, which differ in their synthetic data and their defaults: `dates`, a
// date as people write it becomes yyyy-mm-dd, and `translate`, a sentence becomes a sentence in
// another language.
#include <algorithm>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/data/erase.h"
#include "fovea/data/pairs/load.h"
#include "fovea/data/pairs/prepared.h"
#include "fovea/data/pairs/reader.h"
#include "fovea/data/pairs/synthetic_dates.h"
#include "fovea/data/pairs/synthetic_phrases.h"
#include "fovea/decoding/search.h"
#include "fovea/metrics/alignment_error.h"
#include "fovea/metrics/attention_truth.h"
#include "fovea/metrics/sequences.h"
#include "fovea/models/seq2seq.h"
#include "fovea/models/t5.h"
#include "fovea/models/transformer.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/length_buckets.h"
#include "fovea/tasks/outputs/nearest_sentence.h"
#include "fovea/tasks/outputs/sequence.h"
#include "fovea/tasks/t5_folder.h"
#include "fovea/tensor/torch.h"
#include "fovea/training/checkpoint.h"

namespace fovea {

namespace {

constexpr int64_t kPairsTogether = 64;  // of a batch that is measured
constexpr int64_t kRowsOfTruth = 1000;  // attention is held against planted truth on about so many
constexpr size_t kCopiedTogether = 32;  // outputs whose attention is looked at
constexpr const char* kWordStart = "\u2581";  // marks the beginning of a word

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
  void save(const RunFolder& folder) const override { save_tokenisers(folder, tokenisers_); }
  void restore(const RunFolder& folder) override { tokenisers_ = load_tokenisers(folder); }

  Example parse(const std::string& line) const override {
    std::string text = line;
    if (is_json_object(line)) {
      const Json json = parse_json(line, "input");
      require(json.contains("source") && json["source"].is_string(), ErrorKind::BadData,
              "input: expected {\"source\": \"a text\"}");
      text = json["source"].get<std::string>();
    }
    return encode_source(*tokenisers_.source, text);
  }
  LinearInputs linear_inputs(const Dataset& rows) const override {
    return count_tokens(rows, "source", tokenisers_.source->vocabulary().size());
  }
  Json input_schema() const override { return {{"type", "string"}}; }
  bool takes_plain_text() const override { return true; }
  InputColumns input_columns(const Roles& roles) const override {
    if (options_.swap) return {};  // the columns of such files have no names of their own
    Direction names{"source", "target"};
    if (!options_.direction.empty()) names = parse_direction(options_.direction);
    InputColumns columns{{single_role(roles, "source", names.source)}, {names.target}, {"source"}};
    if (const auto targets = roles.find("target"); targets != roles.end())
      columns.known = targets->second;
    for (const char* role : {"links", "split"})
      columns.known.push_back(single_role(roles, role, role));
    columns.quotes = "no";
    columns.texts = true;
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
};

struct PairsDecoding : SearchOptions {
  bool copy_unknown = true;
  void describe(OptionList& list) {
    SearchOptions::describe(list);
    list.add("copy_unknown", copy_unknown,
             "a word that the vocabulary lacks is copied from where the decoder looked");
  }
};

/// The target text, measured as a translation (BLEU, chrF) or by exact matches.
class PairsOutput : public SequenceOutput {
 public:
  PairsOutput(std::shared_ptr<const PairsData> data, std::shared_ptr<PairsDecoding> decoding,
              bool is_translation)
      : SequenceOutput([data]() -> const Tokeniser& { return *data->tokenisers().target; },
                       "target"),
        data_(data),
        decoding_(decoding),
        is_translation_(is_translation) {}

  void describe(OptionList& list) override { list.group("decoding", *decoding_); }

  Metrics measure(const Model& model, const Dataset& rows,
                  const RowProgress& progress) const override {
    const GeneratedRows all = generate(model, rows, progress);
    std::vector<Symbols> outputs, targets;  // characters
    for (size_t i = 0; i < all.outputs.size(); ++i) {
      outputs.push_back(code_points(all.outputs[i]));
      targets.push_back(code_points(all.references[i][0]));
    }
    Metrics metrics{
        {"loss", all.loss()},
        {"perplexity", perplexity(all.nats, all.tokens)},
        {"exact_match", exact_match(outputs, targets), true},
        {"token_accuracy", position_accuracy(all.output_tokens, all.target_tokens), true},
        {"character_accuracy", position_accuracy(outputs, targets), true},
        {"edit_distance", error_rate(outputs, targets)}};
    if (is_translation_) {
      metrics.push_back({"bleu", corpus_bleu(all.outputs, all.references).score, true});
      metrics.push_back({"chrf", corpus_chrf(all.outputs, all.references), true});
    }
    if (const auto share = attention_on_links(model, rows))
      metrics.push_back({"attention_truth", *share, true});
    return metrics;
  }

  Evaluation evaluate(const Model& model, const Dataset& rows,
                      const RowProgress& progress) const override {
    Evaluation evaluation = SequenceOutput::evaluate(model, rows, progress);
    if (!is_translation_) return evaluation;
    evaluation.main = "bleu";
    const AlignmentCounts counts = aligned_words(model, rows);
    if (const auto rate = counts.error_rate()) evaluation.metrics.push_back({"aer", *rate});
    return evaluation;
  }

  NamedTensors fit_baselines(const Dataset& train, const LinearInputs& inputs) const override {
    return is_translation_ ? fit_nearest_sentence(train, inputs) : NamedTensors();
  }
  std::vector<BaselineResult> measure_baselines(const NamedTensors& fitted, const Dataset& rows,
                                                const LinearInputs& inputs) const override {
    GeneratedRows copied;
    copied.outputs = nearest_sentences(fitted, inputs);
    for (int64_t row = 0; row < rows.size(); ++row)
      copied.references.push_back(rows.references(row));
    return {{"nearest sentence",
             {{"bleu", corpus_bleu(copied.outputs, copied.references).score, true},
              {"chrf", corpus_chrf(copied.outputs, copied.references), true}}}};
  }

  std::vector<std::string> metric_notes(const Dataset& rows) const override {
    if (!is_translation_) return {};
    std::vector<References> references;
    for (int64_t row = 0; row < rows.size(); ++row) references.push_back(rows.references(row));
    return {"bleu: " + bleu_signature(references)};
  }

  LengthCurve measure_by_length(const Model& model, const Dataset& rows,
                                const RowProgress& progress) const override {
    const GeneratedRows all = generate(model, rows, progress);
    std::vector<int64_t> lengths;
    for (int64_t row = 0; row < rows.size(); ++row) lengths.push_back(rows.input_length(row));
    LengthCurve curve;
    curve.metric = is_translation_ ? "bleu" : "exact_match";
    curve.length = "source tokens";
    for (const LengthBucket& bucket : length_buckets(lengths)) {
      std::vector<std::string> outputs;
      std::vector<References> references;
      double right = 0;
      for (const size_t row : bucket.rows) {
        outputs.push_back(all.outputs[row]);
        references.push_back(all.references[row]);
        right += all.outputs[row] == all.references[row][0];
      }
      curve.buckets.push_back(bucket.label);
      curve.counts.push_back(int64_t(bucket.rows.size()));
      curve.values.push_back(bucket.rows.empty() ? std::numeric_limits<double>::quiet_NaN()
                             : is_translation_   ? corpus_bleu(outputs, references).score
                                                 : right / double(bucket.rows.size()));
    }
    return curve;
  }

  void finish(const Model& model, std::span<const Example> examples,
              std::vector<Prediction>& predictions) const override {
    std::vector<Unknown> unknown;
    for (size_t i = 0; i < predictions.size(); ++i)
      for (Decoded& output : predictions[i].outputs) {
        const bool has_unknown =
            target().joins_any_text() && std::ranges::count(output.tokens, unknown_symbol()) > 0;
        output.text =
            has_unknown ? target().join(pieces(output.tokens)) : target().decode(output.tokens);
        if (has_unknown && decoding_->copy_unknown) unknown.push_back({&examples[i], &output});
      }
    for (size_t begin = 0; begin < unknown.size(); begin += kCopiedTogether)
      copy_unknown(model, std::span(unknown).subspan(
                              begin, std::min(kCopiedTogether, unknown.size() - begin)));
  }

 protected:
  std::string label(int64_t token) const override { return target().vocabulary().token(token); }

  RowBatches batches(const Model& model, const Dataset& rows) const override {
    return batches_of_rows(model, rows, kPairsTogether);
  }
  void finish_rows(const Model& model, const Dataset& rows, std::span<const int64_t> picked,
                   std::vector<Prediction>& predictions) const override {
    std::vector<Example> examples;
    for (const int64_t row : picked) examples.push_back(rows.example(row));
    finish(model, examples, predictions);
  }

 private:
  /// An output with words that the vocabulary lacks.
  struct Unknown {
    const Example* example;
    Decoded* output;
  };

  std::vector<std::string> pieces(const std::vector<int64_t>& tokens) const {
    std::vector<std::string> texts;
    for (const int64_t token : tokens)
      if (token != target().vocabulary().special().end)
        texts.push_back((token == unknown_symbol() ? word_start() : "") + label(token));
    return texts;
  }
  int64_t unknown_symbol() const { return target().vocabulary().special().unknown; }
  std::string word_start() const { return target().kind() == "words" ? kWordStart : ""; }

  /// An unknown word is copied from where the decoder looked when it wrote it (Luong 2015).
  void copy_unknown(const Model& model, std::span<const Unknown> unknown) const {
    torch::NoGradGuard no_gradients;
    std::vector<Example> examples;
    Predictions chosen;
    for (const Unknown& one : unknown) {
      examples.push_back(*one.example);
      const auto& tokens = one.output->tokens;  // those behind the last unknown one do not matter
      const auto last = std::find(tokens.rbegin(), tokens.rend(), unknown_symbol()).base();
      chosen.outputs.push_back({{{tokens.begin(), last}, 0, ""}});
    }
    Tap tap(Record::OnDemand);
    model.replay(data_->collate(examples).to(model.device()), chosen, &tap);
    if (!has_map(tap, "attention")) return;
    const at::Tensor looked_at =
        dense_weights(tap.map("attention")).mean(1).argmax(-1).cpu();  // [B, T]
    for (size_t row = 0; row < unknown.size(); ++row) {
      Decoded& output = *unknown[row].output;
      const std::vector<std::string>& labels = examples[row].axis("source").labels;
      std::vector<std::string> texts = pieces(output.tokens);
      const int64_t* place = looked_at[int64_t(row)].data_ptr<int64_t>();
      for (size_t t = 0; t < texts.size(); ++t)
        if (output.tokens[t] == unknown_symbol() && size_t(place[t]) < labels.size())
          texts[t] = word_start() + labels[size_t(place[t])];
      output.text = target().join(texts);
    }
  }

  /// The share of attention on what each token of the right target comes from, where links say it.
  std::optional<double> attention_on_links(const Model& model, const Dataset& rows) const {
    if (!rows.has_truth()) return {};
    // Batches are sorted by length: evenly spaced ones stand for all lengths.
    const auto step = size_t((rows.size() + kRowsOfTruth - 1) / kRowsOfTruth);
    const RowBatches all = batches(model, rows);
    RowBatches some;
    for (size_t i = 0; i < all.size(); i += step) some.push_back(all[i]);
    std::vector<double> sums(some.size()), counts(some.size());
    over_batches(
        model, rows, some,
        [&](size_t index, const Batch& batch) {
          const at::Tensor weights = target_attention(model, batch);  // [B, T, S]
          if (!weights.defined()) return;
          const at::Tensor keep = torch::zeros(weights.sizes(), torch::kBool);
          for (int64_t i = 0; i < batch.size; ++i)
            if (const at::Tensor truth = rows.map_truth(some[index][size_t(i)], "attention");
                truth.defined())
              keep[i].narrow(0, 0, truth.size(0)).narrow(1, 0, truth.size(1)).copy_(truth);
          if (const auto share = attention_truth(weights.flatten(0, 1), keep.flatten(0, 1))) {
            counts[index] = keep.any(-1).sum().item<double>();
            sums[index] = *share * counts[index];
          }
        },
        {});
    double sum = 0, count = 0;
    for (size_t i = 0; i < some.size(); ++i) sum += sums[i], count += counts[i];
    return count > 0 ? std::optional<double>(sum / count) : std::nullopt;
  }

  /// What attention joins while the right target is written beside the links of the data.
  AlignmentCounts aligned_words(const Model& model, const Dataset& rows) const {
    AlignmentCounts sum;
    if (!rows.has_truth()) return sum;
    const RowBatches all = batches(model, rows);
    std::vector<AlignmentCounts> of_batch(all.size());
    over_batches(model, rows, all,
                 [&](size_t index, const Batch& batch) {
                   const at::Tensor weights = target_attention(model, batch);  // [B, T, S]
                   for (int64_t i = 0; weights.defined() && i < batch.size; ++i) {
                     const NamedTensors known = rows.planted_truth(all[index][size_t(i)]);
                     if (!known.contains("alignment.sure")) continue;
                     const at::Tensor &to = known.at("alignment.target"),
                                      &from = known.at("alignment.source"),
                                      &sure = known.at("alignment.sure");
                     const at::Tensor own =
                         weights[i].narrow(0, 0, to.size(0)).narrow(1, 0, from.size(0));  // [T, S]
                     of_batch[index] += count_links(strongest_links(own, to, from, sure.sizes()),
                                                    sure, known.at("alignment.possible"));
                   }
                 },
                 {});
    for (const AlignmentCounts& own : of_batch) sum += own;
    return sum;
  }

  std::shared_ptr<const PairsData> data_;
  std::shared_ptr<PairsDecoding> decoding_;
  bool is_translation_;
};

/// With an axis for what a position sees of the output: begin, and all before itself.
class TransformerPairsOutput : public PairsOutput {
 public:
  using PairsOutput::PairsOutput;

  Example describe_output(const Example& example, const Prediction& prediction) const override {
    Example described = example;
    Axis output = output_axis(prediction);
    const Vocabulary& symbols = target().vocabulary();
    Axis written{"written", unit(), {symbols.token(symbols.special().begin)}};
    written.output = true;
    written.special = {0};
    if (!output.labels.empty())
      written.labels.insert(written.labels.end(), output.labels.begin(), output.labels.end() - 1);
    described.axes.push_back(std::move(written));
    described.axes.push_back(std::move(output));
    return described;
  }
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

ExplainTitles transformer_titles(const std::string& title) {
  return {title,
          {{"attention", "output looks at source"},
           {"encoder", "source looks at itself"},
           {"decoder", "output looks at what is written"}}};
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
      [title] { return transformer_titles(title); });
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
      [seq2seq, title] {
        return ExplainTitles{
            title, {{"attention", concat(seq2seq->score.name, ", ", seq2seq->alignment.name)}}};
      }));
  specs.push_back(model_spec(
      {"transformer"}, transformer, defaults.transformer_training,
      [data, decoding](const TransformerOptions& own) {
        return std::make_unique<Transformer>(own, *decoding, pairs_shape(data->tokenisers()));
      },
      [title] { return transformer_titles(title); }));
  specs.push_back(t5_spec(defaults, data, decoding, title));
  const auto with_written =
      std::make_shared<TransformerPairsOutput>(data, decoding, defaults.is_translation);
  for (size_t i = 1; i < specs.size(); ++i) specs[i].output = with_written;
  for (ModelSpec& spec : specs) spec.configs["tutorial"]["data"] = {{"pairs_per_piece", 0}};
  specs[0].configs["tutorial"].merge_patch(defaults.tutorial);
  return std::make_unique<Task>(
      defaults.pairs.task, data,
      std::make_shared<PairsOutput>(data, decoding, defaults.is_translation), std::move(specs));
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
  TrainingOptions& training = defaults.training;
  training.epochs = 4;
  training.batch_size = 64;
  training.pool_batches = 20;
  training.micro_batches = 2;
  training.learning_rate = 5e-3;
  training.schedule = "cosine";
  training.warmup_steps = 100;
  training.clip_norm = 1;
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
  TrainingOptions& training = defaults.training;
  training.epochs = 10;
  training.batch_size = 64;
  training.pool_batches = 50;
  training.micro_batches = 2;
  training.learning_rate = 1e-3;
  training.schedule = "cosine";
  training.warmup_steps = 200;
  training.clip_norm = 1;
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
