// What all search methods share: calling the model row by row, and reading its answer. Private to
// this folder.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "fovea/decoding/search.h"

namespace fovea {

using Hypotheses = std::vector<std::vector<Hypothesis>>;  // [B][n]

Hypotheses beam_search(const SearchOptions& options, const SearchProblem& problem,
                       const StepFunction& step);
Hypotheses sample_search(const SearchOptions& options, const SearchProblem& problem,
                         const StepFunction& step);

/// Calls the step function position by position and checks the shapes of what comes back.
class Steps {
 public:
  /// The search wants the `best` likeliest symbols at every position, or all: 0.
  Steps(const SearchOptions& options, const SearchProblem& problem, const StepFunction& step,
        int64_t best);

  /// tokens[i] continues row origin[i] of the call before, or of the inputs at first. The
  /// log-probabilities come back in single precision at least, -inf for forbidden symbols. All
  /// symbols come back, or those that were wanted.
  StepOutput next(const std::vector<int64_t>& tokens, const std::vector<int64_t>& origin);

  int64_t position() const { return position_; }  // how many calls there were

 private:
  /// Of each row, all symbols that are there with the newest `tokens` of rows that go on.
  void note_seen(const std::vector<int64_t>& origin, const at::Tensor& tokens);
  /// scores [R, V] with a penalty for what was seen, as log-probabilities.
  at::Tensor penalised(const at::Tensor& scores) const;

  const SearchProblem& problem_;
  const StepFunction& step_;
  const double penalty_;
  const int64_t best_;
  at::Tensor forbidden_;
  at::Tensor seen_;  // int64 [R, N], where there is a penalty
  int64_t rows_;     // of the call before
  int64_t position_ = 0;
};

/// Numbers on the problem's device.
at::Tensor to_device(const std::vector<int64_t>& numbers, at::Device device);

/// Throws when the log-probability of a row's likeliest symbol is none: NaN, or above 0.
void check_likeliest(double log_probability, int64_t input, int64_t position);

/// Throws: every symbol has the probability 0.
[[noreturn]] void fail_without_symbol(int64_t input, int64_t position);

struct TopSymbols {
  at::Tensor values, symbols;  // [R, count], best first; of equal values the smaller symbol
};

/// The best `count` symbols of each row, or all where there are fewer; the same ones on any device.
TopSymbols top_symbols(const StepOutput& output, int64_t count);

/// One output that grows by one symbol at a time.
struct Row {
  int64_t input = 0, draw = 0;
  Hypothesis hypothesis;
};

/// [R, 3] in double: log-probability of the likeliest symbol, the chosen symbol, its
/// log-probability. Called with a step's answer and the rows' position.
using Choose = std::function<at::Tensor(const StepOutput& output, const std::vector<Row>& rows,
                                        int64_t position)>;

/// `draws` outputs of each input, all side by side, each by one choice per position from the `best`
/// likeliest symbols, or from all: 0.
Hypotheses extend_rows(const SearchOptions& options, const SearchProblem& problem,
                       const StepFunction& step, int64_t draws, int64_t best, const Choose& choose);

/// Whether an output of this input ends with its newest symbol.
bool is_at_end(const SearchProblem& problem, int64_t input, std::span<const int64_t> symbols);

}  // namespace fovea
