#include "fovea/decoding/search.h"

#include <gtest/gtest.h>
#include <limits>

#include "fovea/base/stop.h"
#include "fovea/tensor/torch.h"
#include "tests/decoding/testing.h"
#include "tests/support/expect_error.h"

namespace fovea::search_test {
namespace {

const double kInfinity = std::numeric_limits<double>::infinity();

TEST(Search, AnInputAloneGivesTheSameAsInABatch) {
  FakeModel model({3, 1, 4, 15, 9, 2, 6});
  SearchProblem problem = problem_of(model, 0);
  problem.maximum_length = {7, 1, 5, 12, 3, 8, 2};
  for (const std::string method : {"greedy", "beam", "sample"}) {
    SearchOptions options;
    options.method = method;
    options.n_best = 3;
    options.coverage_penalty = 0.2;
    options.top_p = 0.95;
    const Answer together = search(options, problem, FakeModel(model));
    for (size_t input = 0; input < model.numbers.size(); ++input) {
      FakeModel one({model.numbers[input]});
      SearchProblem alone = problem_of(one, problem.maximum_length[input]);
      SCOPED_TRACE(concat(method, " input ", input));
      expect_same(search(options, alone, one)[0], together[input]);
    }
  }
}

TEST(Search, StopsBetweenTwoStepsWhenItIsNotWantedAnyMore) {
  for (const std::string method : {"greedy", "beam", "sample"}) {
    SearchOptions options;
    options.method = method;
    const FakeModel model({3, 1, 4});
    int steps = 0;
    const StopScope scope([&] { return ++steps > 3; });
    EXPECT_THROW(search(options, problem_of(model, 100), FakeModel(model)), Stopped) << method;
    EXPECT_EQ(steps, 4) << method;
  }
}

TEST(Search, AnOutputIsWorthWhatTheModelSaysOfIt) {
  // Rows change places in a narrow beam, and leave in every method: had one followed the wrong row,
  // the sum would be another one. Without an end the number of rows stays the same for long.
  const FakeModel model({0, 1, 2, 3, 4, 5});
  SearchProblem problem = problem_of(model, 12);
  problem.maximum_length = {12, 3, 7, 12, 5, 12};
  problem.forbidden.push_back(kEnd);
  for (const std::string method : {"greedy", "beam", "sample"}) {
    SearchOptions options;
    options.method = method;
    options.beam = options.n_best = 3;
    const Answer answer = search(options, problem, FakeModel(model));
    for (size_t input = 0; input < answer.size(); ++input)
      for (const Hypothesis& hypothesis : answer[input]) {
        Tokens prefix = {2};
        double sum = 0;
        for (const int64_t symbol : hypothesis.tokens) {
          sum += model.next(model.numbers[input], prefix).at(symbol);
          prefix.push_back(symbol);
        }
        EXPECT_NEAR(hypothesis.log_probability, sum, 1e-9) << method << " input " << input;
      }
  }
}

/// A model that answers with the symbols that are wanted, and with all when all are.
StepFunction only_the_best(FakeModel model) {
  return [model](const StepInput& input) mutable {
    StepOutput all = model(input);
    if (input.best == 0) return all;
    const auto forbidden = torch::tensor(input.forbidden, at::kLong);
    const at::Tensor scores = all.log_probabilities.index_fill(1, forbidden, -kInfinity);
    const auto [values, symbols] = scores.sort(/*stable=*/true, 1, /*descending=*/true);
    const int64_t count = std::min(input.best, model.symbols);
    return StepOutput{values.narrow(1, 0, count), all.weights, symbols.narrow(1, 0, count)};
  };
}

TEST(Search, TheBestSymbolsAreEnough) {
  const FakeModel model({3, 1, 4, 15, 9, 2, 6});
  const SearchProblem problem = problem_of(model, 9);
  for (const std::string method : {"greedy", "beam", "sample"})
    for (const int64_t wanted : {1, 3, 9}) {
      SearchOptions options;
      options.method = method;
      options.beam = options.top_k = wanted;
      options.n_best = method == "greedy" ? 1 : std::min<int64_t>(wanted, 3);
      options.coverage_penalty = 0.2;
      const Answer expected = search(options, problem, FakeModel(model));
      const Answer found = search(options, problem, only_the_best(model));
      SCOPED_TRACE(concat(method, " ", wanted));
      for (size_t input = 0; input < found.size(); ++input)
        expect_same(found[input], expected[input]);
    }
}

TEST(Search, SymbolsMustFitTheirLogProbabilities) {
  for (const int64_t named : {2, 4})
    testing::expect_error(ErrorKind::InvalidArgument, "1 were wanted", [&] {
      search({}, plain_problem(2, 9), [&](const StepInput&) {
        return StepOutput{torch::zeros({2, 3}), {}, torch::zeros({2, named}, at::kLong)};
      });
    });
}

TEST(Search, RowsThatAreFinishedLeaveTheBatch) {
  for (const std::string method : {"greedy", "beam", "sample"}) {
    FakeModel model({0, 1, 2, 3, 4, 5});
    SearchOptions options;
    options.method = method;
    options.beam = 4;
    options.n_best = method == "greedy" ? 1 : 2;
    SearchProblem problem = problem_of(model, 3);
    problem.maximum_length[5] = 30;
    problem.forbidden.push_back(kEnd);  // so that lengths alone decide
    search(options, problem, std::ref(model));
    ASSERT_EQ(model.rows_of_calls.size(), 30u) << method;
    EXPECT_EQ(model.rows_of_calls[0], method == "sample" ? 12 : 6) << method;
    const int64_t rest = method == "greedy" ? 1 : method == "beam" ? 4 : 2;
    EXPECT_EQ(model.rows_of_calls[2], 6 * rest) << method;
    EXPECT_EQ(model.rows_of_calls[3], rest) << method;
  }
}

TEST(Search, TiesGoToTheSmallerSymbol) {
  const std::vector<double> uniform(1000, -std::log(1000.0));
  SearchProblem problem = plain_problem(2, 2);
  problem.forbidden = {0, 1, 2};
  SearchOptions options;
  EXPECT_EQ(search(options, problem, constant(uniform))[1][0].tokens, (Tokens{3}));
  options.method = "beam";
  options.beam = options.n_best = 3;
  options.length_penalty = 0;
  const auto best = search(options, problem, constant(uniform))[1];
  EXPECT_EQ(best[0].tokens, (Tokens{3}));
  EXPECT_EQ(best[1].tokens, (Tokens{4, 3}));
  EXPECT_EQ(best[2].tokens, (Tokens{4, 4}));
}

TEST(Search, AtTheMaximumLengthAnOutputHasNoEnd) {
  for (const std::string method : {"greedy", "beam", "sample"}) {
    SearchOptions options;
    options.method = method;
    SearchProblem problem = plain_problem(1, 4);
    const StepFunction step = constant({-99, -99, -99, -50, -0.7, -0.7});
    const Tokens tokens = search(options, problem, step)[0][0].tokens;
    EXPECT_EQ(tokens.size(), 4u) << method;
    EXPECT_NE(tokens.back(), kEnd) << method;
    options.maximum_length = 2;
    EXPECT_EQ(search(options, problem, step)[0][0].tokens.size(), 2u) << method;
    problem.maximum_length.clear();
    EXPECT_EQ(search(options, problem, step)[0][0].tokens.size(), 2u) << method;
  }
}

TEST(Search, ForbiddenSymbolsAreNeverPutOut) {
  SearchProblem problem = plain_problem(3, 6);
  problem.forbidden = {0, 4};
  for (const std::string method : {"greedy", "beam", "sample"}) {
    SearchOptions options;
    options.method = method;
    options.n_best = 5;
    const StepFunction step = constant({-0.7, -5, -5, -5, -0.7, -5});
    for (const auto& hypotheses : search(options, problem, step))
      for (const Hypothesis& hypothesis : hypotheses)
        for (const int64_t symbol : hypothesis.tokens)
          EXPECT_TRUE(symbol != 0 && symbol != 4) << method;
  }
}

TEST(Search, NoInputsNeedNoModel) {
  EXPECT_TRUE(search({}, plain_problem(0, 1), nullptr).empty());
}

TEST(Search, LogProbabilitiesThatAreNoneAreAnError) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::string method : {"greedy", "beam", "sample"}) {
    SearchOptions options;
    options.method = method;
    auto expect_bad = [&](std::vector<double> scores, const char* word) {
      testing::expect_error(ErrorKind::BadData, {"input 0, position 0", word},
                            [&] { search(options, plain_problem(2, 9), constant(scores)); });
    };
    expect_bad({-1, nan, -1, -1}, "NaN");
    expect_bad({-1, -nan, -1, -1}, "NaN");
    expect_bad({nan, nan, nan, nan}, "NaN");
    expect_bad({-1, 2.5, -1, -1}, "2.5");
    expect_bad({-1, kInfinity, -1, -1}, "inf");
    expect_bad(std::vector<double>(4, -kInfinity), "probability 0");
  }
}

