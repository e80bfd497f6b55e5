#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "fovea/tensor/torch.h"
#include "tests/decoding/testing.h"
#include "tests/support/expect_error.h"

namespace fovea::beam_test {
namespace {

/// Every output of one input, scored by the formulas of search.h, best first.
std::vector<Hypothesis> all_outputs(const SearchOptions& options, const FakeModel& model,
                                    int64_t number, int64_t maximum_length) {
  std::vector<Hypothesis> all;
  std::function<void(Tokens, double, std::vector<double>)> visit = [&](Tokens prefix, double log_p,
                                                                       std::vector<double> seen) {
    const auto weights = model.attention(number, prefix);
    for (size_t j = 0; j < seen.size(); ++j) seen[j] += weights[j];
    const auto scores = model.next(number, prefix);
    for (int64_t symbol = 0; symbol < model.symbols; ++symbol) {
      if (symbol == 0 || symbol == 2) continue;
      Tokens longer = prefix;
      longer.push_back(symbol);
      const double sum = log_p + scores[symbol];
      const auto length = int64_t(prefix.size());  // begin is in the prefix, so this counts symbol
      if (symbol != kEnd && length < maximum_length) {
        visit(longer, sum, seen);
        continue;
      }
      double coverage = 0;
      for (int64_t j = 0; j < FakeModel::length(number); ++j)
        coverage += std::log(std::min(seen[j], 1.0));
      const double score = sum / std::pow((5.0 + double(length)) / 6, options.length_penalty) +
                           options.coverage_penalty * coverage;
      all.push_back({Tokens(longer.begin() + 1, longer.end()), sum, score});
    }
  };
  visit({2}, 0, std::vector<double>(model.positions, 0));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.score > b.score; });
  return all;
}

TEST(Beam, GreedyIsMisledWhereBeamIsNot) {
  // a (4) is likelier than b (5) at first, but only b is sure to end at once.
  const std::vector<double> none = {1, 0, 0, 0, 0, 0};
  const StepFunction step = markov({none,
                                    none,
                                    {0, 0, 0, 0.1, 0.5, 0.4},
                                    none,
                                    {0, 0, 0, 0.4, 0.3, 0.3},
                                    {0, 0, 0, 0.9, 0.05, 0.05}});
  SearchOptions options;
  options.length_penalty = 0;
  const Hypothesis greedy = search(options, plain_problem(1, 9), step)[0][0];
  EXPECT_EQ(greedy.tokens, (Tokens{4, kEnd}));
  EXPECT_NEAR(greedy.log_probability, std::log(0.5 * 0.4), 1e-12);
  EXPECT_EQ(greedy.score, greedy.log_probability);
  options.method = "beam";
  options.beam = 2;
  const Hypothesis beam = search(options, plain_problem(1, 9), step)[0][0];
  EXPECT_EQ(beam.tokens, (Tokens{5, kEnd}));
  EXPECT_NEAR(beam.log_probability, std::log(0.4 * 0.9), 1e-12);
}

TEST(Beam, ABeamOfOneIsGreedy) {
  const FakeModel model({0, 1, 2, 3, 4, 5, 6, 7});
  SearchOptions options;
  const Answer greedy = run(options, model, 9);
  options.method = "beam";
  options.beam = 1;
  const Answer beam = run(options, model, 9);
  for (size_t input = 0; input < model.numbers.size(); ++input) {
    EXPECT_EQ(beam[input][0].tokens, greedy[input][0].tokens);
    EXPECT_NEAR(beam[input][0].log_probability, greedy[input][0].log_probability, 1e-12);
  }
}

