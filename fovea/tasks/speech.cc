// The task `speech`: what is said, as text; each symbol listens to the sound before it is written.
#include <algorithm>
#include <map>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/media_input.h"
#include "fovea/data/speech/load.h"
#include "fovea/data/speech/spoken_word.h"
#include "fovea/decoding/search.h"
#include "fovea/metrics/phones.h"
#include "fovea/metrics/sequences.h"
#include "fovea/models/listen_attend_spell.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/outputs/sequence.h"
#include "fovea/tasks/symbols.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kFramesTogether = 8192;        // of a batch that is measured
constexpr int64_t kRepeats[] = {1, 2, 3, 5, 8};  // of the curve
constexpr int64_t kRowsOfCurve = 100;
constexpr double kMostSymbolsOfFrame = 100;  // more would only make outputs without an end
constexpr const char* kSpeechCoding = "speech.json";
constexpr size_t kFewestPhones = 10;  // different ones, that a transcript is taken for phones

/// Whether the transcripts hold TIMIT's phones, blanks between them, and nothing else.
bool holds_phones(const Dataset& rows) {
  std::set<std::string> different;
  for (int64_t row = 0; row < rows.size(); ++row)
    for (const std::string& text : rows.references(row))
      for (std::string& symbol : phones_of(text, /*folded=*/false)) {
        if (!is_timit_phone(symbol)) return false;
        different.insert(std::move(symbol));
      }
  return different.size() >= kFewestPhones;
}

Json to_list(const at::Tensor& numbers) {
  Json list = Json::array();
  if (!numbers.defined()) return list;
  const at::Tensor own = numbers.contiguous();
  for (int64_t i = 0; i < own.numel(); ++i) list.push_back(own.data_ptr<float>()[i]);
  return list;
}

/// Undefined for an empty list.
at::Tensor to_tensor(const Field& list) {
  const std::vector<double> numbers = list.finites();
  return numbers.empty() ? at::Tensor() : at::tensor(numbers, at::kDouble).to(at::kFloat);
}

class SpeechData : public DataKind {
 public:
  /// Units of sound are the encoder's.
  explicit SpeechData(std::shared_ptr<const ListenAttendSpellOptions> model)
      : model_(std::move(model)) {}
  const SpeechDataOptions& options() const { return options_; }
  const SpeechCoding& coding() const { return coding_; }
  /// The training transcripts are TIMIT's phones.
  bool has_phones() const { return has_phones_; }

  void describe(OptionList& list) override { options_.describe(list); }
  Splits load(const DataSource& source, uint64_t seed) override {
    const bool is_first = coding_.tokeniser == nullptr;
    Splits splits = load_speech(source, options_, coding_,
                                {seed, model_->unit_frames(), progress("reading", "sounds")});
    if (is_first && splits.train) has_phones_ = holds_phones(*splits.train);
    return splits;
  }
  void prepare(const DataSource& source, uint64_t seed,
               const std::filesystem::path& path) override {
    const Splits splits = load(source, seed);
    write_prepared_speech(path, splits, options_, coding_);
  }
  void write(const std::filesystem::path& folder) const override {
    write_speech_data(folder, options_);
  }
  std::vector<SymbolTable> symbols() const override {
    return {symbols_of("symbols", coding_.tokeniser->vocabulary())};
  }
  void save(const RunFolder& folder) const override {
    save_tokeniser(folder, "tokeniser", *coding_.tokeniser);
    folder.write_asset(kSpeechCoding, {{"densest", coding_.densest},
                                       {"phones", has_phones_},
                                       {"mean", to_list(coding_.training.mean)},
                                       {"deviation", to_list(coding_.training.deviation)}});
  }
  void restore(const RunFolder& folder) override {
    coding_.tokeniser = load_tokeniser(folder, "tokeniser");
    const Json json = folder.read_asset(kSpeechCoding);
    const Field root = Field::root(json, folder.asset(kSpeechCoding).string());
    const Field densest = root.at("densest");
    coding_.densest = densest.finite();
    densest.expect(coding_.densest > 0 && coding_.densest <= kMostSymbolsOfFrame,
                   "symbols a frame");
    has_phones_ = root.mark_or("phones", false);
    coding_.training = {to_tensor(root.at("mean")), to_tensor(root.at("deviation"))};
    const int64_t width = options_.normalise == "training" ? options_.log_mel.width() : 0;
    for (const at::Tensor& numbers : {coding_.training.mean, coding_.training.deviation})
      require((numbers.defined() ? numbers.numel() : 0) == width, ErrorKind::BadData,
              folder.asset(kSpeechCoding).string(),
              ": does not fit data.normalise=", options_.normalise, " and frames of ",
              options_.log_mel.width(), " numbers");
  }

