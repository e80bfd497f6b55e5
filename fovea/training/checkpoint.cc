#include "fovea/training/checkpoint.h"

#include "fovea/core/error.h"
#include "fovea/core/safetensors.h"
#include "fovea/core/torch.h"

namespace fovea {

Json TrainerState::to_json() const {
  Json json{{"epoch", epoch},
            {"position", position},
            {"loss_sum", loss_sum},
            {"loss_units", loss_units},
            {"seconds", seconds},
            {"best_epoch", best_epoch},
            {"stopped_early", stopped_early},
            {"monitors", Json::object()}};
  for (const auto& [name, monitor] : monitors)
    json["monitors"][name] = {{"best", monitor.best},
                              {"has_best", monitor.has_best},
                              {"epochs_without_gain", monitor.epochs_without_gain}};
  return json;
}

TrainerState TrainerState::from_json(const Json& json) {
  TrainerState state{json.at("epoch"),
                     json.at("position"),
                     json.at("loss_sum"),
                     json.at("loss_units"),
                     json.at("seconds"),
                     json.at("best_epoch"),
                     {},
                     json.at("stopped_early"),
                     {}};
  for (const auto& [name, monitor] : json.at("monitors").items())
    state.monitors[name] = {monitor.at("best"), monitor.at("has_best"),
                            monitor.at("epochs_without_gain")};
  return state;
}

std::map<std::string, at::Tensor> state_of(const Model& model) {
  std::map<std::string, at::Tensor> tensors;
  for (const auto& item : model.named_parameters()) tensors[item.key()] = item.value().detach();
  for (const auto& item : model.named_buffers()) tensors[item.key()] = item.value().detach();
  return tensors;
}

void load_state(Model& model, const std::map<std::string, at::Tensor>& tensors,
                const std::string& where) {
  torch::NoGradGuard no_gradients;
  const auto own = state_of(model);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : own) names.push_back(name);
  for (const auto& [name, tensor] : tensors)
    require(own.count(name) > 0, ErrorKind::BadData, where, ": holds a tensor '", name,
            "' that the model does not have; it has: ", join(names));
  for (const auto& [name, tensor] : own) {
    const auto found = tensors.find(name);
    require(found != tensors.end(), ErrorKind::BadData, where, ": tensor '", name, "' is missing");
    require(found->second.sizes() == tensor.sizes(), ErrorKind::BadData, where, ": tensor '", name,
            "' is ", found->second.sizes(), ", the model needs ", tensor.sizes());
    require(found->second.isfinite().all().item<bool>(), ErrorKind::BadData, where, ": tensor '",
            name, "' holds NaN or infinity");
    tensor.copy_(found->second);
  }
}

namespace {

/// Of the weights after one of the last epochs, 0 the oldest.
std::string recent_prefix(size_t index) {
  return concat("recent.", index, ".");
}

std::string checksum_of(const std::map<std::string, at::Tensor>& tensors) {
  ContentHash hash;
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor bytes = tensor.detach().cpu().contiguous();
    hash.add(name);
    hash.add(bytes.data_ptr(), static_cast<size_t>(bytes.numel() * bytes.element_size()));
  }
  return hash.text();
}

SafetensorsFile read_checked(const std::filesystem::path& path) {
  SafetensorsFile file = read_safetensors(path);
  const auto checksum = file.metadata.find("checksum");
  require(checksum == file.metadata.end() || checksum->second == checksum_of(file.tensors),
          ErrorKind::BadData, path.string(),
          ": the weights were damaged (their checksum does not fit); take them from a backup or "
          "train again");
  return file;
}

}  // namespace

void write_weights(const std::filesystem::path& path,
                   const std::map<std::string, at::Tensor>& tensors) {
  write_safetensors(path, tensors, {{"format", "pt"}, {"checksum", checksum_of(tensors)}});
}

std::map<std::string, at::Tensor> read_checked_weights(const std::filesystem::path& path) {
  return read_checked(path).tensors;
}

void write_checkpoint(const RunFolder& folder, const Model& model, Optimiser& optimiser,
                      const TrainerState& state) {
  std::map<std::string, at::Tensor> tensors;
  for (const auto& [name, tensor] : state_of(model)) tensors["model." + name] = tensor;
  for (size_t i = 0; i < state.recent.size(); ++i)
    for (const auto& [name, tensor] : state.recent[i]) tensors[recent_prefix(i) + name] = tensor;
  tensors["optimiser.first"] = optimiser.first();
  tensors["optimiser.second"] = optimiser.second();
  Json trainer = state.to_json();
  trainer["steps"] = optimiser.steps();
  trainer["schedule_cuts"] = optimiser.schedule().cuts;
  trainer["schedule_epochs_without_gain"] = optimiser.schedule().epochs_without_gain;
  write_safetensors(folder.last(), tensors,
                    {{"format", "fovea-checkpoint"},
                     {"trainer", trainer.dump()},
                     {"checksum", checksum_of(tensors)}});
  folder.begun();
}

TrainerState read_checkpoint(const RunFolder& folder, Model& model, Optimiser& optimiser) {
  const std::string where = folder.last().string();
  const SafetensorsFile file = read_checked(folder.last());
  require(file.metadata.count("trainer") && file.tensors.count("optimiser.first") &&
              file.tensors.count("optimiser.second"),
          ErrorKind::BadData, where, ": not a checkpoint of fovea");
  std::map<std::string, at::Tensor> weights;
  for (const auto& [name, tensor] : file.tensors)
    if (name.rfind("model.", 0) == 0) weights[name.substr(6)] = tensor;
  load_state(model, weights, where);
  const Json trainer = parse_json(file.metadata.at("trainer"), where);
  try {
    optimiser.restore(trainer.at("steps"), file.tensors.at("optimiser.first"),
                      file.tensors.at("optimiser.second"));
    optimiser.schedule().cuts = trainer.at("schedule_cuts");
    optimiser.schedule().epochs_without_gain = trainer.at("schedule_epochs_without_gain");
    TrainerState state = TrainerState::from_json(trainer);
    for (size_t i = 0;; ++i) {
      std::map<std::string, at::Tensor> weights;
      const std::string prefix = recent_prefix(i);
      for (const auto& [name, tensor] : file.tensors)
        if (name.rfind(prefix, 0) == 0) weights[name.substr(prefix.size())] = tensor;
      if (weights.empty()) return state;
      state.recent.push_back(std::move(weights));
    }
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::BadData, where, ": the trainer's state is damaged (", error.what(), ")");
  }
}

}  // namespace fovea
