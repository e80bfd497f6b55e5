// What is there already becomes less likely; outputs that end by a rule; symbols as they are
// chosen.
#include <gtest/gtest.h>

#include "fovea/decoding/search.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"

namespace fovea::penalty_test {
namespace {

/// The same scores at every step, whatever came before.
StepFunction constant(std::vector<double> scores) {
  return [scores](const StepInput& in) -> StepOutput {
    const at::Tensor row = torch::tensor(scores, at::kFloat);
    const at::Tensor all = row.expand({in.tokens.size(0), row.size(0)});
    return {at::log_softmax(all, 1), {}, {}, all};
  };
}

SearchProblem one_input(int64_t length) {
  SearchProblem problem;
  problem.inputs = 1;
  problem.end = -1;
  problem.maximum_length = {length};
  return problem;
}

TEST(RepetitionPenalty, TakesFromScoresAboveZeroAndAddsToThoseBelow) {
  SearchOptions options;
  options.repetition_penalty = 2;
  // 3 becomes 1.5, then 2 becomes 1; 1.5 is the most then, and stays so: a symbol that is there
  // twice counts once.
  const auto found = search(options, one_input(4), constant({3, 2, 1.2, -1}));
  EXPECT_EQ(found[0][0].tokens, (std::vector<int64_t>{0, 1, 0, 0}));
  // -1 becomes -2 and is behind -1.5.
  const auto below = search(options, one_input(3), constant({-1, -1.5, -9, -9}));
  EXPECT_EQ(below[0][0].tokens, (std::vector<int64_t>{0, 1, 0}));
}

TEST(RepetitionPenalty, KnowsThePrompt) {
  SearchOptions options;
  options.repetition_penalty = 4;
  SearchProblem problem = one_input(1);
  problem.prompts = {{2, 0, 0}};
  EXPECT_EQ(search(options, problem, constant({3, 2, 1, 0}))[0][0].tokens, std::vector<int64_t>{1});
  for (const char* method : {"beam", "sample"}) {
    options.method = method;
    options.top_k = 1;
    EXPECT_EQ(search(options, problem, constant({3, 2, 1, 0}))[0][0].tokens,
              std::vector<int64_t>{1})
        << method;
  }
  options.repetition_penalty = 0;
  testing::expect_error(ErrorKind::InvalidArgument, "repetition_penalty", [&] {
    search(options, problem, constant({1, 2}));
  });
}

TEST(Endings, ARuleEndsAnOutput) {
  for (const char* method : {"greedy", "beam", "sample"}) {
    SearchOptions options;
    options.method = method;
    SearchProblem problem = one_input(50);
    problem.ends = [](int64_t input, std::span<const int64_t> symbols) {
      return input == 0 && symbols.size() == 3;
    };
    EXPECT_EQ(search(options, problem, constant({1, 2}))[0][0].tokens.size(), 3u) << method;
    problem.ends = {};
    EXPECT_EQ(search(options, problem, constant({1, 2}))[0][0].tokens.size(), 50u) << method;
  }
}

TEST(Endings, SymbolsAreToldAsTheyAreChosen) {
  SearchOptions options;
  options.method = "sample";
  options.seed = 3;
  SearchProblem problem = one_input(20);
  std::vector<int64_t> told;
  double sum = 0;
  problem.chosen = [&](int64_t, int64_t symbol, double log_probability) {
    told.push_back(symbol);
    sum += log_probability;
  };
  const Hypothesis found = search(options, problem, constant({1, 2, 1}))[0][0];
  EXPECT_EQ(told, found.tokens);
  EXPECT_NEAR(sum, found.log_probability, 1e-9);
}

}  // namespace
}  // namespace fovea::penalty_test
