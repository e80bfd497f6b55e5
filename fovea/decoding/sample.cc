#include <algorithm>

#include "fovea/decoding/steps.h"
#include "fovea/tensor/torch.h"

namespace fovea {
namespace {

/// Rounding must not let in a symbol more than top_p needs.
constexpr double kRounding = 1e-6;

/// One uniform number per row, from (seed, input, draw, position) alone. [R, 1]
at::Tensor uniform_numbers(const Random& random, const SearchProblem& problem,
                           const std::vector<Row>& rows, int64_t position) {
  std::vector<double> numbers;
  for (const Row& row : rows)
    numbers.push_back(random.split(static_cast<uint64_t>(problem.numbers[row.input]))
                          .split(static_cast<uint64_t>(row.draw))
                          .uniform(static_cast<uint64_t>(position)));
  return torch::tensor(numbers, at::kDouble).unsqueeze(1).to(problem.device);
}

/// probabilities [R, C] with 0 behind the fewest first columns that hold `share`.
at::Tensor cut(const at::Tensor& probabilities, double share) {
  const auto before = probabilities.cumsum(1) - probabilities;  // [R, C]
  auto beyond = before >= share - kRounding;
  beyond.select(1, 0).fill_(false);
  return probabilities.masked_fill(beyond, 0);
}

/// The column where the cumulative distribution passes each row's uniform number. [R, 1]
at::Tensor draw_columns(const at::Tensor& probabilities, const at::Tensor& uniform) {
  const auto cumulative = probabilities.cumsum(1);
  const auto threshold = uniform * cumulative.narrow(1, cumulative.size(1) - 1, 1);
  const auto drawn = (cumulative <= threshold).sum(1, true);
  // Rounding may put the threshold on the total: the last column that has any probability is then
  // the one.
  const auto column = at::arange(probabilities.size(1), drawn.options());
  return at::minimum(drawn, (column * (probabilities > 0)).amax(1, true));
}

}  // namespace

Hypotheses sample_search(const SearchOptions& options, const SearchProblem& problem,
                         const StepFunction& step) {
  const Random random = Random(static_cast<uint64_t>(options.seed)).split("sample");
  const bool ranked = options.top_k > 0 || options.top_p < 1;
  const auto choose = [&](const StepOutput& output, const std::vector<Row>& rows,
                          int64_t position) {
    const at::Tensor& scores = output.log_probabilities;  // [R, V or top_k]
    TopSymbols top;
    if (ranked) top = top_symbols(output, options.top_k > 0 ? options.top_k : scores.size(1));
    const at::Tensor values = (ranked ? top.values : scores).to(at::kDouble);  // [R, C]
    at::Tensor probabilities = at::softmax(values / options.temperature, 1);
    if (options.top_p < 1) probabilities = cut(probabilities, options.top_p);
    const at::Tensor column =
        draw_columns(probabilities, uniform_numbers(random, problem, rows, position));
    const at::Tensor symbol = ranked ? top.symbols.gather(1, column) : column;  // [R, 1]
    return at::cat(
        {scores.amax(1, true).to(at::kDouble), symbol.to(at::kDouble), values.gather(1, column)},
        1);  // [R, 3]
  };
  return extend_rows(options, problem, step, options.n_best, options.top_k, choose);
}

}  // namespace fovea
