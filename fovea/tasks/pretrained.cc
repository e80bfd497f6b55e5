#include "fovea/tasks/pretrained.h"

#include "fovea/base/error.h"
#include "fovea/tasks/hugging_face.h"
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

PretrainedBert read_run(const std::filesystem::path& path) {
  const RunFolder folder(path);
  const Json config = folder.read_config();
  folder.check_assets();
  PretrainedBert bert;
  require(std::filesystem::exists(folder.model()), ErrorKind::NotFound, path.string(),
          ": the run is incomplete, model.safetensors is missing");
  for (const auto& [name, tensor] : read_checked_weights(folder.model())) {
    if (name.starts_with(kEncoder)) bert.encoder[name.substr(kEncoder.size())] = tensor;
    if (name.starts_with("masked.") || name.starts_with("next.")) bert.heads[name] = tensor;
  }
  const bool has_encoder =
      bert.encoder.count("tokens.weight") > 0 && std::filesystem::exists(folder.asset(kTokeniser));
  require(has_encoder, ErrorKind::InvalidArgument, path.string(), ": this run of the task ",
          config.value("task", "?"),
          " has no BERT encoder; runs of pretrain have one, of documents and tag those with "
          "model.name=bert, and Hugging Face folders");
  bert.options = options_of(config, folder.config().string());
  bert.tokeniser = load_wordpiece(folder);
  return bert;
}

}  // namespace

Splits PretrainedBert::noted(Splits splits) const {
  splits.notes.insert(splits.notes.begin(), notes.begin(), notes.end());
  return splits;
}

PretrainedBert read_pretrained(const std::filesystem::path& run_or_folder) {
  return is_hugging_face(run_or_folder) ? read_hugging_face(run_or_folder)
                                        : read_run(run_or_folder);
}

void take_sizes(BertOptions& options, const PretrainedBert& start) {
  const BertOptions defaults, &found = start.options;
  std::vector<std::string> others;
  const auto take = [&](const char* name, int64_t BertOptions::*field) {
    const int64_t asked = options.*field;
    if (asked != defaults.*field && asked != found.*field)
      others.push_back(concat("model.", name, "=", asked, " (", found.*field, " there)"));
    options.*field = found.*field;
  };
  if (options.size != defaults.size) {  // chosen by name: all its numbers are asked for
    const BertOptions named = options.whole();
    options.layers = named.layers, options.hidden = named.hidden;
  }
  take("layers", &BertOptions::layers);
  take("hidden", &BertOptions::hidden);
  take("heads", &BertOptions::heads);
  take("feed_forward", &BertOptions::feed_forward);
  take("maximum_length", &BertOptions::maximum_length);
  take("segments", &BertOptions::segments);
  require(others.empty(), ErrorKind::InvalidArgument,
          "--from brings the encoder's sizes with it; leave out ", join(others));
  require(options.pruned_heads.empty() || options.pruned_heads == found.pruned_heads,
          ErrorKind::InvalidArgument,
          "--from brings the encoder's heads with it; leave out model.pruned_heads=",
          options.pruned_heads);
  options.pruned_heads = found.pruned_heads;
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

void accept_pretrained(ModelSpec& spec, std::shared_ptr<BertOptions> encoder,
                       std::shared_ptr<PretrainedBert> pretrained) {
  spec.load_pretrained = [encoder, pretrained](const std::filesystem::path& run_or_folder) {
    *pretrained = read_pretrained(run_or_folder);
    take_sizes(*encoder, *pretrained);
  };
  spec.copy_pretrained = [pretrained](Model& model) { take_encoder(model, *pretrained); };
}

void save_wordpiece(const RunFolder& folder, const WordPiece& tokeniser) {
  folder.write_asset(kTokeniser, tokeniser.to_json());
}

std::shared_ptr<const WordPiece> load_wordpiece(const RunFolder& folder) {
  return std::make_shared<const WordPiece>(
      WordPiece::from_json(folder.read_asset(kTokeniser), folder.asset(kTokeniser).string()));
}

}  // namespace fovea
