#include "fovea/tasks/baselines.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>

#include "fovea/base/error.h"
#include "fovea/tasks/over_rows.h"
#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"

namespace fovea {

namespace {

constexpr int64_t kMostIterations = 200, kMemory = 10;
constexpr double kMostWork = 2e7;  // multiplications of one pass over the rows
constexpr int64_t kRowsTogether = 512;
constexpr const char* kInverseFrequencies = ".inverse_frequencies";

/// [N, F] times [F, O].
at::Tensor product(const LinearInputs& inputs, const at::Tensor& weight) {
  if (inputs.dense.defined()) return inputs.dense.matmul(weight.t());  // [N, O]
  const at::Tensor by_feature = weight.t().contiguous();               // [F, O]
  const int64_t outputs = weight.size(0);
  const at::Tensor result = torch::zeros({inputs.rows(), outputs}, weight.options());
  const float* from = by_feature.data_ptr<float>();
  float* to = result.data_ptr<float>();
  for (int64_t row = 0; row < inputs.rows(); ++row, to += outputs)
    for (auto i = size_t(inputs.offsets[size_t(row)]); i < size_t(inputs.offsets[size_t(row) + 1]);
         ++i)
      for (int64_t o = 0; o < outputs; ++o)
        to[o] += inputs.values[i] * from[inputs.features[i] * outputs + o];
  return result;
}

/// [O, N] times [N, F]: what the errors say about the weights.
at::Tensor transposed_product(const LinearInputs& inputs, const at::Tensor& errors) {
  if (inputs.dense.defined()) return errors.t().matmul(inputs.dense);  // [O, F]
  const int64_t outputs = errors.size(1);
  const at::Tensor result = torch::zeros({inputs.width, outputs}, errors.options());  // [F, O]
  const at::Tensor by_row = errors.contiguous();
  const float* from = by_row.data_ptr<float>();
  float* to = result.data_ptr<float>();
  for (int64_t row = 0; row < inputs.rows(); ++row, from += outputs)
    for (auto i = size_t(inputs.offsets[size_t(row)]); i < size_t(inputs.offsets[size_t(row) + 1]);
         ++i)
      for (int64_t o = 0; o < outputs; ++o)
        to[inputs.features[i] * outputs + o] += inputs.values[i] * from[o];
  return result.t();  // [O, F]
}

/// The mean loss with an L2 penalty, as a function of weights and biases one after the other.
class LinearObjective {
 public:
  LinearObjective(const LinearInputs& inputs, const at::Tensor& targets, const LinearFit& fit)
      : inputs_(inputs), fit_(fit), outputs_(fit.outputs) {
    const bool several = fit.loss == LinearLoss::Logistic && outputs_ > 1;
    targets_ = fit.loss == LinearLoss::Labels ? targets.to(at::kFloat)
               : several ? at::one_hot(targets.to(at::kLong), outputs_).to(at::kFloat)
                         : targets.to(at::kFloat).unsqueeze(1);  // [N, O]
    if (fit.row_weights.defined())
      row_weights_ = fit.row_weights.to(at::kFloat).unsqueeze(1);  // [N, 1]
  }

  int64_t size() const { return outputs_ * (inputs_.features_count() + 1); }
  LinearModel model(const at::Tensor& place) const {
    const int64_t weights = outputs_ * inputs_.features_count();
    return {place.narrow(0, 0, weights).reshape({outputs_, -1}).to(at::kFloat),
            place.narrow(0, weights, outputs_).to(at::kFloat)};
  }

