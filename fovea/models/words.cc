#include "fovea/models/words.h"

#include <algorithm>
#include <cmath>

#include "fovea/attention/attend.h"
#include "fovea/base/error.h"
#include "fovea/models/initialise.h"
#include "fovea/tensor/embedding_lookup.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

using at::Tensor;

constexpr double kFreshScoreDeviation = 0.01;  // of fresh scores
// Penalties that are tried, the strongest first; the one without validation rows.
constexpr double kPenalties[] = {0.25, 1, 4, 16, 64};
constexpr double kUsualPenalty = 4;

double idf_of(double rows, double documents) {
  return std::log((1 + rows) / (1 + documents)) + 1;
}

/// Of a number: how rare each unit is.
std::vector<double> idf_weights(const SparseClasses& rows, int64_t units) {
  std::vector<double> weights(size_t(units), 0);
  for (const int64_t unit : rows.columns) ++weights[size_t(unit)];
  for (double& weight : weights) weight = idf_of(double(rows.rows()), weight);
  return weights;
}

/// Of several labels: sqrt(idf r), r the root mean square over the labels of the log-count ratio
/// log p(u | label) / p(u | not label), with one document added to every count.
std::vector<double> label_weights(const SparseClasses& rows, const WordsShape& shape) {
  const auto units = size_t(shape.units), labels = size_t(shape.classes);
  std::vector<double> counts(units * labels, 0), all(units, 0), sums(labels, 0);
  const Tensor targets = rows.targets.contiguous();  // [N, C]
  double total = 0;
  for (int64_t row = 0; row < rows.rows(); ++row) {
    const float* has = targets.data_ptr<float>() + row * shape.classes;
    for (int64_t i = rows.offsets[size_t(row)]; i < rows.offsets[size_t(row) + 1]; ++i) {
      const auto unit = size_t(rows.columns[size_t(i)]);
      ++all[unit], ++total;
      for (size_t c = 0; c < labels; ++c) counts[unit * labels + c] += has[c], sums[c] += has[c];
    }
  }
  std::vector<double> weights(units);
  for (size_t unit = 0; unit < units; ++unit) {
    double squares = 0;
    for (size_t c = 0; c < labels; ++c) {
      const double own = counts[unit * labels + c];
      const double with = (own + 1) / (sums[c] + double(units)),
                   without = (all[unit] - own + 1) / (total - sums[c] + double(units));
      squares += std::log(with / without) * std::log(with / without);
    }
    weights[unit] =
        std::sqrt(idf_of(double(rows.rows()), all[unit]) * std::sqrt(squares / double(labels)));
  }
  return weights;
}

/// How much each unit tells: sqrt(idf r), r the root mean square over the classes of the log-count
/// ratio log p(u | c) / p(u | not c), with one document added to every count.
std::vector<double> informative_weights(const SparseClasses& rows, const WordsShape& shape) {
  if (shape.kind == AnswerKind::Number) return idf_weights(rows, shape.units);
  if (shape.kind == AnswerKind::Labels) return label_weights(rows, shape);
  const auto units = size_t(shape.units), classes = size_t(shape.classes);
  std::vector<double> counts(units * classes, 1), all(units, 0), sums(classes, 0);
  for (size_t row = 0; row < rows.classes.size(); ++row)
    for (int64_t i = rows.offsets[row]; i < rows.offsets[row + 1]; ++i)
      ++counts[size_t(rows.columns[size_t(i)]) * classes + size_t(rows.classes[row])];
  double total = 0;
  for (size_t unit = 0; unit < units; ++unit)
    for (size_t c = 0; c < classes; ++c) {
      all[unit] += counts[unit * classes + c];
      sums[c] += counts[unit * classes + c];
      total += counts[unit * classes + c];
    }
  std::vector<double> weights(units);
  for (size_t unit = 0; unit < units; ++unit) {
    double squares = 0;
    for (size_t c = 0; c < classes; ++c) {
      const double own = counts[unit * classes + c];
      // With two classes the others' count has one document added as well; so it is with more.
      const double others = all[unit] - own - double(classes) + 2;
      const double ratio = std::log((own / sums[c]) / (others / (total - sums[c])));
      squares += ratio * ratio;
    }
    const double documents = all[unit] - double(classes);
    weights[unit] =
        std::sqrt(idf_of(double(rows.rows()), documents) * std::sqrt(squares / double(classes)));
  }
  return weights;
}

