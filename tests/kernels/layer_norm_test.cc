#include "fovea/kernels/layer_norm/layer_norm.h"

#include <numeric>
#include <string>

#include "tests/kernels/testing.h"

namespace fovea::kernels::layer_norm_test {
namespace {

struct Case {
  int64_t rows, columns;
  bool residual = false, more = false;
  double rate = 0;

  std::string name() const {
    return std::to_string(rows) + " x " + std::to_string(columns) + (residual ? ", residual" : "") +
           (more ? ", more" : "") + ", dropout " + std::to_string(rate);
  }
  LayerNormShape shape() const { return {rows, columns, 1e-5f, Dropout(rate, 77)}; }
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int64_t columns : {1, 2, 7, 15, 16, 17, 64, 100, 257})
    for (const int64_t rows : {1, 31, 32, 33, 70}) {
      all.push_back({rows, columns});
      all.push_back({rows, columns, true});
      all.push_back({rows, columns, true, true, 0.3});
    }
  all.push_back({0, 8});
  all.push_back({0, 8, true, true, 0.1});
  return all;
}

struct Inputs {
  std::vector<float> x, residual, gamma, beta, dy, more;

  explicit Inputs(const Case& c) {
    Numbers numbers(static_cast<uint32_t>(c.rows * 1000 + c.columns));
    const int64_t count = c.rows * c.columns;
    x = numbers.floats(count), residual = numbers.floats(count);
    gamma = numbers.floats(c.columns), beta = numbers.floats(c.columns);
    dy = numbers.floats(count), more = numbers.floats(count);
  }
};

struct Outputs {
  std::vector<double> z, y, dz, dx, dgamma, dbeta;
};

/// What the kernel computes; slices in the order that `order` gives.
Outputs computed(const Case& c, const Inputs& in, bool backwards = false) {
  const LayerNormShape shape = c.shape();
  const int64_t count = c.rows * c.columns;
  std::vector<float> z = room(count), y = room(count), dz = room(count), dx = room(count),
                     mean = room(c.rows), inverse_sigma = room(c.rows),
                     sums = room(shape.slices() * 2 * c.columns), dgamma = room(c.columns),
                     dbeta = room(c.columns);
  if (!c.residual) std::copy(in.x.begin(), in.x.end(), z.begin());
  const LayerNormForward forward{in.x.data(),     c.residual ? in.residual.data() : nullptr,
                                 in.gamma.data(), in.beta.data(),
                                 z.data(),        y.data(),
                                 mean.data(),     inverse_sigma.data()};
  const LayerNormBackward backward{z.data(),
                                   mean.data(),
                                   inverse_sigma.data(),
                                   in.gamma.data(),
                                   in.dy.data(),
                                   c.more ? in.more.data() : nullptr,
                                   dz.data(),
                                   c.rate > 0 ? dx.data() : nullptr,
                                   sums.data()};
  std::vector<int64_t> slices(static_cast<size_t>(shape.slices()));
  std::iota(slices.begin(), slices.end(), int64_t{0});
  if (backwards) std::reverse(slices.begin(), slices.end());
  for (const int64_t slice : slices) layer_norm_forward(shape, slice, forward);
  for (const int64_t slice : slices) layer_norm_backward(shape, slice, backward);
  layer_norm_sums(shape, sums.data(), dgamma.data(), dbeta.data());
  expect_canary({&z, &y, &dz, &dx, &mean, &inverse_sigma, &sums, &dgamma, &dbeta});
  if (c.rate == 0) dx = dz;
  const auto doubles = [](const std::vector<float>& a) {
    return std::vector<double>(a.begin(), a.end());
  };
  return {doubles(z), doubles(y), doubles(dz), doubles(dx), doubles(dgamma), doubles(dbeta)};
}

/// The same in double precision, from the formulas of the header.
Outputs reference(const Case& c, const Inputs& in) {
  const size_t rows = size_t(c.rows), columns = size_t(c.columns), count = rows * columns;
  std::vector<float> keep(count, 1.0f);
  if (c.rate > 0) dropout(c.shape().dropout, keep.data(), 0, c.rows, c.columns, keep.data());
  Outputs out{std::vector<double>(count),   std::vector<double>(count),
              std::vector<double>(count),   std::vector<double>(count),
              std::vector<double>(columns), std::vector<double>(columns)};
  for (size_t r = 0; r < rows; ++r) {
    const size_t begin = r * columns;
    double mean = 0, variance = 0, h_mean = 0, hn_mean = 0;
    std::vector<double> n(columns), h(columns);
    for (size_t i = 0; i < columns; ++i) {
      const size_t at = begin + i;
      out.z[at] = c.residual ? double(in.residual[at]) + double(in.x[at]) * keep[at] : in.x[at];
      mean += out.z[at] / double(columns);
    }
    for (size_t i = 0; i < columns; ++i)
      variance += std::pow(out.z[begin + i] - mean, 2) / double(columns);
    const double sigma = std::sqrt(variance + double(1e-5f));
    for (size_t i = 0; i < columns; ++i) {
      n[i] = (out.z[begin + i] - mean) / sigma;
      h[i] = double(in.dy[begin + i]) * in.gamma[i];
      out.y[begin + i] = n[i] * in.gamma[i] + in.beta[i];
      out.dgamma[i] += in.dy[begin + i] * n[i];
      out.dbeta[i] += in.dy[begin + i];
      h_mean += h[i] / double(columns);
      hn_mean += h[i] * n[i] / double(columns);
    }
    for (size_t i = 0; i < columns; ++i) {
      const size_t at = begin + i;
      out.dz[at] = (h[i] - h_mean - n[i] * hn_mean) / sigma + (c.more ? double(in.more[at]) : 0.0);
      out.dx[at] = out.dz[at] * keep[at];
    }
  }
  return out;
}

TEST(LayerNorm, FollowsTheFormulasOnEveryInstructionSet) {
  for (const Case& c : cases()) {
    const Inputs in(c);
    const Outputs expected = reference(c, in);
    for (const InstructionSet set : available_sets()) {
      SCOPED_TRACE(c.name() + ", " + name_of(set));
      const UseSet use(set);
      const Outputs out = computed(c, in);
      EXPECT_LT(worst_difference(out.z, expected.z), 1e-6);
      EXPECT_LT(worst_difference(out.dbeta, expected.dbeta), 2e-6);
      // One number, or two nearly equal ones, have a large 1/sigma, and with it rounding.
      const bool few = c.columns <= 2;
      EXPECT_LT(worst_difference(out.y, expected.y), few ? 1e-5 : 2e-6);
      EXPECT_LT(worst_difference(out.dgamma, expected.dgamma), few ? 1e-5 : 2e-6);
      const double bound = few ? 1e-3 : 5e-6;
      EXPECT_LT(worst_difference(out.dz, expected.dz), bound);
      EXPECT_LT(worst_difference(out.dx, expected.dx), bound);
    }
  }
}

TEST(LayerNorm, OrderOfTheSlicesDoesNotMatter) {
  const Case c{200, 48, true, true, 0.25};
  const Inputs in(c);
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    const Outputs one = computed(c, in), other = computed(c, in, /*backwards=*/true);
    EXPECT_EQ(one.y, other.y);
    EXPECT_EQ(one.dx, other.dx);
    EXPECT_EQ(one.dgamma, other.dgamma);
    EXPECT_EQ(one.dbeta, other.dbeta);
  }
}

