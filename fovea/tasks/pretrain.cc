// The task `pretrain`: BERT learns from plain text, or goes on learning from where another stopped;
// then it turns texts into embeddings and fills in [MASK]. A Hugging Face folder opens as a run of
// this task.
#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/data/corpus/load.h"
#include "fovea/data/packed_text.h"
#include "fovea/models/bert_pretrainer.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/outputs/embedding.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tasks/pretrained.h"
#include "fovea/tasks/symbols.h"
#include "fovea/tasks/text_input.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"
#include "fovea/training/checkpoint.h"

namespace fovea {

namespace {

constexpr int64_t kRowsOfLoss = 32;
constexpr uint64_t kEvaluation = 20181011;  // decides which words are masked while measuring
constexpr const char* kPieceCounts = "piece_counts";
constexpr int64_t kShownGuesses = 5;  // words for each [MASK]

class CorpusData : public DataKind {
 public:
  CorpusData(std::shared_ptr<const BertPretrainerOptions> model,
             std::shared_ptr<const PretrainedBert> pretrained)
      : model_(std::move(model)), pretrained_(std::move(pretrained)) {}
  const PieceTokeniser& tokeniser() const { return *tokeniser_; }
  double masked() const { return model_->masked; }
  bool next_sentence() const { return options_.segments.next_sentence; }

  /// Answers with the encoder that was read, and of the heads only with those that it has.
  void open(const PretrainedBert& read) {
    tokeniser_ = read.tokeniser;
    options_.segments.next_sentence = read.heads.count("next.weight") > 0;
    options_.segments.longest = std::min(options_.segments.longest, read.options.maximum_length);
    only_answers_ = true;
  }
  BertPretrainerShape shape() const {
    BertPretrainerShape shape;
    const PieceTokeniser::Special& special = tokeniser_->special();
    shape.vocabulary = tokeniser_->size();
    shape.mask = special.mask;
    shape.special = {special.padding, special.unknown, special.begin, special.separator,
                     special.mask};
    shape.masked_words =
        special.mask >= 0 && (!only_answers_ || pretrained_->heads.count("masked.bias") > 0);
    shape.next_sentence = next_sentence();
    return shape;
  }

  void describe(OptionList& list) override { options_.describe(list); }
  Splits load(const DataSource& source, uint64_t seed) override {
    const int64_t longest = options_.segments.longest, positions = model_->encoder.maximum_length;
    require(longest <= positions, ErrorKind::InvalidArgument, "data.longest (", longest,
            ") is more than the ", positions, " positions of model.maximum_length");
    if (!tokeniser_) tokeniser_ = pretrained_->tokeniser;
    return pretrained_->noted(load_pretraining(source, options_, tokeniser_, seed));
  }
  void write(const std::filesystem::path& folder) const override {
    write_corpus_data(folder, options_.generator);
  }
  std::vector<SymbolTable> symbols() const override { return {symbols_of("tokens", *tokeniser_)}; }
  void save(const RunFolder& folder) const override { save_pieces(folder, *tokeniser_); }
  void restore(const RunFolder& folder) override { tokeniser_ = load_pieces(folder); }

  Example parse(const std::string& line) const override {
    const TextInput input = read_text_input(line);
    PackingOptions packing;
    packing.longest = model_->encoder.maximum_length;
    const std::string second_text = input.second.value_or("");
    const Pieces first = tokeniser_->encode(input.text), second = tokeniser_->encode(second_text);
    const PackedInputs packed =
        pack_texts(*tokeniser_, first, input.second ? &second : nullptr, packing);
    Example example = token_example(*tokeniser_, packed.inputs.front(), input.text, second_text);
    const int64_t cut = packed.cut[0] + packed.cut[1];
    example.add_cut("tokens", first.size() + second.size() - cut, cut);
    return example;
  }
  bool takes_plain_text() const override { return true; }
  Json input_schema() const override { return {{"type", "string"}}; }
  Batch collate(std::span<const Example> examples) const override {
    return collate_tokens(examples, tokeniser_->special().padding);
  }
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    if (axis != "tokens") return DataKind::erase(example, axis, units);
    return erase_tokens(example, *tokeniser_, units);
  }

 private:
  std::shared_ptr<const BertPretrainerOptions> model_;
  std::shared_ptr<const PretrainedBert> pretrained_;
  PretrainDataOptions options_;
  std::shared_ptr<const PieceTokeniser> tokeniser_;
  bool only_answers_ = false;
};

/// An embedding and, of a text with [MASK] in it, "masks": the likeliest words for each.
class PretrainerOutput : public EmbeddingOutput {
 public:
  explicit PretrainerOutput(std::shared_ptr<const CorpusData> data) : data_(std::move(data)) {}

