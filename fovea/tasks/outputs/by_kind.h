// A class, several labels or a number, whichever the data has: what the rows of a task like
// `documents` are is known once they were read. Tasks without numbers give the other two.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fovea/tasks/outputs/classes.h"
#include "fovea/tasks/outputs/labels.h"
#include "fovea/tasks/outputs/numbers.h"
#include "fovea/tensor/answer_kind.h"

namespace fovea {

class KindOutput : public OutputKind {
 public:
  /// As the encodings know them.
  struct Known {
    std::function<AnswerKind()> kind;
    ClassesOutput::Classes classes;  // or labels
    std::function<NumberOutput::Target()> number;
  };
  explicit KindOutput(const Known& known, std::vector<AttentionTruth> truths = {},
                      int64_t units = ClassesOutput::kUnits)
      : kind_(known.kind),
        scale_(known.number),
        classes_(std::make_shared<ClassesOutput>(known.classes, units, truths)),
        labels_(std::make_shared<LabelsOutput>(known.classes, classes_->options(), truths, units)),
        number_(std::make_shared<NumberOutput>(known.number, truths, units)) {}
  /// A class or several labels. `labels` has the options of `classes`.
  KindOutput(std::function<AnswerKind()> kind, std::shared_ptr<ClassesOutput> classes,
             std::shared_ptr<LabelsOutput> labels)
      : kind_(std::move(kind)), classes_(std::move(classes)), labels_(std::move(labels)) {}

  void describe(OptionList& list) override { classes_->describe(list); }
  std::vector<std::string> class_names() const override { return own().class_names(); }
  std::vector<std::string> monitors(const std::vector<std::string>& usual) const override {
    return own().monitors(usual);
  }
  Metrics measure(const Model& model, const Dataset& rows,
                  const RowProgress& progress) const override {
    return own().measure(model, rows, progress);
  }
  Evaluation evaluate(const Model& model, const Dataset& rows,
                      const RowProgress& progress) const override {
    return own().evaluate(model, rows, progress);
  }
  NamedTensors fit_baselines(const Dataset& train, const LinearInputs& inputs) const override {
    return own().fit_baselines(train, inputs);
  }
  std::vector<BaselineResult> measure_baselines(const NamedTensors& fitted, const Dataset& rows,
                                                const LinearInputs& inputs) const override {
    return own().measure_baselines(fitted, rows, inputs);
  }
  void check_options(bool has_validation) const override { own().check_options(has_validation); }
  bool fit_answers(Model& model, const Dataset& validation) override {
    return own().fit_answers(model, validation);
  }
  /// Of a number how the network's is read, for those who read it elsewhere.
  Json fitted_answers() const override {
    if (kind_() != AnswerKind::Number) return own().fitted_answers();
    const NumberOutput::Target target = scale_();
    return {{"number",
             {{"name", target.name}, {"mean", target.mean}, {"deviation", target.deviation}}}};
  }
  bool restore_answers(const std::optional<Field>& fitted) override {
    return own().restore_answers(fitted);
  }
  void finish(const Model& model, std::span<const Example> examples,
              std::vector<Prediction>& predictions) const override {
    own().finish(model, examples, predictions);
  }
  std::string truth(const Dataset& rows, int64_t row) const override {
    return own().truth(rows, row);
  }
  Json answer(const Example& example, const Prediction& prediction) const override {
    return own().answer(example, prediction);
  }
  std::string answer_line(const Example& example, const Prediction& prediction) const override {
    return own().answer_line(example, prediction);
  }
  Json answer_row(const Example& example, const Prediction& prediction) const override {
    return own().answer_row(example, prediction);
  }
  std::string headline(const Example& example, const Prediction& prediction) const override {
    return own().headline(example, prediction);
  }
  RowsKind rows_kind() const override { return own().rows_kind(); }
  std::vector<RowAnswer> judge_rows(const PredictedRows& rows) const override {
    return own().judge_rows(rows);
  }

 private:
  const OutputKind& own() const {
    switch (kind_()) {
      case AnswerKind::Labels:
        return *labels_;
      case AnswerKind::Number:
        return *number_;
      case AnswerKind::Class:
        break;
    }
    return *classes_;
  }
  OutputKind& own() { return const_cast<OutputKind&>(std::as_const(*this).own()); }

  std::function<AnswerKind()> kind_;
  std::function<NumberOutput::Target()> scale_;
  std::shared_ptr<ClassesOutput> classes_;
  std::shared_ptr<LabelsOutput> labels_;
  std::shared_ptr<NumberOutput> number_;  // null: there are no numbers
};

}  // namespace fovea
