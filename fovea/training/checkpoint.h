// Everything a training must remember to go on as if it had never stopped. Random numbers are
// counter-based, so the seed, the epoch and the step are all the random state there is.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/training/optimiser.h"
#include "fovea/training/run_folder.h"

namespace fovea {

/// How one monitored metric fares.
struct MonitorState {
  double best = 0;
  bool has_best = false;
  int64_t epochs_without_gain = 0;  // epochs after which the validation rows were looked at
};

struct TrainerState {
  int64_t epoch = 0;       // epochs completed
  int64_t position = 0;    // rows of the current epoch already trained on
  int64_t reports = 0;     // epochs that were reported: lines of metrics.jsonl
  double loss_sum = 0;     // since the last report, over units
  double loss_units = 0;   // terms of the loss since then: rows, or target positions
  double seconds = 0;      // spent since then
  double first_loss = 0;   // of the first report
  int64_t best_epoch = 0;  // 1 is the first; 0: none yet
  int64_t restarts = 0;    // from the best weights, after a loss that was no number
  std::map<std::string, MonitorState> monitors;
  bool stopped_early = false;  // patience ran out
  /// Weights after the last epochs, the newest last, for training.average_epochs.
  std::vector<std::map<std::string, at::Tensor>> recent;
  at::Tensor average;  // of all weights, training.ema, as Optimiser::flat(); undefined: none
  /// Weights of the best epoch where model.safetensors holds a mean instead; else empty.
  std::map<std::string, at::Tensor> best;

  Json to_json() const;
  /// BadData, which begins with `where`, for a number that no training can have reached.
  static TrainerState from_json(const Json& json, const std::string& where);
};

/// Parameters that belong to the run, and buffers, under their PyTorch names.
std::map<std::string, at::Tensor> state_of(const Model& model);

/// Copies weights into the model. BadData names a tensor that is missing, unknown or of another
/// shape.
void load_state(Model& model, const std::map<std::string, at::Tensor>& tensors,
                const std::string& where);

/// Weights with a checksum over their bytes in the metadata, so that a changed byte is noticed.
void write_weights(const std::filesystem::path& path,
                   const std::map<std::string, at::Tensor>& tensors);
/// BadData when the checksum is there and does not fit; weights from elsewhere have none.
std::map<std::string, at::Tensor> read_checked_weights(const std::filesystem::path& path);
/// Those of a run; NotFound where it has none yet.
std::map<std::string, at::Tensor> read_weights(const RunFolder& folder);

/// Weights, optimiser and state, all of them under checksums.
void write_checkpoint(const RunFolder& folder, const Model& model, Optimiser& optimiser,
                      const TrainerState& state);
/// BadData when the file is damaged or does not fit the model. Whether the position fits the rows
/// only the trainer can tell.
TrainerState read_checkpoint(const RunFolder& folder, Model& model, Optimiser& optimiser);

}  // namespace fovea
