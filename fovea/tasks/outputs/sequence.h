// A text that is written token by token: {"text": …, "log_probability": …}, and "outputs" where
// there are several. Each task that writes texts adds its metrics.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fovea/base/text.h"
#include "fovea/data/pairs/load.h"
#include "fovea/data/tokenisers/tokeniser.h"
#include "fovea/metrics/translation.h"
#include "fovea/tasks/outputs/output.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/training/run_folder.h"

namespace fovea {

/// A tokeniser as the assets NAME.json and, for the kinds that have SentencePiece's bytes,
/// NAME.model.
void save_tokeniser(const RunFolder& folder, const std::string& name, const Tokeniser& tokeniser);
std::shared_ptr<const Tokeniser> load_tokeniser(const RunFolder& folder, const std::string& name);

/// Those of both sides, "source" and "target": one of them where they are the same.
void save_tokenisers(const RunFolder& folder, const PairTokenisers& tokenisers);
PairTokenisers load_tokenisers(const RunFolder& folder);

/// The targets of a batch, with the end symbol.
std::vector<std::vector<int64_t>> target_tokens(const Batch& batch);
/// The map "attention" while the targets of a batch are written, [B, T, units]: the mean of the
/// heads. Undefined for a network without.
at::Tensor target_attention(const Model& model, const Batch& batch);

/// What was generated for rows, in their order.
struct GeneratedRows {
  std::vector<std::string> outputs;
  std::vector<References> references;
  std::vector<std::vector<int64_t>> output_tokens, target_tokens;  // without the end symbol
  double nats = 0;                                                 // of all targets
  int64_t tokens = 0;                                              // likewise, with the end symbols

  double loss() const { return nats / double(tokens); }
  double exact_match() const;  // share of outputs that are one of their references
  /// Edits that make the outputs their first references, of the characters of these.
  double character_error_rate() const;
};

class SequenceOutput : public OutputKind {
 public:
  /// `target` is the tokeniser of what is written, `axis` what it is called in explanations.
  SequenceOutput(std::function<const Tokeniser&()> target, std::string axis)
      : target_(std::move(target)), axis_(std::move(axis)) {}

  Metrics measure(const Model& model, const Dataset& rows,
                  const RowProgress& progress) const override;
  /// With the interval of the metric that decides.
  Evaluation evaluate(const Model& model, const Dataset& rows,
                      const RowProgress& progress) const override;
  /// What most training rows have as target, where several have the same; and where the data says
  /// how alike sources are, the target of the training row that is the nearest (nearest_row.h).
  NamedTensors fit_baselines(const Dataset& train, const LinearInputs& inputs) const override;
  std::vector<BaselineResult> measure_baselines(const NamedTensors& fitted, const Dataset& rows,
                                                const LinearInputs& inputs) const override;

  void finish(const Model& model, std::span<const Example> examples,
              std::vector<Prediction>& predictions) const override;
  Json answer(const Example& example, const Prediction& prediction) const override;
  /// The best text and its log probability.
  Json answer_row(const Example& example, const Prediction& prediction) const override;
  /// The texts of all outputs, tabs between them.
  std::string answer_line(const Example& example, const Prediction& prediction) const override;
  std::string headline(const Example& example, const Prediction& prediction) const override;
  Example describe_output(const Example& example, const Prediction& prediction) const override;
  /// Right where the best text is one of the references; else how many characters it is off.
  RowsKind rows_kind() const override {
    return {"text", "", "character error rate", concat("nats a ", unit())};
  }
  std::vector<RowAnswer> judge_rows(const PredictedRows& rows) const override;

 protected:
  const Tokeniser& target() const { return target_(); }
  /// What a unit of the axis is called.
  virtual std::string unit() const { return "token"; }
  /// A token for people.
  virtual std::string label(int64_t token) const;
  /// The first output as an axis, a unit for each token; the end is special.
  Axis output_axis(const Prediction& prediction) const;

  /// Of texts beside their references, whoever wrote them.
  virtual Metrics text_metrics(const GeneratedRows& texts) const = 0;
  /// What else is measured of the network.
  virtual void add_metrics(const Model& model, const Dataset& rows, const GeneratedRows& all,
                           Metrics& metrics) const = 0;
  /// Which of them decides.
  virtual std::string main_metric() const { return "exact_match"; }
  /// What rows add to it; without rows: it is a share of them.
  virtual SummedMetric main_sums(const GeneratedRows& all) const { return {}; }
  /// The rows that are measured in place of these; null: these.
  virtual std::shared_ptr<const Dataset> lengthened(const Dataset& rows) const { return nullptr; }

  /// How rows are measured together.
  virtual RowBatches batches(const Model& model, const Dataset& rows) const = 0;
  /// finish() of these rows.
  virtual void finish_rows(const Model& model, const Dataset& rows, std::span<const int64_t> picked,
                           std::vector<Prediction>& predictions) const;
  /// Decodes every row. `model` must be a SequenceModel.
  GeneratedRows generate(const Model& model, const Dataset& rows,
                         const RowProgress& progress) const;
  /// Of the tokens of which it is known what they should look at: pointing, the share whose
  /// strongest place lies there while the right target is written, and attention_truth, the share
  /// of their attention that does.
  void add_truth(const Model& model, const Dataset& rows, Metrics& metrics) const;

 private:
  Metrics metrics_of(const Model& model, const Dataset& rows, const GeneratedRows& all) const;
  std::function<const Tokeniser&()> target_;
  std::string axis_;
};

}  // namespace fovea
