// What a network has to beat: rules that learn in a second. The class or number that most rows
// have, and a linear model on the same inputs: logistic regression or ridge regression as
// scikit-learn has them (C = 1, alpha = 1), fitted with L-BFGS (Nocedal 1980).
#pragma once

#include <string>
#include <vector>

#include "fovea/base/progress.h"
#include "fovea/data/dataset.h"
#include "fovea/metrics/metric.h"
#include "fovea/tensor/example.h"

namespace fovea {

/// What a baseline scores on some rows, by the names of the model's own metrics.
struct BaselineResult {
  std::string name;  // "majority", "logistic regression"
  Metrics metrics;
  bool is_best = false;  // no model can do better on average: none has to beat it
};

/// Rows as a linear model sees them: dense, or how often each of many tokens occurs in them.
struct LinearInputs {
  at::Tensor dense;  // [N, F], or undefined
  int64_t width = 0;
  bool weighs = true;                      // tokens count by TF-IDF; else as often as they occur
  std::string title = "";                  // of a linear model of them; empty: by what it is
  std::vector<int64_t> offsets, features;  // of row i: offsets[i] … offsets[i + 1] - 1
  std::vector<float> values;

  bool empty() const { return !dense.defined() && offsets.size() < 2; }
  int64_t rows() const { return dense.defined() ? dense.size(0) : int64_t(offsets.size()) - 1; }
  int64_t features_count() const { return dense.defined() ? dense.size(1) : width; }
  void add_row(const std::vector<std::pair<int64_t, float>>& row);
};

/// How often each of `vocabulary` tokens occurs in the tensor called `name` of each row, without
/// what its mask NAME.keep leaves out.
LinearInputs count_tokens(const Dataset& rows, const std::string& name, int64_t vocabulary);

/// The pictures called `name`, uint8 [C, H, W] of each row, as at most side x side pixels.
LinearInputs shrink_pictures(const Dataset& rows, const std::string& name, int64_t side);

/// These rows of the inputs.
LinearInputs select_rows(const LinearInputs& inputs, const std::vector<int64_t>& picked);

/// TF-IDF as scikit-learn has it: ln((1 + N) / (1 + rows with the token)) + 1, [F].
at::Tensor inverse_frequencies(const LinearInputs& counts);
/// (1 + ln count) times these, each row of length 1.
LinearInputs weigh_tokens(const LinearInputs& counts, const at::Tensor& inverse_frequencies);

/// Labels: logistic of each output on its own, one label against the rest.
enum class LinearLoss { Logistic, Squared, Labels };

/// Weights [O, F] and biases [O].
struct LinearModel {
  at::Tensor weight, bias;
  at::Tensor outputs(const LinearInputs& inputs) const;  // [N, O]
};

struct LinearFit {
  LinearLoss loss = LinearLoss::Logistic;
  int64_t outputs = 1;  // 1 for numbers and for two classes, else the number of classes or labels
  double penalty = 1;   // of |w|^2 / 2 beside the sum of the losses: 1 / C, or alpha
  at::Tensor row_weights = {};  // [N], their mean is 1; undefined: all alike
};

/// Targets [N] are class numbers, or numbers; of labels 0 or 1 [N, O]. Of many rows an even choice
/// is taken, so that it stays a matter of seconds.
LinearModel fit_linear(const LinearInputs& inputs, const at::Tensor& targets, const LinearFit& fit);

/// The penalty, of some between 0.01 and 10,000, whose models have the lowest loss on rows that
/// they were not fitted on: five folds, of many rows one fifth. As RidgeCV and
/// LogisticRegressionCV choose it. `progress` counts penalties that were tried.
double choose_penalty(const LinearInputs& inputs, const at::Tensor& targets, LinearFit fit,
                      const CountProgress& progress = {});

/// A linear baseline among the fitted tensors of a run: NAME.weight, NAME.bias and, where the
/// inputs count tokens, which are seen as TF-IDF, NAME.inverse_frequencies.
struct LinearBaseline {
  std::string name;

  bool is_in(const NamedTensors& fitted) const { return fitted.contains(name + ".weight"); }
  /// What is seen of the inputs that it learns from; puts the frequencies into `fitted`.
  LinearInputs learn_inputs(const LinearInputs& inputs, NamedTensors& fitted) const;
  void put(const LinearModel& model, NamedTensors& fitted) const;
  at::Tensor outputs(const LinearInputs& inputs, const NamedTensors& fitted) const;  // [N, O]
  /// "TF-IDF ridge regression" of "ridge regression", where it sees tokens so.
  static std::string title(const std::string& model, const LinearInputs& inputs);
};

/// Texts among the fitted tensors of a run, NAMEs and NAME_offsets. BadData for damaged ones.
void put_texts(const std::string& name, const std::vector<std::string>& texts,
               NamedTensors& fitted);
bool has_texts(const std::string& name, const NamedTensors& fitted);
std::vector<std::string> kept_texts(const std::string& name, const NamedTensors& fitted);
/// BadData unless offsets [N + 1] begin at 0, never fall, and end at `size`.
void check_kept_offsets(const at::Tensor& offsets, int64_t size);

/// The targets of all rows [N], of several labels [N, C], in double precision.
at::Tensor targets_of(const Dataset& rows);

}  // namespace fovea
