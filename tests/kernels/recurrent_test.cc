#include "fovea/kernels/recurrent/recurrent.h"

#include <numeric>
#include <string>

#include "tests/kernels/problem.h"

namespace fovea::kernels::recurrent_test {
namespace {

struct Case {
  RecurrentCell cell;
  int64_t hidden, steps;
  std::vector<int64_t> lengths;
  bool reversed = false, start = true;
  bool outputs_count = true, last_counts = true;  // in the loss
  int64_t inputs = 0;                             // 0: the test multiplies with W

  int64_t rows() const { return int64_t(lengths.size()); }
  int64_t entries() const { return std::accumulate(lengths.begin(), lengths.end(), int64_t{0}); }
  std::string name() const {
    return std::string(cell == RecurrentCell::Rnn   ? "rnn"
                       : cell == RecurrentCell::Gru ? "gru"
                                                    : "lstm") +
           " " + std::to_string(hidden) + ", " + std::to_string(rows()) + " rows of " +
           std::to_string(steps) + (reversed ? ", reversed" : "") + (start ? "" : ", no start") +
           (outputs_count ? "" : ", last state alone") + (last_counts ? "" : ", outputs alone") +
           ", inputs " + std::to_string(inputs);
  }
};

std::vector<int64_t> mixed_lengths(int64_t rows, int64_t steps) {
  Numbers numbers(uint32_t(rows * 100 + steps));
  std::vector<int64_t> lengths;
  for (int64_t row = 0; row < rows; ++row) lengths.push_back(numbers.below(steps + 1));
  return lengths;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto cell : {RecurrentCell::Rnn, RecurrentCell::Gru, RecurrentCell::Lstm}) {
    for (const int64_t hidden : {1, 3, 4, 15, 16, 17, 31, 50, 64}) {
      all.push_back({cell, hidden, 5, {5}});
      all.push_back({cell, hidden, 6, {2, 6, 0, 1, 6}, hidden % 2 == 0, hidden % 3 != 0});
      all.push_back({cell, hidden, 4, mixed_lengths(65, 4), hidden % 2 == 1});
    }
    all.push_back({cell, 10, 3, {3, 3}, true, true, false});
    all.push_back({cell, 10, 3, {1, 2}, false, true, true, false});
    all.push_back({cell, 8, 3, {0, 0}});
    all.push_back({cell, 8, 0, {0, 0}});
    all.push_back({cell, 8, 3, {}});
    all.push_back({cell, 256, 2, {2, 1, 2}});
  }
  const std::vector<Case> without_inputs = all;
  for (Case c : without_inputs) {
    c.inputs = 1 + c.hidden * 7 % 37;
    all.push_back(c);
  }
  return all;
}

/// What a pass reads: numbers that a loss depends on, and what it weighs its results with. Without
/// inputs W x is `products`; with inputs it is that of `w` and `x`, and `products` is 0, there only
/// for its gradient.
template <class T>
struct Problem {
  std::vector<T> u, input_bias, recurrent_bias, start_hidden, start_cell, products, x;
  std::vector<float> w, output_weights, hidden_weights, cell_weights;

