#include "fovea/tasks/refit.h"

#include "fovea/base/text.h"
#include "fovea/tensor/torch.h"
#include "fovea/training/checkpoint.h"

namespace fovea {

namespace {

/// Training and validation rows, one after the other.
class AllRows : public ColumnDataset {
 public:
  explicit AllRows(const Splits& splits) : ColumnDataset(join_columns(splits)) {}
  Example example(int64_t row) const override { return row_example(row); }

 private:
  static NamedTensors join_columns(const Splits& splits) {
    NamedTensors columns;
    for (const auto& [name, column] : splits.train->columns())
      columns[name] = torch::cat({column, splits.validation->columns().at(name)});  // [N, …]
    return columns;
  }
};

}  // namespace

void refit_on_all_rows(const Setup& setup, Training& training, const RunFolder& folder,
                       const TrainRequest& request) {
  if (!training.fitted && training.result.best_epoch == 0) return;
  const AllRows rows(training.splits);
  const auto seed = static_cast<uint64_t>(setup.common().seed);
  const auto judged = state_of(*training.model);
  std::map<std::string, at::Tensor> kept;
  for (const auto& [name, tensor] : judged) kept[name] = tensor.detach().cpu().clone();
  const Stage stage{concat("learning again from all ", format_count(rows.size()), " rows"),
                    training.fitted ? "fits" : "rows"};
  if (!training.fitted) {
    training.model->initialise(Random(seed).split("weights"));
    TrainingOptions options = setup.training();
    options.epochs = training.result.best_epoch;
    options.steps = 0;
    options.patience = 0;
    TrainerHooks own;
    own.should_stop = request.hooks.should_stop;
    Trainer trainer(*training.model, options, seed);
    own.progress =
        training_progress(request.stage, stage, planned_rows(trainer.plan(rows), rows.size()));
    trainer.train(rows, own);
  } else {
    setup.task().fit(*training.model, rows, progress_of(request.stage, stage));
  }
  if (request.hooks.should_stop &&
      request.hooks.should_stop()) {  // the judged weights are good ones
    load_state(*training.model, kept, "the judged weights");
    return;
  }
  folder.require_still_ours();
  write_weights(folder.held_out(), kept);  // first: the run is whole at any time
  write_weights(folder.model(), state_of(*training.model));
  training.refitted_rows = rows.size();
}

void undo_refit(const RunFolder& folder) {
  if (!has_held_out_weights(folder)) return;
  folder.require_still_ours();
  write_weights(folder.model(), read_checked_weights(folder.held_out()));
  std::filesystem::remove(folder.held_out());
}

bool has_held_out_weights(const RunFolder& folder) {
  return std::filesystem::exists(folder.held_out());
}

}  // namespace fovea
