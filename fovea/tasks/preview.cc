#include "fovea/tasks/preview.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>

#include "fovea/data/row_subset.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr double kTimedSeconds = 1;

double preview_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

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

/// Seconds of one look at the rows, told from a part of them where it takes long.
double time_evaluation(const Task& task, Model& model, const std::shared_ptr<const Dataset>& rows) {
  double taken = 0;
  for (int64_t count = 8;; count *= 8) {
    const auto some = sample_rows(rows, count);
    const double begin = preview_clock();
    task.measure(model, *some);
    taken = preview_clock() - begin;
    if (some->size() == rows->size() || taken > kTimedSeconds / 8)
      return taken * double(rows->size()) / double(some->size());
  }
}

int64_t peak_memory() {
  rusage usage{};
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? int64_t(usage.ru_maxrss) * 1024 : 0;
}

}  // namespace

double TrainingPreview::training_seconds() const {
  double seconds = fitted ? fit_seconds : planned_seconds(plan, step_seconds, evaluation_seconds);
  if (refits) {  // afterwards on all rows
    const double rows = double(splits.train->size());
    seconds *= 2 + double(splits.validation->size()) / rows;
  }
  return seconds;
}

double TrainingPreview::seconds() const {
  const double seconds = choice_seconds + training_seconds(), most = plan.options.seconds;
  return most > 0 ? std::min(seconds, most) : seconds;
}

Json TrainingPreview::to_json(const Setup& setup) const {
  const auto count = [](const std::shared_ptr<Dataset>& rows) { return rows ? rows->size() : 0; };
  const TrainingOptions& options = plan.options;
  Json json{{"task", setup.task_name()},
            {"source", setup.common().data_path.empty() ? "built-in" : setup.common().data_path},
            {"notes", splits.notes},
            {"rows",
             {{"train", count(splits.train)},
              {"validation", count(splits.validation)},
              {"test", count(splits.test)}}},
            {"parameters", parameters},
            {"epochs", options.epochs},
            {"steps", plan.steps},
            {"steps_per_epoch", plan.steps_per_epoch},
            {"batch_size", options.batch_size},
            {"learning_rate", options.learning_rate},
            {"patience", options.patience},
            {"path", fused ? "fused" : "autograd"},
            {"fitted", fitted},
            {"choice_seconds", choice_seconds},
            {"seconds", seconds()},
            {"memory", memory},
            {"options", setup.to_config()}};
  if (fitted)
    for (const char* key :
         {"epochs", "steps", "steps_per_epoch", "batch_size", "learning_rate", "patience", "path"})
      json.erase(key);
  for (size_t i = 0; i < class_counts.size(); ++i) json["classes"][classes[i]] = class_counts[i];
  return json;
}

TrainingPreview preview_training(Setup& setup) {
  TrainingPreview preview;
  TrainRequest request;
  request.chooses = false;
  request.time_steps = kTimedSeconds;
  request.loaded = [&](const Training& training) {
    preview.splits = training.splits;
    preview.layers = training.model->summary();
    preview.parameters = count_parameters(*training.model);
    preview.plan = training.plan;
    preview.fused = training.fused;
    preview.fitted = training.fitted;
    preview.fit_seconds = training.fit_seconds;
    preview.refits = training.refits;
    preview.choice_seconds = training.choice_seconds;
    if (const double most = training.plan.options.seconds; most > 0)
      preview.choice_seconds = std::min(preview.choice_seconds, kShareOfChoice * most);
    preview.classes = setup.task().class_names();
    if (!preview.classes.empty())
      preview.class_counts = count_classes(*training.splits.train, preview.classes.size());
    if (const auto& validation = training.splits.validation) {
      preview.evaluation_seconds =
          time_evaluation(setup.task(), *training.model,
                          sample_rows(validation, training.plan.options.evaluate_rows));
    }
  };
  preview.step_seconds = train(setup, request).step_seconds;
  preview.memory = peak_memory();
  return preview;
}

}  // namespace fovea
