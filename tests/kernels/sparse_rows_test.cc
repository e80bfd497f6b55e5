#include "fovea/kernels/sparse_rows/sparse_rows.h"

#include <string>

#include "tests/kernels/testing.h"

namespace fovea::kernels::sparse_rows_test {
namespace {

constexpr int64_t kFeatures = 23;

struct Rows {
  std::vector<int64_t> begin{0}, index;
  std::vector<float> value;

  Rows(int64_t rows, Numbers& numbers) {
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t count = numbers.below(6);
      for (int64_t n = 0; n < count; ++n) {
        index.push_back(numbers.below(kFeatures));
        value.push_back(n == 2 ? 0.0f : numbers.next());
      }
      begin.push_back(int64_t(index.size()));
    }
  }
  SparseRows view() const {
    return {int64_t(begin.size()) - 1, begin.data(), index.data(), value.data()};
  }
};

TEST(SparseRows, ProductAndGradientEqualPlainLoopsOnEveryInstructionSet) {
  for (const int64_t columns : {1, 3, 4, 7, 8, 15, 16, 17, 31, 32, 63, 64, 65, 100, 130})
    for (const int64_t rows : {0, 1, 5, 200}) {
      Numbers numbers(uint32_t(columns * 7 + rows));
      const Rows x(rows, numbers);
      const std::vector<float> w = numbers.floats(kFeatures * columns),
                               dy = numbers.floats(rows * columns);
      std::vector<double> y(size_t(rows * columns)), dw(size_t(kFeatures * columns));
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t n = x.begin[size_t(row)]; n < x.begin[size_t(row) + 1]; ++n)
          for (int64_t c = 0; c < columns; ++c) {
            const size_t at_w = size_t(x.index[size_t(n)] * columns + c),
                         at_y = size_t(row * columns + c);
            y[at_y] += double(x.value[size_t(n)]) * double(w[at_w]);
            dw[at_w] += double(x.value[size_t(n)]) * double(dy[at_y]);
          }
      for (const InstructionSet set : available_sets()) {
        SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + ", " + name_of(set));
        const UseSet use(set);
        std::vector<float> found(y.size() + 1, NAN), gradient(dw.size() + 1, 0.0f);
        found.back() = gradient.back() = kCanary;
        const SparseRows view = x.view();
        for (int64_t slice = view.slices(); slice-- > 0;)
          sparse_times(view, slice, w.data(), columns, found.data());
        for (int64_t slice = SparseRows::column_slices(columns); slice-- > 0;)
          sparse_gradient(view, slice, dy.data(), columns, gradient.data());
        EXPECT_EQ(found.back(), kCanary) << "written past the end";
        EXPECT_EQ(gradient.back(), kCanary) << "written past the end";
        found.pop_back(), gradient.pop_back();
        EXPECT_LT(worst_difference(found, y), 2e-6);
        EXPECT_LT(worst_difference(gradient, dw), 2e-6);
      }
    }
}

}  // namespace
}  // namespace fovea::kernels::sparse_rows_test
