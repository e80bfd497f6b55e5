#include "fovea/kernels/packed_product/packed_product.h"

#include <string>

#include "tests/kernels/testing.h"

namespace fovea::kernels::packed_product_test {
namespace {

constexpr float kUntouched = 12345.0f;

struct Problem {
  PackedShape shape;
  int64_t rows;
  std::vector<float> weight, bias, x;  // rows of x are inputs + 1 apart

  Problem(int64_t rows, int64_t inputs, int64_t outputs) : shape{inputs, outputs}, rows(rows) {
    Numbers numbers(static_cast<uint32_t>(rows * 10000 + inputs * 100 + outputs));
    weight = numbers.floats(inputs * outputs);
    bias = numbers.floats(outputs);
    x = numbers.floats(rows * (inputs + 1));
  }

  /// y with rows outputs + 3 apart, slices in reverse.
  std::vector<float> computed(Finish finish, bool biased = true) const {
    std::vector<float> packed(size_t(shape.packed()) + 1, kUntouched);
    pack_matrix(shape, weight.data(), biased ? bias.data() : nullptr, packed.data());
    EXPECT_EQ(packed.back(), kUntouched) << "packed past the end";
    std::vector<float> y(size_t(rows * (shape.outputs + 3)), kUntouched);
    for (int64_t slice = shape.slices(); slice-- > 0;)
      packed_product(shape, slice, packed.data(),
                     {rows, x.data(), shape.inputs + 1, y.data(), shape.outputs + 3, finish});
    return y;
  }

  std::vector<double> expected(Finish finish, bool biased = true) const {
    std::vector<double> y;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < shape.outputs; ++c) {
        double u = biased ? bias[size_t(c)] : 0;
        for (int64_t i = 0; i < shape.inputs; ++i)
          u += double(x[size_t(r * (shape.inputs + 1) + i)]) *
               double(weight[size_t(c * shape.inputs + i)]);
        y.push_back(finish == Finish::Relu   ? std::max(u, 0.0)
                    : finish == Finish::Tanh ? std::tanh(u)
                                             : u);
      }
      y.insert(y.end(), 3, kUntouched);
    }
    return y;
  }
};

double worst(const std::vector<float>& found, const std::vector<double>& expected) {
  double most = 0;
  for (size_t i = 0; i < found.size(); ++i)
    most = std::max(most, std::abs(double(found[i]) - expected[i]));
  return found.size() == expected.size() ? most : INFINITY;
}

TEST(PackedProduct, EqualsPlainLoopsOnEveryInstructionSet) {
  for (const int64_t rows : {0, 1, 7, 8, 9, 20})
    for (const int64_t inputs : {1, 5, 32, 70})
      for (const int64_t outputs : {1, 15, 16, 31, 32, 33, 256, 300}) {
        const Problem problem(rows, inputs, outputs);
        for (const InstructionSet set : available_sets()) {
          SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(inputs) + " to " +
                       std::to_string(outputs) + ", " + name_of(set));
          const UseSet use(set);
          for (const Finish finish : {Finish::None, Finish::Relu, Finish::Tanh})
            EXPECT_LT(worst(problem.computed(finish), problem.expected(finish)), 1e-5);
          EXPECT_LT(
              worst(problem.computed(Finish::None, false), problem.expected(Finish::None, false)),
              1e-5);
        }
      }
}

TEST(PackedProduct, ManyRowsAreCutIntoBlocks) {
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    const Problem problem(150, 1100, 40);
    EXPECT_LT(worst(problem.computed(Finish::None), problem.expected(Finish::None)), 1e-4);
  }
}

void expect_the_same_bits_in_any_batch(const Problem& all, Finish finish) {
  const std::vector<float> together = all.computed(finish);
  for (int64_t count = 1; count < all.rows; ++count) {
    Problem some = all;
    some.rows = count;
    const std::vector<float> alone = some.computed(finish);
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.begin())) << count;
  }
}

TEST(PackedProduct, ARowGivesTheSameBitsInAnyBatch) {
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    expect_the_same_bits_in_any_batch({19, 37, 45}, Finish::Tanh);
  }
}

/// The same numbers with 8 bits of mantissa, so that rounding changes nothing, for rounded
/// products.
Problem rounded(Problem problem) {
  for (auto* numbers : {&problem.weight, &problem.x})
    for (float& x : *numbers) x = rounded_to_bf16(x);
  problem.shape.rounded = true;
  return problem;
}

TEST(PackedProduct, RoundedEqualsPlainLoopsOverRoundedNumbers) {
  if (!multiplies_bf16()) GTEST_SKIP() << "no AVX-512 BF16";
  for (const int64_t rows : {0, 1, 7, 8, 9, 20})
    for (const int64_t inputs : {1, 5, 32, 70, 1101})
      for (const int64_t outputs : {1, 16, 31, 33, 256, 300}) {
        SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(inputs) + " to " +
                     std::to_string(outputs));
        const Problem problem = rounded({rows, inputs, outputs});
        const double tolerance = inputs > 100 ? 1e-4 : 1e-5;
        for (const Finish finish : {Finish::None, Finish::Relu, Finish::Tanh})
          EXPECT_LT(worst(problem.computed(finish), problem.expected(finish)), tolerance);
        EXPECT_LT(
            worst(problem.computed(Finish::None, false), problem.expected(Finish::None, false)),
            tolerance);
      }
}

TEST(PackedProduct, RoundingIsToTheNearest) {
  if (!multiplies_bf16()) GTEST_SKIP() << "no AVX-512 BF16";
  Problem problem(40, 1, 40);  // one product each: no sum hides it
  problem.shape.rounded = true;
  const Problem nearest = rounded(problem);
  EXPECT_LT(worst(problem.computed(Finish::None), nearest.expected(Finish::None)), 1e-6);
  EXPECT_GT(worst(problem.computed(Finish::None), problem.expected(Finish::None)), 1e-4);
}

TEST(PackedProduct, ARoundedRowGivesTheSameBitsInAnyBatch) {
  if (!multiplies_bf16()) GTEST_SKIP() << "no AVX-512 BF16";
  Problem all(19, 37, 45);
  all.shape.rounded = true;
  expect_the_same_bits_in_any_batch(all, Finish::None);
}

TEST(PackedProduct, NotANumberShows) {
  for (const InstructionSet set : available_sets())
    for (const Finish finish : {Finish::None, Finish::Relu, Finish::Tanh}) {
      const UseSet use(set);
      Problem problem(3, 6, 33);
      problem.x[7 + 2] = NAN;
      const std::vector<float> y = problem.computed(finish);
      for (size_t c = 0; c < 33; ++c) {
        EXPECT_FALSE(std::isnan(y[c]));
        EXPECT_TRUE(std::isnan(y[36 + c])) << c;
      }
    }
}

}  // namespace
}  // namespace fovea::kernels::packed_product_test