TEST(Beam, AWideBeamFindsTheBestOfAllOutputs) {
  const FakeModel model({0, 1, 2, 7, 11});
  SearchOptions options;
  options.method = "beam";
  options.beam = 150;  // there are at most 4 * 3^3 continuations to choose from
  for (const double length_penalty : {0.0, 0.6, 1.5})
    for (const double coverage_penalty : {0.0, 0.3})
      for (const int64_t n_best : {1, 7, 150}) {
        options.length_penalty = length_penalty;
        options.coverage_penalty = coverage_penalty;
        options.n_best = n_best;
        const Answer found = run(options, model, 4);
        for (size_t input = 0; input < model.numbers.size(); ++input) {
          SCOPED_TRACE(concat("length ", length_penalty, " coverage ", coverage_penalty, " best ",
                              n_best, " input ", input));
          auto expected = all_outputs(options, model, model.numbers[input], 4);
          ASSERT_EQ(expected.size(), 121u);
          expected.resize(std::min<size_t>(expected.size(), n_best));
          expect_same(found[input], expected);
        }
      }
}

TEST(Beam, TheNBestAreSortedAndDistinct) {
  SearchOptions options;
  options.method = "beam";
  options.beam = options.n_best = 6;
  for (const auto& best : run(options, FakeModel({0, 1, 2, 3, 4, 5}), 10)) {
    ASSERT_EQ(best.size(), 6u);
    std::set<Tokens> distinct;
    for (size_t i = 0; i < best.size(); ++i) {
      distinct.insert(best[i].tokens);
      EXPECT_LE(best[i].score, best[i > 0 ? i - 1 : 0].score);
    }
    EXPECT_EQ(distinct.size(), best.size());
  }
}

TEST(Beam, ADecidedBeamStops) {
  int calls = 0;
  const StepFunction sure =
      constant({-99, -99, -99, std::log(0.98), std::log(0.01), std::log(0.01)});
  const StepFunction counted = [&](const StepInput& input) { return ++calls, sure(input); };
  SearchOptions options;
  options.method = "beam";
  EXPECT_EQ(search(options, plain_problem(1, 50), counted)[0][0].tokens, (Tokens{kEnd}));
  EXPECT_EQ(calls, 1);
}

TEST(Beam, ABeginningThatCannotWinAnyMoreIsLeft) {
  // log .5 = -.69 is reached at once; at length 10 scores are divided by 2.5, which makes at most
  // -.37 of log .4 and -.92 of log .1.
  std::vector<int64_t> rows;
  const StepFunction same = constant({-99, -99, -99, std::log(0.5), std::log(0.4), std::log(0.1)});
  const StepFunction counted = [&](const StepInput& input) {
    rows.push_back(input.tokens.size(0));
    return same(input);
  };
  SearchOptions options;
  options.method = "beam";
  options.beam = 3;
  options.length_penalty = 1;
  EXPECT_EQ(search(options, plain_problem(1, 10), counted)[0][0].tokens, (Tokens{kEnd}));
  ASSERT_GE(rows.size(), 2u);
  EXPECT_EQ(rows[1], 1);
}

TEST(Beam, ABeamGoesOnWhileALongerOutputCanWin) {
  // Ending at once is likelier than the whole long way, but worth less per length.
  const std::vector<double> none = {1, 0, 0, 0, 0};
  const StepFunction step =
      markov({none, none, {0, 0, 0, 0.55, 0.45}, none, {0, 0, 0, 0.05, 0.95}});
  SearchOptions options;
  options.method = "beam";
  options.beam = 2;
  options.length_penalty = 1;
  EXPECT_EQ(search(options, plain_problem(1, 12), step)[0][0].tokens, Tokens(12, 4));
  options.length_penalty = 0;
  EXPECT_EQ(search(options, plain_problem(1, 12), step)[0][0].tokens, (Tokens{kEnd}));
}

TEST(Beam, ADeadEndIsLeftWhereAnotherBeginningLives) {
  const std::vector<double> none(6, 0);
  const StepFunction step =
      markov({none, none, {0, 0, 0, 0, 0.9, 0.1}, none, none, {0, 0, 0, 1, 0, 0}});
  SearchOptions options;
  options.method = "beam";
  const auto best = search(options, plain_problem(1, 5), step)[0];
  ASSERT_EQ(best.size(), 1u);
  EXPECT_EQ(best[0].tokens, (Tokens{5, kEnd}));
  testing::expect_error(ErrorKind::BadData, {"input 0, position 1", "probability 0"},
                        [&] { search({}, plain_problem(1, 5), step); });
}

}  // namespace
}  // namespace fovea::beam_test
