#include "fovea/tasks/preview.h"

#include <sys/resource.h>

#include <algorithm>

#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr double kTimedSeconds = 1;

/// Of each class, in the training rows.
std::vector<int64_t> count_classes(const Dataset& rows, size_t classes) {
  constexpr int64_t kRows = 4096;
  at::Tensor counts = torch::zeros({int64_t(classes)}, torch::kLong);
  std::vector<int64_t> picked;
  for (int64_t row = 0; row < rows.size(); ++row) {
    picked.push_back(row);
    if (int64_t(picked.size()) < kRows && row + 1 < rows.size()) continue;
    const Batch batch = rows.batch(picked);
    picked.clear();
    const auto target = batch.tensors.find("target");
    if (target == batch.tensors.end() || target->second.dim() != 1) return {};
    counts += torch::bincount(target->second.to(torch::kLong), {}, int64_t(classes));
  }
  return {counts.data_ptr<int64_t>(), counts.data_ptr<int64_t>() + counts.numel()};
}

int64_t peak_memory() {
  rusage usage{};
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? int64_t(usage.ru_maxrss) * 1024 : 0;
}

}  // namespace

double TrainingPreview::seconds() const {
  const double seconds = training.time.choice + training.seconds(),
               most = training.plan.options.seconds;
  return most > 0 ? std::min(seconds, most) : seconds;
}

Json TrainingPreview::to_json(const Setup& setup) const {
  const auto count = [](const std::shared_ptr<Dataset>& rows) { return rows ? rows->size() : 0; };
  const Splits& splits = training.splits;
  const TrainingPlan& plan = training.plan;
  const TrainingOptions& options = plan.options;
  Json json{{"task", setup.task_name()},
            {"source", setup.common().data_path.empty() ? "built-in" : setup.common().data_path},
            {"notes", splits.notes},
            {"rows",
             {{"train", count(splits.train)},
              {"validation", count(splits.validation)},
              {"test", count(splits.test)}}},
            {"parameters", count_parameters(*training.model)},
            {"epochs", options.epochs},
            {"steps", plan.steps},
            {"steps_per_epoch", plan.steps_per_epoch},
            {"batch_size", options.batch_size},
            {"learning_rate", options.learning_rate},
            {"patience", options.patience},
            {"path", training.fused ? "fused" : "autograd"},
            {"fitted", training.fitted},
            {"choice_seconds", training.time.choice},
            {"seconds", seconds()},
            {"memory", memory},
            {"options", setup.to_config()}};
  if (training.fitted)
    for (const char* key :
         {"epochs", "steps", "steps_per_epoch", "batch_size", "learning_rate", "patience", "path"})
      json.erase(key);
  for (size_t i = 0; i < class_counts.size(); ++i) json["classes"][classes[i]] = class_counts[i];
  return json;
}

TrainingPreview preview_training(Setup& setup) {
  TrainingPreview preview;
  TrainRequest request;
  request.only_plans = true;
  request.time_steps = kTimedSeconds;
  preview.training = train(setup, request);
  preview.classes = setup.task().class_names();
  if (!preview.classes.empty())
    preview.class_counts = count_classes(*preview.training.splits.train, preview.classes.size());
  preview.memory = peak_memory();
  return preview;
}

}  // namespace fovea
