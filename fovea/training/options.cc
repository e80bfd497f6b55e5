#include "fovea/training/options.h"

#include "fovea/tensor/product.h"

namespace fovea {

void TrainingOptions::describe(OptionList& list) {
  list.add("epochs", epochs,
           "passes over the training rows, at most; 0: as many as training.steps says, or as suit "
           "the number of rows")
      .at_least(0);
  list.add("steps", steps,
           "optimiser steps, at most; 0: as training.epochs says. With both, what ends first")
      .at_least(0);
  list.add("seconds", seconds,
           "the training ends after so long, with the best weights so far; 0: no limit. What is "
           "learned then depends on the machine")
      .at_least(0);
  list.add("batch_size", batch_size,
           "rows per optimiser step; 0: a power of two that suits the number of rows")
      .within(0, 1 << 24);
  list.add("batch_tokens", batch_tokens,
           "sequences: as many rows per step as fit into so many padded positions, instead of "
           "batch_size; 0: off")
      .at_least(0);
  list.add("pool_batches", pool_batches,
           "sequences: the rows of so many batches are sorted by length before they are cut into "
           "batches; 0: no sorting")
      .at_least(0);
  list.add(
          "micro_batches", micro_batches,
          "on a CPU each batch is cut into so many micro-batches, which run in parallel when there "
          "are threads; the result depends on this number, never on the threads")
      .formerly("parts")
      .within(1, 1024);
  list.add("shuffle", shuffle, "a new order of rows each epoch, decided by the seed");
  list.add(
          "path", path,
          "fused: whole blocks of steps in one kernel, on a GPU each step as one CUDA graph, where "
          "the model can; autograd: LibTorch's; auto: fused if possible")
      .formerly("gear")
      .choices({"auto", "fused", "autograd"});
  list.add("precision", precision,
           "of dense products in training. bf16: factors are rounded, sums and weights stay "
           "float32, for GPUs and for processors with AVX-512 BF16; tf32: rounded less, for GPUs")
      .choices(precision_names());
  list.add("optimiser", optimiser, "how gradients move the weights")
      .choices({"sgd", "adam", "adamw", "rmsprop", "adadelta"});
  list.add("learning_rate", learning_rate,
           "step size (the schedule's highest; with noam a factor, usually 1)")
      .at_least(0);
  list.add("momentum", momentum, "of sgd and rmsprop").rate();
  list.add("nesterov", nesterov, "Nesterov's form of sgd's momentum");
  list.add("beta1", beta1, "adam, adamw: decay of the mean gradient").rate();
  list.add("beta2", beta2, "adam, adamw: decay of the mean squared gradient").rate();
  list.add("rho", rho, "rmsprop, adadelta: decay of the mean squared gradient").rate();
  list.add("epsilon", epsilon, "keeps divisions finite").above(0);
  list.add("weight_decay", weight_decay, "L2 penalty (adamw: decoupled decay)").at_least(0);
  list.add("clip_norm", clip_norm, "gradients with a larger norm are scaled down to it; 0: off")
      .at_least(0);
  list.add("clip_value", clip_value, "each gradient is cut to plus or minus this; 0: off")
      .at_least(0);
  list.add("schedule", schedule, "how the learning rate changes")
      .choices({"constant", "step", "cosine", "noam", "linear", "plateau"});
  list.add("warmup_steps", warmup_steps,
           "optimiser steps over which the rate rises from 0 (noam: needed)")
      .at_least(0);
  list.add("step_epochs", step_epochs, "step: epochs between two cuts").at_least(1);
  list.add("step_factor", step_factor, "step, plateau: the rate is multiplied by this")
      .above(0)
      .at_most(1);
  list.add("minimum_rate", minimum_rate, "cosine, linear, plateau: the rate never falls below this")
      .at_least(0);
  list.add("model_width", model_width,
           "noam: the width in rate = factor width^-.5 min(step^-.5, step warmup^-1.5)")
      .at_least(1);
  list.add("plateau_patience", plateau_patience, "plateau: looks without gain before a cut")
      .at_least(0);
  list.add("monitor", monitor,
           "validation metrics that decide which weights are best and when to stop; the first "
           "decides the best. Without validation rows the training loss does");
  list.add(
          "stop_rule", stop_rule,
          "with several monitored metrics: stop when either or when both stopped gaining; ties, as "
          "graph attention's paper: when none equals or beats its best any more, and the best "
          "weights are those of the last epoch in which all did")
      .choices({"either", "both", "ties"});
  list.add("evaluate_epochs", evaluate_epochs,
           "epochs between two looks at the validation rows; 0: about 50 looks in all, after each "
           "epoch where training.epochs is given")
      .at_least(0);
  list.add("evaluate_rows", evaluate_rows,
           "during training at most so many validation rows are looked at, always the same; at the "
           "end all. 0: always all")
      .at_least(0);
  list.add("patience", patience,
           "looks at the validation rows without gain before training stops early; 0: never; -1: a "
           "quarter of all, at least 5")
      .at_least(kByBudget);
  list.add("minimum_gain", minimum_gain, "a smaller change is not a gain").at_least(0);
  list.add("checkpoint_seconds", checkpoint_seconds,
           "at least so long between two checkpoints; 0: one after every epoch")
      .at_least(0);
  list.add("average_epochs", average_epochs,
           "at the end the mean of the weights after the last so many epochs is tried, and kept "
           "where it is no worse than the best epoch; 0: off")
      .within(0, 100);
  list.add(
          "ema", ema,
          "decay of an exponential moving average of the weights over the steps, which is measured "
          "and kept in place of the weights; 0: off")
      .rate();
}

}  // namespace fovea
