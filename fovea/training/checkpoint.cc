#include "fovea/training/checkpoint.h"

#include <limits>

#include "fovea/base/error.h"
#include "fovea/base/json_field.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"

namespace fovea {

Json TrainerState::to_json() const {
  Json json{{"epoch", epoch},
            {"position", position},
            {"reports", reports},
            {"loss_sum", loss_sum},
            {"loss_units", loss_units},
            {"seconds", seconds},
            {"first_loss", first_loss},
            {"best_epoch", best_epoch},
            {"restarts", restarts},
            {"stopped_early", stopped_early},
            {"monitors", Json::object()}};
  for (const auto& [name, monitor] : monitors)
    json["monitors"][name] = {{"best", monitor.best},
                              {"has_best", monitor.has_best},
                              {"epochs_without_gain", monitor.epochs_without_gain}};
  return json;
}

namespace {

constexpr int64_t kMostEpochs = 1'000'000'000, kRestarts = 1000;
constexpr int64_t kMostSteps = int64_t{1} << 53;  // still exact as a double

Field state_field(const Json& json, const std::string& where) {
  return {json, where + ": the trainer's state is damaged: "};
}

double amount(const Field& field) {
  const double value = field.finite();
  field.expect(value >= 0, "a number that is not negative");
  return value;
}

}  // namespace

TrainerState TrainerState::from_json(const Json& json, const std::string& where) {
  const Field root = state_field(json, where);
  TrainerState state;
  state.epoch = root.at("epoch").integer(0, kMostEpochs);
  state.position = root.at("position").integer(0, INT64_MAX);
  // Older versions reported every epoch, and ended at a loss that was no number.
  state.reports = state.epoch;
  if (const auto reports = root.find("reports")) state.reports = reports->integer(0, state.epoch);
  if (const auto first = root.find("first_loss")) state.first_loss = first->finite();
  if (const auto restarts = root.find("restarts")) state.restarts = restarts->integer(0, kRestarts);
  state.loss_sum = root.at("loss_sum").finite();
  state.loss_units = amount(root.at("loss_units"));
  state.seconds = amount(root.at("seconds"));
  state.best_epoch = root.at("best_epoch").integer(0, state.epoch);
  state.stopped_early = root.at("stopped_early").mark();
  root.at("monitors").each_member([&](const std::string& name, const Field& monitor) {
    monitor.expect(monitor.value().contains("best"), "a monitor with its best value");
    const auto best = monitor.find("best");  // JSON has no NaN: null stands for it
    state.monitors[name] = {best ? best->number() : std::numeric_limits<double>::quiet_NaN(),
                            monitor.at("has_best").mark(),
                            monitor.at("epochs_without_gain").integer(0, state.epoch)};
  });
  return state;
}

std::map<std::string, at::Tensor> state_of(const Model& model) {
  std::map<std::string, at::Tensor> tensors;
  for (const auto& item : model.named_parameters())
    if (model.saves(item.key())) tensors[item.key()] = item.value().detach();
  for (const auto& item : model.named_buffers()) tensors[item.key()] = item.value().detach();
  return tensors;
}

namespace {

void check_state(const Model& model, const std::map<std::string, at::Tensor>& tensors,
                 const std::string& where) {
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
  }
}

using Weights = std::map<std::string, at::Tensor>;

const std::string kModel = "model.", kBest = "best.", kAverage = "average";

/// Of the weights after one of the last epochs, 0 the oldest.
std::string recent_prefix(size_t index) {
  return concat("recent.", index, ".");
}

void add_weights(Weights& all, const std::string& prefix, const Weights& weights) {
  for (const auto& [name, tensor] : weights) all[prefix + name] = tensor;
}

/// Those with this prefix, without it. Their own copies: nothing keeps the whole file in memory.
Weights take_weights(const Weights& all, const std::string& prefix) {
  Weights weights;
  for (auto item = all.lower_bound(prefix); item != all.end() && item->first.starts_with(prefix);
       ++item)
    weights[item->first.substr(prefix.size())] = item->second.clone();
  return weights;
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

/// The state is bound to the tensors it was written with.
std::string checksum_of(const std::string& trainer, const std::string& checksum_of_tensors) {
  ContentHash hash;
  hash.add(checksum_of_tensors);
  hash.add(trainer);
  return hash.text();
}

}  // namespace

void load_state(Model& model, const std::map<std::string, at::Tensor>& tensors,
                const std::string& where) {
  torch::NoGradGuard no_gradients;
  check_state(model, tensors, where);
  for (const auto& [name, tensor] : state_of(model)) tensor.copy_(tensors.at(name));
}

void write_weights(const std::filesystem::path& path,
                   const std::map<std::string, at::Tensor>& tensors) {
  write_safetensors(path, tensors, {{"format", "pt"}, {"checksum", checksum_of(tensors)}});
}

std::map<std::string, at::Tensor> read_checked_weights(const std::filesystem::path& path) {
  return read_checked(path).tensors;
}

std::map<std::string, at::Tensor> read_weights(const RunFolder& folder) {
  require(std::filesystem::exists(folder.model()), ErrorKind::NotFound, folder.path().string(),
          ": the run is incomplete, model.safetensors is missing");
  return read_checked_weights(folder.model());
}

void write_checkpoint(const RunFolder& folder, const Model& model, Optimiser& optimiser,
                      const TrainerState& state) {
  Weights tensors;
  add_weights(tensors, kModel, state_of(model));
  add_weights(tensors, kBest, state.best);
  for (size_t i = 0; i < state.recent.size(); ++i)
    add_weights(tensors, recent_prefix(i), state.recent[i]);
  tensors["optimiser.first"] = optimiser.first();
  tensors["optimiser.second"] = optimiser.second();
  if (state.average.defined()) tensors[kAverage] = state.average;
  Json json = state.to_json();
  json["steps"] = optimiser.steps();
  json["restarted_at"] = optimiser.restarted_at();
  json["schedule_scale"] = optimiser.schedule().scale;
  json["schedule_cuts"] = optimiser.schedule().cuts;
  json["schedule_epochs_without_gain"] = optimiser.schedule().epochs_without_gain;
  const std::string trainer = json.dump(), checksum = checksum_of(tensors);
  write_safetensors(folder.last(), tensors,
                    {{"format", "fovea-checkpoint"},
                     {"trainer", trainer},
                     {"checksum", checksum},
                     {"trainer_checksum", checksum_of(trainer, checksum)}});
  folder.begun();
}

TrainerState read_checkpoint(const RunFolder& folder, Model& model, Optimiser& optimiser) {
  const std::string where = folder.last().string();
  const SafetensorsFile file = read_checked(folder.last());
  const auto text = [&](const char* key) {
    const auto found = file.metadata.find(key);
    return found == file.metadata.end() ? std::string() : found->second;
  };
  require(!text("trainer").empty() && file.tensors.count("optimiser.first") &&
              file.tensors.count("optimiser.second"),
          ErrorKind::BadData, where, ": not a checkpoint of fovea");
  // Runs of older versions have none.
  require(text("trainer_checksum").empty() ||
              text("trainer_checksum") == checksum_of(text("trainer"), text("checksum")),
          ErrorKind::BadData, where,
          ": the trainer's state was damaged (its checksum does not fit); take the file from a "
          "backup or train again");
  const Json trainer = parse_json(text("trainer"), where + ": the trainer's state");
  TrainerState state = TrainerState::from_json(trainer, where);
  const Field root = state_field(trainer, where);
  const int64_t steps = root.at("steps").integer(0, kMostSteps),
                cuts = root.at("schedule_cuts").integer(0, state.epoch),
                stalled = root.at("schedule_epochs_without_gain").integer(0, state.epoch);
  for (size_t i = 0;; ++i) {
    Weights weights = take_weights(file.tensors, recent_prefix(i));
    if (weights.empty()) break;
    check_state(model, weights, where);
    state.recent.push_back(std::move(weights));
  }
  if (const auto average = file.tensors.find(kAverage); average != file.tensors.end()) {
    require(average->second.sizes() == optimiser.flat().sizes(), ErrorKind::BadData, where,
            ": the average of the weights is ", average->second.sizes(), ", the model needs ",
            optimiser.flat().sizes());
    state.average = average->second.to(optimiser.flat().device(), /*non_blocking=*/false,
                                       /*copy=*/true);
  }
  state.best = take_weights(file.tensors, kBest);
  if (!state.best.empty()) check_state(model, state.best, where);
  load_state(model, take_weights(file.tensors, kModel), where);
  optimiser.restore(steps, file.tensors.at("optimiser.first"), file.tensors.at("optimiser.second"));
  if (const auto at = root.find("restarted_at")) optimiser.set_restarted_at(at->integer(0, steps));
  if (const auto scale = root.find("schedule_scale")) optimiser.schedule().scale = amount(*scale);
  optimiser.schedule().cuts = cuts;
  optimiser.schedule().epochs_without_gain = stalled;
  return state;
}

}  // namespace fovea
