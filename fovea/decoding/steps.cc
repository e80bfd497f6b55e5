#include "fovea/decoding/steps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/base/stop.h"
#include "fovea/tensor/torch.h"

namespace fovea {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Rounding lifts the logarithm of a certain symbol above 0, in half precision by this at most.
constexpr double kRoundingOfSums = 1e-2;

bool is_identity(const std::vector<int64_t>& origin, int64_t rows) {
  if (static_cast<int64_t>(origin.size()) != rows) return false;
  for (size_t i = 0; i < origin.size(); ++i)
    if (origin[i] != static_cast<int64_t>(i)) return false;
  return true;
}

/// One number per element whose order is that of (value, then the smaller column first): the
/// value's bits above, the column below. No two are equal, so no device has a choice among them.
at::Tensor unique_keys(const at::Tensor& values) {
  const auto plain = values.to(at::kFloat) + 0.0;  // -0 becomes 0
  const auto bits = plain.contiguous().view(at::kInt);
  const auto ordered = bits.bitwise_xor(bits.bitwise_right_shift(31).bitwise_and(0x7FFFFFFF));
  const auto column = at::arange(values.size(1), values.options().dtype(at::kLong));  // [V]
  return ordered.to(at::kLong) * (int64_t{1} << 32) - column;                         // [R, V]
}

}  // namespace

Steps::Steps(const SearchOptions& options, const SearchProblem& problem, const StepFunction& step,
             int64_t best)
    : problem_(problem),
      step_(step),
      penalty_(options.repetition_penalty),
      best_(penalty_ == 1 ? best : 0),
      rows_(problem.inputs) {
  if (!problem.forbidden.empty()) forbidden_ = to_device(problem.forbidden, problem.device);
}

void Steps::note_seen(const std::vector<int64_t>& origin, const at::Tensor& tokens) {
  if (position_ > 0) {
    seen_ =
        at::cat({seen_.index_select(0, to_device(origin, problem_.device)), tokens.unsqueeze(1)},
                1);  // [R, N]
    return;
  }
  size_t longest = 0;
  for (const auto& prompt : problem_.prompts) longest = std::max(longest, prompt.size());
  std::vector<int64_t> padded;  // a shorter prompt repeats its first symbol
  for (const int64_t input : origin)
    for (size_t i = 0; i < longest; ++i) {
      const std::vector<int64_t>& prompt = problem_.prompts[size_t(input)];
      require(!prompt.empty(), ErrorKind::InvalidArgument, "input ", input, " has an empty prompt");
      padded.push_back(prompt[i < prompt.size() ? i : 0]);
    }
  seen_ = to_device(padded, problem_.device).view({int64_t(origin.size()), int64_t(longest)});
}

at::Tensor Steps::penalised(const at::Tensor& scores) const {
  if (seen_.size(1) == 0) return at::log_softmax(scores, 1);
  const at::Tensor before = scores.gather(1, seen_);  // [R, N]
  const at::Tensor after = at::where(before > 0, before / penalty_, before * penalty_);
  return at::log_softmax(scores.scatter(1, seen_, after), 1);
}

StepOutput Steps::next(const std::vector<int64_t>& tokens, const std::vector<int64_t>& origin) {
  stop_if_asked();
  StepInput input;
  input.tokens = to_device(tokens, problem_.device);  // [R]
  if (!is_identity(origin, rows_)) input.origin = to_device(origin, problem_.device);
  input.position = position_;
  input.best = best_;
  input.forbidden = problem_.forbidden;
  StepOutput output = step_(input);
  if (penalty_ != 1) note_seen(origin, input.tokens);

  rows_ = static_cast<int64_t>(tokens.size());
  at::Tensor& scores = output.log_probabilities;
  require(scores.defined() && scores.dim() == 2 && scores.size(0) == rows_ &&
              scores.is_floating_point(),
          ErrorKind::InvalidArgument, "position ", position_,
          ": a step must give log-probabilities of shape [", rows_, ", V], found ",
          scores.defined() ? concat(scores.scalar_type(), " ", scores.sizes()) : "none");
  ++position_;
  if (output.symbols.defined()) {
    require(best_ > 0 && scores.sizes() == output.symbols.sizes(), ErrorKind::InvalidArgument,
            "a step named symbols of shape ", output.symbols.sizes(),
            " to log-probabilities of shape ", scores.sizes(), ", when ", best_, " were wanted");
    return output;
  }
  int64_t largest = problem_.end;
  for (const int64_t symbol : problem_.forbidden) largest = std::max(largest, symbol);
  require(largest < scores.size(1), ErrorKind::InvalidArgument, "a step knows ", scores.size(1),
          " symbols, but the end symbol or a forbidden one is number ", largest);
  if (scores.element_size() < 4) scores = scores.to(at::kFloat);
  if (penalty_ != 1)
    scores = penalised(output.scores.defined() ? output.scores.to(at::kFloat) : scores);
  if (forbidden_.defined()) scores = scores.index_fill(1, forbidden_, -kInfinity);
  return output;
}

