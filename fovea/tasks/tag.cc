// The task `tag`: every word of a sentence has a tag; of entities (IOB2) those are put out that the
// tags spell. A BiLSTM reads words and their letters, BERT pieces of words.
#include <algorithm>
#include <set>

#include "fovea/base/error.h"
#include "fovea/data/tags/load.h"
#include "fovea/data/tags/word_features.h"
#include "fovea/data/tokenisers/text_vectors.h"
#include "fovea/models/bert_tagger.h"
#include "fovea/models/lstm_tagger.h"
#include "fovea/tasks/asset.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/outputs/tags.h"
#include "fovea/tasks/pretrained.h"
#include "fovea/tasks/symbols.h"

namespace fovea {

namespace {

/// Sentences whose words have tags, whatever a model reads them as.
class TagData : public CodedData<TaggingDataOptions, TagCoding> {
 public:
  explicit TagData(bool pieces) : CodedData("tags.json"), pieces_(pieces) {}
  TagRules rules() const {
    return coding_.entities ? iob_rules(coding_.tags) : free_rules(int64_t(coding_.tags.size()));
  }

  void describe(OptionList& list) override { options_.describe(list, pieces_); }
  Splits load(const DataSource& source, uint64_t seed) override {
    return load_tagging(source, options_, {pieces_, seed, progress("word vectors", "steps")},
                        coding_);
  }
  void write(const std::filesystem::path& folder) const override {
    write_tagging_data(folder, options_);
  }

  /// A text, which is cut into words, or {"words": […]}.
  Example parse(const std::string& line) const override {
    if (!is_json_object(line)) {
      const size_t tab = line.rfind('\t');
      require(tab == std::string::npos ||
                  std::ranges::count(coding_.tags, std::string(trim(line.substr(tab + 1)))) == 0,
              ErrorKind::BadData, "input: a token and its tag ('", line,
              "'); a sentence is expected. fovea evaluate measures files with tags");
      return encoder()->example(cut_sentence(line));
    }
    const Json json = parse_json(line, "input");
    const bool fits = json.contains("words") && json["words"].is_array() &&
                      std::all_of(json["words"].begin(), json["words"].end(),
                                  [](const Json& word) { return word.is_string(); });
    require(fits, ErrorKind::BadData, "input: expected {\"words\": [\"a\", \"list\", …]}");
    return encoder()->example(sentence_of(json["words"].get<std::vector<std::string>>()));
  }
  bool takes_plain_text() const override { return true; }
  Json input_schema() const override {
    return {{"type", "string"}, {"description", "a sentence, or {\"words\": […]}"}};
  }
  Batch collate(std::span<const Example> examples) const override {
    return encoder()->collate(examples);
  }
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    if (axis != encoder()->axis()) return DataKind::erase(example, axis, units);
    return encoder()->erase(example, units);
  }

