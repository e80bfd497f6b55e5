#include "fovea/kernels/half_product/half_product.h"

#include <cmath>
#include <cstring>

#include "tests/kernels/testing.h"

namespace fovea::kernels::half_product_test {
namespace {

float widened(uint16_t half) {
  const uint32_t word = uint32_t{half} << 16;
  float number = 0;
  std::memcpy(&number, &word, sizeof number);
  return number;
}

TEST(HalfProduct, IsTheFormulaOnEveryInstructionSet) {
  for (const int64_t in : {1, 3, 16, 63, 64, 65, 200})
    for (const int64_t rows : {1, 2, 4, 5, 9})
      for (const bool has_bias : {false, true})
        for (const InstructionSet set : available_sets()) {
          const UseSet use(set);
          const int64_t out = 7;
          std::vector<float> x(size_t(rows * in)), bias(static_cast<size_t>(out));
          std::vector<uint16_t> weight(static_cast<size_t>(out * in));
          for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(float(i) * 0.7f);
          for (size_t i = 0; i < bias.size(); ++i) bias[i] = float(i) - 3;
          for (size_t i = 0; i < weight.size(); ++i) {
            const float number = std::cos(float(i) * 0.3f);
            uint32_t word = 0;
            std::memcpy(&word, &number, sizeof word);
            weight[i] = uint16_t(word >> 16);
          }
          std::vector<float> y(static_cast<size_t>(rows * out), NAN);
          const HalfProduct of{
              rows, in, out, x.data(), weight.data(), has_bias ? bias.data() : nullptr, y.data()};
          half_product(of, 0, 3);
          half_product(of, 3, out);
          for (int64_t n = 0; n < rows; ++n)
            for (int64_t o = 0; o < out; ++o) {
              double sum = has_bias ? bias[size_t(o)] : 0;
              for (int64_t i = 0; i < in; ++i)
                sum += double(x[size_t(n * in + i)]) * widened(weight[size_t(o * in + i)]);
              EXPECT_NEAR(y[size_t(n * out + o)], sum, 1e-4) << in << ", " << name_of(set);
            }
        }
}

}  // namespace
}  // namespace fovea::kernels::half_product_test
