#include "fovea/core/torch.h"
#include "fovea/decoding/steps.h"

namespace fovea {

Hypotheses greedy_search(const SearchProblem& problem, const StepFunction& step) {
  return extend_rows(problem, step, 1,
                     [](const at::Tensor& scores, const std::vector<Row>&, int64_t) {
                       const auto [value, symbol] = scores.max(1);  // the first of equals; NaN wins
                       const auto likeliest = value.to(at::kDouble);
                       return at::stack({likeliest, symbol.to(at::kDouble), likeliest}, 1);
                     });
}

}  // namespace fovea