 private:
  std::shared_ptr<const SentenceEncoder> encoder() const { return coding_.encoder(options_); }
  bool pieces_;
};

/// Whether the tags are O, and both B- and I- of each type.
bool spell_entities(const std::vector<std::string>& tags) {
  const std::set<std::string> all(tags.begin(), tags.end());
  return all.contains("O") && all.size() > 1 &&
         std::all_of(all.begin(), all.end(), [&](const std::string& tag) {
           const bool begins = tag.starts_with("B-"), goes_on = tag.starts_with("I-");
           return tag == "O" || ((begins || goes_on) && tag.size() > 2 &&
                                 all.contains(concat(begins ? "I-" : "B-", tag.substr(2))));
         });
}

class WordTags : public TagData {
 public:
  WordTags() : TagData(/*pieces=*/false) {}
  std::vector<SymbolTable> symbols() const override {
    return {symbols_of("words", coding_.words->words()),
            symbols_of("letters", coding_.words->letters())};
  }
  void save(const RunFolder& folder) const override {
    TagData::save(folder);
    folder.write_asset("words.json", coding_.words->to_json());
  }
  void restore(const RunFolder& folder) override {
    TagData::restore(folder);
    coding_.words =
        std::make_shared<const WordEncoder>(read_asset_as<WordEncoder>(folder, "words.json"));
  }
};

class PieceTags : public PieceData<TagData> {
 public:
  explicit PieceTags(std::shared_ptr<const PretrainedBert> pretrained)
      : PieceData(std::move(pretrained), /*pieces=*/true) {
    options_.packing = {.longest = 128, .too_long = "windows", .overlap = 32};
  }
  /// Answers with the tagger that was read.
  void open(const PretrainedBert& tagger) {
    coding_.tokeniser = tagger.tokeniser;
    coding_.tags = tagger.labels;
    coding_.entities = spell_entities(tagger.labels);
    options_.scheme = coding_.entities ? "entities" : "plain";
    options_.packing.longest = tagger.options.maximum_length;
    options_.packing.overlap = std::min(options_.packing.overlap, options_.packing.longest / 4);
  }
  void describe(OptionList& list) override {
    TagData::describe(list);
    list.find("data.too_long").choices({"windows", "refuse"});  // every word needs a tag
  }
};

std::shared_ptr<TagsOutput> tags_output(const std::shared_ptr<const TagData>& data) {
  return std::make_shared<TagsOutput>([data]() -> const auto& { return data->coding(); });
}

std::function<ExplainTitles()> tagger_titles(const std::string& map) {
  return [map] { return ExplainTitles{"Where the tagger looks", {{"attention", map}}}; };
}

TrainingOptions tagger_training() {
  TrainingOptions options = sequence_training();
  options.epochs = 20;
  options.batch_size = 32;
  options.pool_batches = 20;
  options.warmup_steps = 50;
  options.monitor = {"f1"};
  options.usual_steps = 2500;
  options.most_epochs = 100;
  return options;
}

ModelSpec lstm_tagger_spec() {
  const auto data = std::make_shared<WordTags>();
  const auto options = std::make_shared<LstmTaggerOptions>();
  options->crf = options->features = true;
  options->rare_word_dropout = 1;
  ModelSpec spec = model_spec(
      {"lstm"}, options, tagger_training(),
      [data](const LstmTaggerOptions& own) {
        const WordEncoder& words = *data->coding().words;
        LstmTaggerShape shape{words.words().size(), words.letters().size(), Vocabulary::kUnknown,
                              kFeatureNumbers, words.counts()};
        if (words.text_words())
          shape.vectors = words.text_words()->size(), shape.vector_size = kTextVectorSize;
        return std::make_unique<LstmTagger>(own, shape, data->rules());
      },
      tagger_titles("words look at words"));
  spec.configs["tutorial"]["model"] = {
      {"crf", false}, {"features", false}, {"rare_word_dropout", 0}};
  spec.configs["tutorial"]["output"] = {{"threshold", "none"}};
  spec.data = data;
  spec.output = tags_output(data);
  spec.load_pretrained = [](const std::filesystem::path&) {
    fail(ErrorKind::InvalidArgument,
         "--from: model.name=lstm starts from nothing; add --set model.name=bert");
  };
  spec.copy_pretrained = of_network<LstmTagger>([data](LstmTagger& tagger) {
    if (const at::Tensor& vectors = data->coding().vectors; vectors.defined())
      tagger.take_vectors(vectors);
  });
  return spec;
}

ModelSpec bert_tagger_spec() {
  const auto pretrained = std::make_shared<PretrainedBert>();
  const auto data = std::make_shared<PieceTags>(pretrained);
  const auto options = std::make_shared<BertTaggerOptions>();
  TrainingOptions training = tagger_training();
  training.epochs = 10;
  training.optimiser = "adamw";
  training.learning_rate = 3e-4;
  training.weight_decay = 0.01;
  training.schedule = "linear";
  ModelSpec spec = model_spec(
      {"bert"}, options, training,
      [data](const BertTaggerOptions& own) {
        return std::make_unique<BertTagger>(own, data->coding().tokeniser->size(),
                                            data->options().packing.longest, data->rules());
      },
      tagger_titles("tokens look at tokens"));
  spec.configs["tutorial"]["output"] = {{"threshold", "none"}};
  spec.data = data;
  spec.output = tags_output(data);
  training.epochs = 8;
  training.learning_rate = 1e-4;
  training.usual_steps = 1200;
  training.most_epochs = 30;
  spec.fine_tuning = [training] { return training; };
  accept_pretrained(spec, options, data, pretrained);
  return spec;
}

}  // namespace

static std::unique_ptr<Task> make_tag_task() {
  const ModelSpec lstm = lstm_tagger_spec();
  return std::make_unique<Task>("tag", lstm.data, lstm.output,
                                std::vector{lstm, bert_tagger_spec()});
}

TaskRow tag_task() {
  return {
      "tag", "every word of a sentence has a tag: names of persons, places, …",
      "word -> word, or token -> token",
      "one word and its tag a line (CoNLL, TSV), a blank line between sentences; a folder of such",
      make_tag_task};
}

}  // namespace fovea
