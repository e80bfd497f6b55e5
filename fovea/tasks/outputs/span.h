// A span of the text that answers a question: {"answer": …, "start": …, "end": …, "score": …}, the
// span in code points of the text as it was given, the score p(begin) p(end). Where a question may
// have no answer: "answer" null, and "no_answer", the score of that. Others that were likely are in
// "others".
// There is no answer where its log-score is larger than that of the best span by more than a
// threshold, which is chosen after training for the best F1 on the validation rows, as the official
// script of SQuAD 2.0 does it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fovea/tasks/outputs/output.h"

namespace fovea {

struct SpanOptions {
  std::string no_answer = "auto";
  std::string threshold;
  void describe(OptionList& list);
};

class SpanOutput : public OutputKind {
 public:
  /// `may_refuse` says whether training had questions without an answer.
  explicit SpanOutput(std::function<bool()> may_refuse) : trained_(std::move(may_refuse)) {}

  void describe(OptionList& list) override { list.group("output", options_); }
  /// loss, exact_match and f1.
  Metrics measure(const Model& model, const Dataset& rows,
                  const RowProgress& progress) const override;
  /// With the interval of F1 and, where questions may have no answer, both metrics of those with
  /// and without one.
  Evaluation evaluate(const Model& model, const Dataset& rows,
                      const RowProgress& progress) const override;
  /// The most frequent answer, no answer, and the sentence with most words of the question.
  NamedTensors fit_baselines(const Dataset& train, const LinearInputs& inputs) const override;
  std::vector<BaselineResult> measure_baselines(const NamedTensors& fitted, const Dataset& rows,
                                                const LinearInputs& inputs) const override;
  void check_options(bool has_validation) const override;
  bool fit_answers(Model& model, const Dataset& validation) override;
  Json fitted_answers() const override;
  bool restore_answers(const std::optional<Field>& fitted) override;

  /// The chosen answer first, with its text.
  void finish(const Model& model, std::span<const Example> examples,
              std::vector<Prediction>& predictions) const override;
  /// Nothing where people gave different answers: being none of them alone is not being wrong.
  std::string truth(const Dataset& rows, int64_t row) const override;
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  Json answer_row(const Example& example, const Prediction& prediction) const override;
  std::string headline(const Example& example, const Prediction& prediction) const override;
  /// Tokens of the answer have the value "answer".
  Example describe_output(const Example& example, const Prediction& prediction) const override;
  /// Right where it is the exact match of the metric; else how many words it is off.
  RowsKind rows_kind() const override { return {"span", "", "1 − F1 of the words", "nats"}; }
  std::vector<RowAnswer> judge_rows(const PredictedRows& rows) const override;

 private:
  /// One row that was measured.
  struct Answered {
    std::string text;       // of the best span
    double preference = 0;  // for no answer: its log-score less that of the span
    std::vector<std::string> right;
  };
  struct AnsweredRows {
    std::vector<Answered> rows;
    double loss = 0;
  };
  AnsweredRows answer_rows(const Model& model, const Dataset& rows,
                           const RowProgress& progress) const;
  Metrics metrics_of(const AnsweredRows& answered) const;
  bool may_refuse() const;
  bool refuses(double preference) const { return may_refuse() && preference > threshold_; }

  std::function<bool()> trained_;
  SpanOptions options_;
  double threshold_ = 0;
};

}  // namespace fovea
