#include "fovea/kernels/activation/activation.h"

#include <functional>
#include <limits>
#include <string>

#include "tests/kernels/testing.h"

namespace fovea::kernels::activation_test {
namespace {

double value(Activation kind, double u) {
  if (kind == Activation::Tanh) return std::tanh(u);
  return kind == Activation::Relu ? std::max(u, 0.0) : 0.5 * u * std::erfc(-u / std::sqrt(2.0));
}

double slope(Activation kind, double u) {
  if (kind == Activation::Relu) return u > 0 ? 1 : 0;
  if (kind == Activation::Tanh) return 1 - std::tanh(u) * std::tanh(u);
  return 0.5 * std::erfc(-u / std::sqrt(2.0)) + u * std::exp(-u * u / 2) / std::sqrt(2 * M_PI);
}

constexpr Activation kKinds[] = {Activation::Relu, Activation::Gelu, Activation::Tanh};

std::string name_of(Activation kind) {
  return kind == Activation::Relu ? "relu" : kind == Activation::Gelu ? "gelu" : "tanh";
}

std::vector<float> forward(const ActivationShape& shape, const std::vector<float>& x,
                           const std::vector<float>& bias) {
  std::vector<float> y = x;  // in place
  y.push_back(12345.0f);
  for (int64_t slice = shape.slices(); slice-- > 0;)
    activation_forward(shape, slice, y.data(), bias.data(), y.data());
  EXPECT_EQ(y.back(), 12345.0f) << "written past the end";
  y.pop_back();
  return y;
}

struct Gradients {
  std::vector<float> dx, dbias;
};

Gradients backward(const ActivationShape& shape, const std::vector<float>& kept,
                   const std::vector<float>& bias, const std::vector<float>& dy) {
  Gradients out{dy, bias};  // in place
  out.dx.push_back(12345.0f);
  std::vector<float> sums(size_t(shape.slices() * shape.columns + 1), 12345.0f);
  for (int64_t slice = shape.slices(); slice-- > 0;)
    activation_backward(shape, slice,
                        {kept.data(), bias.data(), out.dx.data(), out.dx.data(), sums.data()});
  activation_sums(shape, sums.data(), out.dbias.data());
  EXPECT_EQ(out.dx.back(), 12345.0f) << "written past the end";
  EXPECT_EQ(sums.back(), 12345.0f) << "written past the end";
  out.dx.pop_back();
  return out;
}

TEST(Activation, FollowsTheFormulasOnEveryInstructionSet) {
  for (const Activation kind : kKinds)
    for (const int64_t rows : {0, 1, 31, 33, 70})
      for (const auto& [columns, rate] :
           {std::pair<int64_t, double>{1, 0}, {7, 0.5}, {16, 0}, {17, 0.3}, {100, 0}, {100, 0.1}})
        for (const InstructionSet set : available_sets()) {
          SCOPED_TRACE(name_of(kind) + ", " + std::to_string(rows) + " x " +
                       std::to_string(columns) + ", rate " + std::to_string(rate) + ", " +
                       kernels::name_of(set));
          const UseSet use(set);
          Numbers numbers(static_cast<uint32_t>(rows + columns));
          std::vector<float> x = numbers.floats(rows * columns);
          for (float& number : x) number *= 5;
          const std::vector<float> bias = numbers.floats(columns),
                                   dy = numbers.floats(rows * columns);
          const ActivationShape shape{kind, rows, columns, Dropout(rate, 11)};
          std::vector<float> keep(x.size(), 1.0f);
          dropout(shape.dropout, keep.data(), 0, rows, columns, keep.data());
          std::vector<double> y(x.size()), dx(x.size()), dbias(bias.size(), 0);
          for (size_t i = 0; i < x.size(); ++i) {
            const size_t column = i % size_t(columns);
            const double u = x[i] + bias[column];  // in float, like the kernel
            y[i] = value(kind, u) * keep[i];
            dx[i] = dy[i] * keep[i] * slope(kind, u);
            dbias[column] += dx[i];
          }
          const std::vector<float> forwarded = forward(shape, x, bias);
          EXPECT_LT(worst_difference(forwarded, y), 2e-7);
          const Gradients got = backward(shape, kind == Activation::Relu ? forwarded : x, bias, dy);
          EXPECT_LT(worst_difference(got.dx, dx), 3e-7);
          EXPECT_LT(worst_difference(got.dbias, dbias), 1e-6);
        }
}

/// Near 0, in the tails and far out.
std::vector<float> all_sizes() {
  std::vector<float> x;
  for (float u = -12; u < 12; u += 0.00137f) x.push_back(u);
  for (float u = 1e-30f; u < 1e30f; u *= 7) x.push_back(u), x.push_back(-u);
  return x;
}

// Relative to the value, not to the largest one.
TEST(Activation, GeluIsAccurateToAFloatEverywhere) {
  const std::vector<float> x = all_sizes();
  const std::vector<float> bias(x.size(), 0.0f), dy(x.size(), 1.0f);
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    const ActivationShape shape{Activation::Gelu, 1, int64_t(x.size())};
    const std::vector<float> y = forward(shape, x, bias), dx = backward(shape, x, bias, dy).dx;
    for (size_t i = 0; i < x.size(); ++i) {
      // e^(-u^2/2) carries the rounding of its argument.
      const double relative = 6e-7 * (1 + (x[i] < 0 ? 0.5 * x[i] * x[i] : 0));
      EXPECT_NEAR(y[i], value(Activation::Gelu, x[i]),
                  relative * std::abs(value(Activation::Gelu, x[i])) + 1e-30)
          << x[i];
      EXPECT_NEAR(dx[i], slope(Activation::Gelu, x[i]), 3e-7) << x[i];
    }
  }
}

TEST(Activation, TanhIsAccurateToAFloatEverywhere) {
  const std::vector<float> x = all_sizes();
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    const ActivationShape shape{Activation::Tanh, 1, int64_t(x.size())};
    const std::vector<float> y = forward(shape, x, std::vector<float>(x.size(), 0.0f));
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(y[i], std::tanh(double(x[i])), 4e-7 * std::abs(std::tanh(double(x[i])))) << x[i];
  }
}

TEST(Activation, NanStaysAndInfinityBehaves) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Activation kind : kKinds)
    for (const InstructionSet set : available_sets()) {
      const UseSet use(set);
      std::vector<float> x(20, 1.0f);
      x[2] = float(NAN), x[17] = float(NAN), x[5] = infinity;
      const std::vector<float> y = forward({kind, 1, 20}, x, std::vector<float>(20, 0.0f));
      for (size_t i = 0; i < 20; ++i) EXPECT_EQ(std::isnan(y[i]), i == 2 || i == 17) << i;
      EXPECT_EQ(y[5], kind == Activation::Tanh ? 1 : infinity);
    }
}

}  // namespace
}  // namespace fovea::kernels::activation_test
