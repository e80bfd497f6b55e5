// How attention comes to be: the maps of a few fixed validation rows, before the first epoch and
// then at each look at the validation rows, one line each in the run's attention.jsonl
// (docs/formats/run.md). Bounded: a row has at most 1,024 units, a line at most 65,536 weights and
// 1 MiB, the file 48 looks; when there are more, every second one is dropped. The training does not
// notice: predicting changes no weight and draws no random number of it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fovea/tasks/task.h"
#include "fovea/training/run_folder.h"

namespace fovea {

constexpr int64_t kMostWatched = 4;  // rows

class AttentionWatch {
 public:
  /// Of `count` rows, the same for the same data. `note` is told where nothing can be kept.
  AttentionWatch(const Task& task, const Model& model, std::shared_ptr<const Dataset> rows,
                 int64_t count, const RunFolder& folder,
                 std::function<void(const std::string&)> note);

  /// A line for each row, unless that epoch is there already or would be one too many.
  void look(int64_t epoch, int64_t step);

 private:
  void pick(int64_t count);
  std::string line(int64_t row, int64_t epoch, int64_t step) const;
  void give_up(const std::string& why);
  void go_on();
  void drop_every_second();

  const Task& task_;
  const Model& model_;
  std::shared_ptr<const Dataset> rows_;
  std::vector<int64_t> picked_;
  const RunFolder& folder_;
  std::function<void(const std::string&)> note_;
  std::vector<int64_t> epochs_;  // that are kept
  int64_t gap_ = 1;              // between them, at least
};

/// Whether a run's training is watched, by its files: then it is watched when it goes on.
int64_t watched_rows(const RunFolder& folder);

}  // namespace fovea
