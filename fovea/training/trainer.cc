#include "fovea/training/trainer.h"

#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "fovea/core/error.h"

namespace fovea {

namespace {

constexpr int64_t kBlockRows = 8192;  // rows between two looks at the clock and at should_stop

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::map<std::string, at::Tensor> copy_of(const std::map<std::string, at::Tensor>& tensors) {
  std::map<std::string, at::Tensor> copies;
  for (const auto& [name, tensor] : tensors) copies[name] = tensor.detach().cpu().clone();
  return copies;
}

}  // namespace

Json EpochReport::to_json() const {
  Json json{{"epoch", epoch},     {"steps", steps},
            {"loss", loss},       {"learning_rate", learning_rate},
            {"seconds", seconds}, {"best", best}};
  for (const Metric& metric : validation) json["validation"][metric.name] = metric.value;
  return json;
}

Trainer::Trainer(Model& model, const TrainingOptions& options, uint64_t seed,
                 const RunFolder* folder)
    : model_(model), options_(options), random_(Random(seed).split("training")), folder_(folder) {}

bool Trainer::uses_fast_gear(const Dataset& rows) const {
  const bool possible =
      model_.has_fast_gear() && !rows.columns().empty() && model_.device().is_cpu();
  require(possible || options_.gear != "fast", ErrorKind::InvalidArgument,
          "training.gear=fast: this model with these options, data and device has no fast gear; "
          "use auto");
  return possible && options_.gear != "ordinary";
}

void Trainer::start(const Dataset& rows, bool resume) {
  require(rows.size() > 0, ErrorKind::BadData, "there are no training rows");
  std::vector<int64_t> first{0};
  check_batch(rows.batch(first), model_.schema());
  fast_ = uses_fast_gear(rows);
  optimiser_ = std::make_unique<Optimiser>(
      model_, options_, (rows.size() + options_.batch_size - 1) / options_.batch_size);
  state_ = {};
  if (resume) {
    require(folder_ != nullptr, ErrorKind::Internal, "a training in memory cannot be resumed");
    state_ = read_checkpoint(*folder_, model_, *optimiser_);
    if (state_.best_epoch > 0) best_weights_ = copy_of(read_checked_weights(folder_->model()));
  }
  if (best_weights_.empty()) best_weights_ = copy_of(state_of(model_));
  if (!folder_) return;
  MetricsLog(folder_->metrics()).keep(state_.epoch);
  if (!resume) best_is_written_ = false, save(/*even_if_recent=*/true);
}

TrainingResult Trainer::train(const Dataset& rows, const TrainerHooks& hooks, bool resume) {
  start(rows, resume);
  TrainingResult result;
  while (!state_.stopped_early && state_.epoch < options_.epochs) {
    const double begin = now();
    const bool complete = train_epoch(rows, hooks);
    result.seconds += now() - begin;
    if (!complete) {
      result.stopped = true;
      break;
    }
    const EpochReport report = end_epoch(rows, hooks);
    result.epochs.push_back(report);
    if (hooks.epoch_ended) hooks.epoch_ended(report);
    save(/*even_if_recent=*/false);
  }
  save(/*even_if_recent=*/true);
  load_state(model_, best_weights_, "the best weights");
  result.best_epoch = state_.best_epoch;
  return result;
}

bool Trainer::train_epoch(const Dataset& rows, const TrainerHooks& hooks) {
  const double start = now();
  std::vector<int64_t> order;
  if (options_.shuffle) {
    order =
        random_.split("order").split(static_cast<uint64_t>(state_.epoch)).permutation(rows.size());
  } else {
    order.resize(static_cast<size_t>(rows.size()));
    std::iota(order.begin(), order.end(), int64_t{0});
  }
  state_.seconds += now() - start;
  const int64_t block =
      std::max<int64_t>(1, kBlockRows / options_.batch_size) * options_.batch_size;
  while (state_.position < rows.size()) {
    const double begin = now();
    const int64_t count = std::min(block, rows.size() - state_.position);
    const double sum =
        train_rows(rows, std::span(order).subspan(size_t(state_.position), size_t(count)));
    require(std::isfinite(sum), ErrorKind::BadData, "the loss became ", sum, " near step ",
            optimiser_->steps(), " of epoch ", state_.epoch + 1,
            "; lower training.learning_rate, set training.clip_norm, or look for extreme values in "
            "the data");
    state_.loss_sum += sum;
    state_.position += count;
    state_.seconds += now() - begin;
    if (hooks.progress)
      hooks.progress(state_.epoch * rows.size() + state_.position,
                     state_.loss_sum / double(state_.position));
    if (hooks.should_stop && hooks.should_stop()) return false;
    if (state_.position < rows.size()) save(/*even_if_recent=*/false);
  }
  return true;
}

double Trainer::train_rows(const Dataset& rows, std::span<const int64_t> order) {
  if (fast_) return model_.train_block({rows.columns(), order, options_.batch_size}, *optimiser_);
  const at::Device device = model_.device();
  at::Tensor sum = torch::zeros({}, torch::TensorOptions().dtype(torch::kFloat64).device(device));
  for (size_t begin = 0; begin < order.size(); begin += size_t(options_.batch_size)) {
    const auto picked =
        order.subspan(begin, std::min(size_t(options_.batch_size), order.size() - begin));
    const int64_t step = optimiser_->steps();
    const StepContext context{random_.split("step").split(static_cast<uint64_t>(step)), step};
    optimiser_->zero_gradient();
    const Loss loss = model_.loss(rows.batch(picked).to(device), context);
    loss.objective.backward();
    optimiser_->step();
    sum += loss.objective.detach().to(torch::kFloat64) * double(picked.size());
  }
  return sum.item<double>();
}

EpochReport Trainer::end_epoch(const Dataset& rows, const TrainerHooks& hooks) {
  EpochReport report{state_.epoch + 1,
                     optimiser_->steps(),
                     state_.loss_sum / double(rows.size()),
                     optimiser_->last_rate(),
                     state_.seconds,
                     {},
                     false};
  if (hooks.evaluate) report.validation = hooks.evaluate();
  state_.epoch += 1;
  state_.position = 0;
  state_.loss_sum = state_.seconds = 0;
  const bool stop = note_gains(report);
  report.best = state_.best_epoch == report.epoch;
  if (report.best) best_weights_ = copy_of(state_of(model_)), best_is_written_ = false;
  optimiser_->schedule().epoch_ended(report.best);
  if (folder_) MetricsLog(folder_->metrics()).append(report.to_json());
  state_.stopped_early = stop;
  return report;
}

bool Trainer::note_gains(const EpochReport& report) {
  Metrics metrics = report.validation;
  if (metrics.empty()) metrics = {{"loss", report.loss, false}};  // nothing to validate on
  std::vector<std::string> names;
  for (const Metric& metric : metrics) names.push_back(metric.name);
  size_t stalled = 0;
  for (size_t i = 0; i < options_.monitor.size(); ++i) {
    const std::string& name = options_.monitor[i];
    const auto metric = std::find_if(metrics.begin(), metrics.end(),
                                     [&](const Metric& m) { return m.name == name; });
    require(metric != metrics.end(), ErrorKind::InvalidArgument,
            "training.monitor: there is no metric '", name, "'", suggestion(name, names),
            "; there are: ", join(names));
    MonitorState& monitor = state_.monitors[name];
    const double gain =
        metric->higher_is_better ? metric->value - monitor.best : monitor.best - metric->value;
    const bool gained = !monitor.has_best || gain > options_.minimum_gain;
    if (gained) monitor.best = metric->value, monitor.has_best = true;
    monitor.epochs_without_gain = gained ? 0 : monitor.epochs_without_gain + 1;
    if (gained && i == 0) state_.best_epoch = report.epoch;
    stalled += monitor.epochs_without_gain >= options_.patience;
  }
  if (options_.patience == 0) return false;
  return options_.stop_rule == "either" ? stalled > 0 : stalled == options_.monitor.size();
}

void Trainer::save(bool even_if_recent) {
  if (!folder_ || (!even_if_recent && now() - last_save_ < options_.checkpoint_seconds)) return;
  // The best weights first: a kill between the two leaves a checkpoint that will find the same best
  // again.
  if (!best_is_written_) write_weights(folder_->model(), best_weights_), best_is_written_ = true;
  write_checkpoint(*folder_, model_, *optimiser_, state_);
  last_save_ = now();
}

}  // namespace fovea
