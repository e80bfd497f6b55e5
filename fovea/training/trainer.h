// The one training loop. Two paths: autograd asks the model for a loss and lets autograd do
// the rest; the fast one hands whole blocks of rows to the model's own kernel, or, on a GPU,
// repeats CUDA graphs (cuda_graphs.h). Everything else (order of rows, schedule, clipping,
// checkpoints, early stopping, logging) is shared. A block always covers the same rows, so a
// training that stops between two blocks and is resumed repeats every addition of an uninterrupted
// one. On a CPU a batch may be cut into micro-batches that run in parallel; their gradients are
// added in a fixed order, so the number of threads changes no bit. A loss that is no number sends
// the training back to its best weights, at half the rate.
#pragma once

#include <functional>
#include <memory>

#include "fovea/data/dataset.h"
#include "fovea/training/checkpoint.h"
#include "fovea/training/cuda_graphs.h"
#include "fovea/training/plan.h"
#include "fovea/training/report.h"
#include "fovea/training/step_log.h"

namespace fovea {

struct TrainerHooks {
  std::function<Metrics()> evaluate;  // on the validation rows, for each report; may be empty
  std::function<void(const EpochReport&)> epoch_ended;  // may be empty
  std::function<void(int64_t rows, double loss)>
      progress;  // rows trained on in all epochs, mean loss so far; may be empty
  std::function<void(const StepReport&)> step_ended;  // now and then (step_log.h); may be empty
  /// The model holds the weights that are measured: before the first epoch, then for each report.
  std::function<void(int64_t epoch, int64_t step)> look;  // may be empty
  std::function<bool()> should_stop;                      // polled between blocks; may be empty
  std::function<void(const std::string& sentence)> note;  // what a user must know; may be empty
  double seconds_spent = 0;                               // of training.seconds, before train()
};

class Trainer {
 public:
  /// With a folder, checkpoints and metrics go there; with none, the training lives in memory only.
  Trainer(Model& model, const TrainingOptions& options, uint64_t seed,
          const RunFolder* folder = nullptr);

  /// Trains to the end, or until told to stop. Afterwards the model holds the best weights. With
  /// `resume`, goes on from the folder's checkpoint.
  TrainingResult train(const Dataset& rows, const TrainerHooks& hooks, bool resume = false);
  /// Writes a run of the weights as they are.
  void write_untrained(const Dataset& rows);
  /// Seconds of a step, measured for about `seconds` with batches that grow, so that it is no
  /// matter how large the network is. The weights are changed.
  double time_step(const Dataset& rows, double seconds);

  /// What train() will do with these rows.
  TrainingPlan plan(const Dataset& rows);

  /// Whether the fused path is used for these rows.
  bool uses_fused_path(const Dataset& rows) const;

 private:
  void start(const Dataset& rows, bool resume);
  int64_t count_steps(const Dataset& rows) const;  // of the first epoch
  int64_t steps_left() const;
  bool is_over() const;
  bool time_is_up(const TrainerHooks& hooks);
  double seconds_left(const TrainerHooks& hooks) const;
  void note_steps(const Dataset& rows, const TrainerHooks& hooks);
  /// BadData unless the checkpoint's position is the end of a block of these rows.
  void check_position(const Dataset& rows) const;
  bool train_epoch(const Dataset& rows, const TrainerHooks& hooks);  // false: told to stop
  /// One block of rows or of batches: sum of the loss over its units, and their number.
  struct BlockLoss {
    double sum = 0, units = 0;
  };
  std::vector<int64_t> order_of(const Dataset& rows, int64_t epoch) const;
  std::vector<std::vector<int64_t>> batches_of(const Dataset& rows, int64_t epoch) const;
  BlockLoss train_batches(const Dataset& rows, std::span<const std::vector<int64_t>> batches);
  /// Adds what loss_and_gradient() says of each batch to `sums` [2].
  void train_whole(const Dataset& rows, std::span<const std::vector<int64_t>> batches,
                   at::Tensor& sums);
  /// On the model's device: {sum of the loss over the batch's units, their number}, [2].
  at::Tensor loss_and_gradient(const Batch& batch, const StepContext& context);
  at::Tensor train_micro_batches(const Dataset& rows, std::span<const int64_t> picked);
  void step_optimiser();  // and the average of training.ema
  void swap_average();    // with the weights; nothing without training.ema
  EpochReport report_epoch(const TrainerHooks& hooks);
  /// Back to the best weights, at half the rate. `what` went wrong.
  void restart(const std::string& what, const TrainerHooks& hooks);
  AverageReport try_average(const TrainerHooks& hooks);
  int64_t block_rows() const;  // of the fused path
  void save(bool even_if_recent);

  Model& model_;
  TrainingOptions options_;
  Random random_;
  const RunFolder* folder_;
  bool fast_ = false;
  std::unique_ptr<Optimiser> optimiser_;
  std::unique_ptr<CudaGraphs> cuda_graphs_;  // the fused path on a GPU
  TrainerState state_;
  std::unique_ptr<StepLog> steps_;                  // none where nobody reads it
  int64_t planned_steps_ = 0, first_step_ = 0;      // of all calls; of this one
  std::map<std::string, at::Tensor> best_weights_;  // of the best epoch
  std::map<std::string, at::Tensor> mean_;          // kept instead of them; empty: they are kept
  bool best_is_written_ = true;
  double last_save_ = 0;
  double begin_ = 0, evaluation_ = 0;  // of train(); seconds of the longest evaluation
  bool time_is_up_ = false, diverged_ = false;
};

}  // namespace fovea