  Metrics measure(const Model& model, const Dataset& rows, const RowProgress&) const override {
    return metrics_of(score(network(model), rows));
  }
  /// With the interval of the accuracy of masked words: texts are resampled.
  Evaluation evaluate(const Model& model, const Dataset& rows, const RowProgress&) const override {
    const PretrainingScore all = score(network(model), rows);
    Evaluation evaluation;
    evaluation.metrics = metrics_of(all);
    evaluation.main = "masked_accuracy";
    evaluation.interval = bootstrap_interval(SummedMetric{all.right_of_rows});
    return evaluation;
  }
  /// How often each piece stands in the training texts.
  NamedTensors fit_baselines(const Dataset& train, const LinearInputs&) const override {
    const BertPretrainerShape shape = data_->shape();
    at::Tensor counts = torch::zeros({shape.vocabulary}, at::kLong);
    for (int64_t first = 0; first < train.size(); first += kRowsOfLoss) {
      const Batch batch = train.batch(rows_from(train, first, kRowsOfLoss));
      const at::Tensor pieces = batch.at("tokens").masked_select(batch.at("tokens.keep"));
      counts = counts + at::bincount(pieces, {}, shape.vocabulary);
    }
    for (const int64_t special : shape.special)
      if (special >= 0) counts[special] = 0;
    return {{kPieceCounts, counts}};
  }
  /// Each masked word is guessed by that alone, with one more of each piece.
  std::vector<BaselineResult> measure_baselines(const NamedTensors& fitted, const Dataset& rows,
                                                const LinearInputs&) const override {
    const at::Tensor counts = fitted.at(kPieceCounts).to(at::kDouble) + 1;
    const at::Tensor nats = -(counts / counts.sum()).log();  // [V]
    const auto usual = counts.argmax().item<int64_t>();
    double sum = 0, right = 0, masked = 0;
    for (int64_t batch = 0; batch * kRowsOfLoss < rows.size(); ++batch) {
      const at::Tensor pieces = hidden_pieces(rows, batch);  // [M]
      sum += nats.index_select(0, pieces).sum().item<double>();
      right += pieces.eq(usual).sum().item<double>();
      masked += double(pieces.numel());
    }
    if (masked == 0) return {};
    return {{"unigram",
             {{"masked_perplexity", std::exp(sum / masked)},
              {"masked_accuracy", right / masked, true}}}};
  }

  void finish(const Model& model, std::span<const Example> examples,
              std::vector<Prediction>& predictions) const override {
    const BertPretrainer& bert = network(model);
    if (!bert.guesses_masks()) return;
    const PieceTokeniser& tokeniser = data_->tokeniser();
    for (size_t i = 0; i < predictions.size(); ++i) {
      const at::Tensor& tokens = examples[i].tensors.at("tokens");
      if (!(tokens == tokeniser.special().mask).any().item<bool>()) continue;
      const MaskGuesses guesses =
          bert.guess_masks(data_->collate(examples.subspan(i, 1)).to(model.device()));
      const int64_t count = std::min(kShownGuesses, tokeniser.size());
      const auto [scores, ids] = guesses.log_probabilities.cpu().topk(count, -1);  // [M, count]
      for (int64_t mask = 0; mask < ids.size(0); ++mask)
        for (int64_t rank = 0; rank < count; ++rank) {
          const int64_t piece = ids[mask][rank].item<int64_t>();
          predictions[i].outputs.push_back({{guesses.places[mask].item<int64_t>(), piece},
                                            scores[mask][rank].item<double>(),
                                            tokeniser.piece(piece)});
        }
    }
  }

  Json answer(const Example& example, const Prediction& prediction) const override {
    Json json = EmbeddingOutput::answer(example, prediction);
    for (const Decoded& guess : prediction.outputs) {
      Json& masks = json["masks"];
      if (masks.empty() || masks.back()["token"] != guess.tokens[0])
        masks.push_back({{"token", guess.tokens[0]}, {"words", Json::array()}});
      masks.back()["words"].push_back(
          {{"word", guess.text}, {"probability", std::exp(guess.log_probability)}});
    }
    return json;
  }

  /// One column for each [MASK], the likeliest word first.
  std::string answer_line(const Example& example, const Prediction& prediction) const override {
    if (prediction.outputs.empty()) return EmbeddingOutput::answer_line(example, prediction);
    std::vector<std::string> columns;
    int64_t place = -1;
    for (const Decoded& guess : prediction.outputs) {
      const std::string word =
          concat(guess.text, " ", format_number(std::exp(guess.log_probability), 3));
      if (guess.tokens[0] == place)
        columns.back() += ", " + word;
      else
        columns.push_back(word);
      place = guess.tokens[0];
    }
    return join(columns, "\t");
  }

