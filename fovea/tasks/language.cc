// The task `language`: which token comes next, learned from plain text; then it writes.
// Decoder-only Transformers in the layouts of GPT-2 and of Llama.
#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/data/language/load.h"
#include "fovea/models/language_model.h"
#include "fovea/tasks/asset.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tasks/language_adapter.h"
#include "fovea/tasks/language_folder.h"
#include "fovea/tasks/outputs/continuation.h"
#include "fovea/tasks/symbols.h"
#include "fovea/tasks/text_input.h"
#include "fovea/tensor/torch.h"
#include "fovea/training/checkpoint.h"

namespace fovea {

namespace {

constexpr int64_t kLargestSize = 1 << 24;  // of what a run's assets say

class LanguageData : public DataKind {
 public:
  LanguageData(std::shared_ptr<LanguageModelOptions> model, std::shared_ptr<LanguageCoding> coding,
               std::shared_ptr<const ContinuationOptions> decoding,
               std::shared_ptr<PretrainedLanguage> pretrained)
      : model_(std::move(model)),
        coding_(std::move(coding)),
        decoding_(std::move(decoding)),
        pretrained_(std::move(pretrained)) {}

  /// What was read decides. `opens`: it is answered with as it is.
  void take_pretrained(bool opens) {
    opened_ = opens;
    coding_->tokeniser = pretrained_->tokeniser;
    positions_ = pretrained_->options.maximum_length;
    vocabulary_ = pretrained_->vocabulary;
    ends_ = pretrained_->ends;
  }

  std::unique_ptr<Model> make_model(LanguageModelOptions options) const {
    options.maximum_length = positions_;
    LanguageShape shape{vocabulary_, ends_.empty() ? -1 : ends_[0]};
    if (const int64_t unknown = coding_->tokeniser->id("<unk>"); unknown >= 0)
      shape.forbidden.push_back(unknown);
    for (int64_t id = coding_->tokeniser->size(); id < vocabulary_; ++id)
      shape.forbidden.push_back(id);  // rows that are no token
    shape.ends = [ends = ends_, stops = ends_with_any(coding_->tokeniser, decoding_->stop)](
                     std::span<const int64_t> written) {
      return std::ranges::count(ends, written.back()) > 0 || (stops && stops(written));
    };
    const bool adapts = options.lora_rank > 0;
    if (!opened_ && !adapts)
      return std::make_unique<LanguageModel>(options, decoding_->search, shape);
    require(!pretrained_->weights.empty(), ErrorKind::InvalidArgument,
            "model.lora_rank=", options.lora_rank,
            ": adapters learn beside a trained network; name it with --from");
    if (trains_)
      for (auto& [name, tensor] : pretrained_->weights) tensor = tensor.to(at::kFloat);
    const WeightsLater nothing_yet;
    auto model = std::make_unique<LanguageModel>(options, decoding_->search, shape);
    model->adopt(pretrained_->weights, pretrained_->path.string());
    return model;
  }

  /// The weights that were read into a fresh network, where it has not adopted them.
  void copy_pretrained(Model& model) const {
    const bool has_own = opened_ || model_->lora_rank == 0;
    if (has_own && !pretrained_->weights.empty()) take_weights(model, *pretrained_);
  }

  /// Adapters as PEFT reads them.
  void save_adapters(const Model& model, const RunFolder& folder) const {
    if (model_->lora_rank > 0)
      write_adapter_weights(folder.path(), model_->whole(), state_of(model));
  }

  void describe(OptionList& list) override { options_.describe(list); }
  bool has_folds() const override { return false; }  // a text is cut in two
  Splits load(const DataSource& source, uint64_t) override {
    Splits splits = load_language(source, options_, model_->maximum_length, *coding_);
    trains_ = true;
    if (positions_ == 0) {
      positions_ = coding_->window;
      vocabulary_ = coding_->tokeniser->size();
      if (const int64_t end = coding_->end(); end >= 0) ends_ = {end};
    }
    splits.notes.insert(splits.notes.begin(), pretrained_->notes.begin(), pretrained_->notes.end());
    return splits;
  }
  void write(const std::filesystem::path& folder) const override {
    write_language_data(folder, options_.generator);
  }
  std::vector<SymbolTable> symbols() const override {
    return {symbols_of("tokens", coding_->tokeniser->size(),
                       [&](int64_t id) { return coding_->tokeniser->token(id); })};
  }
  void save(const RunFolder& folder) const override {
    folder.write_asset(kTokeniserAsset, coding_->tokeniser->to_json());
    folder.write_asset(kLanguageAsset, {{"window", coding_->window},
                                        {"positions", positions_},
                                        {"vocabulary", vocabulary_},
                                        {"ends", ends_}});
    if (model_->lora_rank > 0)
      write_adapter_config(folder.path(), model_->whole(), pretrained_->path);
  }
  void restore(const RunFolder& folder) override {
    coding_->tokeniser = std::make_shared<const HuggingFaceTokeniser>(
        read_asset_as<HuggingFaceTokeniser>(folder, kTokeniserAsset));
    const Json json = folder.read_asset(kLanguageAsset);
    const Field root = Field::root(json, folder.asset(kLanguageAsset).string());
    positions_ = root.at("positions").integer(2, kLargestSize);
    coding_->window = root.at("window").integer(1, positions_);
    vocabulary_ = root.at("vocabulary").integer(coding_->tokeniser->size(), kLargestSize);
    ends_.clear();
    root.at("ends").each(
        {}, [&](const Field& one) { ends_.push_back(one.integer(0, vocabulary_ - 1)); });
    if (model_->lora_rank > 0) *pretrained_ = read_base(folder.path(), {.as_stored = true});
  }
  std::map<std::string, int64_t> sizes() const override {
    return {{"vocabulary", vocabulary_}, {"positions", positions_}};
  }