/// Every row with these weights in place of its values, and of length 1.
void weigh(SparseClasses& rows, const std::vector<double>& weights) {
  for (size_t row = 0; row < size_t(rows.rows()); ++row) {
    double squares = 0;
    for (int64_t i = rows.offsets[row]; i < rows.offsets[row + 1]; ++i) {
      const double own = weights[size_t(rows.columns[size_t(i)])];
      rows.values[size_t(i)] = float(own);
      squares += own * own;
    }
    const auto length = float(std::sqrt(squares));
    for (int64_t i = rows.offsets[row]; i < rows.offsets[row + 1]; ++i)
      if (length > 0) rows.values[size_t(i)] /= length;
  }
}

/// Of the penalties the best one for the validation rows.
LogisticRegression fit_with_validation(const SparseClasses& train, const SparseClasses& validation,
                                       LogisticRegressionOptions options) {
  LogisticRegression best, current;
  double lowest = INFINITY;
  for (const double c : kPenalties) {
    options.c = c;
    current = fit_logistic_regression(train, options, current);
    const double loss = current.log_loss(validation, options.kind);
    if (loss > lowest) break;  // weaker penalties only go on from here
    lowest = loss;
    best = {current.weight.clone(), current.bias.clone()};
  }
  return best;
}

}  // namespace

void WordsOptions::describe(OptionList& list) {
  list.add("name", name, "which model").choices({"words"});
  list.add("bigram_weight", bigram_weight, "of a bigram beside a word, to begin with").above(0);
  list.add(
          "c", c,
          "inverse strength of the penalty on the values, as scikit-learn's C; 0: the best of .25, "
          "1, 4, 16, 64 for the validation rows")
      .at_least(0);
  describe_class_weights(list, class_weights);
  describe_number_loss(list, loss);
}

Words::Words(WordsOptions options, WordsShape shape)
    : Classifier({shape.kind, options.class_weights, shape.class_counts, shape.rows, options.loss}),
      options_(std::move(options)),
      shape_(std::move(shape)) {
  scores_ = register_parameter("scores", at::zeros({shape_.units, 1}));
  values_ = register_parameter("values", at::zeros({shape_.units, shape_.classes}));
  bias_ = register_parameter("bias", at::zeros({shape_.classes}));
}

void Words::initialise(const Random& random) {
  torch::NoGradGuard no_gradients;
  initialise_normal(scores_, kFreshScoreDeviation, random.split("scores"));
  values_.zero_();
  bias_.zero_();
}

void Words::fit(SparseClasses train, SparseClasses validation) {
  torch::NoGradGuard no_gradients;
  std::vector<double> weights = informative_weights(train, shape_);
  for (size_t unit = 0; unit < weights.size(); ++unit) {
    if (unit < shape_.is_bigram.size() && shape_.is_bigram[unit])
      weights[unit] *= options_.bigram_weight;
    weights[unit] = std::max(weights[unit], 1e-3);  // a word that tells nothing keeps a logarithm
  }
  weigh(train, weights);
  weigh(validation, weights);
  LogisticRegressionOptions options{.columns = shape_.units, .classes = shape_.classes};
  options.kind = shape_.kind;
  options.c = options_.c > 0 ? options_.c : kUsualPenalty;
  const bool by_validation = options_.c == 0 && validation.rows() > 0;
  const LogisticRegression found = by_validation ? fit_with_validation(train, validation, options)
                                                 : fit_logistic_regression(train, options);
  scores_.add_(torch::tensor(weights, at::kDouble).log().to(at::kFloat).unsqueeze(1));
  values_.copy_(found.weight);
  bias_.copy_(found.bias);
}