  /// {"audio": "data:audio/wav;base64,…"}, or such a data URL alone.
  Example parse(const std::string& line) const override {
    return example_of(sound_of_input(line, options_.reading()), features());
  }
  Json input_schema() const override { return sound_input_schema(); }
  Batch collate(std::span<const Example> examples) const override {
    return collate_speech(examples);
  }
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    if (axis != "source") return DataKind::erase(example, axis, units);
    return erase_sound(example, units, features());
  }
  /// Evenly spaced: neighbours may say the same.
  std::vector<int64_t> example_rows(const Dataset& rows, int64_t count) const override {
    std::vector<int64_t> spread = DataKind::example_rows(rows, count);
    for (int64_t& row : spread) row = row * rows.size() / int64_t(spread.size());
    return spread;
  }

 private:
  SpeechFeatures features() const { return features_of(options_, coding_, model_->unit_frames()); }

  SpeechDataOptions options_;
  SpeechCoding coding_;
  bool has_phones_ = false;
  std::shared_ptr<const ListenAttendSpellOptions> model_;
};

/// Search, and what may be changed in a trained run to see how it stands long utterances
/// (Chorowski et al. 2015, section 3.2).
struct SpeechDecoding : SearchOptions {
  double sharpness = 1;  // beta of softmax(beta e)
  int64_t window = 0;    // 0: everywhere
  int64_t repeat = 1;    // each measured utterance, so many times in a row
  std::string phones = "auto";
  void describe(OptionList& list) {
    SearchOptions::describe(list);
    list.add("sharpness", sharpness,
             "above 1 the scores count so many times as much: sharpens what "
             "model.normaliser=softmax was trained with")
        .above(0);
    list.add("window", window,
             "units to each side of the middle of the weights before that are listened to; 0: all")
        .at_least(0);
    list.add("repeat", repeat, "evaluate: every utterance so many times in a row, as one")
        .at_least(1)
        .at_most(100);
    list.add("phones", phones,
             "evaluate: transcripts are phones with blanks between them, and their error rate is "
             "measured; auto: where all of them are TIMIT's; folded: TIMIT's 61 as 39 (Lee & Hon "
             "1989)")
        .choices({"auto", "no", "yes", "folded"});
  }
};

class SpeechOutput : public SequenceOutput {
 public:
  SpeechOutput(std::shared_ptr<const SpeechData> data, std::shared_ptr<SpeechDecoding> decoding)
      : SequenceOutput([data]() -> const Tokeniser& { return *data->coding().tokeniser; },
                       "target"),
        data_(data),
        decoding_(std::move(decoding)) {}

  void describe(OptionList& list) override { list.group("decoding", *decoding_); }

  std::vector<std::string> monitors(const std::vector<std::string>& usual) const override {
    std::vector<std::string> own = usual;
    if (counts_phones()) std::replace(own.begin(), own.end(), std::string(kWords), rate_name());
    return own;
  }