  Example parse(const std::string& line) const override {
    const TextInput input = read_text_input(line);
    require(!input.second, ErrorKind::BadData,
            "input: a prompt is one text, expected {\"text\": \"a text\"}");
    return prompt_example(*coding_->tokeniser, input.text);
  }
  bool takes_plain_text() const override { return true; }
  Json input_schema() const override { return {{"type", "string"}}; }
  Batch collate(std::span<const Example> examples) const override {
    return collate_prompts(examples);
  }
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override {
    if (axis != "tokens") return DataKind::erase(example, axis, units);
    return erase_places(example, units);
  }

 private:
  std::shared_ptr<LanguageModelOptions> model_;
  std::shared_ptr<LanguageCoding> coding_;
  std::shared_ptr<const ContinuationOptions> decoding_;
  std::shared_ptr<PretrainedLanguage> pretrained_;
  bool opened_ = false;  // another's folder, to answer with
  bool trains_ = false;
  LanguageDataOptions options_;
  int64_t positions_ = 0;      // of the network; 0: not known yet
  int64_t vocabulary_ = 0;     // rows of its embedding
  std::vector<int64_t> ends_;  // tokens after which nothing comes
};

TrainingOptions language_training() {
  TrainingOptions options;
  options.epochs = 10;
  options.batch_size = 16;
  options.micro_batches = 2;
  options.optimiser = "adamw";
  options.learning_rate = 1e-3;
  options.minimum_rate = 1e-4;
  options.schedule = "cosine";
  options.warmup_steps = 100;
  options.beta2 = 0.99;
  options.weight_decay = 0.1;
  options.clip_norm = 1;
  options.usual_steps = 2000;
  return options;
}

}  // namespace

static std::unique_ptr<Task> make_language_task() {
  const auto options = std::make_shared<LanguageModelOptions>();
  const auto coding = std::make_shared<LanguageCoding>();
  const auto decoding = std::make_shared<ContinuationOptions>();
  const auto pretrained = std::make_shared<PretrainedLanguage>();
  const auto data = std::make_shared<LanguageData>(options, coding, decoding, pretrained);
  ModelSpec spec = model_spec(
      {"gpt2", "llama"}, options, language_training(),
      [data](const LanguageModelOptions& own) { return data->make_model(own); },
      [] {
        return ExplainTitles{"Where each token looks back before the next one is written",
                             {{LanguageModel::kMap, "tokens look back"}}};
      });
  spec.fine_tuning = [] {
    TrainingOptions training = language_training();
    training.epochs = 3;
    training.batch_size = 8;
    training.learning_rate = 5e-5;
    training.minimum_rate = 0;
    training.usual_steps = 500;
    return training;
  };
  spec.load_pretrained = [=](const std::filesystem::path& run_or_folder) {
    *pretrained = read_language(run_or_folder);
    take_sizes(*options, *pretrained);
    data->take_pretrained(/*opens=*/false);
  };
  spec.open_pretrained = [=](const std::filesystem::path& folder) {
    *pretrained = read_language(folder, {.as_stored = true, .merges = false});
    take_sizes(*options, *pretrained);
    data->take_pretrained(/*opens=*/true);
    return pretrained->notes;
  };
  spec.copy_pretrained = [data](Model& model) { data->copy_pretrained(model); };
  spec.save_weights = [data](const Model& model, const RunFolder& folder) {
    data->save_adapters(model, folder);
  };
  spec.write_hugging_face = [](const std::filesystem::path& run,
                               const std::filesystem::path& folder) {
    const PretrainedLanguage model = read_language(run);
    write_language(folder, model);
    return model.notes;
  };
  spec.write_adapter = [](const std::filesystem::path& run, const std::filesystem::path& folder) {
    const PretrainedLanguage model = read_language(run, {.merges = false});
    write_adapter(folder, model);
    return model.notes;
  };
  return std::make_unique<Task>("language", data,
                                std::make_shared<ContinuationOutput>(coding, decoding),
                                std::vector{std::move(spec)});
}

TaskRow language_task() {
  return {
      "language", "which token comes next: learns from plain text, then writes",
      "token -> tokens before it",
      "plain text (.txt, perhaps .gz); a folder of texts; the text column of a CSV, TSV or JSONL",
      make_language_task};
}

}  // namespace fovea
