#include "fovea/training/checkpoint.h"

#include <cmath>
#include <limits>

#include "fovea/base/error.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"

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

namespace {

constexpr int64_t kMostEpochs = 1'000'000'000;
constexpr int64_t kMostSteps = int64_t{1} << 53;  // still exact as a double

/// Numbers of a trainer's state, each within what a training can reach.
class StateReader {
 public:
  StateReader(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    check(json.is_object(), "is no JSON object");
  }

  int64_t whole(const char* key, int64_t most) const {
    const Json& value = at(key);
    check(value.is_number_integer() &&
              (!value.is_number_unsigned() || value.get<uint64_t>() <= static_cast<uint64_t>(most)),
          key, " is ", value.dump(), ", expected a whole number from 0 to ", most);
    const auto number = value.get<int64_t>();
    check(number >= 0 && number <= most, key, " is ", number,
          ", expected a whole number from 0 to ", most);
    return number;
  }

  /// JSON has no NaN: null stands for it.
  double number(const char* key) const {
    const Json& value = at(key);
    if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
    check(value.is_number(), key, " is ", value.dump(), ", expected a number");
    return value.get<double>();
  }

  double amount(const char* key) const {
    const double value = number(key);
    check(std::isfinite(value) && value >= 0, key, " is ", value,
          ", expected a number that is not negative");
    return value;
  }

  bool flag(const char* key) const {
    check(at(key).is_boolean(), key, " is ", at(key).dump(), ", expected true or false");
    return at(key).get<bool>();
  }

  const Json& at(const char* key) const {
    check(json_.contains(key), key, " is missing");
    return json_[key];
  }

  template <class... Pieces>
  void check(bool condition, const Pieces&... pieces) const {
    require(condition, ErrorKind::BadData, where_, ": the trainer's state is damaged: ", pieces...);
  }

 private:
  const Json& json_;
  std::string where_;
};

}  // namespace

TrainerState TrainerState::from_json(const Json& json, const std::string& where) {
  const StateReader reader(json, where);
  TrainerState state;
  state.epoch = reader.whole("epoch", kMostEpochs);
  state.position = reader.whole("position", std::numeric_limits<int64_t>::max());
  state.loss_sum = reader.number("loss_sum");
  reader.check(std::isfinite(state.loss_sum), "loss_sum is no number");
  state.loss_units = reader.amount("loss_units");
  state.seconds = reader.amount("seconds");
  state.best_epoch = reader.whole("best_epoch", state.epoch);
  state.stopped_early = reader.flag("stopped_early");
  const Json& monitors = reader.at("monitors");
  reader.check(monitors.is_object(), "monitors is no JSON object");
  for (const auto& [name, monitor] : monitors.items()) {
    const StateReader own(monitor, concat(where, ": monitor '", printable(name), "'"));
    state.monitors[name] = {own.number("best"), own.flag("has_best"),
                            own.whole("epochs_without_gain", state.epoch)};
  }
  return state;
}

std::map<std::string, at::Tensor> state_of(const Model& model) {
  std::map<std::string, at::Tensor> tensors;
  for (const auto& item : model.named_parameters()) tensors[item.key()] = item.value().detach();
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

const std::string kModel = "model.", kBest = "best.";

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

void write_checkpoint(const RunFolder& folder, const Model& model, Optimiser& optimiser,
                      const TrainerState& state) {
  Weights tensors;
  add_weights(tensors, kModel, state_of(model));
  add_weights(tensors, kBest, state.best);
  for (size_t i = 0; i < state.recent.size(); ++i)
    add_weights(tensors, recent_prefix(i), state.recent[i]);
  tensors["optimiser.first"] = optimiser.first();
  tensors["optimiser.second"] = optimiser.second();
  Json json = state.to_json();
  json["steps"] = optimiser.steps();
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
  const StateReader reader(trainer, where);
  const int64_t steps = reader.whole("steps", kMostSteps),
                cuts = reader.whole("schedule_cuts", state.epoch),
                stalled = reader.whole("schedule_epochs_without_gain", state.epoch);
  for (size_t i = 0;; ++i) {
    Weights weights = take_weights(file.tensors, recent_prefix(i));
    if (weights.empty()) break;
    check_state(model, weights, where);
    state.recent.push_back(std::move(weights));
  }
  state.best = take_weights(file.tensors, kBest);
  if (!state.best.empty()) check_state(model, state.best, where);
  load_state(model, take_weights(file.tensors, kModel), where);
  optimiser.restore(steps, file.tensors.at("optimiser.first"), file.tensors.at("optimiser.second"));
  optimiser.schedule().cuts = cuts;
  optimiser.schedule().epochs_without_gain = stalled;
  return state;
}

}  // namespace fovea
