#include "fovea/kernels/fused_attention/fused_attention.h"

#include "tests/kernels/fused_attention_run.h"
#include "tests/kernels/testing.h"

namespace fovea::kernels::fused_attention_test {
namespace {

std::vector<AttentionCase> cases() {
  return {
      {.name = "plain"},
      {.name = "length 1", .batch = 1, .heads = 1, .key_heads = 1, .queries = 1, .keys = 1},
      {.name = "head size 1", .queries = 9, .keys = 17, .head_size = 1, .value_size = 1},
      {.name = "no keys", .keys = 0},
      {.name = "no queries", .queries = 0},
      {.name = "no batch", .batch = 0},
      {.name = "one query", .queries = 1, .keys = 131, .head_size = 16, .value_size = 16},
      {.name = "one key", .queries = 70, .keys = 1, .head_size = 8, .value_size = 8},
      {.name = "Transformer step",
       .batch = 5,
       .heads = 8,
       .key_heads = 8,
       .queries = 15,
       .keys = 15,
       .head_size = 32,
       .value_size = 32},
      {.name = "whole tiles",
       .batch = 1,
       .queries = 128,
       .keys = 192,
       .head_size = 64,
       .value_size = 64},
      {.name = "odd", .queries = 67, .keys = 129, .head_size = 33, .value_size = 21},
      {.name = "wide values", .queries = 66, .keys = 65, .head_size = 5, .value_size = 81},
      {.name = "wide heads", .queries = 20, .keys = 70, .head_size = 130, .value_size = 2},
      {.name = "several key chunks and splits",
       .batch = 1,
       .heads = 1,
       .key_heads = 1,
       .queries = 150,
       .keys = 700,
       .head_size = 20,
       .value_size = 24},
      {.name = "large scores", .queries = 40, .keys = 90, .head_size = 16, .size = 30},
      {.name = "causal", .queries = 150, .keys = 150, .head_size = 16, .band_high = 0},
      {.name = "causal, later queries",
       .queries = 10,
       .keys = 90,
       .first_query = 75,
       .band_high = 0},
      {.name = "causal, long",
       .batch = 1,
       .queries = 540,
       .keys = 540,
       .head_size = 8,
       .value_size = 8,
       .band_high = 0},
      {.name = "window", .queries = 200, .keys = 210, .band_low = -20, .band_high = 9},
      {.name = "window of one before", .queries = 80, .keys = 80, .band_low = -1, .band_high = -1},
      {.name = "one corner of a tile", .queries = 64, .keys = 64, .band_high = 62},
      {.name = "the other corner", .queries = 64, .keys = 64, .band_low = -62},
      {.name = "nothing in the band", .band_low = 100, .band_high = 200},
      {.name = "band inside out", .band_low = 1, .band_high = -1},
      {.name = "band at the limits", .band_low = INT64_MIN + 1, .band_high = INT64_MAX - 1},
      {.name = "keep keys", .queries = 70, .keys = 200, .keep_keys = true},
      {.name = "batches without keys", .batch = 4, .queries = 9, .keys = 150, .keep_keys = true},
      {.name = "keep queries", .queries = 90, .keys = 33, .keep_queries = true},
      {.name = "padding and causal",
       .queries = 90,
       .keys = 90,
       .band_high = 0,
       .keep_keys = true,
       .keep_queries = true},
      {.name = "ALiBi", .queries = 80, .keys = 90, .head_size = 12, .slopes = true},
      {.name = "causal ALiBi, later queries",
       .queries = 66,
       .keys = 100,
       .first_query = 34,
       .band_high = 0,
       .slopes = true},
      {.name = "grouped heads", .heads = 6, .key_heads = 2, .queries = 70, .keys = 75},
      {.name = "one key head, split",
       .batch = 1,
       .heads = 3,
       .key_heads = 1,
       .queries = 70,
       .keys = 600,
       .band_high = 0,
       .keep_keys = true},
      {.name = "dropout", .queries = 70, .keys = 150, .head_size = 16, .dropout_rate = 0.3},
      {.name = "dropout, few",
       .batch = 3,
       .queries = 15,
       .keys = 15,
       .head_size = 8,
       .dropout_rate = 0.1},
      {.name = "everything",
       .batch = 3,
       .heads = 4,
       .key_heads = 2,
       .queries = 100,
       .keys = 170,
       .head_size = 17,
       .value_size = 40,
       .first_query = 50,
       .band_low = -90,
       .band_high = 13,
       .keep_keys = true,
       .keep_queries = true,
       .slopes = true,
       .dropout_rate = 0.25},
  };
}

double lse_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (size_t i = 0; i < b.size(); ++i)
    if (a[i] != b[i])
      worst = std::max(worst, std::abs(a[i] - b[i]) / std::max(1.0, std::abs(b[i])));
  return worst;
}

/// Every case on every instruction set.
template <class E, class Check>
void for_each_case(Check check) {
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    for (const AttentionCase& c : cases()) {
      SCOPED_TRACE(c.name + " on " + name_of(set));
      check(c, inputs_of<E>(c));
    }
  }
}