  /// Word or phone error rate of utterances that are said once, twice, … in a row.
  LengthCurve measure_by_length(const Model& model, const Dataset& rows,
                                const RowProgress& progress) const override {
    LengthCurve curve;
    curve.metric = rate_name();
    curve.length = "the same utterance so many times in a row";
    for (const int64_t times : kRepeats) {
      const auto longer = rows.repeated(kRowsOfCurve, times);
      curve.buckets.push_back(concat(times, " x"));
      curve.values.push_back(rate_of(generate(model, *longer, progress)));
      curve.counts.push_back(longer->size());
    }
    return curve;
  }

  std::vector<std::string> metric_notes(const Dataset& rows) const override {
    double frames = 0;
    for (int64_t row = 0; row < rows.size(); ++row) frames += double(rows.length(row));
    const LogMelOptions& log_mel = data_->options().log_mel;
    const double seconds = frames * double(log_mel.step_samples()) / double(log_mel.sample_rate);
    std::vector<std::string> notes{
        concat(format_duration(seconds * double(decoding_->repeat)), " of sound")};
    if (decoding_->repeat > 1)
      notes.push_back(concat("every utterance ", decoding_->repeat, " times in a row"));
    if (decoding_->phones == "folded")
      notes.push_back("phone_error_rate: of 39 phones, as Lee & Hon 1989 fold TIMIT's 61");
    if (rows.has_truth())
      notes.push_back(
          "attention_truth: share of the attention inside the word that is being written; "
          "pointing: share of symbols whose strongest place lies there; both for the right "
          "transcript");
    return notes;
  }

 protected:
  /// Word and character error rate (of phones theirs instead of both), utterances without any
  /// error.
  Metrics text_metrics(const GeneratedRows& texts) const override {
    Metrics metrics{{rate_name(), rate_of(texts)}};
    if (!counts_phones()) metrics.push_back({"character_error_rate", texts.character_error_rate()});
    metrics.push_back({"exact_match", texts.exact_match(), true});
    return metrics;
  }
  /// Where it is known when words are heard, pointing and attention_truth.
  void add_metrics(const Model& model, const Dataset& rows, const GeneratedRows&,
                   Metrics& metrics) const override {
    add_truth(model, rows, metrics);
  }
  std::string main_metric() const override { return rate_name(); }
  /// Edits, and words or phones that they are counted by.
  SummedMetric main_sums(const GeneratedRows& all) const override {
    const auto [found, wanted] = symbols_of(all);
    SummedMetric rate;
    for (size_t i = 0; i < found.size(); ++i)
      rate.rows.push_back({double(edit_distance(found[i], wanted[i])), double(wanted[i].size())});
    return rate;
  }
  std::shared_ptr<const Dataset> lengthened(const Dataset& rows) const override {
    return decoding_->repeat > 1 ? rows.repeated(rows.size(), decoding_->repeat) : nullptr;
  }
  std::string unit() const override {
    if (target().kind() != "words") return "character";
    return counts_phones() ? "phone" : "word";
  }
  RowBatches batches(const Model& model, const Dataset& rows) const override {
    return batches_of_tokens(model, rows, kFramesTogether);
  }

 private:
  static constexpr const char *kWords = "word_error_rate", *kPhones = "phone_error_rate";

  bool counts_phones() const {
    return decoding_->phones == "auto" ? data_->has_phones() : decoding_->phones != "no";
  }
  std::string rate_name() const { return counts_phones() ? kPhones : kWords; }
  std::vector<std::string> units_of(const std::string& text) const {
    if (counts_phones()) return phones_of(text, decoding_->phones == "folded");
    std::vector<std::string> words;
    for (const Span& span : word_spans(text))
      words.push_back(text.substr(size_t(span.begin), size_t(span.end - span.begin)));
    return words;
  }
  /// Words or phones of the outputs and of their references, as numbers.
  std::pair<std::vector<Symbols>, std::vector<Symbols>> symbols_of(const GeneratedRows& all) const {
    std::map<std::string, int64_t> numbers;
    const auto numbered = [&](const std::string& text) {
      Symbols symbols;
      for (const std::string& unit : units_of(text))
        symbols.push_back(numbers.emplace(unit, int64_t(numbers.size())).first->second);
      return symbols;
    };
    std::pair<std::vector<Symbols>, std::vector<Symbols>> symbols;
    for (size_t i = 0; i < all.outputs.size(); ++i) {
      symbols.first.push_back(numbered(all.outputs[i]));
      symbols.second.push_back(numbered(all.references[i].at(0)));
    }
    return symbols;
  }
  double rate_of(const GeneratedRows& all) const {
    const auto [found, wanted] = symbols_of(all);
    return error_rate(found, wanted);
  }