Schema Words::schema() const {
  return {{"units", at::kLong, {-1, -1, 2}},
          {"shares", at::kFloat, {-1, -1, 2}},
          target_schema(shape_.classes)};
}

std::vector<LayerSummary> Words::summary() const {
  return {{concat("attention over words and bigrams (", shape_.units, ")"), {1}, scores_.numel()},
          {"values of words and bigrams", {shape_.classes}, values_.numel()},
          {output_name(), {shape_.classes}, bias_.numel()}};
}

Tensor Words::logits_of(const Batch& batch, const Random*, Tap* tap) const {
  const Tensor &units = batch.at("units"), &shares = batch.at("shares");  // [B, W, 2]
  const Tensor raw = embedding_lookup(scores_, units).squeeze(-1).exp();  // [B, W, 2]
  const Tensor norm =
      (raw.square() * shares).sum({1, 2}).clamp_min(1e-12).sqrt().unsqueeze(1);  // [B, 1]
  const Tensor values = embedding_lookup(values_, units);                        // [B, W, 2, C]
  const Tensor weights = raw * shares;                                           // [B, W, 2]
  if (tap) return logits_by_word(weights, values, norm, tap);
  return bias_ + (weights.unsqueeze(-1) * values).sum({1, 2}) / norm;  // [B, C]
}

Tensor Words::logits_by_word(const Tensor& weights, const Tensor& values, const Tensor& norm,
                             Tap* tap) const {
  // [B, W, 2, …] of units -> [B, W, …]: a bigram at place t belongs half to t, half to t + 1.
  const auto by_word = [](const Tensor& of_units) {
    const Tensor half = of_units.select(2, 1) / 2;
    std::vector<int64_t> one_later(size_t(2 * (half.dim() - 2)), 0);
    one_later.insert(one_later.end(), {1, -1});
    return of_units.select(2, 0) + half + at::constant_pad_nd(half, one_later, 0);
  };
  const Tensor mass = by_word(weights);                // [B, W]
  const Tensor total = mass.sum(1, /*keepdim=*/true);  // [B, 1]
  const Tensor alpha = mass / total.clamp_min(1e-12);  // [B, W]
  Tensor own =
      by_word(weights.unsqueeze(-1) * values) / mass.unsqueeze(-1).clamp_min(1e-12);  // [B, W, C]
  own = tap->leaf("words", own * (total / norm).unsqueeze(-1));
  const bool all_have_words = total.gt(0).all().item<bool>();
  const Tensor used =
      tap->report(labelled_map({"words", "document", "words"}, alpha.unsqueeze(1).unsqueeze(1),
                               all_have_words ? MapKind::Distribution : MapKind::Partial))
          .flatten(0, 2);                                  // [B, W]
  const Tensor added = used.unsqueeze(-1) * own;           // [B, W, C]
  const Tensor logits = bias_ + added.sum(1);              // [B, C]
  const Tensor best = logits.argmax(1, /*keepdim=*/true);  // [B, 1]
  const Tensor given =
      added.gather(2, best.unsqueeze(1).expand({-1, added.size(1), 1})).squeeze(-1);  // [B, W]
  AttentionMap contributions = labelled_map({"contributions", "document", "words"},
                                            given.unsqueeze(1).unsqueeze(1), MapKind::Contribution);
  contributions.total = kind() == AnswerKind::Number ? "the standardised number, less the bias"
                                                     : "logit of the answer, less its bias";
  const Tensor replaced = tap->report(std::move(contributions)).flatten(0, 2);  // [B, W]
  return logits.scatter_add(1, best, (replaced - given).sum(1, /*keepdim=*/true));
}

}  // namespace fovea