template <class E>
void expect_equals_reference(double tolerance, double sum_tolerance) {
  for_each_case<E>([&](const AttentionCase& c, const AttentionInputs& in) {
    const AttentionResult expected = AttentionReference(c, in).compute();
    const AttentionResult actual = run_fused<E>(c, in);
    const double size = std::max(1.0, c.size / 3);  // rounding of the scores grows with them
    EXPECT_LT(worst_difference(actual.out, expected.out), tolerance * size);
    EXPECT_LT(lse_difference(actual.lse, expected.lse), sum_tolerance);
    EXPECT_LT(worst_difference(actual.weights, expected.weights), sum_tolerance * size);
    EXPECT_LT(worst_difference(actual.q, expected.q), tolerance * size);
    EXPECT_LT(worst_difference(actual.k, expected.k), tolerance * size);
    EXPECT_LT(worst_difference(actual.v, expected.v), tolerance * size);
  });
}

TEST(FusedAttention, EqualsThePlainReferenceInFloat) {
  expect_equals_reference<float>(2e-6, 1e-6);
}
TEST(FusedAttention, EqualsThePlainReferenceInDouble) {
  expect_equals_reference<double>(1e-14, 1e-14);
}
TEST(FusedAttention, EqualsThePlainReferenceInBFloat16) {
  expect_equals_reference<BFloat16Bits>(1e-2, 1e-6);  // results have 8 bits, sums 24
}

TEST(FusedAttention, BFloat16RoundsTiesToEven) {
  const AttentionCase c{.name = "",
                        .batch = 1,
                        .heads = 1,
                        .key_heads = 1,
                        .queries = 1,
                        .keys = 2,
                        .head_size = 1,
                        .value_size = 2};
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    AttentionInputs in;
    in.q = {0}, in.k = {1, 1}, in.out_gradient = {1, 1};  // two weights of a half
    in.v = {1, 1 + 0x1p-7, 1 + 0x1p-7, 1 + 0x1p-6};
    EXPECT_EQ(run_fused<BFloat16Bits>(c, in).out, (std::vector<double>{1, 1 + 0x1p-6}));
  }
}

double loss_of(const AttentionCase& c, const AttentionInputs& in) {
  const std::vector<double> out = run_fused<double>(c, in).out;
  double loss = 0;
  for (size_t i = 0; i < out.size(); ++i) loss += out[i] * in.out_gradient[i];
  return loss;
}

TEST(FusedAttention, GradientsEqualFiniteDifferences) {
  const AttentionCase c{.name = "",
                        .heads = 4,
                        .key_heads = 2,
                        .queries = 5,
                        .keys = 6,
                        .head_size = 3,
                        .value_size = 2,
                        .first_query = 1,
                        .band_low = -3,
                        .band_high = 2,
                        .keep_keys = true,
                        .keep_queries = true,
                        .slopes = true,
                        .dropout_rate = 0.2};
  const AttentionInputs in = inputs_of<double>(c);
  const AttentionResult result = run_fused<double>(c, in);
  const double step = 1e-5;
  const auto check = [&](std::vector<double> AttentionInputs::*input,
                         const std::vector<double>& gradient) {
    for (size_t i = 0; i < gradient.size(); ++i) {
      AttentionInputs up = in, down = in;
      (up.*input)[i] += step;
      (down.*input)[i] -= step;
      EXPECT_NEAR(gradient[i], (loss_of(c, up) - loss_of(c, down)) / (2 * step), 1e-8) << i;
    }
  };
  check(&AttentionInputs::q, result.q);
  check(&AttentionInputs::k, result.k);
  check(&AttentionInputs::v, result.v);
}

TEST(FusedAttention, SameBitsInAnyOrderOfSlices) {
  for_each_case<float>([](const AttentionCase& c, const AttentionInputs& in) {
    expect_same_bits(run_fused<float>(c, in), run_fused<float>(c, in, true));
  });
}

TEST(FusedAttention, AFewHeadsStillGiveManySlices) {
  FusedAttentionProblem p{.batch = 1,
                          .heads = 1,
                          .key_heads = 1,
                          .queries = 4096,
                          .keys = 4096,
                          .head_size = 64,
                          .value_size = 64};
  EXPECT_EQ(fused_attention_forward_work(p).slices, 16);
  EXPECT_EQ(fused_attention_backward_work(p).slices, 16);
  p.batch = 64, p.heads = p.key_heads = 8, p.queries = p.keys = 15;  // and tiny heads only a few
  EXPECT_EQ(fused_attention_forward_work(p).slices, 16);
  EXPECT_EQ(fused_attention_backward_work(p).slices, 16);
}

TEST(FusedAttention, MemoryGrowsWithTheLengthNotItsSquare) {
  for (const int64_t heads : {1, 8, 64}) {
    FusedAttentionProblem p{.batch = 1,
                            .heads = heads,
                            .key_heads = heads,
                            .queries = 8192,
                            .keys = 8192,
                            .head_size = 64,
                            .value_size = 64};
    const auto bytes = [&] {
      const FusedAttentionWork forward = fused_attention_forward_work(p);
      const FusedAttentionWork backward = fused_attention_backward_work(p);
      return forward.scratch + backward.scratch + backward.shared;
    };
    const int64_t before = bytes();
    p.queries = p.keys = 16384;
    EXPECT_LE(bytes(), 2 * before);
  }
}

}  // namespace
}  // namespace fovea::kernels::fused_attention_test
