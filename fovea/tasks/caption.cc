// The task `caption`: what a picture shows, as a sentence; each word looks at the picture.
#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/captions/load.h"
#include "fovea/data/images/erase_cells.h"
#include "fovea/data/media_input.h"
#include "fovea/decoding/search.h"
#include "fovea/metrics/captioning.h"
#include "fovea/metrics/sequences.h"
#include "fovea/models/show_attend_tell.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/outputs/sequence.h"
#include "fovea/tasks/symbols.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kWordsTogether = 1024;      // of a batch that is measured
constexpr int64_t kLongestCaption = 1 << 14;  // tokens
constexpr int64_t kLongerThanSeen = 10;  // words that an answer may have more than any in training
constexpr int64_t kComparedSide = 8;     // pixels of a side, of pictures that a baseline compares
constexpr const char* kCaptionCoding = "caption.json";

class CaptionData : public DataKind {
 public:
  /// Cells of pictures are the encoder's.
  explicit CaptionData(std::shared_ptr<const ShowAttendTellOptions> model)
      : model_(std::move(model)) {}
  const CaptionsDataOptions& options() const { return options_; }
  const CaptionCoding& coding() const { return coding_; }

  void describe(OptionList& list) override { options_.describe(list); }
  Splits load(const DataSource& source, uint64_t seed) override {
    return load_captions(source, options_, coding_,
                         {seed, grid(), progress("reading", "pictures")});
  }
  void prepare(const DataSource& source, uint64_t seed,
               const std::filesystem::path& path) override {
    const Splits splits = load(source, seed);
    write_prepared_captions(path, splits, options_, coding_);
  }
  void write(const std::filesystem::path& folder) const override {
    write_captions_data(folder, options_);
  }
  std::vector<SymbolTable> symbols() const override {
    return {symbols_of("words", coding_.tokeniser->vocabulary())};
  }
  void save(const RunFolder& folder) const override {
    save_tokeniser(folder, "tokeniser", *coding_.tokeniser);
    folder.write_asset(kCaptionCoding, {{"longest", coding_.longest}});
  }
  void restore(const RunFolder& folder) override {
    coding_.tokeniser = load_tokeniser(folder, "tokeniser");
    const Json json = folder.read_asset(kCaptionCoding);
    coding_.longest = Field::root(json, folder.asset(kCaptionCoding).string())
                          .at("longest")
                          .integer(1, kLongestCaption);
  }

  /// {"image": "data:image/png;base64,…"}, or such a data URL alone.
  Example parse(const std::string& line) const override {
    return example_of(image_of_input(line, options_.reading()),
                      {options_.image_size, options_.fit, grid()});
  }
  Json input_schema() const override { return image_input_schema(); }
  /// By which pictures are alike.
  LinearInputs linear_inputs(const Dataset& rows) const override {
    return shrink_pictures(rows, "image", kComparedSide);
  }
  Batch collate(std::span<const Example> examples) const override { return stack(examples); }
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    if (axis != "cells") return DataKind::erase(example, axis, units);
    return erase_cells(example, "image", example.axis(axis), units);
  }

 private:
  int64_t grid() const {
    return std::max<int64_t>(1, options_.image_size / stride_of(model_->encoder));
  }

  CaptionsDataOptions options_;
  CaptionCoding coding_;
  std::shared_ptr<const ShowAttendTellOptions> model_;
};

/// Search, and where the words of an answer look.
struct CaptionDecoding : SearchOptions {
  std::string cells = "likeliest";
  void describe(OptionList& list) {
    SearchOptions::describe(list);
    list.add("cells", cells,
             "model.attention=hard: each word sees the likeliest cell alone, or all, as the "
             "expectation")
        .choices({"likeliest", "all"});
  }
};

const BleuOptions kByWords{.tokenisation = "none"};

/// As caption_words() cuts them, with blanks between.
std::vector<std::string> in_words(const std::vector<std::string>& texts) {
  std::vector<std::string> plain;
  for (const std::string& text : texts) plain.push_back(join(caption_words(text), " "));
  return plain;
}

std::vector<References> words_of(const std::vector<References>& references) {
  std::vector<References> plain;
  for (const References& own : references) plain.push_back(in_words(own));
  return plain;
}

class CaptionOutput : public SequenceOutput {
 public:
  CaptionOutput(std::shared_ptr<const CaptionData> data, std::shared_ptr<CaptionDecoding> decoding)
      : SequenceOutput([data]() -> const Tokeniser& { return *data->coding().tokeniser; },
                       "caption"),
        decoding_(std::move(decoding)) {}

  void describe(OptionList& list) override { list.group("decoding", *decoding_); }