  std::string headline(const Example& example, const Prediction& prediction) const override {
    return prediction.outputs.empty() ? EmbeddingOutput::headline(example, prediction)
                                      : answer_line(example, prediction);
  }

 private:
  Metrics metrics_of(const PretrainingScore& all) const {
    const double masked = std::max<double>(1, double(all.masked)),
                 count = std::max<double>(1, double(all.rows));
    const double nats = all.masked_nats / masked;
    Metrics metrics{{"loss", nats + all.next_nats / count},
                    {"masked_perplexity", std::exp(nats)},
                    {"masked_accuracy", double(all.masked_right) / masked, true}};
    if (data_->next_sentence())
      metrics.push_back({"next_accuracy", double(all.next_right) / count, true});
    return metrics;
  }
  /// What the network has to guess in this batch of the rows.
  at::Tensor hidden_pieces(const Dataset& rows, int64_t batch) const {
    return mask_pieces(rows.batch(rows_from(rows, batch * kRowsOfLoss, kRowsOfLoss)),
                       data_->shape(), data_->masked(), masks_of_batch(batch))
        .pieces;
  }
  static Random masks_of_batch(int64_t batch) {
    return Random(kEvaluation).split(static_cast<uint64_t>(batch));
  }
  static const BertPretrainer& network(const Model& model) {
    return dynamic_cast<const BertPretrainer&>(model);
  }
  /// Not over_rows(): which words are masked depends on the batch, and must not on the device.
  static PretrainingScore score(const BertPretrainer& bert, const Dataset& rows) {
    require(bert.guesses_masks(), ErrorKind::Unsupported,
            "this network has no head for masked words, so there is nothing to measure; retrieval "
            "is measured by fovea predict --nearest");
    const int64_t batches = (rows.size() + kRowsOfLoss - 1) / kRowsOfLoss;
    std::vector<PretrainingScore> scores(static_cast<size_t>(batches));
    const auto score_batch = [&](int64_t batch) {
      const std::vector<int64_t> picked = rows_from(rows, batch * kRowsOfLoss, kRowsOfLoss);
      scores[size_t(batch)] =
          bert.score(rows.batch(picked).to(bert.device()), masks_of_batch(batch));
    };
    if (bert.device().is_cpu())
      run_parallel(batches, score_batch);
    else
      for (int64_t batch = 0; batch < batches; ++batch) score_batch(batch);
    PretrainingScore all;
    for (const PretrainingScore& one : scores) all.add(one);  // in this order, whoever was first
    return all;
  }

  std::shared_ptr<const CorpusData> data_;
};

TrainingOptions pretrainer_training() {
  TrainingOptions options;
  options.epochs = 10;
  options.batch_size = 32;
  options.pool_batches = 20;
  options.micro_batches = 2;
  options.optimiser = "adamw";
  options.learning_rate = 2e-3;
  options.schedule = "linear";
  options.warmup_steps = 200;
  options.weight_decay = 0.01;
  options.clip_norm = 1;
  options.usual_steps = 1500;
  return options;
}

}  // namespace

static std::unique_ptr<Task> make_pretrain_task() {
  const auto options = std::make_shared<BertPretrainerOptions>();
  const auto pretrained = std::make_shared<PretrainedBert>();
  const auto data = std::make_shared<CorpusData>(options, pretrained);
  ModelSpec spec = model_spec(
      {"bert"}, options, pretrainer_training(),
      [data](const BertPretrainerOptions& own) {
        return std::make_unique<BertPretrainer>(own, data->shape());
      },
      [] {
        return ExplainTitles{"Where each token looks",
                             {{"attention", "tokens look at each other"}}};
      });
  accept_pretrained(spec, options, data, pretrained);
  spec.copy_pretrained = [pretrained](Model& model) {
    take_encoder(model, *pretrained);
    take_heads(model, *pretrained);
  };
  return std::make_unique<Task>("pretrain", data, std::make_shared<PretrainerOutput>(data),
                                std::vector{std::move(spec)});
}

TaskRow pretrain_task() {
  return {
      "pretrain", "BERT learns from plain text; then texts become embeddings", "token -> token",
      "plain text with blank lines between documents; the text column of a CSV, TSV or JSONL; a "
      "folder of either",
      make_pretrain_task};
}

}  // namespace fovea
