#include "fovea/decoding/search.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/decoding/steps.h"
#include "fovea/tensor/product.h"
#include "fovea/tensor/torch.h"

namespace fovea {
namespace {

std::vector<std::string> methods() {
  return {"greedy", "beam", "sample"};
}

void check_options(const SearchOptions& o) {
  const auto kind = ErrorKind::InvalidArgument;
  const auto known = methods();
  require(std::find(known.begin(), known.end(), o.method) != known.end(), kind,
          "there is no search method '", o.method, "'", suggestion(o.method, known),
          "; known: ", join(known));
  require(o.beam >= 1, kind, "beam must be at least 1, found ", o.beam);
  require(o.n_best >= 1, kind, "n_best must be at least 1, found ", o.n_best);
  require(o.method != "beam" || o.n_best <= o.beam, kind, "a beam of ", o.beam, " cannot give the ",
          o.n_best, " best outputs; raise beam or lower n_best");
  require(o.length_penalty >= 0, kind, "length_penalty must be at least 0, found ",
          o.length_penalty);
  require(o.coverage_penalty >= 0, kind, "coverage_penalty must be at least 0, found ",
          o.coverage_penalty);
  require(o.temperature > 0, kind, "temperature must be above 0, found ", o.temperature);
  require(o.top_k >= 0, kind, "top_k must be at least 0, found ", o.top_k);
  require(o.top_p > 0 && o.top_p <= 1, kind, "top_p must be above 0 and at most 1, found ",
          o.top_p);
  require(o.repetition_penalty > 0, kind, "repetition_penalty must be above 0, found ",
          o.repetition_penalty);
  require(o.maximum_length >= 0, kind, "maximum_length must be at least 0, found ",
          o.maximum_length);
}

/// The problem with a limit and a number for each input.
SearchProblem completed(SearchProblem problem, const SearchOptions& options) {
  const auto kind = ErrorKind::InvalidArgument;
  const auto inputs = static_cast<size_t>(problem.inputs);
  auto& limits = problem.maximum_length;
  require(problem.inputs >= 0, kind, "a search needs 0 or more inputs, found ", problem.inputs);
  require(limits.size() == inputs || (limits.empty() && options.maximum_length > 0), kind,
          "there are ", inputs, " inputs but ", limits.size(), " maximum lengths");
  require(problem.numbers.empty() || problem.numbers.size() == inputs, kind, "there are ", inputs,
          " inputs but ", problem.numbers.size(), " numbers for them");
  require(problem.end >= -1, kind, "the end symbol is number ", problem.end,
          ", expected 0 or more, or -1 for none");
  require(problem.prompts.empty() || problem.prompts.size() == inputs, kind, "there are ", inputs,
          " inputs but ", problem.prompts.size(), " prompts");
  for (const int64_t symbol : problem.forbidden)
    require(symbol >= 0, kind, "a forbidden symbol is number ", symbol, ", expected 0 or more");

  if (limits.empty()) limits.assign(inputs, options.maximum_length);
  for (size_t input = 0; input < inputs; ++input) {
    if (options.maximum_length > 0) limits[input] = std::min(limits[input], options.maximum_length);
    require(limits[input] >= 1, kind, "input ", input, " has the maximum length ", limits[input],
            ", expected at least 1");
  }
  for (auto number = static_cast<int64_t>(problem.numbers.size()); number < problem.inputs;
       ++number)
    problem.numbers.push_back(number);
  return problem;
}

Hypotheses greedy_search(const SearchOptions& options, const SearchProblem& problem,
                         const StepFunction& step) {
  return extend_rows(
      options, problem, step, 1, 1, [](const StepOutput& output, const std::vector<Row>&, int64_t) {
        const auto [value, place] = output.log_probabilities.max(1);  // the first; NaN wins
        const auto likeliest = value.to(at::kDouble);
        const auto symbol = output.symbols.defined() ? output.symbols.select(1, 0) : place;
        return at::stack({likeliest, symbol.to(at::kDouble), likeliest}, 1);
      });
}

}  // namespace

void SearchOptions::describe(OptionList& list) {
  list.add("method", method, "how outputs are found").choices(methods());
  list.add("beam", beam, "beam: beginnings that are kept").at_least(1);
  list.add("length_penalty", length_penalty,
           "beam: exponent of the length that a score is divided by; 0: plain log-probability")
      .at_least(0);
  list.add("coverage_penalty", coverage_penalty,
           "beam: weight of source positions that attention left out")
      .at_least(0);
  list.add("n_best", n_best, "outputs per input: the best of beam, or draws of sample").at_least(1);
  list.add("temperature", temperature, "sample: below 1 sharpens").above(0);
  list.add("top_k", top_k, "sample: only from the likeliest symbols; 0: all").at_least(0);
  list.add("top_p", top_p, "sample: only from the fewest symbols that hold this probability")
      .above(0)
      .at_most(1);
  list.add("seed", seed, "sample: the same seed draws the same outputs");
  list.add("repetition_penalty", repetition_penalty,
           "above 1: symbols that are there already become less likely; 1: none")
      .above(0);
  list.add("maximum_length", maximum_length,
           "most symbols of an output, the end included; 0: the model's own limit, by the length "
           "of its input")
      .at_least(0);
  list.add("precision", precision,
           "of the network's products while it searches. bf16: factors are rounded, sums stay "
           "float32, for GPUs and for processors with AVX-512 BF16; tf32: rounded less, for GPUs")
      .choices(precision_names());
}

Hypotheses search(const SearchOptions& options, const SearchProblem& problem,
                  const StepFunction& step) {
  check_options(options);
  const SearchProblem complete = completed(problem, options);
  const torch::NoGradGuard no_gradients;
  if (options.method == "beam") return beam_search(options, complete, step);
  if (options.method == "sample") return sample_search(options, complete, step);
  return greedy_search(options, complete, step);
}

}  // namespace fovea