  std::vector<std::string> metric_notes(const Dataset& rows) const override {
    std::vector<References> references;
    for (int64_t row = 0; row < rows.size(); ++row) references.push_back(rows.references(row));
    std::vector<std::string> notes{
        concat("bleu: ", bleu_signature(words_of(references), kByWords),
               "; bleu_n has the n-gram orders up to n, with the brevity penalty"),
        "bleu, rouge_l and cider: over words in small letters without punctuation; cider is "
        "CIDEr-D, "
        "0 to 10"};
    if (rows.has_truth())
      notes.push_back(
          "pointing: share of the words that name something whose most attended cell shows it; "
          "attention_truth: share of their attention on its cells; both for the right caption");
    return notes;
  }

 protected:
  /// Exact match with any of the references, BLEU-1 … BLEU-4, ROUGE-L and CIDEr.
  Metrics text_metrics(const GeneratedRows& texts) const override {
    Metrics metrics{{"exact_match", texts.exact_match(), true}};
    // BLEU-n: the brevity penalty times the geometric mean of the first n precisions.
    const Bleu bleu = corpus_bleu(in_words(texts.outputs), words_of(texts.references), kByWords);
    double log_sum = 0;
    for (int order = 1; order <= 4; ++order) {
      log_sum += std::log(bleu.precisions[size_t(order - 1)]);
      metrics.push_back(
          {concat("bleu_", order), bleu.brevity_penalty * std::exp(log_sum / order), true});
    }
    metrics.push_back({"rouge_l", 100 * rouge_l(texts.outputs, texts.references), true});
    metrics.push_back({"cider", cider(texts.outputs, texts.references), true});
    return metrics;
  }
  /// Where it is known what a word names, pointing and attention_truth.
  void add_metrics(const Model& model, const Dataset& rows, const GeneratedRows& all,
                   Metrics& metrics) const override {
    metrics.push_back({"perplexity", perplexity(all.nats, all.tokens)});
    add_truth(model, rows, metrics);
  }
  std::string unit() const override { return "word"; }
  RowBatches batches(const Model& model, const Dataset& rows) const override {
    return batches_of_tokens(model, rows, kWordsTogether);
  }

 private:
  std::shared_ptr<CaptionDecoding> decoding_;
};

std::unique_ptr<Model> make_captioner(ShowAttendTellOptions options,
                                      const CaptionDecoding& decoding, const CaptionData& data) {
  CaptionShape shape;
  shape.symbols = data.coding().tokeniser->vocabulary().size();
  shape.image_size = data.options().image_size;
  shape.longest = data.coding().longest + kLongerThanSeen;
  shape.padding = Vocabulary::kPadding;
  shape.begin = Vocabulary::kBegin;
  shape.end = Vocabulary::kEnd;
  options.answers_softly = decoding.cells == "all";
  return std::make_unique<ShowAttendTell>(options, decoding, shape);
}

/// The weights that model.encoder_weights names.
void load_captioner_encoder(const ImageEncoderOptions& encoder, ShowAttendTell& model) {
  require(encoder.weights.empty() || encoder.name != "small", ErrorKind::InvalidArgument,
          "model.encoder_weights needs a standard network; add model.encoder=resnet18, or another");
  if (!encoder.weights.empty()) load_encoder_weights(model.encoder(), encoder.weights);
}

/// The scores that look at what a cell shows, wherever it is.
std::vector<std::string> cell_scores() {
  std::vector<std::string> names;
  for (const ScoreEntry& score : score_table())
    if (!score.traits.depends_on_order) names.push_back(score.name);
  return names;
}

}  // namespace

static std::unique_ptr<Task> make_caption_task() {
  const auto options = std::make_shared<ShowAttendTellOptions>();
  const auto data = std::make_shared<CaptionData>(options);
  const auto decoding = std::make_shared<CaptionDecoding>();
  TrainingOptions training = sequence_training();
  training.epochs = 20;
  training.batch_size = 64;
  training.pool_batches = 10;
  training.monitor = {"exact_match"};
  training.usual_steps = 2500;
  training.most_epochs = 100;
  training.evaluate_rows = 500;
  ModelSpec spec = model_spec(
      {"show_attend_tell"}, options, training,
      [data, decoding](const ShowAttendTellOptions& own) {
        return make_captioner(own, *decoding, *data);
      },
      [options] {
        ExplainTitles titles{"What each word of the caption looks at", {}};
        if (options->attends())
          titles.maps = {{"attention", "Where each word of the caption looked"}};
        return titles;
      });
  spec.describe = [options](OptionList& list) {
    list.group("model", *options);
    list.find("model.score").choices(cell_scores());
  };
  spec.copy_pretrained = of_network<ShowAttendTell>([options](ShowAttendTell& captioner) {
    load_captioner_encoder(options->encoder, captioner);
  });
  return std::make_unique<Task>("caption", data, std::make_shared<CaptionOutput>(data, decoding),
                                std::vector{std::move(spec)});
}

TaskRow caption_task() {
  return {
      "caption", "what a picture shows, as a sentence", "word -> cell",
      "CSV or TSV with a header: image (a path), caption and perhaps further captions; a folder of "
      "such",
      make_caption_task};
}

}  // namespace fovea
