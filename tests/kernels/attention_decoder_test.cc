#include "fovea/kernels/attention_decoder/attention_decoder.h"

#include <string>

#include "tests/kernels/problem.h"

namespace fovea::kernels::attention_decoder_test {
namespace {

struct Case {
  RecurrentCell cell;
  bool additive;
  int64_t hidden, rows, steps, keys, key_size, value_size;
  int64_t hidden_keys = 0;  // row b may not look at its last b % (hidden_keys + 1) keys
  bool bias = true;
  bool outputs_count = true, contexts_count = true;  // in the loss

  int64_t entries() const { return rows * steps; }
  int64_t gates() const { return AttentionDecoderShape{.cell = cell}.gates(); }
  std::string name() const {
    return "cell " + std::to_string(int(cell)) + (additive ? ", additive " : ", product ") +
           std::to_string(hidden) + ", " + std::to_string(rows) + " x " + std::to_string(steps) +
           ", keys " + std::to_string(keys) + " x " + std::to_string(key_size) + ", values " +
           std::to_string(value_size) + ", hidden " + std::to_string(hidden_keys);
  }
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto cell : {RecurrentCell::Rnn, RecurrentCell::Gru, RecurrentCell::Lstm})
    for (const bool additive : {true, false}) {
      for (const int64_t hidden : {1, 5, 16, 17, 33})
        for (const int64_t rows : {1, 3}) {
          const int64_t keys = 1 + hidden % 7, f = additive ? 1 + hidden * 3 % 20 : hidden;
          all.push_back({cell, additive, hidden, rows, 3, keys, f, 1 + hidden * 5 % 19});
          all.push_back({cell, additive, hidden, rows, 2, keys, f, 18, keys, false});
        }
      all.push_back({cell, additive, 8, 37, 2, 20, additive ? 4 : 8, 6, 20});  // several slices
      all.push_back({cell, additive, 4, 2, 1, 3, 4, 2, 3, true, false, true});
      all.push_back({cell, additive, 4, 2, 3, 3, 4, 2, 0, true, true, false});
      all.push_back({cell, additive, 4, 2, 0, 3, 4, 2});
      all.push_back({cell, additive, 4, 0, 2, 3, 4, 2});
    }
  return all;
}

std::vector<uint8_t> kept_keys(const Case& c) {
  std::vector<uint8_t> keep;
  for (int64_t row = 0; row < c.rows; ++row)
    for (int64_t j = 0; j < c.keys; ++j) keep.push_back(j < c.keys - row % (c.hidden_keys + 1));
  return keep;
}

/// What the loss depends on.
template <class T>
struct Problem {
  std::vector<T> z, u, query, input_bias, recurrent_bias, query_bias, energy, keys, values,
      start_hidden, start_cell, products;

