// Models, problems and comparisons for the tests of search.
#pragma once

#include <gtest/gtest.h>
#include <functional>
#include <vector>

#include "fovea/decoding/search.h"
#include "fovea/tensor/torch.h"
#include "tests/decoding/fake_model.h"

namespace fovea {

using Tokens = std::vector<int64_t>;
using Answer = std::vector<std::vector<Hypothesis>>;

constexpr int64_t kEnd = 3;

inline SearchProblem problem_of(const FakeModel& model, int64_t maximum_length) {
  SearchProblem problem;
  problem.inputs = int64_t(model.numbers.size());
  problem.forbidden = {0, 2};
  problem.maximum_length.assign(model.numbers.size(), maximum_length);
  problem.numbers = model.numbers;
  problem.keep = model.keep();
  return problem;
}

inline Answer run(const SearchOptions& options, FakeModel model, int64_t maximum_length) {
  return search(options, problem_of(model, maximum_length), std::ref(model));
}

/// The same log-probabilities whatever came before.
inline StepFunction constant(std::vector<double> log_probabilities) {
  return [=](const StepInput& input) {
    const auto row = torch::tensor(log_probabilities, at::kFloat);
    return StepOutput{row.expand({input.tokens.size(0), -1}), {}};
  };
}

/// chain[symbol]: probabilities of the symbol after it.
inline StepFunction markov(std::vector<std::vector<double>> chain) {
  return [=](const StepInput& input) {
    std::vector<at::Tensor> rows;
    for (int64_t row = 0; row < input.tokens.size(0); ++row)
      rows.push_back(torch::tensor(chain.at(input.tokens[row].item<int64_t>()), at::kDouble).log());
    return StepOutput{torch::stack(rows), {}};
  };
}

inline SearchProblem plain_problem(int64_t inputs, int64_t maximum_length) {
  SearchProblem problem;
  problem.inputs = inputs;
  problem.maximum_length.assign(inputs, maximum_length);
  return problem;
}

inline void expect_same(const std::vector<Hypothesis>& found,
                        const std::vector<Hypothesis>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].tokens, expected[i].tokens) << "hypothesis " << i;
    EXPECT_NEAR(found[i].log_probability, expected[i].log_probability, 1e-9);
    EXPECT_NEAR(found[i].score, expected[i].score, 1e-9);
  }
}

}  // namespace fovea