  std::shared_ptr<const SpeechData> data_;
  std::shared_ptr<SpeechDecoding> decoding_;
};

std::unique_ptr<Model> make_speller(ListenAttendSpellOptions options,
                                    const SpeechDecoding& decoding, const SpeechData& data) {
  SpeechShape shape;
  shape.width = data.options().log_mel.width();
  shape.pitches = band_pitches(data.options().log_mel);
  shape.symbols = data.coding().tokeniser->vocabulary().size();
  shape.densest = data.coding().densest;
  shape.padding = Vocabulary::kPadding;
  shape.begin = Vocabulary::kBegin;
  shape.end = Vocabulary::kEnd;
  if (decoding.sharpness != 1) {
    require(options.normaliser.traits().is_fused, ErrorKind::InvalidArgument,
            "decoding.sharpness sharpens model.normaliser=softmax; this run has ",
            options.normaliser.name);
    options.normaliser.name = "temperature";
    options.normaliser.temperature = 1 / decoding.sharpness;
  }
  if (decoding.window > 0) {
    const AlignmentTraits& alignment = options.alignment.traits();
    require(alignment.is_global || alignment.reads_previous_weights, ErrorKind::InvalidArgument,
            "decoding.window takes the place of model.alignment=global; this run has ",
            options.alignment.name);
    options.alignment.name = "median";
    options.alignment.half_width = decoding.window;
  }
  return std::make_unique<ListenAttendSpell>(options, decoding, shape);
}

/// The scores that sounds of any length can have.
std::vector<std::string> sound_scores() {
  std::vector<std::string> names;
  for (const ScoreEntry& score : score_table())
    if (!score.traits.depends_on_order || score.traits.reads_previous_weights)
      names.push_back(score.name);
  return names;
}

}  // namespace

static std::unique_ptr<Task> make_speech_task() {
  const auto options = std::make_shared<ListenAttendSpellOptions>();
  const auto data = std::make_shared<SpeechData>(options);
  const auto decoding = std::make_shared<SpeechDecoding>();
  TrainingOptions training = sequence_training();
  training.epochs = 25;
  training.batch_size = 32;
  training.pool_batches = 10;
  training.monitor = {"word_error_rate"};
  training.usual_steps = 2500;
  training.most_epochs = 200;
  training.evaluate_rows = 500;
  ModelSpec spec = model_spec(
      {"listen_attend_spell"}, options, training,
      [data, decoding](const ListenAttendSpellOptions& own) {
        return make_speller(own, *decoding, *data);
      },
      [] {
        return ExplainTitles{"What each symbol of the text listens to",
                             {{"attention", "When each symbol listened"}}};
      });
  spec.describe = [options](OptionList& list) {
    list.group("model", *options);
    list.find("model.score").choices(sound_scores());
  };
  return std::make_unique<Task>("speech", data, std::make_shared<SpeechOutput>(data, decoding),
                                std::vector{std::move(spec)});
}

TaskRow speech_task() {
  return {"speech", "what is said, as text", "symbol -> frames of the sound",
          "CSV or TSV with a header: audio (a path) or parts (several), transcript, perhaps "
          "speaker and "
          "boundaries; a folder of such",
          make_speech_task};
}

}  // namespace fovea
