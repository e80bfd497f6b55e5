#include "fovea/kernels/gemm-inl.h"

#include "tests/kernels/testing.h"

namespace fovea::kernels::gemm_test {
namespace {

/// Every combination of sizes around the register tile, against three plain loops.
template <class T, Left left, Into into>
void expect_product() {
  Numbers numbers(3);
  const auto some = [&](int64_t count) {
    std::vector<T> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<T>(numbers.next()));
    return values;
  };
  for (int64_t rows = 1; rows <= 2 * kTileRows + 1; ++rows)
    for (int64_t vectors = 1; vectors <= 5; ++vectors)
      for (const int64_t steps : {0, 1, 7}) {
        const int64_t columns = vectors * kWidth<T>, b_stride = columns + 3, c_stride = columns + 1;
        const int64_t a_stride = (left == Left::RowMajor ? steps : rows) + 2;
        const std::vector<T> a = some(a_stride * (left == Left::RowMajor ? rows : steps));
        const std::vector<T> b = some(b_stride * steps), before = some(c_stride * rows);
        std::vector<T> c = before;
        multiply<T, left, into>(a.data(), a_stride, b.data(), b_stride, c.data(), c_stride, rows,
                                vectors, steps);
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < c_stride; ++j) {
            double sum = into == Into::Sum ? double(before[size_t(i * c_stride + j)]) : 0;
            for (int64_t s = 0; s < steps && j < columns; ++s)
              sum +=
                  double(a[size_t(left == Left::RowMajor ? i * a_stride + s : s * a_stride + i)]) *
                  double(b[size_t(s * b_stride + j)]);
            if (j == columns) sum = double(before[size_t(i * c_stride + j)]);  // not touched
            ASSERT_NEAR(double(c[size_t(i * c_stride + j)]), sum, 1e-6);
          }
      }
}

TEST(Gemm, EqualsPlainLoops) {
  expect_product<float, Left::RowMajor, Into::Fresh>();
  expect_product<float, Left::RowMajor, Into::Sum>();
  expect_product<float, Left::Transposed, Into::Fresh>();
  expect_product<float, Left::Transposed, Into::Sum>();
  expect_product<double, Left::RowMajor, Into::Sum>();
  expect_product<double, Left::Transposed, Into::Fresh>();
}

}  // namespace
}  // namespace fovea::kernels::gemm_test