TEST(LayerNorm, ConstantRowIsItsBias) {
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    const std::vector<float> x(33, 1000.0f), gamma(33, 2.0f), beta(33, 0.5f);
    std::vector<float> y(33);
    float mean = 0, inverse_sigma = 0;
    layer_norm_forward(
        {1, 33, 1e-5f, {}}, 0,
        {x.data(), nullptr, gamma.data(), beta.data(), nullptr, y.data(), &mean, &inverse_sigma});
    EXPECT_EQ(mean, 1000.0f);
    for (const float value : y) EXPECT_NEAR(value, 0.5f, 1e-6);
  }
}

TEST(LayerNorm, LargeOffsetCostsNoAccuracy) {
  // A variance from sums of squares would lose everything here.
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    std::vector<float> x(64), gamma(64, 1.0f), beta(64, 0.0f), y(64);
    for (size_t i = 0; i < 64; ++i) x[i] = 4096.0f + (i % 2 ? 0.5f : -0.5f);
    float mean = 0, inverse_sigma = 0;
    layer_norm_forward(
        {1, 64, 0, {}}, 0,
        {x.data(), nullptr, gamma.data(), beta.data(), nullptr, y.data(), &mean, &inverse_sigma});
    for (size_t i = 0; i < 64; ++i) EXPECT_NEAR(y[i], i % 2 ? 1 : -1, 1e-6);
  }
}

}  // namespace
}  // namespace fovea::kernels::layer_norm_test
