#include "fovea/kernels/decode_attention/decode_attention.h"

#include <string>

#include "tests/kernels/testing.h"

namespace fovea::kernels::decode_attention_test {
namespace {

constexpr int64_t kEntries = 23;

/// Rows that pick their keys from the same few entries, in their own order.
struct Problem {
  DecodeAttentionShape shape;
  int64_t width;  // of an entry: its keys, a gap, its values
  std::vector<float> queries, entries, energy;
  std::vector<std::vector<const float*>> lists;

  Problem(int64_t rows, int64_t heads, int64_t key_heads, int64_t key_size, int64_t value_size,
          bool additive) {
    Numbers numbers(static_cast<uint32_t>(rows * 1000 + heads * 100 + key_size));
    shape.rows = rows, shape.heads = heads, shape.key_heads = key_heads;
    shape.key_size = key_size, shape.value_size = value_size;
    shape.value_offset = key_heads * key_size + 3;
    shape.scale = 0.7f, shape.longest = kEntries;
    width = shape.value_offset + key_heads * value_size;
    queries = numbers.floats(rows * (heads * key_size + 1));
    entries = numbers.floats(kEntries * width);
    energy = numbers.floats(key_size);
    if (additive) shape.energy = energy.data();
    for (float& x : queries) x *= 3;
    for (int64_t row = 0; row < rows; ++row) {
      std::vector<const float*> list;
      const int64_t count = row % 5 == 2 ? 0 : 1 + numbers.below(kEntries);
      for (int64_t j = 0; j < count; ++j)
        list.push_back(entries.data() + numbers.below(kEntries) * width);
      lists.push_back(list);
    }
  }

  std::vector<float> computed() const {
    std::vector<const float* const*> addresses;
    std::vector<int64_t> counts;
    for (const auto& list : lists)
      addresses.push_back(list.data()), counts.push_back(int64_t(list.size()));
    std::vector<float> out(size_t(shape.rows * shape.heads * shape.value_size) + 1, 12345.0f);
    std::vector<float> scratch(size_t(shape.scratch()));
    for (int64_t slice = shape.slices(); slice-- > 0;)
      decode_attention(shape, slice,
                       {queries.data(), shape.heads * shape.key_size + 1, addresses.data(),
                        counts.data(), out.data()},
                       scratch.data());
    EXPECT_EQ(out.back(), 12345.0f) << "written past the end";
    out.pop_back();
    return out;
  }

  std::vector<double> expected() const {
    std::vector<double> out;
    for (int64_t row = 0; row < shape.rows; ++row)
      for (int64_t head = 0; head < shape.heads; ++head) {
        const int64_t shared = head / (shape.heads / shape.key_heads);
        const float* q =
            queries.data() + row * (shape.heads * shape.key_size + 1) + head * shape.key_size;
        std::vector<double> weights;
        double sum = 0;
        for (const float* entry : lists[size_t(row)]) {
          double e = 0;
          for (int64_t i = 0; i < shape.key_size; ++i) {
            const double k = entry[shared * shape.key_size + i];
            e += shape.energy ? energy[size_t(i)] * std::tanh(q[i] + k)
                              : double(shape.scale) * q[i] * k;
          }
          weights.push_back(std::exp(e));
          sum += weights.back();
        }
        for (int64_t i = 0; i < shape.value_size; ++i) {
          double value = 0;
          for (size_t j = 0; j < weights.size(); ++j)
            value += weights[j] / sum *
                     lists[size_t(row)][j][shape.value_offset + shared * shape.value_size + i];
          out.push_back(value);
        }
      }
    return out;
  }
};

TEST(DecodeAttention, FollowsTheFormulasOnEveryInstructionSet) {
  for (const bool additive : {false, true})
    for (const int64_t heads : {1, 4})
      for (const int64_t key_heads : {int64_t{1}, heads / 2, heads})
        for (const int64_t key_size : {1, 8, 16, 37, 64})
          for (const int64_t value_size : {1, 8, 33, 64, 150}) {
            if (key_heads == 0 || (additive && heads > 1)) continue;
            const Problem problem(35, heads, key_heads, key_size, value_size, additive);
            const std::vector<double> expected = problem.expected();
            for (const InstructionSet set : available_sets()) {
              SCOPED_TRACE(std::to_string(heads) + " heads on " + std::to_string(key_heads) +
                           ", keys of " + std::to_string(key_size) + ", values of " +
                           std::to_string(value_size) + ", " + name_of(set));
              const UseSet use(set);
              EXPECT_LT(worst_difference(problem.computed(), expected), 3e-6);
            }
          }
}

TEST(DecodeAttention, LargeScoresNeitherOverflowNorVanish) {
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    Problem problem(3, 1, 1, 4, 4, false);
    problem.shape.scale = 1e4f;
    for (const float value : problem.computed()) EXPECT_LE(std::abs(value), 1.0f);
  }
}

TEST(DecodeAttention, NotANumberShowsWhereItIsLookedAt) {
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    Problem problem(2, 2, 2, 8, 8, false);
    const auto at = [&](int64_t entry) { return problem.entries.data() + entry * problem.width; };
    problem.lists = {{at(0), at(1), at(2)}, {at(0), at(2)}};
    for (const int64_t place : {int64_t{3}, problem.shape.value_offset + 3}) {
      Problem bad = problem;
      const_cast<float*>(at(1))[place] = NAN;
      const std::vector<float> out = problem.computed();
      EXPECT_TRUE(std::isnan(out[3]));
      for (size_t i = 16; i < 32; ++i) EXPECT_FALSE(std::isnan(out[i]));
      const_cast<float*>(at(1))[place] = bad.entries[size_t(problem.width + place)];
    }
  }
}

}  // namespace
}  // namespace fovea::kernels::decode_attention_test