at::Tensor to_device(const std::vector<int64_t>& numbers, at::Device device) {
  return torch::tensor(numbers, at::kLong).to(device);
}

void check_likeliest(double log_probability, int64_t input, int64_t position) {
  require(!std::isnan(log_probability), ErrorKind::BadData, "input ", input, ", position ",
          position, ": the model's log-probabilities are NaN; did its training diverge?");
  require(log_probability <= kRoundingOfSums, ErrorKind::BadData, "input ", input, ", position ",
          position, ": a log-probability is ", log_probability,
          ", expected 0 at most; is a log-softmax missing?");
}

void fail_without_symbol(int64_t input, int64_t position) {
  fail(ErrorKind::BadData, "input ", input, ", position ", position,
       ": every symbol that may be put out has the probability 0; are too many forbidden?");
}

TopSymbols top_symbols(const StepOutput& output, int64_t count) {
  const at::Tensor& scores = output.log_probabilities;  // [R, V] or [R, n]
  const int64_t found = std::min(count, scores.size(1));
  if (output.symbols.defined())
    return {scores.narrow(1, 0, found), output.symbols.narrow(1, 0, found)};
  const auto symbols = std::get<1>(unique_keys(scores).topk(found, 1));  // [R, found]
  return {scores.gather(1, symbols), symbols};
}

bool is_at_end(const SearchProblem& problem, int64_t input, std::span<const int64_t> symbols) {
  return symbols.back() == problem.end ||
         int64_t(symbols.size()) >= problem.maximum_length[size_t(input)] ||
         (problem.ends && problem.ends(input, symbols));
}

Hypotheses extend_rows(const SearchOptions& options, const SearchProblem& problem,
                       const StepFunction& step, int64_t draws, int64_t best,
                       const Choose& choose) {
  Hypotheses finished(problem.inputs, std::vector<Hypothesis>(draws));
  std::vector<Row> rows;
  std::vector<int64_t> tokens, origin;
  for (int64_t input = 0; input < problem.inputs; ++input)
    for (int64_t draw = 0; draw < draws; ++draw) {
      rows.push_back({input, draw, {}});
      tokens.push_back(problem.begin);
      origin.push_back(input);
    }
  Steps steps(options, problem, step, best);
  while (!rows.empty()) {
    const int64_t position = steps.position();
    const StepOutput output = steps.next(tokens, origin);
    const at::Tensor choices = choose(output, rows, position).to(at::kCPU);  // [R, 3]
    const auto choice = choices.accessor<double, 2>();
    std::vector<Row> live;
    tokens.clear();
    origin.clear();
    for (size_t i = 0; i < rows.size(); ++i) {
      Row& row = rows[i];
      check_likeliest(choice[i][0], row.input, position);
      if (std::isinf(choice[i][0])) fail_without_symbol(row.input, position);
      const auto symbol = static_cast<int64_t>(choice[i][1]);
      row.hypothesis.tokens.push_back(symbol);
      row.hypothesis.log_probability += std::min(choice[i][2], 0.0);
      if (problem.chosen) problem.chosen(row.input, symbol, std::min(choice[i][2], 0.0));
      if (is_at_end(problem, row.input, row.hypothesis.tokens)) {
        row.hypothesis.score = row.hypothesis.log_probability;
        finished[row.input][row.draw] = std::move(row.hypothesis);
        continue;
      }
      tokens.push_back(symbol);
      origin.push_back(static_cast<int64_t>(i));
      live.push_back(std::move(row));
    }
    rows = std::move(live);
  }
  return finished;
}

}  // namespace fovea
