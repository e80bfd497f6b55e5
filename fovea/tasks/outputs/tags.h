// A tag for every word: {"words": […], "tags": […]} and, where the tags spell entities (IOB2),
// before them "entities": [{"type", "text", "span"}]; spans count code points of the text.
// Where few entities are found for sure, F1 gains when less sure ones are put out as well: after
// training the score of O is lowered by what gives the best F1 on the validation rows (of a
// classifier the best threshold is half of the best F1; Lipton et al. 2014).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fovea/data/tags/load.h"
#include "fovea/metrics/entities.h"
#include "fovea/tasks/outputs/output.h"

namespace fovea {

struct TagsOptions {
  std::string threshold = "f1";
  void describe(OptionList& list);
};

class TagsOutput : public OutputKind {
 public:
  /// `coding` has the tags as the data knows them.
  explicit TagsOutput(std::function<const TagCoding&()> coding) : coding_(std::move(coding)) {}

  void describe(OptionList& list) override { list.group("output", options_); }

  /// loss and token_accuracy, of entities precision, recall and f1, and the share of attention on
  /// what matters.
  Metrics measure(const Model& model, const Dataset& rows,
                  const RowProgress& progress) const override;
  /// With a table by type of entity.
  Evaluation evaluate(const Model& model, const Dataset& rows,
                      const RowProgress& progress) const override;
  /// The tag that each word has most often in training; an unknown word has that of all words.
  NamedTensors fit_baselines(const Dataset& train, const LinearInputs& inputs) const override;
  std::vector<BaselineResult> measure_baselines(const NamedTensors& fitted, const Dataset& rows,
                                                const LinearInputs& inputs) const override;
  Json answer(const Example& example, const Prediction& prediction) const override;
  /// The tags as the prediction, then words and entities.
  Json answer_row(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  /// The same with commas in place of tabs.
  std::string headline(const Example& example, const Prediction& prediction) const override;
  /// Lowers the score of O in the model.
  bool fit_answers(Model& model, const Dataset& validation) override;
  Json fitted_answers() const override;
  /// InvalidArgument for another rule than the run was trained with.
  bool restore_answers(const std::optional<Field>& fitted) override;
  /// The words, and the tokens that they begin at, with their tags as values.
  Example describe_output(const Example& example, const Prediction& prediction) const override;
  /// Right where every word has its tag.
  RowsKind rows_kind() const override { return {"tags", "", "wrong words", "nats a word"}; }
  std::vector<RowAnswer> judge_rows(const PredictedRows& rows) const override;

 private:
  /// The tags of every row, found and right, and the sum of -ln p of the right ones.
  struct TaggedRows {
    std::vector<Tags> outputs, targets;
    double nats = 0;
  };
  TaggedRows tag_rows(const Model& model, const Dataset& rows, const RowProgress& progress) const;
  Metrics measure(const TaggedRows& tagged, const Model& model, const Dataset& rows) const;
  /// token_accuracy, and of entities precision, recall and f1.
  Metrics tag_metrics(std::span<const Tags> outputs, std::span<const Tags> targets) const;
  std::vector<std::string> tag_names(std::span<const int64_t> tags) const;
  std::function<const TagCoding&()> coding_;
  TagsOptions options_;
  double outside_shift_ = 0;  // by which the score of O was lowered
};

}  // namespace fovea