  std::vector<std::vector<T>*> leaves() {
    return {&u, &input_bias, &recurrent_bias, &start_hidden, &start_cell, &products, &x};
  }
};

RecurrentShape shape_of(const Case& c, std::vector<int64_t>& first,
                        std::vector<int64_t>& descending) {
  RecurrentShape shape;
  shape.cell = c.cell, shape.hidden = c.hidden, shape.inputs = c.inputs;
  shape.reversed = c.reversed;
  shape.rows = c.rows(), shape.steps = c.steps;
  first.resize(c.lengths.size());
  std::exclusive_scan(c.lengths.begin(), c.lengths.end(), first.begin(), int64_t{0});
  descending.resize(c.lengths.size());
  std::iota(descending.begin(), descending.end(), int64_t{0});
  std::stable_sort(descending.begin(), descending.end(), [&](int64_t a, int64_t b) {
    return c.lengths[size_t(a)] > c.lengths[size_t(b)];
  });
  shape.lengths = c.lengths.data(), shape.first = first.data();
  shape.descending = descending.data();
  return shape;
}

Problem<float> problem_of(const Case& c) {
  const int64_t h = c.hidden, states = c.rows() * h;
  RecurrentShape shape;
  shape.cell = c.cell;
  const int64_t g = shape.gates();
  Numbers numbers(uint32_t(h * 17 + c.rows()));
  Problem<float> p;
  p.u = numbers.floats(g * h * h);
  for (float& value : p.u) value *= 2 / std::sqrt(float(h));
  p.input_bias = numbers.floats(g * h), p.recurrent_bias = numbers.floats(g * h);
  p.start_hidden = numbers.floats(states), p.start_cell = numbers.floats(states);
  if (!c.start) {
    std::fill(p.start_hidden.begin(), p.start_hidden.end(), 0.0f);
    std::fill(p.start_cell.begin(), p.start_cell.end(), 0.0f);
  }
  p.products = numbers.floats(c.entries() * g * h);
  if (c.inputs > 0) std::fill(p.products.begin(), p.products.end(), 0.0f);
  p.x = numbers.floats(c.entries() * c.inputs);
  p.w = numbers.floats(g * h * c.inputs);
  for (float& value : p.w) value *= 2 / std::sqrt(float(c.inputs));
  p.output_weights = numbers.floats(c.rows() * c.steps * h);
  p.hidden_weights = numbers.floats(states), p.cell_weights = numbers.floats(states);
  const auto clear = [](std::vector<float>& x) { std::fill(x.begin(), x.end(), 0.0f); };
  if (!c.outputs_count) clear(p.output_weights);
  if (!c.last_counts) clear(p.hidden_weights);
  if (!c.last_counts || c.cell != RecurrentCell::Lstm) clear(p.cell_weights);
  return p;
}

template <class T>
struct Results {
  std::vector<T> outputs, last_hidden, last_cell;
};

/// The formulas of the header, one number after the other.
Results<double> reference(const Case& c, const Problem<double>& p) {
  const size_t h = size_t(c.hidden), inputs = size_t(c.inputs);
  const size_t g = c.cell == RecurrentCell::Rnn ? 1 : c.cell == RecurrentCell::Gru ? 3 : 4;
  Results<double> out{std::vector<double>(size_t(c.rows() * c.steps) * h), p.start_hidden,
                      p.start_cell};
  size_t first = 0;
  for (size_t row = 0; row < c.lengths.size(); ++row) {
    const size_t length = size_t(c.lengths[row]);
    for (size_t t = 0; t < length; ++t) {
      const size_t place = c.reversed ? length - 1 - t : t;
      std::vector<double> x(g * h), u(g * h);
      double *hidden = &out.last_hidden[row * h], *cell = &out.last_cell[row * h];
      for (size_t i = 0; i < g * h; ++i) {
        x[i] = p.products[(first + place) * g * h + i] + p.input_bias[i];
        for (size_t j = 0; j < inputs; ++j)
          x[i] += double(p.w[i * inputs + j]) * p.x[(first + place) * inputs + j];
        u[i] = p.recurrent_bias[i];
        for (size_t j = 0; j < h; ++j) u[i] += p.u[i * h + j] * hidden[j];
      }
      recurrent_step(c.cell, x, u, hidden, cell, h);
      std::copy_n(hidden, h, &out.outputs[(row * size_t(c.steps) + place) * h]);
    }
    first += length;
  }
  return out;
}

double loss(const Case& c, const Problem<double>& p) {
  const Results<double> out = reference(c, p);
  double total = 0;
  for (size_t i = 0; i < out.outputs.size(); ++i) total += out.outputs[i] * p.output_weights[i];
  for (size_t i = 0; i < out.last_hidden.size(); ++i)
    total += out.last_hidden[i] * p.hidden_weights[i] + out.last_cell[i] * p.cell_weights[i];
  return total;
}

/// Results, and the gradients of all leaves, by the kernel.
struct Computed {
  Results<float> results;
  Problem<float> gradients;
};

Computed computed(const Case& c, const Problem<float>& p, bool last_part_first = false) {
  std::vector<int64_t> first, descending;
  const RecurrentShape shape = shape_of(c, first, descending);
  const int64_t h = c.hidden, g = shape.gates(), k = shape.saved(), n = c.entries();
  const int64_t states = c.rows() * h, output_row = h + 3;  // as if something stood beside it
  std::vector<float> packed = room(shape.packed()), scratch = room(shape.scratch());
  std::vector<float> gates = room(n * k * h), hidden_before = room(n * h),
                     cell_before = room(n * h), outputs = room(c.rows() * c.steps * output_row),
                     last_hidden = room(states), last_cell = room(states);
  for (int64_t entry = 0; entry < n && c.inputs == 0; ++entry)
    std::copy_n(&p.products[size_t(entry * g * h)], g * h, &gates[size_t(entry * k * h)]);
  const bool lstm = c.cell == RecurrentCell::Lstm;
  const auto slices = [&](auto work) {
    for (int64_t i = 0; i < shape.slices(); ++i) work(last_part_first ? shape.slices() - 1 - i : i);
  };
  recurrent_pack_forward(shape, p.w.data(), p.u.data(), packed.data());
  const RecurrentForward forward{packed.data(),
                                 p.input_bias.data(),
                                 p.recurrent_bias.data(),
                                 c.start ? p.start_hidden.data() : nullptr,
                                 c.start && lstm ? p.start_cell.data() : nullptr,
                                 p.x.data(),
                                 gates.data(),
                                 hidden_before.data(),
                                 lstm ? cell_before.data() : nullptr,
                                 outputs.data(),
                                 output_row,
                                 last_hidden.data(),
                                 lstm ? last_cell.data() : nullptr};
  slices([&](int64_t slice) { recurrent_forward(shape, slice, forward, scratch.data()); });

  std::vector<float> weights = room(c.rows() * c.steps * output_row);
  for (int64_t i = 0; i < c.rows() * c.steps; ++i)
    std::copy_n(&p.output_weights[size_t(i * h)], h, &weights[size_t(i * output_row)]);
  std::vector<float> gradients = room(n * k * h), start_hidden = room(states),
                     start_cell = room(states), sums = room(shape.slices() * k * h),
                     input_bias = room(g * h), recurrent_bias = room(g * h),
                     x_gradient = room(n * c.inputs);
  if (c.reversed)
    std::fill(x_gradient.begin(), x_gradient.end() - 1, 0.5f);  // as if it had been there
  recurrent_pack_backward(shape, p.w.data(), p.u.data(), packed.data());
  const RecurrentBackward backward{packed.data(),
                                   gates.data(),
                                   hidden_before.data(),
                                   lstm ? cell_before.data() : nullptr,
                                   c.outputs_count ? weights.data() : nullptr,
                                   output_row,
                                   c.last_counts ? p.hidden_weights.data() : nullptr,
                                   c.last_counts && lstm ? p.cell_weights.data() : nullptr,
                                   gradients.data(),
                                   x_gradient.data(),
                                   /*adds_to_x=*/c.reversed,
                                   start_hidden.data(),
                                   start_cell.data(),
                                   sums.data()};
  slices([&](int64_t slice) { recurrent_backward(shape, slice, backward, scratch.data()); });
  recurrent_bias_gradients(shape, sums.data(), input_bias.data(), recurrent_bias.data());
  expect_canary({&packed, &scratch, &gates, &hidden_before, &cell_before, &outputs, &last_hidden,
                 &last_cell, &gradients, &start_hidden, &start_cell, &sums, &input_bias,
                 &recurrent_bias, &x_gradient});

  Computed all;
  for (int64_t i = 0; i < c.rows() * c.steps; ++i) {
    const auto begin = outputs.begin() + i * output_row;
    all.results.outputs.insert(all.results.outputs.end(), begin, begin + h);
    EXPECT_TRUE(std::all_of(begin + h, begin + output_row, [](float x) { return std::isnan(x); }))
        << "written beside the row";
  }
  all.results.last_hidden = last_hidden;
  all.results.last_cell = lstm ? last_cell : p.start_cell;
  Problem<float>& d = all.gradients;
  d.u.assign(size_t(g * h * h), 0), d.products.assign(size_t(n * g * h), 0);
  for (int64_t entry = 0; entry < n; ++entry)
    for (int64_t i = 0; i < g * h; ++i) {
      const int64_t block = shape.saved_of(i / h) * h + i % h;
      d.products[size_t(entry * g * h + i)] = gradients[size_t(entry * k * h + i)];
      for (int64_t j = 0; j < h; ++j)
        d.u[size_t(i * h + j)] +=
            gradients[size_t(entry * k * h + block)] * hidden_before[size_t(entry * h + j)];
    }
  d.input_bias = input_bias, d.recurrent_bias = recurrent_bias;
  d.start_hidden = start_hidden;
  d.x = x_gradient;
  if (c.reversed)
    for (float& value : d.x) value -= 0.5f;
  d.start_cell = lstm ? start_cell : std::vector<float>(size_t(states), 0.0f);
  return all;
}

Problem<double> doubled(const Problem<float>& p) {
  Problem<double> all{
      {}, {}, {}, {}, {}, {}, {}, p.w, p.output_weights, p.hidden_weights, p.cell_weights};
  copy_leaves(p, all);
  return all;
}

TEST(Recurrent, FollowsTheFormulasOnEveryInstructionSet) {
  for (const Case& c : cases()) {
    const Problem<float> p = problem_of(c);
    const Results<double> expected = reference(c, doubled(p));
    for (const InstructionSet set : available_sets()) {
      SCOPED_TRACE(c.name() + ", " + name_of(set));
      const UseSet use(set);
      const Computed all = computed(c, p);
      EXPECT_LT(worst_difference(all.results.outputs, expected.outputs), 3e-6);
      EXPECT_LT(worst_difference(all.results.last_hidden, expected.last_hidden), 3e-6);
      EXPECT_LT(worst_difference(all.results.last_cell, expected.last_cell), 3e-6);
      for (const uint32_t seed : {1, 2})
        EXPECT_LT(slope_error(doubled(p), all.gradients, seed,
                              [&](const auto& at) { return loss(c, at); }),
                  1e-5);
    }
  }
}

TEST(Recurrent, OrderOfTheSlicesDoesNotMatter) {
  for (const auto cell : {RecurrentCell::Rnn, RecurrentCell::Gru, RecurrentCell::Lstm}) {
    Case c{cell, 21, 7, mixed_lengths(150, 7)};
    c.inputs = 19;
    const Problem<float> p = problem_of(c);
    for (const InstructionSet set : available_sets()) {
      const UseSet use(set);
      const Computed one = computed(c, p), other = computed(c, p, /*last_part_first=*/true);
      EXPECT_EQ(one.results.outputs, other.results.outputs);
      EXPECT_EQ(one.results.last_hidden, other.results.last_hidden);
      expect_equal_leaves(one.gradients, other.gradients);
    }
  }
}

TEST(Recurrent, WithoutBackwardTheGatesAreLeftAlone) {
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    const Case c{RecurrentCell::Lstm, 9, 3, {3, 1}};
    const Problem<float> p = problem_of(c);
    std::vector<int64_t> first, descending;
    const RecurrentShape shape = shape_of(c, first, descending);
    std::vector<float> packed = room(shape.packed()), scratch = room(shape.scratch()),
                       gates = p.products, outputs(2 * 3 * 9), hidden(2 * 9), cell(2 * 9);
    recurrent_pack_forward(shape, p.w.data(), p.u.data(), packed.data());
    recurrent_forward(shape, 0,
                      {packed.data(), p.input_bias.data(), p.recurrent_bias.data(),
                       p.start_hidden.data(), p.start_cell.data(), nullptr, gates.data(), nullptr,
                       nullptr, outputs.data(), 9, hidden.data(), cell.data()},
                      scratch.data());
    EXPECT_EQ(gates, p.products);
    EXPECT_LT(worst_difference(outputs, reference(c, doubled(p)).outputs), 3e-6);
  }
}

TEST(Recurrent, GatesSaturateAndNanShows) {
  for (const auto cell : {RecurrentCell::Rnn, RecurrentCell::Gru, RecurrentCell::Lstm})
    for (const InstructionSet set : available_sets()) {
      const UseSet use(set);
      const Case c{cell, 20, 2, {2, 2}};
      Problem<float> p = problem_of(c);
      for (size_t i = 0; i < p.products.size(); ++i) p.products[i] *= i % 3 == 0 ? 1e30f : 200.0f;
      const Results<float> far = computed(c, p).results;
      EXPECT_LT(worst_difference(far.outputs, reference(c, doubled(p)).outputs), 3e-6);
      p.products[5] = NAN;
      EXPECT_TRUE(std::isnan(computed(c, p).results.last_hidden[5])) << "first row";
      EXPECT_FALSE(std::isnan(computed(c, p).results.last_hidden[25])) << "second row";
    }
}

}  // namespace
}  // namespace fovea::kernels::recurrent_test
