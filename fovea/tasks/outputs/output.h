// A kind of answer: what is measured of it, and how it is said to programs and to people. Written
// once for all tasks that give such answers: classes.h, numbers.h, sequence.h, …
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/json_field.h"
#include "fovea/base/options.h"
#include "fovea/data/dataset.h"
#include "fovea/metrics/metric.h"
#include "fovea/models/model.h"
#include "fovea/tasks/outputs/evaluation.h"
#include "fovea/tasks/outputs/row_answers.h"

namespace fovea {

/// Told how many rows are done; may be empty.
using RowProgress = std::function<void(int64_t rows)>;

/// One metric by the length of the source: where a model without attention gives way.
struct LengthCurve {
  std::string metric;                // "bleu"
  std::string length;                // what buckets count: "source tokens"
  std::vector<std::string> buckets;  // "1-5", "6-10", …; empty: there is no such curve
  std::vector<double> values;        // NaN where a bucket is empty
  std::vector<int64_t> counts;       // rows in each
};

/// What was read and answered of an endless file.
struct StreamReport {
  int64_t events = 0;       // read
  int64_t predictions = 0;  // answers given
  double seconds = 0;
  std::vector<std::string> notes;
};

class OutputKind {
 public:
  virtual ~OutputKind() = default;

  /// Groups of options of its own: decoding, output.
  virtual void describe(OptionList& list) {}

  /// What an answer can be, in the order of the target's numbers; empty: no classes.
  virtual std::vector<std::string> class_names() const { return {}; }

  /// Which of measure() decides when a training stops and which epoch is kept, where nobody says:
  /// those of the network's training, unless these answers have others.
  virtual std::vector<std::string> monitors(const std::vector<std::string>& usual) const {
    return usual;
  }
  /// What training watches, after every epoch.
  virtual Metrics measure(const Model& model, const Dataset& rows,
                          const RowProgress& progress) const = 0;
  /// All that is worth knowing, once, without baselines: measure(), and which of it decides.
  virtual Evaluation evaluate(const Model& model, const Dataset& rows,
                              const RowProgress& progress) const;

  /// What baselines learn from the training rows, kept in the run; empty where there are none.
  /// `inputs` is how a linear model sees the rows, or empty (DataKind::linear_inputs).
  virtual NamedTensors fit_baselines(const Dataset& train, const LinearInputs& inputs) const {
    return {};
  }
  /// What they score on other rows, with the names of evaluate(), the simplest first.
  virtual std::vector<BaselineResult> measure_baselines(const NamedTensors& fitted,
                                                        const Dataset& rows,
                                                        const LinearInputs& inputs) const {
    return {};
  }

  /// InvalidArgument, before a training, for options that cannot work with this data.
  virtual void check_options(bool has_validation) const {}
  /// What of an answer is decided after training, on rows that were not trained on: temperature and
  /// threshold of classes. True where that changed weights of the model.
  virtual bool fit_answers(Model& model, const Dataset& validation) { return false; }
  /// The same for the manifest of the run; null where nothing is decided.
  virtual Json fitted_answers() const { return nullptr; }
  /// From the manifest; `fitted` is null where it says nothing. False where the options ask for
  /// what it does not hold, so that fit_answers() is due.
  virtual bool restore_answers(const std::optional<Field>& fitted) { return true; }
  virtual LengthCurve measure_by_length(const Model& model, const Dataset& rows,
                                        const RowProgress& progress) const {
    return {};
  }
  /// How a metric was computed, where that has to be said: the signature of BLEU.
  virtual std::vector<std::string> metric_notes(const Dataset& rows) const { return {}; }

  /// Fills in what of a prediction is for people and needs the example: texts.
  virtual void finish(const Model& model, std::span<const Example> examples,
                      std::vector<Prediction>& predictions) const {}
  /// The right answer of a row as compare_truth() reads it (truth.h); empty where it is not known.
  virtual std::string truth(const Dataset& rows, int64_t row) const;
  /// For programs.
  virtual Json answer(const Example& example, const Prediction& prediction) const = 0;
  /// One line of `fovea predict`.
  virtual std::string answer_line(const Example& example, const Prediction& prediction) const = 0;
  /// One row of `fovea predict --out`: texts, numbers, marks and nulls by the names of the columns,
  /// "prediction" first.
  virtual Json answer_row(const Example& example, const Prediction& prediction) const;
  /// For people, above a picture: "malignant (0.97)".
  virtual std::string headline(const Example& example, const Prediction& prediction) const {
    return answer_line(example, prediction);
  }
  /// The example with axes for what was put out.
  virtual Example describe_output(const Example& example, const Prediction& prediction) const {
    return example;
  }

  /// How rows of a data set are compared with what is right, for a table of them; without a name
  /// they are not, and judge_rows() is not called.
  virtual RowsKind rows_kind() const { return {}; }
  /// One for each of the rows, in their order.
  virtual std::vector<RowAnswer> judge_rows(const PredictedRows& rows) const;

  /// Whether answers are vectors whose directions can be compared.
  virtual bool embeds() const { return false; }

  /// Whether inputs are one endless row of events: `fovea predict --input FILE` then calls
  /// stream().
  virtual bool streams() const { return false; }
  /// Answers the events of a file of any size, in order, one line each; `json`: as JSON objects.
  virtual StreamReport stream(const Model& model, const std::filesystem::path& path, bool json,
                              const std::function<void(const std::string& line)>& answer) const;
};

}  // namespace fovea
