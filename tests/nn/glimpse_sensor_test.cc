#include "fovea/nn/vision/glimpse_sensor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/tensor/random.h"
#include "fovea/tensor/torch.h"
#include "tests/support/golden.h"
#include "tests/support/gradient_check.h"

namespace fovea::glimpse_sensor_test {
namespace {

using testing::largest_difference;

/// The definition, number by number. pictures [B, C, H, W], float64; places [B, S, 2]
at::Tensor by_hand(const at::Tensor& pictures, const at::Tensor& places,
                   const GlimpseSensorOptions& options) {
  const int64_t channels = pictures.size(1), height = pictures.size(2), width = pictures.size(3);
  const int64_t w = options.patch;
  std::vector<double> seen;
  for (int64_t b = 0; b < places.size(0); ++b)
    for (int64_t s = 0; s < places.size(1); ++s) {
      const double x = places[b][s][0].item<double>(), y = places[b][s][1].item<double>();
      const auto corner_x = int64_t(std::floor((x + 1) / 2 * double(width) + 0.5));
      const auto corner_y = int64_t(std::floor((y + 1) / 2 * double(height) + 0.5));
      for (int64_t scale = 0; scale < options.scales; ++scale)
        for (int64_t c = 0; c < channels; ++c)
          for (int64_t row = 0; row < w; ++row)
            for (int64_t column = 0; column < w; ++column) {
              const int64_t zoom = int64_t{1} << scale, half = w * zoom / 2;
              double sum = 0;
              for (int64_t dy = 0; dy < zoom; ++dy)
                for (int64_t dx = 0; dx < zoom; ++dx) {
                  const int64_t py = corner_y - half + row * zoom + dy;
                  const int64_t px = corner_x - half + column * zoom + dx;
                  if (py >= 0 && py < height && px >= 0 && px < width)
                    sum += pictures[b][c][py][px].item<double>();
                }
              seen.push_back(sum / double(zoom * zoom));
            }
    }
  return torch::tensor(seen, torch::kDouble).view({places.size(0), places.size(1), -1});
}

struct Case {
  int64_t patch, scales, channels, height, width;
};

class Sensor : public ::testing::TestWithParam<Case> {
 protected:
  at::Tensor bytes() const {
    const auto& c = GetParam();
    return Random(1)
        .uniform_tensor({3, c.channels, c.height, c.width}, 0, 255.99, torch::kFloat)
        .to(torch::kByte);
  }
  /// Everywhere, the corners and the edges too.
  at::Tensor places() const {
    const at::Tensor drawn = Random(2).uniform_tensor({3, 5, 2}, -1, 1, torch::kFloat);
    const at::Tensor corners =
        torch::tensor({-1.0f, -1.0f, 1.0f, 1.0f, -1.0f, 1.0f, 0.0f, 0.0f}).view({1, 4, 2});
    return torch::cat({drawn, corners.expand({3, 4, 2})}, 1);
  }
  GlimpseSensorOptions options() const { return {GetParam().patch, GetParam().scales}; }
};

TEST_P(Sensor, EveryPathSeesWhatTheDefinitionSays) {
  const GlimpseSensor sensor(options());
  const at::Tensor plain = bytes().to(torch::kDouble) / 255;
  const at::Tensor expected = by_hand(plain, places(), options());
  const at::Tensor of_bytes = sensor.see(sensor.prepare(bytes()), places());
  EXPECT_EQ(of_bytes.sizes(), at::IntArrayRef({3, 9, sensor.size(GetParam().channels)}));
  EXPECT_EQ(of_bytes.scalar_type(), torch::kFloat);
  EXPECT_LT(largest_difference(of_bytes, expected), 1e-6);
  EXPECT_LT(largest_difference(sensor.see(sensor.prepare(plain), places()), expected), 1e-12);
}

TEST_P(Sensor, HasTheGradientOfThePicture) {
  const GlimpseSensor sensor(options());
  at::Tensor pictures = (bytes().to(torch::kDouble) / 255).requires_grad_();
  const at::Tensor mix =
      Random(3).normal_tensor({sensor.size(GetParam().channels)}, 0, 1, torch::kDouble);
  const auto loss = [&] {
    return (sensor.see(sensor.prepare(pictures), places()) * mix).square().sum();
  };
  EXPECT_LT(testing::gradient_error(loss, {pictures}), 1e-6);
}

// Counted pixel by pixel: each number of a patch has weight 1, spread over its pixels.
TEST_P(Sensor, CoversTheCellsThatItLooksAt) {
  const auto& c = GetParam();
  const GlimpseSensor sensor(options());
  const int64_t rows = 3, columns = 4;
  const at::Tensor shares = sensor.coverage(places(), {c.height, c.width, rows, columns});
  EXPECT_EQ(shares.sizes(), at::IntArrayRef({3, 9, rows * columns}));
  const at::Tensor corners = corners_of(places(), c.height, c.width);
  for (int64_t b = 0; b < 3; ++b)
    for (int64_t s = 0; s < 9; ++s) {
      std::vector<double> counted(size_t(rows * columns), 0);
      double total = 0;
      for (int64_t scale = 0; scale < c.scales; ++scale) {
        const int64_t side = sensor.side(scale);
        const int64_t top = corners[b][s][1].item<int64_t>() - side / 2;
        const int64_t left = corners[b][s][0].item<int64_t>() - side / 2;
        constexpr int64_t kFine = 12;  // parts of a pixel, so that cells cut none of them
        for (int64_t y = top * kFine; y < (top + side) * kFine; ++y)
          for (int64_t x = left * kFine; x < (left + side) * kFine; ++x) {
            if (y < 0 || x < 0 || y >= c.height * kFine || x >= c.width * kFine) continue;
            const int64_t cell =
                y * rows / (c.height * kFine) * columns + x * columns / (c.width * kFine);
            const double part = 1 / double(int64_t{1} << (2 * scale));
            counted[size_t(cell)] += part;
            total += part;
          }
      }
      for (int64_t cell = 0; cell < rows * columns; ++cell)
        EXPECT_NEAR(shares[b][s][cell].item<double>(), counted[size_t(cell)] / total, 1e-9);
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Sensor,
                         ::testing::Values(Case{8, 1, 1, 28, 28}, Case{4, 3, 1, 12, 12},
                                           Case{4, 2, 3, 9, 14}, Case{3, 3, 2, 10, 7},
                                           Case{6, 1, 1, 3, 2}));

TEST(GlimpseSensor, CornersAreTheNearest) {
  const at::Tensor places = torch::tensor({-1.0f, -1.0f, 1.0f, 1.0f, 0.0f, 0.0f}).view({3, 2});
  EXPECT_TRUE(corners_of(places, 10, 20)
                  .equal(torch::tensor({0, 0, 20, 10, 10, 5}, torch::kLong).view({3, 2})));
}

TEST(GlimpseSensor, RefusesPatchesThatCannotBe) {
  EXPECT_THROW(GlimpseSensor({0, 1}), Error);
  EXPECT_THROW(GlimpseSensor({8, 0}), Error);
  EXPECT_THROW(GlimpseSensor({8, 20}), Error);
  const GlimpseSensor sensor({4, 1});
  EXPECT_THROW(sensor.prepare(torch::zeros({4, 4})), Error);
  EXPECT_THROW(sensor.see(sensor.prepare(torch::zeros({1, 1, 4, 4})), torch::zeros({2, 1, 2})),
               Error);
}

}  // namespace
}  // namespace fovea::glimpse_sensor_test
