#include "fovea/decoding/steps.h"
#include "fovea/tensor/torch.h"

namespace fovea {

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

}  // namespace fovea
