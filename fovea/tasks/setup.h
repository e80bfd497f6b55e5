// A task together with every option that decides a run. Made from a task's name and the command
// line, or from a run's config.json; the same list of options serves both.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "fovea/tasks/catalogue.h"

namespace fovea {

/// Options that mean the same for every task.
struct CommonOptions {
  int64_t seed = 0;
  int64_t threads = 0;
  std::string device = "cpu";
  std::string data_path;                  // absolute; empty: built-in data
  std::string target_path;                // absolute; the second of two parallel files
  std::vector<std::string> data_columns;  // role=name
  int64_t folds = 0;                      // trained on all of so many folds (folds.h)
  std::string from;                       // absolute; a run or folder that training begins with
  void describe(OptionList& list);
};

class Setup {
 public:
  explicit Setup(const std::string& task);
  static Setup from_config(const Json& config, const std::string& where);

  const std::string& task_name() const { return name_; }
  Task& task() { return *task_; }
  const Task& task() const { return *task_; }
  CommonOptions& common() { return state_->common; }
  const CommonOptions& common() const { return state_->common; }
  TrainingOptions& training() { return state_->training; }
  const TrainingOptions& training() const { return state_->training; }
  OptionList& options() { return state_->options; }
  const OptionList& options() const { return state_->options; }

  /// "key=value". Where a task has several models with options of their own, model.name chooses
  /// among them, before or after the other options are set; the model's own defaults, those of the
  /// training included, then stand for what is not set. So it is with `from`, whose training is
  /// fine_tuning_defaults() and whose usual model is fine_tuned_model().
  void set(const std::string& assignment);
  void set(const std::string& key, const std::string& value);
  /// All keys of a nested JSON object; `where` names the file in an error. Its key "config" names
  /// the settings that it builds on (use_config).
  void merge(const Json& options, const std::string& where);
  /// Settings that the program brings along: those of the model that is chosen now or later. So
  /// does set("config", name).
  void use_config(const std::string& name);

  DataSource source() const;  // what the options name
  void set_source(const std::string& path, const std::vector<std::string>& columns,
                  const std::string& target_path = "");
  /// Of common().folds, from 0: this one is for validation. Otherwise all are for training.
  void set_fold(int64_t fold) { fold_ = fold; }
  /// What training begins with, --from.
  void set_from(const std::string& run_or_folder);
  Json to_config() const;  // without the format version

  /// Whether it is said how long to train: epochs, steps or seconds; not by folds (folds.h).
  bool has_budget() const {
    const bool said = training().epochs > 0 || training().steps > 0 || training().seconds > 0;
    return said && common().folds == 0;
  }
  /// Whether training.monitor is another than the task's.
  bool monitors_are_given() const {
    return training().monitor != task().training_defaults().monitor;
  }

  /// Sets the number of threads and checks the device. Unsupported when LibTorch has no CUDA or
  /// finds no GPU.
  at::Device prepare_device() const;

 private:
  void describe();
  void describe_again();  // and sets once more what was set
  void look_at_start();   // after a change of `from`
  void choose_model(const std::string& name);
  struct State {  // on the heap: the options hold references into it
    CommonOptions common;
    TrainingOptions training;
    OptionList options;
  };
  std::string name_;
  std::unique_ptr<Task> task_;
  std::unique_ptr<State> state_;
  std::string described_from_;
  bool model_is_given_ = false;
  int64_t fold_ = -1;                                    // all
  std::vector<std::function<void(OptionList&)>> given_;  // what was set, in this order
};

/// "target=income,drop=id" or a list of such, as roles.
Roles parse_roles(const std::vector<std::string>& columns);

}  // namespace fovea
