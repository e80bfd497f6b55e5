#include "fovea/kernels/best_symbols/best_symbols.h"

#include <limits>
#include <numeric>
#include <string>

#include "tests/kernels/testing.h"

namespace fovea::kernels::best_symbols_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Best {
  std::vector<float> values;
  std::vector<int64_t> symbols;
};

/// Scores are what stands in `bias` where `hidden` is 0.
struct Problem {
  PackedShape layer;
  int64_t rows, count;
  std::vector<float> weight, bias, hidden;
  std::vector<int64_t> forbidden{0, 2};

  Problem(int64_t rows, int64_t inputs, int64_t symbols, int64_t count)
      : layer{inputs, symbols}, rows(rows), count(count) {
    Numbers numbers(static_cast<uint32_t>(rows * 1000 + symbols + count));
    weight = numbers.floats(inputs * symbols);
    bias = numbers.floats(symbols);
    hidden = numbers.floats(rows * inputs);
    for (float& x : hidden) x *= 3;
  }

  Best computed() const {
    std::vector<float> packed(size_t(layer.packed()));
    pack_matrix(layer, weight.data(), bias.data(), packed.data());
    Best best{std::vector<float>(size_t(rows * count)), std::vector<int64_t>(size_t(rows * count))};
    const BestSymbolsShape shape{layer, rows, count, forbidden.data(), int64_t(forbidden.size())};
    for (int64_t slice = shape.slices(); slice-- > 0;)
      best_symbols(shape, slice,
                   {packed.data(), hidden.data(), best.values.data(), best.symbols.data()});
    return best;
  }

  /// log p of all symbols of a row, -inf for forbidden ones, in double precision.
  std::vector<double> log_probabilities(int64_t row) const {
    std::vector<double> x;
    for (int64_t c = 0; c < layer.outputs; ++c) {
      double sum = bias[size_t(c)];
      for (int64_t i = 0; i < layer.inputs; ++i)
        sum += double(hidden[size_t(row * layer.inputs + i)]) *
               double(weight[size_t(c * layer.inputs + i)]);
      x.push_back(sum);
    }
    const double largest = *std::max_element(x.begin(), x.end());
    double sum = 0;
    for (const double value : x) sum += std::exp(value - largest);
    for (double& value : x) value -= largest + std::log(sum);
    for (const int64_t symbol : forbidden)
      if (symbol < layer.outputs) x[size_t(symbol)] = -kInfinity;
    return x;
  }
};

void expect_those_of_the_formula(const Problem& problem) {
  const Best best = problem.computed();
  for (int64_t row = 0; row < problem.rows; ++row) {
    const std::vector<double> expected = problem.log_probabilities(row);
    std::vector<int64_t> order(expected.size(), 0);
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return expected[size_t(a)] > expected[size_t(b)];
    });
    for (int64_t i = 0; i < problem.count; ++i) {
      const double value = best.values[size_t(row * problem.count + i)];
      const double right = expected[size_t(order[size_t(i)])];
      if (std::isinf(right)) {
        EXPECT_EQ(value, -kInfinity);
        continue;
      }
      EXPECT_EQ(best.symbols[size_t(row * problem.count + i)], order[size_t(i)]);
      EXPECT_NEAR(value, right, 1e-5);
    }
  }
}

TEST(BestSymbols, AreThoseOfTheFormulaOnEveryInstructionSet) {
  for (const int64_t rows : {1, 8, 9, 130, 261})
    for (const int64_t symbols : {4, 31, 33, 128, 129, 1000})
      for (const int64_t count : {1, 4, 5}) {
        Problem problem(rows, 24, symbols, std::min(count, symbols));
        for (const InstructionSet set : available_sets()) {
          SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(symbols) + ", best " +
                       std::to_string(problem.count) + ", " + name_of(set));
          const UseSet use(set);
          expect_those_of_the_formula(problem);
        }
        if (!multiplies_bf16()) continue;
        SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(symbols) + ", best " +
                     std::to_string(problem.count) + ", bf16");
        for (auto* numbers : {&problem.weight, &problem.hidden})
          for (float& x : *numbers) x = rounded_to_bf16(x);
        problem.layer.rounded = true;
        expect_those_of_the_formula(problem);
      }
}

TEST(BestSymbols, OfEqualsTheSmallerComesFirst) {
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    Problem problem(9, 3, 500, 4);
    std::fill(problem.hidden.begin(), problem.hidden.end(), 0.0f);
    std::fill(problem.bias.begin(), problem.bias.end(), 1.0f);
    problem.bias[70] = problem.bias[300] = 2;
    const Best best = problem.computed();
    for (size_t row = 0; row < 9; ++row)
      EXPECT_EQ(std::vector<int64_t>(&best.symbols[4 * row], &best.symbols[4 * row] + 4),
                (std::vector<int64_t>{70, 300, 1, 3}));
  }
}

TEST(BestSymbols, LargeScoresNeitherOverflowNorVanish) {
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    Problem problem(1, 1, 400, 2);
    problem.hidden[0] = 0;
    for (size_t c = 0; c < 400; ++c) problem.bias[c] = float(c) * 50;  // each the largest so far
    const Best best = problem.computed();
    EXPECT_EQ(best.symbols, (std::vector<int64_t>{399, 398}));
    EXPECT_EQ(best.values, (std::vector<float>{0, -50}));
  }
}

TEST(BestSymbols, NotFiniteScoresShow) {
  for (const InstructionSet set : available_sets())
    for (const size_t place : {size_t{0}, size_t{5}, size_t{127}, size_t{128}, size_t{199}}) {
      const UseSet use(set);
      for (const double bad : {std::numeric_limits<double>::quiet_NaN(), kInfinity}) {
        Problem problem(2, 2, 200, 3);
        problem.bias[place] = float(bad);
        for (const float value : problem.computed().values)
          EXPECT_TRUE(std::isnan(value)) << bad << " at " << place;
      }
      Problem problem(2, 2, 200, 3);  // a symbol that cannot be
      problem.bias[place] = -float(kInfinity);
      const Best best = problem.computed();
      for (int64_t row = 0; row < 2; ++row) {
        const std::vector<double> expected = problem.log_probabilities(row);
        EXPECT_NEAR(best.values[size_t(3 * row)],
                    *std::max_element(expected.begin(), expected.end()), 1e-5);
      }
    }
}

}  // namespace
}  // namespace fovea::kernels::best_symbols_test
