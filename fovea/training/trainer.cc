#include "fovea/training/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/data/batches.h"
#include "fovea/tensor/device_copies.h"
#include "fovea/tensor/embedding_lookup.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/product.h"
#include "fovea/tensor/torch.h"
#include "fovea/training/stopping.h"

namespace fovea {

namespace {

// Between two looks at the clock and at should_stop:
constexpr int64_t kBlockRows = 8192;  // rows of the fused path
constexpr size_t kBlockBatches = 16;  // batches of the ordinary one

constexpr double kSecondsForABatch = 0.3;  // a part of one says little of steps that are quick
constexpr int64_t kMostRestarts = 3;
constexpr double kGrownLoss = 10;  // times the first: the training diverges

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::map<std::string, at::Tensor> copy_of(const std::map<std::string, at::Tensor>& tensors) {
  std::map<std::string, at::Tensor> copies;
  for (const auto& [name, tensor] : tensors) copies[name] = tensor.detach().cpu().clone();
  return copies;
}

}  // namespace

Trainer::Trainer(Model& model, const TrainingOptions& options, uint64_t seed,
                 const RunFolder* folder)
    : model_(model), options_(options), random_(Random(seed).split("training")), folder_(folder) {}

bool Trainer::uses_fused_path(const Dataset& rows) const {
  const bool possible = model_.device().is_cpu()
                            ? model_.has_fused_path() && !rows.columns().empty()
                            : model_.supports_cuda_graph() && DeviceGraph::exists();
  require(possible || options_.path != "fused", ErrorKind::InvalidArgument,
          "training.path=fused: this model with these options, data and device has no fused path; "
          "use auto");
  require(options_.ema == 0 || options_.path != "fused", ErrorKind::InvalidArgument,
          "training.ema: the fused path has no average of the weights; use training.path=auto");
  return possible && options_.path != "autograd" && options_.ema == 0;
}

int64_t Trainer::count_steps(const Dataset& rows) const {
  return fast_ ? (rows.size() + options_.batch_size - 1) / options_.batch_size
               : int64_t(batches_of(rows, 0).size());
}

TrainingPlan Trainer::plan(const Dataset& rows) {
  require(rows.size() > 0, ErrorKind::BadData, "there are no training rows");
  fast_ = uses_fused_path(rows) && model_.device().is_cpu();
  return plan_training(options_, rows.size(), [&](const TrainingOptions& options) {
    options_.batch_size = options.batch_size;
    return count_steps(rows);
  });
}

void Trainer::start(const Dataset& rows, bool resume) {
  require(rows.size() > 0, ErrorKind::BadData, "there are no training rows");
  std::vector<int64_t> first{0};
  check_batch(rows.batch(first), model_.schema());
  require_precision(precision_named(options_.precision), model_.device());
  const TrainingPlan whole = plan(rows);
  options_ = whole.options;
  if (!fast_ && uses_fused_path(rows)) cuda_graphs_ = std::make_unique<CudaGraphs>();
  optimiser_ = std::make_unique<Optimiser>(model_, options_, whole.steps_per_epoch);
  state_ = {};
  if (resume) {
    require(folder_ != nullptr, ErrorKind::Internal, "a training in memory cannot be resumed");
    state_ = read_checkpoint(*folder_, model_, *optimiser_);
    check_position(rows);
    if (!state_.best.empty())  // model.safetensors is the mean of epochs that are not the last now
      best_weights_ = std::exchange(state_.best, {}), best_is_written_ = false;
    else  // before the first report those that training began with
      best_weights_ = copy_of(read_checked_weights(folder_->model()));
  }
  if (options_.ema > 0 && !state_.average.defined())
    state_.average = optimiser_->flat().detach().clone();
  if (best_weights_.empty()) best_weights_ = copy_of(state_of(model_));
  planned_steps_ = whole.steps;
  first_step_ = optimiser_->steps();
  if (!folder_) return;
  MetricsLog(folder_->metrics()).keep(state_.reports);
  if (resume) keep_lines_until(folder_->attention(), optimiser_->steps());
  if (!resume) best_is_written_ = false, save(/*even_if_recent=*/true);
}

int64_t Trainer::block_rows() const {
  return std::max<int64_t>(1, kBlockRows / options_.batch_size) * options_.batch_size;
}

void Trainer::check_position(const Dataset& rows) const {
  int64_t end = 0;  // of the block that holds the position
  if (state_.position > 0 && state_.position <= rows.size()) {
    if (fast_) {
      const int64_t block = block_rows();
      end = std::min((state_.position - 1) / block * block + block, rows.size());
    } else {
      const auto batches = batches_of(rows, state_.epoch);
      for (size_t i = 0; i < batches.size() && end < state_.position;) {
        const size_t stop = std::min(i + kBlockBatches, batches.size());
        for (; i < stop; ++i) end += int64_t(batches[i].size());
      }
    }
  }
  require(end == state_.position, ErrorKind::BadData, folder_->last().string(),
          ": the training stopped after ", state_.position,
          " rows of an epoch, which is no border of a block of these ", rows.size(),
          "; the trainer's state is damaged");
}

int64_t Trainer::steps_left() const {
  return options_.steps > 0 ? std::max<int64_t>(0, options_.steps - optimiser_->steps())
                            : INT64_MAX;
}

bool Trainer::is_over() const {
  return state_.stopped_early || time_is_up_ || diverged_ || state_.epoch >= options_.epochs ||
         steps_left() == 0;
}

bool Trainer::time_is_up(const TrainerHooks& hooks) {
  if (options_.seconds <= 0) return false;
  const double spent = hooks.seconds_spent + now() - begin_;
  optimiser_->schedule().time_share = spent / options_.seconds;
  return time_is_up_ = spent + evaluation_ >= options_.seconds;
}

double Trainer::seconds_left(const TrainerHooks& hooks) const {
  const double spent = now() - begin_;
  const auto done = double(optimiser_->steps() - first_step_),
             total = double(options_.steps > 0 ? std::min(options_.steps, planned_steps_)
                                               : planned_steps_);
  double left = done > 0 ? (total - double(optimiser_->steps())) * spent / done : 0;
  if (options_.seconds > 0) left = std::min(left, options_.seconds - hooks.seconds_spent - spent);
  return std::max(0.0, left);
}

void Trainer::note_steps(const Dataset& rows, const TrainerHooks& hooks) {
  if (folder_) folder_->require_still_ours();
  StepReport report;
  report.step = optimiser_->steps();
  report.epoch = double(state_.epoch) + double(state_.position) / double(rows.size());
  report.learning_rate = optimiser_->last_rate();
  report.left = seconds_left(hooks);
  steps_->write(report);
  if (hooks.step_ended) hooks.step_ended(report);
}

TrainingResult Trainer::train(const Dataset& rows, const TrainerHooks& hooks, bool resume) {
  begin_ = now();
  start(rows, resume);
  if (folder_ || hooks.step_ended)
    steps_ = std::make_unique<StepLog>(folder_ ? folder_->steps() : "", optimiser_->steps());
  if (hooks.look && !resume) hooks.look(0, 0);
  TrainingResult result;
  while (!is_over()) {
    const double begin = now();
    const bool complete = train_epoch(rows, hooks);
    result.seconds += now() - begin;
    if (!complete) {
      result.stopped = true;
      break;
    }
    state_.epoch += 1;  // perhaps before all of its rows: then the training is over
    state_.position = 0;
    if (options_.average_epochs > 1) {
      state_.recent.push_back(copy_of(state_of(model_)));
      if (int64_t(state_.recent.size()) > options_.average_epochs)
        state_.recent.erase(state_.recent.begin());
    }
    const bool had_best = state_.best_epoch > 0;
    if (state_.epoch % options_.evaluate_epochs == 0 || is_over()) {
      const EpochReport report = report_epoch(hooks);
      result.epochs.push_back(report);
      if (hooks.epoch_ended) hooks.epoch_ended(report);
    }
    // The first weights that are worth something are written at once.
    save(/*even_if_recent=*/!had_best && state_.best_epoch > 0);
  }
  if (steps_ && steps_->has_news()) note_steps(rows, hooks);
  if (!result.stopped) result.average = try_average(hooks);
  save(/*even_if_recent=*/true);
  load_state(model_, mean_.empty() ? best_weights_ : mean_, "the best weights");
  result.best_epoch = state_.best_epoch;
  result.last_epoch = state_.epoch;
  result.planned_epochs = options_.epochs;
  result.steps = optimiser_->steps();
  result.restarts = state_.restarts;
  result.end = result.stopped         ? TrainingEnd::Interrupted
               : diverged_            ? TrainingEnd::Diverged
               : state_.stopped_early ? TrainingEnd::Patience
               : time_is_up_          ? TrainingEnd::Time
                                      : TrainingEnd::Budget;
  result.still_improving =
      result.end == TrainingEnd::Budget && is_still_improving(result.epochs, options_.monitor[0]);
  return result;
}

void Trainer::write_untrained(const Dataset& rows) {
  start(rows, /*resume=*/false);
}

double Trainer::time_step(const Dataset& rows, double seconds) {
  start(rows, /*resume=*/false);
  const std::vector<int64_t> order = order_of(rows, 0);
  const auto batches = fast_ ? std::vector<std::vector<int64_t>>{} : batches_of(rows, 0);
  // Rows and seconds of what tells most: of whole batches, of the largest part before there is one.
  int64_t timed_rows = 0;
  double timed = 0, spent = 0;
  size_t whole = 0, part = 1;
  bool goes_on = true;
  while (goes_on) {
    const double begin = now();
    int64_t count = 0;
    bool is_whole = true;
    if (fast_) {
      count = std::min(block_rows(), rows.size());
      model_.train_block(
          {rows.columns(), std::span(order).first(size_t(count)), options_.batch_size},
          *optimiser_);
    } else {
      std::vector<std::vector<int64_t>> picked{batches[whole % batches.size()]};
      is_whole = part >= picked[0].size();
      if (!is_whole) picked[0].resize(part);
      count = int64_t(picked[0].size());
      train_batches(rows, picked);
    }
    const double taken = now() - begin;
    spent += taken;
    if (whole == 0) timed = 0, timed_rows = 0;
    timed += taken, timed_rows += count;
    if (is_whole)
      ++whole;
    else
      part *= 4;
    // The next part has four times the rows.
    goes_on = spent < seconds || (whole == 0 && spent + 4 * taken < kSecondsForABatch);
  }
  return timed / double(timed_rows) * double(rows.size()) / double(count_steps(rows));
}

std::vector<int64_t> Trainer::order_of(const Dataset& rows, int64_t epoch) const {
  if (options_.shuffle)
    return random_.split("order").split(static_cast<uint64_t>(epoch)).permutation(rows.size());
  std::vector<int64_t> order(static_cast<size_t>(rows.size()));
  std::iota(order.begin(), order.end(), int64_t{0});
  return order;
}

std::vector<std::vector<int64_t>> Trainer::batches_of(const Dataset& rows, int64_t epoch) const {
  const BatchOptions plan{options_.batch_size, options_.batch_tokens, options_.pool_batches,
                          options_.shuffle};
  return plan_batches(rows, order_of(rows, epoch), plan,
                      random_.split("batches").split(static_cast<uint64_t>(epoch)));
}

bool Trainer::train_epoch(const Dataset& rows, const TrainerHooks& hooks) {
  const double start = now();
  std::vector<int64_t> order;
  std::vector<std::vector<int64_t>> batches;
  size_t batch = 0;  // the next one
  if (fast_) {
    order = order_of(rows, state_.epoch);
  } else {
    batches = batches_of(rows, state_.epoch);
    for (int64_t done = 0; done < state_.position; ++batch) done += int64_t(batches[batch].size());
  }
  state_.seconds += now() - start;
  while (state_.position < rows.size()) {
    const double begin = now();
    BlockLoss loss;
    int64_t count = 0;
    if (fast_) {
      count = std::min(block_rows(), rows.size() - state_.position);
      if (steps_left() <= count / options_.batch_size) count = steps_left() * options_.batch_size;
      const auto picked = std::span(order).subspan(size_t(state_.position), size_t(count));
      loss = {model_.train_block({rows.columns(), picked, options_.batch_size}, *optimiser_),
              double(count)};
    } else {
      const auto block = std::span<const std::vector<int64_t>>(batches).subspan(
          batch, size_t(std::min<int64_t>(
                     steps_left(), int64_t(std::min(kBlockBatches, batches.size() - batch)))));
      loss = train_batches(rows, block);
      for (const auto& picked : block) count += int64_t(picked.size());
      if (std::isfinite(loss.sum)) batch += block.size();
    }
    if (!std::isfinite(loss.sum)) {  // the block is trained on again
      restart(concat("the loss became ", loss.sum, " near step ", optimiser_->steps(),
                     ", in epoch ", state_.epoch + 1),
              hooks);
      if (hooks.should_stop && hooks.should_stop()) return false;
      if (steps_left() == 0 || time_is_up(hooks)) return true;
      continue;
    }
    state_.loss_sum += loss.sum;
    state_.loss_units += loss.units;
    state_.position += count;
    const double seconds = now() - begin;
    state_.seconds += seconds;
    if (steps_) {
      steps_->add({count, loss.units, loss.sum, seconds});
      if (steps_->is_due()) note_steps(rows, hooks);
    }
    if (hooks.progress)
      hooks.progress(state_.epoch * rows.size() + state_.position,
                     state_.loss_sum / state_.loss_units);
    if (hooks.should_stop && hooks.should_stop()) return false;
    if (steps_left() == 0 || time_is_up(hooks)) return true;
    if (state_.position < rows.size()) save(/*even_if_recent=*/false);
  }
  return true;
}

Trainer::BlockLoss Trainer::train_batches(const Dataset& rows,
                                          std::span<const std::vector<int64_t>> batches) {
  const at::Device device = model_.device();
  // Sums stay on the device: one look at them per block, not per step.
  at::Tensor sums = torch::zeros({2}, torch::TensorOptions().dtype(torch::kFloat64).device(device));
  if (device.is_cpu() && options_.micro_batches > 1)
    for (const std::vector<int64_t>& picked : batches) sums += train_micro_batches(rows, picked);
  else
    train_whole(rows, batches, sums);
  const at::Tensor both = sums.cpu();
  return {both[0].item<double>(), both[1].item<double>()};
}

void Trainer::train_whole(const Dataset& rows, std::span<const std::vector<int64_t>> batches,
                          at::Tensor& sums) {
  const at::Device device = model_.device();
  DeviceCopies copies(device);
  struct Step {
    StepContext context;
    Batch batch;
  };
  const int64_t first = optimiser_->steps();
  const auto begin = [&](size_t i) {
    const int64_t step = first + int64_t(i);
    const StepContext context{random_.split("step").split(static_cast<uint64_t>(step)), step};
    const Batch batch = rows.augmented_batch(batches[i], context.random.split("rows"));
    return Step{context,
                copies.begin(cuda_graphs_ ? pad_to_multiple(batch, model_.schema()) : batch)};
  };
  std::optional<Step> next = begin(0);
  for (size_t i = 0; i < batches.size(); ++i) {
    const Step step = *std::move(next);
    copies.wait();
    const auto work = [&](const Batch& batch) { return loss_and_gradient(batch, step.context); };
    std::optional<SeededOnce> draws;
    if (!device.is_cpu()) draws.emplace(device, step.context.random.split("device").key());
    sums += cuda_graphs_ ? cuda_graphs_->run(step.batch, work) : work(step.batch);
    step_optimiser();
    if (i + 1 < batches.size()) next = begin(i + 1);  // a GPU is still at work
  }
}

at::Tensor Trainer::loss_and_gradient(const Batch& batch, const StepContext& context) {
  const PrecisionScope precision(precision_named(options_.precision), model_.device());
  optimiser_->zero_gradient();
  const Loss loss = model_.loss(batch, context);
  loss.objective.backward();
  const at::Tensor objective = loss.objective.detach().to(torch::kFloat64);
  const at::Tensor units = loss.units.defined()
                               ? loss.units.to(torch::kFloat64)
                               : torch::full({}, double(batch.size), objective.options());
  return torch::stack({objective * units, units});  // [2]
}

at::Tensor Trainer::train_micro_batches(const Dataset& rows, std::span<const int64_t> picked) {
  const int64_t count = std::min(options_.micro_batches, int64_t(picked.size())),
                step = optimiser_->steps();
  const Random random = random_.split("step").split(static_cast<uint64_t>(step));
  std::vector<at::Tensor> parameters;
  for (const at::Tensor& parameter : model_.parameters())
    if (parameter.requires_grad()) parameters.push_back(parameter);
  struct MicroBatch {
    double loss = 0, units = 0;
    std::vector<at::Tensor> gradients;
  };
  std::vector<MicroBatch> results(static_cast<size_t>(count));
  run_parallel(count, [&](int64_t slice) {
    std::vector<int64_t> own;  // every count-th row: neighbours have similar lengths
    for (size_t row = size_t(slice); row < picked.size(); row += size_t(count))
      own.push_back(picked[row]);
    const StepContext context{random.split(static_cast<uint64_t>(slice)), step};
    const PrecisionScope precision(precision_named(options_.precision), at::kCPU);
    const RowGradients rows_only;
    const Loss loss = model_.loss(rows.augmented_batch(own, context.random.split("rows")), context);
    MicroBatch& result = results[size_t(slice)];
    result.loss = loss.objective.item<double>();
    result.units = loss.units.defined() ? loss.units.item<double>() : double(own.size());
    result.gradients =
        torch::autograd::grad({loss.objective}, parameters, {}, /*retain_graph=*/false,
                              /*create_graph=*/false, /*allow_unused=*/true);
  });
  double units = 0, sum = 0;
  for (const MicroBatch& slice : results) units += slice.units, sum += slice.loss * slice.units;
  run_parallel(int64_t(parameters.size()), [&](int64_t i) {
    at::Tensor sum = parameters[size_t(i)].mutable_grad();
    bool is_first = true;
    for (const MicroBatch& slice : results) {  // always in this order
      const at::Tensor& gradient = slice.gradients[size_t(i)];
      if (!gradient.defined()) continue;
      add_gradient(sum, gradient, slice.units / units, is_first);
      is_first = false;
    }
    if (is_first) sum.zero_();
  });
  step_optimiser();
  return torch::tensor({sum, units}, torch::kFloat64);
}

void Trainer::step_optimiser() {
  optimiser_->step();
  if (options_.ema == 0) return;
  torch::NoGradGuard no_gradients;
  // The first steps count less: the weights were random not long ago.
  const double steps = double(optimiser_->steps()),
               decay = std::min(options_.ema, (1 + steps) / (10 + steps));
  state_.average.lerp_(optimiser_->flat(), 1 - decay);
}

void Trainer::swap_average() {
  if (options_.ema == 0) return;
  torch::NoGradGuard no_gradients;
  const at::Tensor weights = optimiser_->flat().clone();
  optimiser_->flat().copy_(state_.average);
  state_.average.copy_(weights);
}

void Trainer::restart(const std::string& what, const TrainerHooks& hooks) {
  require(state_.restarts < kMostRestarts, ErrorKind::BadData, what, ", and did so ", kMostRestarts,
          " times before, each time at half the rate; lower training.learning_rate, set "
          "training.clip_norm, or look for extreme values in the data");
  state_.restarts += 1;
  load_state(model_, best_weights_, "the best weights");
  if (options_.ema > 0) state_.average = optimiser_->flat().detach().clone();
  optimiser_->restart();
  optimiser_->schedule().scale /= 2;
  if (hooks.note)
    hooks.note(concat(
        what, ": back to the ",
        state_.best_epoch > 0 ? concat("weights of epoch ", state_.best_epoch) : "first weights",
        ", at half the learning rate"));
}

EpochReport Trainer::report_epoch(const TrainerHooks& hooks) {
  if (!optimiser_->flat().isfinite().all().item<bool>())  // by the last step
    restart(concat("the weights are no numbers after epoch ", state_.epoch), hooks);
  EpochReport report{state_.epoch,
                     optimiser_->steps(),
                     state_.loss_units > 0 ? state_.loss_sum / state_.loss_units : 0,
                     optimiser_->last_rate(),
                     state_.seconds,
                     {},
                     false};
  const double begin = now();
  swap_average();
  if (hooks.evaluate) report.validation = hooks.evaluate();
  if (hooks.look) hooks.look(state_.epoch, optimiser_->steps());
  evaluation_ = std::max(evaluation_, now() - begin);
  state_.reports += 1;
  state_.loss_sum = state_.loss_units = state_.seconds = 0;
  if (state_.reports == 1) state_.first_loss = report.loss;
  const bool stop = note_gains(options_, report, state_);
  report.best = state_.best_epoch == report.epoch;
  if (report.best) best_weights_ = copy_of(state_of(model_)), best_is_written_ = false;
  swap_average();  // training goes on from the weights themselves
  optimiser_->schedule().epoch_ended(report.best);
  if (folder_) {
    folder_->require_still_ours();
    MetricsLog(folder_->metrics()).append(report.to_json());
  }
  state_.stopped_early = stop;
  const bool grows = state_.first_loss > 0 && report.loss > kGrownLoss * state_.first_loss;
  if (grows && state_.restarts < kMostRestarts && !stop)
    restart(concat("the loss grew to ", format_number(report.loss, 3), " in epoch ", state_.epoch),
            hooks);
  else
    diverged_ = grows;
  return report;
}

AverageReport Trainer::try_average(const TrainerHooks& hooks) {
  const auto& recent = state_.recent;
  if (recent.size() < 2) return {};
  std::map<std::string, at::Tensor> mean = copy_of(recent[0]);
  for (auto& [name, tensor] : mean) {
    if (!tensor.is_floating_point()) continue;
    at::Tensor sum = tensor.to(at::kDouble);
    for (size_t i = 1; i < recent.size(); ++i) sum += recent[i].at(name);
    tensor.copy_(sum / double(recent.size()));
  }
  const auto newest = copy_of(state_of(model_));
  AverageReport report{int64_t(recent.size()), {}, true};
  load_state(model_, mean, "the averaged weights");
  if (hooks.evaluate) report.validation = hooks.evaluate();
  load_state(model_, newest, "the newest weights");
  for (const Metric& metric : report.validation) {
    if (metric.name != options_.monitor[0]) continue;
    const double best = state_.monitors[metric.name].best;
    report.best = metric.higher_is_better ? metric.value >= best : metric.value <= best;
  }
  if (report.best) mean_ = std::move(mean);
  return report;
}

void Trainer::save(bool even_if_recent) {
  if (!folder_ || (!even_if_recent && now() - last_save_ < options_.checkpoint_seconds)) return;
  folder_->require_still_ours();
  // The best weights first: a kill between the two leaves a checkpoint that will find the same best
  // again. A mean last: more epochs need the weights that it replaces, which the checkpoint then
  // has.
  if (!best_is_written_) write_weights(folder_->model(), best_weights_), best_is_written_ = true;
  if (!mean_.empty()) state_.best = best_weights_;
  write_checkpoint(*folder_, model_, *optimiser_, state_);
  if (!mean_.empty()) write_weights(folder_->model(), mean_);
  last_save_ = now();
}

}  // namespace fovea
