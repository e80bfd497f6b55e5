#include "fovea/tasks/pretrained.h"

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/tasks/asset.h"
#include "fovea/tasks/hugging_face.h"
#include "fovea/tasks/take_sizes.h"
#include "fovea/tensor/torch.h"
#include "fovea/training/checkpoint.h"

namespace fovea {

namespace {

const std::string kEncoder = "encoder.";
const char* const kTokeniser = "tokeniser.json";

/// The options of the encoder among those of the run's model.
BertOptions options_of(const Json& config, const std::string& where) {
  BertOptions options;
  OptionList list;
  options.describe(list);
  const Json model = config.value("model", Json::object());
  Json own = Json::object();
  for (const Option& option : list.options())
    if (model.contains(option.key())) own[option.key()] = model[option.key()];
  list.merge(own, where);
  return options.whole();
}

/// Calibrated probabilities are those of the same network with smaller or larger logits.
void divide_by_temperature(const RunFolder& folder, WeightMap& heads) {
  if (!std::filesystem::exists(folder.manifest())) return;
  const Json manifest = read_json_file(folder.manifest());
  const auto answers = Field::root(manifest, folder.manifest().string()).find("answers");
  const auto temperature = answers ? answers->find("temperature") : std::nullopt;
  if (!temperature) return;
  for (const char* name : {"output.weight", "output.bias"})
    heads.at(name) = heads.at(name) / temperature->deviation();
}

/// Labels or the number that a run of documents answers with.
void read_answers(const RunFolder& folder, PretrainedBert& bert) {
  const Json json = folder.read_asset("documents.json");
  const Field root = Field::root(json, "documents.json");
  bert.labels = root.at("classes").texts();
  const auto target = root.find("target");
  if (!target) return;
  if (target->at("kind").text() == "labels") {
    bert.problem = "multi_label_classification";
    bert.notes.push_back(
        "transformers has no thresholds of labels: they are left out, and 0.5 holds there");
    return;
  }
  bert.problem = "regression";
  bert.labels = {target->at("name").text()};
  const double mean = target->at("mean").finite(), deviation = target->at("deviation").deviation();
  bert.heads.at("output.weight") = bert.heads.at("output.weight") * deviation;
  bert.heads.at("output.bias") = bert.heads.at("output.bias") * deviation + mean;
}

/// What a run of another task than pretrain has on its encoder.
void read_head(const RunFolder& folder, const Json& config, PretrainedBert& bert) {
  const std::string task = config.value("task", "");
  if (bert.heads.count("output.weight") == 0) return;
  if (task == "documents") {
    bert.head = EncoderHead::Class;
    read_answers(folder, bert);
    divide_by_temperature(folder, bert.heads);
    const bool mean = config.at("model").value("pooling", "cls") == "mean";
    if (!mean) return;
    bert.head = EncoderHead::None;
    bert.notes.push_back(
        "model.pooling=mean: transformers has no such classifier, so its head is left out");
  } else if (task == "tag") {
    bert.head = EncoderHead::Tags;
    bert.labels = Field::root(folder.read_asset("tags.json"), "tags.json").at("tags").texts();
  } else if (task == "questions") {
    bert.head = EncoderHead::Answer;
  } else if (task == "choices") {
    bert.head = EncoderHead::Choice;
    divide_by_temperature(folder, bert.heads);
  }
}

PretrainedBert read_run(const std::filesystem::path& path) {
  const RunFolder folder(path);
  const Json config = folder.read_config();
  folder.check_assets();
  PretrainedBert bert;
  for (const auto& [name, tensor] : read_weights(folder)) {
    if (name.starts_with(kEncoder)) bert.encoder[name.substr(kEncoder.size())] = tensor;
    for (const char* head : {"masked.", "next.", "output."})
      if (name.starts_with(head)) bert.heads[name] = tensor;
  }
  const bool has_encoder =
      bert.encoder.count("tokens.weight") > 0 && std::filesystem::exists(folder.asset(kTokeniser));
  require(
      has_encoder, ErrorKind::InvalidArgument, path.string(), ": this run of the task ",
      config.value("task", "?"),
      " has no BERT encoder; runs of pretrain, questions and choices have one, of documents and "
      "tag those with model.name=bert, and Hugging Face folders");
  bert.options = options_of(config, folder.config().string());
  bert.tokeniser = load_pieces(folder);
  read_head(folder, config, bert);
  return bert;
}

}  // namespace

Splits PretrainedBert::noted(Splits splits) const {
  splits.notes.insert(splits.notes.begin(), notes.begin(), notes.end());
  return splits;
}

void PretrainedBert::require_data(const DataSource& source) const {
  require(!answers || !source.path.empty(), ErrorKind::InvalidArgument,
          "a Hugging Face folder has no data of its own; name it: fovea evaluate FOLDER DATA");
}

PretrainedBert read_pretrained(const std::filesystem::path& run_or_folder) {
  return is_hugging_face(run_or_folder) ? read_hugging_face(run_or_folder)
                                        : read_run(run_or_folder);
}

TrainingOptions bert_training() {
  TrainingOptions options;
  options.batch_size = 32;
  options.pool_batches = 50;
  options.micro_batches = 2;
  options.optimiser = "adamw";
  options.learning_rate = 1e-3;
  options.weight_decay = 0.01;
  options.schedule = "linear";
  options.warmup_steps = 100;
  options.clip_norm = 1;
  options.most_epochs = 60;
  return options;
}

void take_sizes(BertOptions& options, const PretrainedBert& start) {
  const BertOptions& found = start.options;
  SizesOfStart sizes(options, found);
  if (options.size != BertOptions().size) {  // chosen by name: all its numbers are asked for
    const BertOptions named = options.whole();
    options.layers = named.layers, options.hidden = named.hidden;
  }
  sizes.take("layers", &BertOptions::layers);
  sizes.take("hidden", &BertOptions::hidden);
  sizes.take("heads", &BertOptions::heads);
  sizes.take("feed_forward", &BertOptions::feed_forward);
  sizes.take("maximum_length", &BertOptions::maximum_length);
  sizes.take("segments", &BertOptions::segments);
  sizes.take("first_position", &BertOptions::first_position);
  sizes.take("embedding", &BertOptions::embedding);
  sizes.check("encoder");
  sizes.take_pruned_heads();
  options.pooler_activation = found.pooler_activation;
  options.epsilon = found.epsilon;
}

void take_encoder(Model& model, const PretrainedBert& start) {
  torch::NoGradGuard no_gradients;
  std::map<std::string, at::Tensor> own = state_of(model);
  for (const auto& [name, tensor] : start.encoder) {
    const auto found = own.find(kEncoder + name);
    require(found != own.end() && found->second.sizes() == tensor.sizes(), ErrorKind::Internal,
            "the encoder's '", name, "' does not fit this model");
    found->second.copy_(tensor);
  }
}

void take_heads(Model& model, const PretrainedBert& start) {
  torch::NoGradGuard no_gradients;
  std::map<std::string, at::Tensor> own = state_of(model);
  for (const auto& [name, tensor] : start.heads)
    if (const auto found = own.find(name);
        found != own.end() && found->second.sizes() == tensor.sizes())
      found->second.copy_(tensor);
}

void accept_pretrained(ModelSpec& spec, std::shared_ptr<BertOptions> encoder,
                       std::shared_ptr<PretrainedBert> pretrained, EncoderHead head,
                       std::function<void(const PretrainedBert&)> open) {
  spec.load_pretrained = [encoder, pretrained](const std::filesystem::path& run_or_folder) {
    *pretrained = read_pretrained(run_or_folder);
    take_sizes(*encoder, *pretrained);
    if (!pretrained->labels.empty())
      pretrained->notes.push_back(concat("its head for ", pretrained->labels.size(),
                                         " labels is not used; training makes a fresh one"));
  };
  spec.copy_pretrained = [pretrained, head](Model& model) {
    take_encoder(model, *pretrained);
    const bool goes_on = head != EncoderHead::None && head == pretrained->head;
    if (pretrained->answers || goes_on) take_heads(model, *pretrained);
  };
  spec.open_pretrained = [=](const std::filesystem::path& folder) {
    *pretrained = read_hugging_face(folder);
    pretrained->answers = true;
    take_sizes(*encoder, *pretrained);
    open(*pretrained);
    return pretrained->notes;
  };
}

void save_pieces(const RunFolder& folder, const PieceTokeniser& tokeniser) {
  folder.write_asset(kTokeniser, tokeniser.to_json());
}

std::shared_ptr<const PieceTokeniser> load_pieces(const RunFolder& folder) {
  return read_asset_as<PieceTokeniser>(folder, kTokeniser);
}

}  // namespace fovea