  std::vector<std::vector<T>*> leaves() {
    return {&z,      &u,    &query,  &input_bias,   &recurrent_bias, &query_bias,
            &energy, &keys, &values, &start_hidden, &start_cell,     &products};
  }
};

struct Weighing {
  std::vector<float> outputs, contexts;  // of the results in the loss; 0: they do not count
};

Problem<float> problem_of(const Case& c) {
  Numbers numbers(uint32_t(c.hidden * 31 + c.rows * 7 + c.keys));
  const int64_t h = c.hidden, width = c.gates() * h;
  Problem<float> p;
  p.z = numbers.floats(width * c.value_size), p.u = numbers.floats(width * h);
  for (float& value : p.u) value *= 2 / std::sqrt(float(h));
  p.query = numbers.floats(c.additive ? c.key_size * h : 0);
  p.input_bias = numbers.floats(width), p.recurrent_bias = numbers.floats(width);
  p.query_bias = numbers.floats(c.additive && c.bias ? c.key_size : 0);
  p.energy = numbers.floats(c.additive ? c.key_size : 0);
  p.keys = numbers.floats(c.rows * c.keys * c.key_size);
  p.values = numbers.floats(c.rows * c.keys * c.value_size);
  p.start_hidden = numbers.floats(c.rows * h), p.start_cell = numbers.floats(c.rows * h);
  if (c.cell != RecurrentCell::Lstm) p.start_cell.clear();
  p.products = numbers.floats(c.entries() * width);
  return p;
}

Weighing weighing_of(const Case& c) {
  Numbers numbers(3);
  Weighing w{numbers.floats(c.entries() * c.hidden), numbers.floats(c.entries() * c.value_size)};
  if (!c.outputs_count) std::fill(w.outputs.begin(), w.outputs.end(), 0.0f);
  if (!c.contexts_count) std::fill(w.contexts.begin(), w.contexts.end(), 0.0f);
  return w;
}

template <class T>
struct Results {
  std::vector<T> outputs, contexts, attention;
};

constexpr double kScale = 0.7;  // of products

/// The formulas of attention_decoder.h, in double.
Results<double> reference(const Case& c, const Problem<double>& p) {
  const auto h = size_t(c.hidden), g = size_t(c.gates()), keys = size_t(c.keys),
             f = size_t(c.key_size), size = size_t(c.value_size), steps = size_t(c.steps);
  const std::vector<uint8_t> keep = kept_keys(c);
  Results<double> out;
  for (size_t row = 0; row < size_t(c.rows); ++row) {
    std::vector<double> hidden(&p.start_hidden[row * h], &p.start_hidden[row * h] + h), cell(h);
    if (c.cell == RecurrentCell::Lstm) std::copy_n(&p.start_cell[row * h], h, cell.begin());
    for (size_t t = 0; t < steps; ++t) {
      std::vector<double> w(keys), z(size);
      double total = 0;
      for (size_t j = 0; j < keys; ++j) {
        if (!keep[row * keys + j]) continue;
        double score = 0;
        for (size_t k = 0; k < f; ++k) {
          const double key = p.keys[(row * keys + j) * f + k];
          if (!c.additive) {
            score += kScale * hidden[k] * key;
            continue;
          }
          double q = c.bias ? p.query_bias[k] : 0;
          for (size_t i = 0; i < h; ++i) q += p.query[k * h + i] * hidden[i];
          score += p.energy[k] * std::tanh(q + key);
        }
        total += w[j] = std::exp(score);
      }
      for (size_t j = 0; j < keys; ++j) {
        if (total > 0) w[j] /= total;
        for (size_t k = 0; k < size; ++k) z[k] += w[j] * p.values[(row * keys + j) * size + k];
      }
      std::vector<double> x(g * h), u(g * h);
      for (size_t i = 0; i < g * h; ++i) {
        x[i] = p.products[(row * steps + t) * g * h + i] + p.input_bias[i];
        for (size_t k = 0; k < size; ++k) x[i] += p.z[i * size + k] * z[k];
        u[i] = p.recurrent_bias[i];
        for (size_t j = 0; j < h; ++j) u[i] += p.u[i * h + j] * hidden[j];
      }
      recurrent_step(c.cell, x, u, hidden.data(), cell.data(), h);
      out.outputs.insert(out.outputs.end(), hidden.begin(), hidden.end());
      out.contexts.insert(out.contexts.end(), z.begin(), z.end());
      out.attention.insert(out.attention.end(), w.begin(), w.end());
    }
  }
  return out;
}

double loss(const Case& c, const Problem<double>& p, const Weighing& w) {
  const Results<double> out = reference(c, p);
  double total = 0;
  for (size_t i = 0; i < out.outputs.size(); ++i) total += out.outputs[i] * w.outputs[i];
  for (size_t i = 0; i < out.contexts.size(); ++i) total += out.contexts[i] * w.contexts[i];
  return total;
}

/// target [R, C] = left [N, R of left_row]^T right [N, C], as the caller of the kernel does it.
void add_product(std::vector<float>& target, const float* left, int64_t left_row,
                 const std::vector<float>& right, int64_t columns, int64_t entries, int64_t row,
                 int64_t rows) {
  for (int64_t n = 0; n < entries; ++n)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        target[size_t((row + i) * columns + j)] +=
            left[n * left_row + i] * right[size_t(n * columns + j)];
}

/// Results, and the gradients of all leaves, by the kernel.
struct Computed {
  Results<float> results;
  Problem<float> gradients;
};

Computed computed(const Case& c, const Problem<float>& p, const Weighing& w,
                  bool last_part_first = false) {
  const std::vector<uint8_t> keep = kept_keys(c);
  const int64_t h = c.hidden, g = c.gates(), n = c.entries(), f = c.key_size;
  const AttentionDecoderShape shape{.cell = c.cell,
                                    .hidden = h,
                                    .rows = c.rows,
                                    .steps = c.steps,
                                    .keys = c.keys,
                                    .key_size = f,
                                    .value_size = c.value_size,
                                    .additive = c.additive,
                                    .scale = float(kScale),
                                    .keep = c.hidden_keys > 0 ? keep.data() : nullptr};
  const int64_t k = shape.saved(), query = shape.query_size();
  const bool lstm = c.cell == RecurrentCell::Lstm;
  // Z as the right slice of a wider matrix.
  const int64_t z_row = c.value_size + 3;
  std::vector<float> z(size_t(g * h * z_row), NAN);
  for (int64_t i = 0; i < g * h; ++i)
    std::copy_n(p.z.begin() + i * c.value_size, c.value_size, z.begin() + i * z_row + 3);
  const AttentionDecoderWeights weights{z.data() + 3, z_row, p.u.data(), p.query.data()};
  std::vector<float> packed = room(shape.packed()), scratch = room(shape.scratch());
  std::vector<float> gates = room(n * k * h), hidden_before = room(n * h),
                     cell_before = room(n * h), queries = room(n * query),
                     attention = room(n * c.keys), outputs = room(n * h),
                     contexts = room(n * c.value_size);
  for (int64_t entry = 0; entry < n; ++entry)
    std::copy_n(p.products.begin() + entry * g * h, g * h, gates.begin() + entry * k * h);
  const auto slices = [&](auto work) {
    for (int64_t i = 0; i < shape.slices(); ++i) work(last_part_first ? shape.slices() - 1 - i : i);
  };
  attention_decoder_pack_forward(shape, weights, packed.data());
  const AttentionDecoderForward forward{
      packed.data(),           p.input_bias.data(),
      p.recurrent_bias.data(), p.query_bias.empty() ? nullptr : p.query_bias.data(),
      p.energy.data(),         p.keys.data(),
      p.values.data(),         p.start_hidden.data(),
      p.start_cell.data(),     gates.data(),
      hidden_before.data(),    cell_before.data(),
      queries.data(),          attention.data(),
      outputs.data(),          contexts.data()};
  slices([&](int64_t slice) { attention_decoder_forward(shape, slice, forward, scratch.data()); });

  std::vector<float> gate_gradients = room(n * k * h), query_gradients = room(n * query),
                     keys = room(c.rows * c.keys * f),
                     values = room(c.rows * c.keys * c.value_size), start_hidden = room(c.rows * h),
                     start_cell = room(c.rows * h), sums = room(shape.slices() * k * h),
                     energy = room(shape.slices() * query), input_bias = room(g * h),
                     recurrent_bias = room(g * h);
  attention_decoder_pack_backward(shape, weights, packed.data());
  const AttentionDecoderBackward backward{packed.data(),
                                          p.energy.data(),
                                          p.keys.data(),
                                          p.values.data(),
                                          gates.data(),
                                          hidden_before.data(),
                                          cell_before.data(),
                                          queries.data(),
                                          attention.data(),
                                          c.outputs_count ? w.outputs.data() : nullptr,
                                          c.contexts_count ? w.contexts.data() : nullptr,
                                          gate_gradients.data(),
                                          query_gradients.data(),
                                          keys.data(),
                                          values.data(),
                                          start_hidden.data(),
                                          start_cell.data(),
                                          sums.data(),
                                          energy.data()};
  slices(
      [&](int64_t slice) { attention_decoder_backward(shape, slice, backward, scratch.data()); });
  recurrent_bias_gradients(shape.recurrent(), sums.data(), input_bias.data(),
                           recurrent_bias.data());
  expect_canary({&packed, &scratch, &gates, &hidden_before, &cell_before, &queries, &attention,
                 &outputs, &contexts, &gate_gradients, &query_gradients, &keys, &values,
                 &start_hidden, &start_cell, &sums, &energy, &input_bias, &recurrent_bias});

  Computed all{{outputs, contexts, attention}, {}};
  Problem<float>& d = all.gradients;
  d.z.assign(p.z.size(), 0), d.u.assign(p.u.size(), 0), d.query.assign(p.query.size(), 0);
  add_product(d.z, gate_gradients.data(), k * h, contexts, c.value_size, n, 0, g * h);
  for (int64_t gate = 0; gate < g; ++gate)
    add_product(d.u, gate_gradients.data() + shape.recurrent().saved_of(gate) * h, k * h,
                hidden_before, h, n, gate * h, h);
  add_product(d.query, query_gradients.data(), query, hidden_before, h, n, 0, query);
  d.input_bias = input_bias, d.recurrent_bias = recurrent_bias;
  d.query_bias.assign(p.query_bias.size(), 0);
  for (size_t i = 0; i < d.query_bias.size(); ++i)
    for (int64_t entry = 0; entry < n; ++entry)
      d.query_bias[i] += query_gradients[size_t(entry * query) + i];
  d.energy.assign(size_t(query), 0);
  for (size_t i = 0; i < energy.size(); ++i) d.energy[i % size_t(query)] += energy[i];
  d.keys = keys, d.values = values, d.start_hidden = start_hidden;
  if (lstm) d.start_cell = start_cell;
  for (int64_t entry = 0; entry < n; ++entry)
    d.products.insert(d.products.end(), gate_gradients.begin() + entry * k * h,
                      gate_gradients.begin() + entry * k * h + g * h);
  return all;
}

Problem<double> doubled(const Problem<float>& p) {
  Problem<double> all;
  copy_leaves(p, all);
  return all;
}

TEST(AttentionDecoder, FollowsTheFormulasOnEveryInstructionSet) {
  for (const Case& c : cases()) {
    const Problem<float> p = problem_of(c);
    const Weighing w = weighing_of(c);
    const Results<double> expected = reference(c, doubled(p));
    for (const InstructionSet set : available_sets()) {
      SCOPED_TRACE(c.name() + ", " + name_of(set));
      const UseSet use(set);
      const Computed all = computed(c, p, w);
      EXPECT_LT(worst_difference(all.results.outputs, expected.outputs), 3e-6);
      EXPECT_LT(worst_difference(all.results.contexts, expected.contexts), 3e-6);
      EXPECT_LT(worst_difference(all.results.attention, expected.attention), 3e-6);
      for (const uint32_t seed : {1, 2})
        EXPECT_LT(slope_error(doubled(p), all.gradients, seed,
                              [&](const auto& at) { return loss(c, at, w); }),
                  1e-5);
    }
  }
}

TEST(AttentionDecoder, OrderOfTheSlicesDoesNotMatter) {
  for (const auto cell : {RecurrentCell::Rnn, RecurrentCell::Gru, RecurrentCell::Lstm}) {
    const Case c{cell, true, 21, 70, 3, 9, 11, 13, 8};
    const Problem<float> p = problem_of(c);
    const Weighing w = weighing_of(c);
    for (const InstructionSet set : available_sets()) {
      const UseSet use(set);
      const Computed one = computed(c, p, w), other = computed(c, p, w, /*last_part_first=*/true);
      EXPECT_EQ(one.results.outputs, other.results.outputs);
      expect_equal_leaves(one.gradients, other.gradients);
    }
  }
}

TEST(AttentionDecoder, WhatIsHiddenIsNotRead) {
  for (const bool additive : {true, false})
    for (const InstructionSet set : available_sets()) {
      const UseSet use(set);
      const Case c{RecurrentCell::Gru, additive, 5, 4, 3, 4, 5, 6, 4};
      const Problem<float> p = problem_of(c);
      Problem<float> spoilt = p;
      const std::vector<uint8_t> keep = kept_keys(c);
      for (size_t i = 0; i < keep.size(); ++i) {
        if (keep[i]) continue;
        std::fill_n(spoilt.keys.begin() + int64_t(i) * c.key_size, c.key_size, NAN);
        std::fill_n(spoilt.values.begin() + int64_t(i) * c.value_size, c.value_size, NAN);
      }
      const Weighing w = weighing_of(c);
      const Computed one = computed(c, p, w), other = computed(c, spoilt, w);
      EXPECT_EQ(one.results.outputs, other.results.outputs);
      expect_equal_leaves(one.gradients, other.gradients);
    }
}

TEST(AttentionDecoder, LargeKeysAndQueriesMayAnswerEachOther) {
  for (const float large : {20.0f, 60.0f, 1e3f})
    for (const InstructionSet set : available_sets()) {
      const UseSet use(set);
      const Case c{RecurrentCell::Gru, true, 5, 4, 3, 4, 5, 6};
      Problem<float> p = problem_of(c);
      for (float& key : p.keys) key += large;
      for (float& bias : p.query_bias) bias -= large;
      const Results<double> expected = reference(c, doubled(p));
      EXPECT_LT(
          worst_difference(computed(c, p, weighing_of(c)).results.attention, expected.attention),
          1e-6 * large)
          << large;  // the sum of a query and a key has the rounding of large numbers
    }
}

TEST(AttentionDecoder, LargeScoresStayFiniteAndNanShows) {
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    const Case c{RecurrentCell::Gru, false, 4, 2, 2, 3, 4, 2};
    Problem<float> p = problem_of(c);
    for (float& key : p.keys) key *= 1e4f;
    const Weighing w = weighing_of(c);
    for (const float value : computed(c, p, w).results.outputs) EXPECT_TRUE(std::isfinite(value));
    p.keys[1] = NAN;
    const std::vector<float> outputs = computed(c, p, w).results.outputs;
    EXPECT_TRUE(std::isnan(outputs[0])) << "first row";
    EXPECT_FALSE(std::isnan(outputs[size_t(c.steps * c.hidden)])) << "second row";
  }
}

}  // namespace
}  // namespace fovea::kernels::attention_decoder_test
