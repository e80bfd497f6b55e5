// Beam search. At each position the `beam` best continuations of an input's beginnings are taken;
// those that end are set aside, the others live on. All beginnings are equally long, so that plain
// log-probability ranks them; penalties only rank what is finished.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "fovea/base/error.h"
#include "fovea/decoding/steps.h"
#include "fovea/tensor/torch.h"

namespace fovea {
namespace {

constexpr double kNeverSeen = 1e-9;

double length_divisor(int64_t length, double penalty) {
  return std::pow((5 + static_cast<double>(length)) / 6, penalty);
}

bool better(const Hypothesis& a, const Hypothesis& b) {
  return std::tie(b.score, b.log_probability, a.tokens) <
         std::tie(a.score, a.log_probability, b.tokens);
}

/// How much attention each source position of each row had so far.
class Coverage {
 public:
  Coverage(const SearchOptions& options, const SearchProblem& problem)
      : weight_(options.coverage_penalty), problem_(problem) {}

  /// Adds a step's weights [R, K] to the rows that they continue; the penalties [R, 1].
  at::Tensor add(const at::Tensor& weights, const std::vector<int64_t>& origin) {
    const auto rows = static_cast<int64_t>(origin.size());
    const auto options = at::TensorOptions().dtype(at::kDouble).device(problem_.device);
    if (weight_ == 0) return at::zeros({rows, 1}, options);
    require(weights.defined() && weights.dim() == 2 && weights.size(0) == rows,
            ErrorKind::InvalidArgument, "a coverage penalty needs attention weights of shape [",
            rows, ", K] at every step, found ",
            weights.defined() ? concat(weights.sizes()) : "none; set coverage_penalty=0");
    if (!sum_.defined()) sum_ = beginning(weights.size(1));
    require(sum_.size(1) == weights.size(1), ErrorKind::InvalidArgument,
            "the attention weights had ", sum_.size(1), " source positions, now they have ",
            weights.size(1));
    sum_ = sum_.index_select(0, to_device(origin, problem_.device)) + weights;  // [R, K]
    return weight_ * sum_.clamp(kNeverSeen, 1).log().sum(1, true);              // [R, 1]
  }

 private:
  /// Padding counts as fully covered, so that it costs nothing. [B, K]
  at::Tensor beginning(int64_t positions) const {
    if (!problem_.keep.defined())
      return at::zeros({problem_.inputs, positions},
                       at::TensorOptions().dtype(at::kDouble).device(problem_.device));
    require(problem_.keep.sizes() == at::IntArrayRef({problem_.inputs, positions}),
            ErrorKind::InvalidArgument, "keep must have shape [", problem_.inputs, ", ", positions,
            "] like the attention weights, found ", problem_.keep.sizes());
    return problem_.keep.to(problem_.device).logical_not().to(at::kDouble);
  }

  double weight_;
  const SearchProblem& problem_;
  at::Tensor sum_;  // [R, K]
};

/// A beginning that lives.
struct Beginning {
  int64_t input = 0;
  std::vector<int64_t> tokens;
  double log_probability = 0;
};

/// A beginning and one more symbol.
struct Candidate {
  size_t row = 0;
  int64_t symbol = 0;
  double log_probability = 0, coverage = 0;
};

/// The state of one search.
class Beam {
 public:
  Beam(const SearchOptions& options, const SearchProblem& problem)
      : options_(options), problem_(problem), finished_(problem.inputs) {}

  Hypotheses run(const StepFunction& step) {
    for (int64_t input = 0; input < problem_.inputs; ++input) {
      live_.push_back({input, {}, 0});
      tokens_.push_back(problem_.begin);
      origin_.push_back(input);
    }
    Steps steps(options_, problem_, step, options_.beam);
    Coverage coverage(options_, problem_);
    while (!live_.empty()) {
      const StepOutput output = steps.next(tokens_, origin_);
      const at::Tensor& scores = output.log_probabilities;  // [R, V or n]
      const TopSymbols top = top_symbols(output, options_.beam);
      const int64_t count = top.symbols.size(1);
      // One copy to the CPU: the likeliest, the coverage, `count` values, `count` symbols.
      const at::Tensor table =
          at::cat({scores.amax(1, true).to(at::kDouble), coverage.add(output.weights, origin_),
                   top.values.to(at::kDouble), top.symbols.to(at::kDouble)},
                  1)
              .to(at::kCPU);  // [R, 2 + 2 count]
      advance(table, count, steps.position());
    }
    return std::move(finished_);
  }

