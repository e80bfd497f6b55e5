// NaN and infinity reach whoever may see them, wholly, and nobody else.
#include <limits>
#include <string>

#include "fovea/kernels/fused_attention/fused_attention.h"
#include "tests/kernels/fused_attention_run.h"

namespace fovea::kernels::fused_attention_not_finite_test {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kHuge = std::numeric_limits<double>::infinity();

/// One head and width 5, so that a row is five numbers.
AttentionCase one_head(int64_t length) {
  return {.name = "",
          .batch = 1,
          .heads = 1,
          .key_heads = 1,
          .queries = length,
          .keys = length,
          .head_size = 5,
          .value_size = 5};
}

void set_row(std::vector<double>& rows, int64_t row, double value) {
  rows[size_t(row * 5 + 2)] = value;
}

/// Whether row `row` of width `width` is NaN throughout; fails the test when it is so in slice.
bool nan_row(const std::vector<double>& rows, int64_t row, int64_t width = 5) {
  int64_t count = 0;
  for (int64_t d = 0; d < width; ++d) count += std::isnan(rows[size_t(row * width + d)]);
  EXPECT_TRUE(count == 0 || count == width) << "row " << row;
  return count > 0;
}

bool same_row(const std::vector<double>& a, const std::vector<double>& b, int64_t row) {
  return std::equal(a.begin() + row * 5, a.begin() + row * 5 + 5, b.begin() + row * 5);
}

bool zero_row(const std::vector<double>& rows, int64_t row) {
  return std::all_of(rows.begin() + row * 5, rows.begin() + row * 5 + 5,
                     [](double value) { return value == 0; });
}

template <class Check>
void on_every_set(Check check) {
  for (const InstructionSet set : available_sets())
    for (const double bad : {kNaN, kHuge, -kHuge}) {
      SCOPED_TRACE(std::string(name_of(set)) + " with " + std::to_string(bad));
      const UseSet use(set);
      check(bad);
    }
}

TEST(FusedAttentionNotFinite, WhatNobodySeesDoesNotMatter) {
  on_every_set([](double bad) {
    AttentionCase c = one_head(90);
    c.band_high = -1;  // query 0 sees nothing, key 89 is not seen
    AttentionInputs in = inputs_of<float>(c);
    in.keep_keys.assign(90, 1);
    in.keep_queries.assign(90, 1);
    in.keep_keys[20] = 0;
    in.keep_queries[70] = 0;
    const AttentionResult clean = run_fused<float>(c, in);
    for (const int64_t key : {20, 89}) set_row(in.k, key, bad), set_row(in.v, key, bad);
    for (const int64_t query : {0, 70})
      set_row(in.q, query, bad), set_row(in.out_gradient, query, bad);
    const AttentionResult result = run_fused<float>(c, in);
    expect_same_bits(result, clean);
    for (const int64_t key : {20, 89})
      EXPECT_TRUE(zero_row(result.k, key) && zero_row(result.v, key));
    for (const int64_t query : {0, 70})
      EXPECT_TRUE(zero_row(result.out, query) && zero_row(result.q, query));
  });
}

TEST(FusedAttentionNotFinite, WhoeverSeesABadKeyOrValueGetsNaN) {
  on_every_set([](double bad) {
    for (const bool value : {false, true}) {
      AttentionCase c = one_head(90);
      c.band_low = -8, c.band_high = 0;
      AttentionInputs in = inputs_of<float>(c);
      const AttentionResult clean = run_fused<float>(c, in);
      set_row(value ? in.v : in.k, 40, bad);
      const AttentionResult result = run_fused<float>(c, in);
      for (int64_t i = 0; i < 90; ++i) {
        const bool sees = i >= 40 && i <= 48;
        EXPECT_EQ(nan_row(result.out, i), sees) << i;
        EXPECT_EQ(std::isnan(result.lse[size_t(i)]), sees) << i;
        EXPECT_EQ(nan_row(result.q, i), sees) << i;
        EXPECT_TRUE(sees || (same_row(result.out, clean.out, i) && same_row(result.q, clean.q, i)));
        const bool seen = i >= 32 && i <= 48;  // by a query that has become NaN
        EXPECT_EQ(nan_row(result.k, i), seen) << i;
        EXPECT_EQ(nan_row(result.v, i), seen) << i;
        EXPECT_TRUE(seen || (same_row(result.k, clean.k, i) && same_row(result.v, clean.v, i)));
        for (int64_t j = 0; j < 90; ++j)
          EXPECT_EQ(std::isnan(result.weights[size_t(i * 90 + j)]),
                    !value && sees && j >= i - 8 && j <= i);
      }
    }
  });
}

TEST(FusedAttentionNotFinite, ABadQueryOrGradientSpoilsOnlyWhatItSees) {
  on_every_set([](double bad) {
    for (const bool gradient : {false, true}) {
      AttentionCase c = one_head(90);
      c.band_low = -8, c.band_high = 0;
      AttentionInputs in = inputs_of<float>(c);
      for (size_t i = 2; i < in.k.size(); i += 5) in.k[i] = -0.5;  // an infinity times all of them
      const AttentionResult clean = run_fused<float>(c, in);
      set_row(gradient ? in.out_gradient : in.q, 70, bad);
      const AttentionResult result = run_fused<float>(c, in);
      for (int64_t i = 0; i < 90; ++i) {
        EXPECT_EQ(nan_row(result.out, i), i == 70 && !gradient) << i;
        EXPECT_EQ(nan_row(result.q, i), i == 70) << i;
        EXPECT_TRUE(i == 70 ||
                    (same_row(result.out, clean.out, i) && same_row(result.q, clean.q, i)));
        const bool seen = i >= 62 && i <= 70;
        EXPECT_EQ(nan_row(result.k, i), seen) << i;
        EXPECT_EQ(nan_row(result.v, i), seen) << i;
        EXPECT_TRUE(seen || (same_row(result.k, clean.k, i) && same_row(result.v, clean.v, i)));
      }
    }
  });
}

}  // namespace
}  // namespace fovea::kernels::fused_attention_not_finite_test
