// A model without weights: what it says depends on the input's number and on all symbols so far, so
// a row that continues the wrong one is seen. Its state is kept by row, as a real decoder's is.
#pragma once

#include <gtest/gtest.h>
#include <cmath>
#include <vector>

#include "fovea/decoding/search.h"
#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"

namespace fovea {

struct FakeModel {
  /// One number per input; the larger the sharpness, the more certain the model is.
  explicit FakeModel(std::vector<int64_t> numbers, double sharpness = 2)
      : numbers(std::move(numbers)), sharpness(sharpness) {}

  std::vector<int64_t> numbers;
  double sharpness;
  int64_t symbols = 6, positions = 4;

  /// log-probabilities [V] of the symbol that follows `prefix` (which starts with the begin
  /// symbol).
  std::vector<double> next(int64_t number, const std::vector<int64_t>& prefix) const {
    return drawn(stream(number, prefix).split("symbols"), symbols, true);
  }

  /// Attention [K] of the same step; inputs have 2, 3 or 4 real positions, the rest is padding.
  std::vector<double> attention(int64_t number, const std::vector<int64_t>& prefix) const {
    std::vector<double> weights =
        drawn(stream(number, prefix).split("weights"), length(number), false);
    weights.resize(positions, 0);
    return weights;
  }

  static int64_t length(int64_t number) { return 2 + number % 3; }

  at::Tensor keep() const {
    at::Tensor keep = torch::zeros({int64_t(numbers.size()), positions}, at::kBool);
    for (size_t i = 0; i < numbers.size(); ++i)
      keep[i].narrow(0, 0, length(numbers[i])).fill_(true);
    return keep;
  }

  StepOutput operator()(const StepInput& input) {
    begin_at(input.position);
    std::vector<State> before = std::move(rows);
    rows.clear();
    const auto* token = input.tokens.data_ptr<int64_t>();
    EXPECT_TRUE(input.origin.defined() || input.tokens.size(0) == int64_t(before.size()));
    at::Tensor scores = torch::empty({input.tokens.size(0), symbols}, at::kDouble);
    at::Tensor weights = torch::empty({input.tokens.size(0), positions}, at::kDouble);
    for (int64_t row = 0; row < input.tokens.size(0); ++row) {
      const int64_t origin = input.origin.defined() ? input.origin[row].item<int64_t>() : row;
      State state = before.at(origin);
      state.prefix.push_back(token[row]);
      EXPECT_EQ(int64_t(state.prefix.size()), input.position + 1);
      scores[row] = torch::tensor(next(state.number, state.prefix), at::kDouble);
      weights[row] = torch::tensor(attention(state.number, state.prefix), at::kDouble);
      rows.push_back(std::move(state));
    }
    rows_of_calls.push_back(int64_t(rows.size()));
    return {scores, weights};
  }

  struct State {
    int64_t number = 0;
    std::vector<int64_t> prefix;
  };
  std::vector<State> rows;
  std::vector<int64_t> rows_of_calls;

 private:
  void begin_at(int64_t position) {
    EXPECT_EQ(position, int64_t(rows_of_calls.size()));
    if (position > 0) return;
    rows.clear();
    for (const int64_t number : numbers) rows.push_back({number, {}});
  }

  static Random stream(int64_t number, const std::vector<int64_t>& prefix) {
    Random random = Random(5).split(uint64_t(number));
    for (const int64_t symbol : prefix) random = random.split(uint64_t(symbol));
    return random;
  }

  std::vector<double> drawn(const Random& random, int64_t count, bool logarithms) const {
    std::vector<double> values(count);
    double sum = 0;
    for (int64_t i = 0; i < count; ++i)
      sum += std::exp(values[i] = sharpness * random.normal(uint64_t(i)));
    for (double& value : values) value = logarithms ? value - std::log(sum) : std::exp(value) / sum;
    return values;
  }
};

}  // namespace fovea