 private:
  /// One symbol more for every input; `length` symbols are then there.
  void advance(const at::Tensor& table, int64_t count, int64_t length) {
    const std::vector<Beginning> before = std::move(live_);
    live_.clear();
    tokens_.clear();
    origin_.clear();
    for (size_t first = 0; first < before.size();) {
      size_t last = first;  // an input's rows stand together
      while (last < before.size() && before[last].input == before[first].input) ++last;
      const size_t live = live_.size();
      for (const Candidate& candidate : best_candidates(before, first, last, table, count, length))
        place(before[candidate.row], candidate, length);
      const int64_t input = before[first].input;
      if (live == live_.size() && finished_[input].empty()) fail_without_symbol(input, length - 1);
      const size_t hopeful = count_hopeful(input, live);
      live_.resize(live + hopeful);
      tokens_.resize(live + hopeful);
      origin_.resize(live + hopeful);
      first = last;
    }
  }

  std::vector<Candidate> best_candidates(const std::vector<Beginning>& before, size_t first,
                                         size_t last, const at::Tensor& table, int64_t count,
                                         int64_t length) const {
    const auto cell = table.accessor<double, 2>();
    std::vector<Candidate> candidates;
    for (size_t row = first; row < last; ++row) {
      check_likeliest(cell[row][0], before[row].input, length - 1);
      for (int64_t i = 0; i < count; ++i) {
        const double value = std::min(cell[row][2 + i], 0.0);
        if (std::isinf(value)) break;  // the others are impossible too
        candidates.push_back({row, static_cast<int64_t>(cell[row][2 + count + i]),
                              before[row].log_probability + value, cell[row][1]});
      }
    }
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
      return std::tie(b.log_probability, a.symbol, a.row) <
             std::tie(a.log_probability, b.symbol, b.row);
    });
    if (candidates.size() > static_cast<size_t>(options_.beam)) candidates.resize(options_.beam);
    return candidates;
  }

  /// Among the finished ones, or among those that live.
  void place(const Beginning& before, const Candidate& candidate, int64_t length) {
    std::vector<int64_t> tokens = before.tokens;
    tokens.push_back(candidate.symbol);
    if (!is_at_end(problem_, before.input, tokens)) {
      live_.push_back({before.input, std::move(tokens), candidate.log_probability});
      tokens_.push_back(candidate.symbol);
      origin_.push_back(static_cast<int64_t>(candidate.row));
      return;
    }
    Hypothesis hypothesis = {std::move(tokens), candidate.log_probability, 0};
    hypothesis.score = candidate.log_probability / length_divisor(length, options_.length_penalty) +
                       candidate.coverage;
    std::vector<Hypothesis>& finished = finished_[before.input];
    finished.insert(std::upper_bound(finished.begin(), finished.end(), hypothesis, better),
                    std::move(hypothesis));
    if (finished.size() > static_cast<size_t>(options_.n_best)) finished.pop_back();
  }

  /// How many of the input's beginnings, from live_[first] on and best first, can still beat its
  /// n_best finished ones. A beginning's log-probability only falls and a coverage is 0 at most, so
  /// that it reaches most when all that is to come is certain and as long as it may be. Whatever a
  /// hopeless one keeps out of the beam is less likely than it, and as hopeless.
  size_t count_hopeful(int64_t input, size_t first) const {
    const std::vector<Hypothesis>& finished = finished_[input];
    size_t count = live_.size() - first;
    if (finished.size() < static_cast<size_t>(options_.n_best)) return count;
    const double divisor = length_divisor(problem_.maximum_length[input], options_.length_penalty);
    while (count > 0 && live_[first + count - 1].log_probability / divisor <= finished.back().score)
      --count;
    return count;
  }

  const SearchOptions& options_;
  const SearchProblem& problem_;
  Hypotheses finished_;                   // [B][n], best first
  std::vector<Beginning> live_;           // by input, then best first
  std::vector<int64_t> tokens_, origin_;  // of the next step, for each that lives
};

}  // namespace

Hypotheses beam_search(const SearchOptions& options, const SearchProblem& problem,
                       const StepFunction& step) {
  return Beam(options, problem).run(step);
}

}  // namespace fovea
