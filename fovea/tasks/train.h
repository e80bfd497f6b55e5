// From a setup to a trained model: load the data, build the model, run the trainer, write the run
// folder.
#pragma once

#include <memory>

#include "fovea/tasks/choose_model.h"
#include "fovea/training/trainer.h"

namespace fovea {

constexpr const char* kExampleTruths = "example_truths.json";  // the asset
constexpr int64_t kFewRows = 1000;  // training rows below which a validation metric is a rough one

struct Training {
  Splits splits;
  std::unique_ptr<Model> model;  // with the best weights, after train()
  TrainingResult result;
  TrainingPlan plan;
  bool fused = false;                 // training.path
  TrainingTime time;                  // where the request asks for it
  bool fitted = false;                // without steps: the weights are those of a convex problem
  bool refits = false;                // few rows: afterwards on all of them (refit.h)
  int64_t refitted_rows = 0;          // that the model has seen then; 0: it was not refitted
  std::optional<ModelChoice> choice;  // where model.name left it open
  Metrics validation;                 // of the best weights; empty without validation rows. Of
                                      // those before a refit
  /// The same in full, beside the baselines; empty without a folder, and of a training that was
  /// stopped.
  Evaluation evaluation;
  NamedTensors baselines;  // fitted on the training rows, where there is a folder
  /// What a user must know before a resumed training goes on, one sentence each.
  std::vector<std::string> warnings;

  /// That the training takes at most, after the choice of the model, by `time`.
  double seconds() const;
};

struct TrainRequest {
  RunFolder* folder = nullptr;  // null: in memory only
  bool resume = false;
  bool overwrite = false;   // what stands in the folder
  bool untrained = false;   // the weights stay as `loaded` leaves them
  double time_steps = 0;    // above 0: steps are tried for so many seconds, for Training::time
  bool only_plans = false;  // nothing is trained; of several models the preferred one is planned
  std::optional<int64_t> split_seed;  // decides which rows are held out; none: the setup's seed
  Json folds = nullptr;               // for the manifest: what cross-validation found
  int64_t watch = 0;    // validation rows whose attention is kept epoch by epoch (watch.h)
  TrainerHooks hooks;   // evaluate and look are filled in
  StageProgress stage;  // what is trained or fitted beside the training itself; may be empty
  std::function<void(const TrainingTime&)>
      choosing;  // a model is about to be chosen; with time_steps; may be empty
  std::function<void(const Training&)>
      loaded;  // data read and model built, training about to begin; may be empty
};

/// Trains what the setup describes; afterwards the setup says how long that was planned to last
/// (training/plan.h), as the run's config.json does. Refuses a folder that is not empty, unless its
/// run is resumed or may be overwritten; a training that is refused leaves nothing behind.
Training train(Setup& setup, const TrainRequest& request);

/// The baselines of a run; empty where it has none.
NamedTensors read_baselines(const RunFolder& folder);

/// The setup of a run that is to be resumed, from its config.json.
Setup setup_of_run(const RunFolder& folder);

/// BadData names what prediction needs and is no longer as it was when the run was made: an asset,
/// by its hash, or an option of the model or the data. Weights have a checksum of their own.
void check_run(const RunFolder& folder);

}  // namespace fovea
