// A run, ready to answer. The program, the server, the report and the contract tests call only
// this.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "fovea/explain/record/query_key.h"
#include "fovea/explain/what_if/flip.h"
#include "fovea/tasks/setup.h"
#include "fovea/tensor/predictor.h"

namespace fovea {

/// A task and a model of it as a Predictor: what explain/ and serving/ may know of them. Who has
/// both only says where they are.
class TaskPredictor : public Predictor {
 public:
  virtual const Task& task() const = 0;
  virtual const Model& model() const = 0;

  std::vector<Prediction> predict(std::span<const Example> examples) const override;
  at::Tensor replay_batch(std::span<const Example> examples,
                          std::span<const Prediction> predictions, Tap& tap) const override;
  Example describe_output(const Example& example, const Prediction& prediction) const override;
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const override;
  std::unique_ptr<Predictor> randomised(uint64_t seed) const override;
};

/// Of a task and a model that belong to somebody else and outlive it.
class BorrowedPredictor : public TaskPredictor {
 public:
  BorrowedPredictor(const Task& task, const Model& model) : task_(task), model_(model) {}
  const Task& task() const override { return task_; }
  const Model& model() const override { return model_; }

 private:
  const Task& task_;
  const Model& model_;
};

class Pipeline : public TaskPredictor {
 public:
  /// Loads config, assets and weights; each missing or damaged file has its own error. A Hugging
  /// Face folder opens as a run of the task that its architecture belongs to (architectures.h).
  /// `assignments` ("decoding.beam=5") change how answers are searched for, never the weights.
  static Pipeline load(const std::filesystem::path& run, const std::string& device = "cpu",
                       const std::vector<std::string>& assignments = {});

  const std::string& task_name() const { return setup_.task_name(); }
  const Setup& setup() const { return setup_; }
  Setup& setup() { return setup_; }
  const Task& task() const override { return setup_.task(); }
  const Model& model() const override { return *model_; }
  const RunFolder& folder() const { return folder_; }
  /// What a user must know of the answers, one sentence each: what was left out of a folder from
  /// elsewhere, that the training did not finish.
  const std::vector<std::string>& notes() const { return notes_; }
  /// A sentence when the run's training did not come to its end; else empty.
  const std::string& unfinished() const { return unfinished_; }

  /// One input as the user gave it: a JSON object, or a row or text as it is.
  Example parse(const std::string& line) const;

  /// The columns of a table of inputs, by the names that training knew them by.
  const InputColumns& input_columns() const { return input_columns_; }

  /// The run's own data, or `path` read with the run's encodings (a file without a split column is
  /// all test rows).
  Splits load_data(const std::string& path, const std::vector<std::string>& columns = {},
                   const std::string& target_path = "");
  Metrics measure(const Dataset& rows) const { return setup_.task().measure(*model_, rows); }
  /// For the run's own validation rows: from here on with the weights that have not seen them,
  /// where the run keeps such beside those that have (refit.h). Whether it does.
  bool use_held_out_weights();
  /// In full, beside the baselines of the run.
  Evaluation evaluate(const Dataset& rows) const;
  /// The run at a glance (run_card.h).
  const Json& card() const { return card_; }
  /// What is right for an input that holds its own answer under the name of the target, or that is
  /// one of the run's own examples; empty where that is not known.
  std::string truth_of(const Example& example) const;
  /// Puts the right answer beside the one that was given.
  void tell_truth(Explanation& explanation, const Prediction& prediction,
                  const std::string& truth) const;
  /// `heads`: their mean for pictures, all or some of them for reports.
  Explanation explain(const Example& example, const HeadChoice& heads = {}) const;
  /// Of that answer, which may be another run's.
  Explanation explain(const Example& example, const Prediction& prediction,
                      const HeadChoice& heads = {}) const;
  /// The input without these units, and for Explanation::without what was taken and what the
  /// answer to the whole is.
  std::pair<Example, TakenAway> take_away(const Example& example,
                                          std::span<const AxisUnits> away) const;
  /// The smallest change found that changes the answer; `options.answer` is filled in. Unsupported
  /// where answers are numbers or vectors, of which no two are alike.
  Flip find_flip(const Example& example, FlipOptions options) const;
  /// What one weight of such an explanation is made of.
  QueryKey explain_weight(const Example& example, const WeightPlace& place) const;
  Explanation overview(const Dataset& rows) const;

 private:
  Pipeline(RunFolder folder, Setup setup) : folder_(std::move(folder)), setup_(std::move(setup)) {}
  void load_run();
  void load_hugging_face();
  void restore_answers();
  RunFolder folder_;
  Setup setup_;
  std::unique_ptr<Model> model_;
  std::vector<std::string> notes_;
  std::string unfinished_;
  InputColumns input_columns_;
  Json card_;            // run_card()
  Json example_truths_;  // Task::example_truths()
};

/// The setup that made a run, from its config.json; of a Hugging Face folder as
/// architectures.h has it.
Setup setup_of(const std::filesystem::path& run);

}  // namespace fovea