  double at(const at::Tensor& place, at::Tensor& gradient) const {
    const LinearModel now = model(place);
    const at::Tensor outputs = product(inputs_, now.weight) + now.bias;  // [N, O]
    const auto rows = double(inputs_.rows());
    at::Tensor losses, errors;  // [N, O]
    if (fit_.loss == LinearLoss::Squared) {
      errors = outputs - targets_;
      losses = errors.square() / 2;
    } else if (outputs_ == 1 || fit_.loss == LinearLoss::Labels) {
      errors = outputs.sigmoid() - targets_;
      losses = at::softplus(outputs) - targets_ * outputs;
    } else {
      const at::Tensor log_shares = at::log_softmax(outputs, 1);
      errors = log_shares.exp() - targets_;
      losses = -log_shares * targets_;
    }
    if (row_weights_.defined()) errors = errors * row_weights_, losses = losses * row_weights_;
    const at::Tensor weight = place.narrow(0, 0, place.size(0) - outputs_);
    gradient = torch::cat({transposed_product(inputs_, errors).flatten().to(at::kDouble) +
                               fit_.penalty * weight,
                           errors.sum(0).to(at::kDouble)}) /
               rows;
    return (losses.sum(at::kDouble).item<double>() +
            fit_.penalty * weight.square().sum().item<double>() / 2) /
           rows;
  }

 private:
  const LinearInputs& inputs_;
  const LinearFit& fit_;
  int64_t outputs_;
  at::Tensor targets_, row_weights_;
};

/// Where a convex function is smallest, by L-BFGS with backtracking, from `place` on.
at::Tensor minimise_objective(
    const LinearObjective& objective, at::Tensor place,
    const std::function<void()>& iteration_ended = [] {}) {
  constexpr double kFlat = 1e-5;
  struct Change {
    at::Tensor place, gradient;
    double curvature;
  };
  std::deque<Change> changes;
  at::Tensor gradient;
  double value = objective.at(place, gradient);
  for (int64_t iteration = 0; iteration < kMostIterations; ++iteration) {
    if (gradient.abs().max().item<double>() < kFlat) break;
    at::Tensor direction = -gradient;
    std::vector<double> shares(changes.size());
    for (size_t i = changes.size(); i-- > 0;) {
      shares[i] = changes[i].place.dot(direction).item<double>() / changes[i].curvature;
      direction = direction - shares[i] * changes[i].gradient;
    }
    if (!changes.empty())
      direction = direction * (changes.back().curvature /
                               changes.back().gradient.square().sum().item<double>());
    for (size_t i = 0; i < changes.size(); ++i) {
      const double back = changes[i].gradient.dot(direction).item<double>() / changes[i].curvature;
      direction = direction + (shares[i] - back) * changes[i].place;
    }
    const double slope = direction.dot(gradient).item<double>();
    double step = changes.empty() ? std::min(1.0, 1 / gradient.norm().item<double>()) : 1;
    at::Tensor next, next_gradient;
    double next_value = value;
    bool found = false;
    for (int64_t tries = 0; tries < 30 && !found; ++tries, step /= 2) {
      next = place + step * direction;
      next_value = objective.at(next, next_gradient);
      found = next_value <= value + 1e-4 * step * slope;
    }
    if (!found) break;  // rounding is all that is left
    Change change{next - place, next_gradient - gradient, 0};
    change.curvature = change.place.dot(change.gradient).item<double>();
    if (change.curvature > 1e-12) changes.push_back(std::move(change));
    if (int64_t(changes.size()) > kMemory) changes.pop_front();
    place = next;
    gradient = next_gradient;
    value = next_value;
    iteration_ended();
  }
  return place;
}

/// Rows, what they should be, and how that is learned.
struct LinearRows {
  LinearInputs inputs;
  at::Tensor targets;
  LinearFit fit;