TEST(Search, RefusesWhatCannotWork) {
  const auto kind = ErrorKind::InvalidArgument;
  const StepFunction step = constant({-1, -1, -1, -1});
  auto refuse = [&](const char* word, auto change) {
    SearchOptions options;
    SearchProblem problem = plain_problem(2, 9);
    change(options, problem);
    testing::expect_error(kind, word, [&] { search(options, problem, step); });
  };
  refuse("did you mean 'beam'?", [](auto& o, auto&) { o.method = "bean"; });
  refuse("raise beam or lower n_best",
         [](auto& o, auto&) { o.method = "beam", o.beam = 2, o.n_best = 3; });
  refuse("beam must", [](auto& o, auto&) { o.beam = 0; });
  refuse("n_best must", [](auto& o, auto&) { o.n_best = 0; });
  refuse("length_penalty", [](auto& o, auto&) { o.length_penalty = -1; });
  refuse("coverage_penalty", [](auto& o, auto&) { o.coverage_penalty = -1; });
  refuse("temperature", [](auto& o, auto&) { o.temperature = 0; });
  refuse("top_k", [](auto& o, auto&) { o.top_k = -1; });
  refuse("top_p", [](auto& o, auto&) { o.top_p = 0; });
  refuse("2 inputs but 1 maximum", [](auto&, auto& p) { p.maximum_length = {3}; });
  refuse("input 1 has the maximum length 0", [](auto&, auto& p) { p.maximum_length = {3, 0}; });
  refuse("numbers", [](auto&, auto& p) { p.numbers = {3}; });
  refuse("knows 4 symbols", [](auto&, auto& p) { p.end = 4; });
  refuse("knows 4 symbols", [](auto&, auto& p) { p.forbidden = {9}; });
  refuse("forbidden symbol is number -1", [](auto&, auto& p) { p.forbidden = {-1}; });
  refuse("found none; set coverage_penalty=0",
         [](auto& o, auto&) { o.method = "beam", o.coverage_penalty = 1; });
  testing::expect_error(kind, "[2, V], found Float [3, 4]", [&] {
    search({}, plain_problem(2, 9), [](const StepInput&) {
      return StepOutput{torch::zeros({3, 4}), {}};
    });
  });
}

TEST(Search, OptionsAreDescribed) {
  SearchOptions options;
  OptionList list;
  options.describe(list);
  list.set("method", "beam");
  list.set("top_p", "0.9");
  EXPECT_EQ(options.method, "beam");
  EXPECT_EQ(options.top_p, 0.9);
  testing::expect_error(ErrorKind::InvalidArgument, "n_best", [&] { list.set("n_best", "0"); });
  EXPECT_EQ(list.options().size(), 12u);
}

}  // namespace
}  // namespace fovea::search_test
