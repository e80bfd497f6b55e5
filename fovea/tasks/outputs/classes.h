// One of several classes: {"class": …, "probability": …, "scores": {class: probability}}.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fovea/tasks/outputs/output.h"

namespace fovea {

/// Probabilities of all rows, in their order.
struct ClassScores {
  at::Tensor scores;  // [N, C]
  at::Tensor target;  // [N] int64
};

/// Predicts every row, in batches of about `units` padded positions (over_rows.h).
ClassScores score_rows(const Model& model, const Dataset& rows, int64_t classes, int64_t units,
                       const RowProgress& progress);

class ClassesOutput : public OutputKind {
 public:
  using Classes = std::function<const std::vector<std::string>&()>;
  /// Attention of the map called `map` is held against planted truth, as the metric `metric`.
  struct Truth {
    std::string map, metric = "attention_truth";
  };

  static constexpr int64_t kUnits = 8192;
  /// `classes` as the encodings know them; `units` of a batch that is measured.
  explicit ClassesOutput(Classes classes, int64_t units = kUnits, std::vector<Truth> truths = {})
      : classes_(std::move(classes)), units_(units), truths_(std::move(truths)) {}

  std::vector<std::string> class_names() const override { return classes_(); }
  /// loss, accuracy, macro_f1, of two classes auc, and the share of attention on what matters.
  Metrics measure(const Model& model, const Dataset& rows,
                  const RowProgress& progress) const override;
  Json answer(const Example& example, const Prediction& prediction) const override;
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  std::string headline(const Example& example, const Prediction& prediction) const override;

 protected:
  const std::vector<std::string>& classes() const { return classes_(); }
  void add_truth(const Model& model, const Dataset& rows, Metrics& metrics) const;

 private:
  Classes classes_;
  int64_t units_;
  std::vector<Truth> truths_;
};

}  // namespace fovea