  LinearRows select(const at::Tensor& mask) const {  // [N] bool
    const at::Tensor index = mask.nonzero().flatten().contiguous();
    const int64_t* first = index.data_ptr<int64_t>();
    LinearRows some{select_rows(inputs, {first, first + index.numel()}),
                    targets.index_select(0, index), fit};
    if (fit.row_weights.defined()) some.fit.row_weights = fit.row_weights.index_select(0, index);
    return some;
  }
  /// Multiplications of one pass.
  double work() const {
    return double(fit.outputs) * (inputs.dense.defined()
                                      ? double(inputs.rows()) * double(inputs.features_count())
                                      : double(inputs.values.size()));
  }
};

/// Of many rows an even choice.
LinearRows affordable_rows(LinearRows rows) {
  const int64_t count = rows.inputs.rows();
  require(!rows.inputs.empty() && count == rows.targets.size(0), ErrorKind::Internal,
          "a linear model of ", count, " rows and ", rows.targets.size(0), " targets");
  const double share = kMostWork / std::max(rows.work(), 1.0);
  if (share >= 1) return rows;
  const auto most = std::max<int64_t>(int64_t(share * double(count)), 2);
  const at::Tensor picked = torch::zeros({count}, torch::kBool);
  for (int64_t i = 0; i < most; ++i) picked.data_ptr<bool>()[i * count / most] = true;
  return rows.select(picked);
}

}  // namespace

void LinearInputs::add_row(const std::vector<std::pair<int64_t, float>>& row) {
  if (offsets.empty()) offsets.push_back(0);
  for (const auto& [feature, value] : row) {
    features.push_back(feature);
    values.push_back(value);
  }
  offsets.push_back(int64_t(features.size()));
}

LinearInputs select_rows(const LinearInputs& inputs, const std::vector<int64_t>& picked) {
  LinearInputs some;
  some.width = inputs.width;
  some.weighs = inputs.weighs;
  some.title = inputs.title;
  if (inputs.dense.defined()) {
    some.dense = inputs.dense.index_select(0, torch::tensor(picked));
    return some;
  }
  for (const int64_t row : picked) {
    std::vector<std::pair<int64_t, float>> cells;
    for (auto i = size_t(inputs.offsets[size_t(row)]); i < size_t(inputs.offsets[size_t(row) + 1]);
         ++i)
      cells.emplace_back(inputs.features[i], inputs.values[i]);
    some.add_row(cells);
  }
  return some;
}

LinearInputs count_tokens(const Dataset& rows, const std::string& name, int64_t vocabulary) {
  LinearInputs inputs;
  inputs.width = vocabulary;
  for (int64_t begin = 0; begin < rows.size(); begin += kRowsTogether) {
    const Batch batch = rows.batch(rows_from(rows, begin, kRowsTogether));
    const at::Tensor tokens = batch.at(name).to(at::kCPU, at::kLong).contiguous();  // [B, T]
    const at::Tensor keep =
        batch.at(name + ".keep").to(at::kCPU, at::kBool).contiguous();  // [B, T]
    for (int64_t row = 0; row < batch.size; ++row) {
      const int64_t* token = tokens.data_ptr<int64_t>() + row * tokens.size(1);
      const bool* kept = keep.data_ptr<bool>() + row * tokens.size(1);
      std::vector<int64_t> sorted;
      for (int64_t t = 0; t < tokens.size(1); ++t)
        if (kept[t] && token[t] >= 0 && token[t] < vocabulary) sorted.push_back(token[t]);
      std::ranges::sort(sorted);
      std::vector<std::pair<int64_t, float>> cells;
      for (const int64_t one : sorted)
        if (cells.empty() || cells.back().first != one)
          cells.emplace_back(one, 1.0f);
        else
          ++cells.back().second;
      inputs.add_row(cells);
    }
  }
  return inputs;
}

LinearInputs shrink_pictures(const Dataset& rows, const std::string& name, int64_t side) {
  std::vector<at::Tensor> parts;
  for (int64_t begin = 0; begin < rows.size(); begin += kRowsTogether) {
    const Batch batch = rows.batch(rows_from(rows, begin, kRowsTogether));
    const at::Tensor pixels = batch.at(name).to(at::kFloat) / 255;  // [B, C, H, W]
    const std::vector<int64_t> size{std::min(pixels.size(2), side), std::min(pixels.size(3), side)};
    parts.push_back(at::adaptive_avg_pool2d(pixels, size).flatten(1));  // [B, C h w]
  }
  LinearInputs inputs;
  if (!parts.empty()) inputs.dense = at::cat(parts);
  return inputs;
}

at::Tensor inverse_frequencies(const LinearInputs& counts) {
  const at::Tensor rows = torch::zeros({counts.width}, at::kDouble);
  for (const int64_t feature : counts.features) ++rows.data_ptr<double>()[feature];
  return ((1 + double(counts.rows())) / (1 + rows)).log().add(1).to(at::kFloat);
}

LinearInputs weigh_tokens(const LinearInputs& counts, const at::Tensor& inverse_frequencies) {
  require(inverse_frequencies.numel() == counts.width, ErrorKind::BadData, "a baseline of ",
          inverse_frequencies.numel(), " tokens cannot answer rows of ", counts.width);
  LinearInputs weighed = counts;
  const at::Tensor rarity = inverse_frequencies.to(at::kFloat).contiguous();
  for (int64_t row = 0; row < counts.rows(); ++row) {
    double squares = 0;
    const auto begin = size_t(counts.offsets[size_t(row)]),
               end = size_t(counts.offsets[size_t(row) + 1]);
    for (size_t i = begin; i < end; ++i) {
      float& value = weighed.values[i];
      value = (1 + std::log(value)) * rarity.data_ptr<float>()[counts.features[i]];
      squares += double(value) * value;
    }
    for (size_t i = begin; i < end && squares > 0; ++i)
      weighed.values[i] /= float(std::sqrt(squares));
  }
  return weighed;
}

at::Tensor LinearModel::outputs(const LinearInputs& inputs) const {
  torch::NoGradGuard no_gradients;
  require(inputs.features_count() == weight.size(1), ErrorKind::BadData, "a linear baseline of ",
          weight.size(1), " inputs cannot answer rows of ", inputs.features_count());
  return product(inputs, weight) + bias;  // [N, O]
}

LinearModel fit_linear(const LinearInputs& inputs, const at::Tensor& targets,
                       const LinearFit& fit) {
  torch::NoGradGuard no_gradients;
  const LinearRows rows = affordable_rows({inputs, targets, fit});
  const LinearObjective objective(rows.inputs, rows.targets, rows.fit);
  return objective.model(
      minimise_objective(objective, torch::zeros({objective.size()}, at::kDouble)));
}

double choose_penalty(const LinearInputs& inputs, const at::Tensor& targets, LinearFit fit,
                      const CountProgress& progress) {
  constexpr int64_t kPenaltyFolds = 5;
  constexpr double kWorkOfFolds = 1e6;
  constexpr int kFirst = 8, kLast = -4;  // 10^4 to 10^-2, two to a power of ten
  torch::NoGradGuard no_gradients;
  const LinearRows rows = affordable_rows({inputs, targets, std::move(fit)});
  const int64_t count = rows.inputs.rows();
  if (count < 2 * kPenaltyFolds) return 1;
  // Rows of like targets are dealt to the folds in turn, so that each fold has its share of all.
  const at::Tensor mixed =
      torch::tensor(Random(0).split("penalty").permutation(count), torch::kInt64);
  const at::Tensor by_target =
      mixed.index_select(0, rows.targets.index_select(0, mixed).argsort(/*stable=*/true));
  const at::Tensor fold_of = torch::empty({count}, torch::kInt64)
                                 .index_copy_(0, by_target, torch::arange(count) % kPenaltyFolds);
  std::vector<double> losses(size_t(kFirst - kLast + 1), 0);
  const int64_t folds = rows.work() <= kWorkOfFolds ? kPenaltyFolds : 1;
  for (int64_t fold = 0; fold < folds; ++fold) {
    LinearRows seen = rows.select(fold_of != fold), held = rows.select(fold_of == fold);
    held.fit.penalty = 0;
    const LinearObjective learns(seen.inputs, seen.targets, seen.fit);
    const LinearObjective judges(held.inputs, held.targets, held.fit);
    at::Tensor place = torch::zeros({learns.size()}, at::kDouble), gradient;
    for (size_t i = 0; i < losses.size(); ++i) {  // each begins where the last one ended
      seen.fit.penalty = std::pow(10, double(kFirst - int(i)) / 2);
      place = minimise_objective(learns, place, [&] {
        if (progress)
          progress(fold * int64_t(losses.size()) + int64_t(i), folds * int64_t(losses.size()));
      });
      losses[i] += judges.at(place, gradient);
    }
  }
  const auto best = std::ranges::min_element(losses) - losses.begin();
  return std::pow(10, double(kFirst - int(best)) / 2);
}

LinearInputs LinearBaseline::learn_inputs(const LinearInputs& inputs, NamedTensors& fitted) const {
  if (inputs.dense.defined() || !inputs.weighs) return inputs;
  const at::Tensor& frequencies = fitted[name + kInverseFrequencies] = inverse_frequencies(inputs);
  return weigh_tokens(inputs, frequencies);
}

void LinearBaseline::put(const LinearModel& model, NamedTensors& fitted) const {
  fitted[name + ".weight"] = model.weight;
  fitted[name + ".bias"] = model.bias;
}

at::Tensor LinearBaseline::outputs(const LinearInputs& inputs, const NamedTensors& fitted) const {
  const LinearModel model{fitted.at(name + ".weight"), fitted.at(name + ".bias")};
  return model.outputs(inputs.dense.defined() || !inputs.weighs
                           ? inputs
                           : weigh_tokens(inputs, fitted.at(name + kInverseFrequencies)));
}

std::string LinearBaseline::title(const std::string& model, const LinearInputs& inputs) {
  if (!inputs.title.empty()) return inputs.title;
  return (inputs.dense.defined() || !inputs.weighs ? "" : "TF-IDF ") + model;
}

void put_texts(const std::string& name, const std::vector<std::string>& texts,
               NamedTensors& fitted) {
  std::vector<uint8_t> bytes;
  std::vector<int64_t> offsets{0};
  for (const std::string& text : texts) {
    bytes.insert(bytes.end(), text.begin(), text.end());
    offsets.push_back(int64_t(bytes.size()));
  }
  fitted[name + "s"] = torch::tensor(bytes, at::kByte);
  fitted[name + "_offsets"] = torch::tensor(offsets);
}

bool has_texts(const std::string& name, const NamedTensors& fitted) {
  return fitted.contains(name + "s");
}

std::vector<std::string> kept_texts(const std::string& name, const NamedTensors& fitted) {
  const at::Tensor bytes = fitted.at(name + "s").contiguous(),
                   offsets = fitted.at(name + "_offsets").contiguous();
  check_kept_offsets(offsets, bytes.numel());
  const auto* first = reinterpret_cast<const char*>(bytes.data_ptr<uint8_t>());
  const auto* place = offsets.data_ptr<int64_t>();
  std::vector<std::string> texts;
  for (int64_t i = 0; i + 1 < offsets.numel(); ++i)
    texts.emplace_back(first + place[i], first + place[i + 1]);
  return texts;
}

void check_kept_offsets(const at::Tensor& offsets, int64_t size) {
  const auto* own = offsets.data_ptr<int64_t>();
  require(offsets.numel() > 1 && own[0] == 0 && own[offsets.numel() - 1] == size &&
              std::is_sorted(own, own + offsets.numel()),
          ErrorKind::BadData, "the baselines of this run are damaged: ", offsets.numel(),
          " offsets of ", size, " places");
}

at::Tensor targets_of(const Dataset& rows) {
  if (const auto found = rows.columns().find("target"); found != rows.columns().end())
    return found->second.to(at::kCPU, at::kDouble);
  std::vector<at::Tensor> targets;
  for (int64_t begin = 0; begin < rows.size(); begin += kRowsTogether) {
    const Batch batch = rows.batch(rows_from(rows, begin, kRowsTogether));
    targets.push_back(batch.at("target").to(at::kCPU, at::kDouble));
  }
  return torch::cat(targets);  // [N]
}

}  // namespace fovea
