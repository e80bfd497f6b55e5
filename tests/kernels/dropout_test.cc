#include "fovea/kernels/dropout/dropout.h"

#include <limits>
#include <string>

#include "fovea/kernels/philox.h"
#include "tests/kernels/testing.h"

namespace fovea::kernels::dropout_test {
namespace {

/// Written from the header's rule, one element at a time.
bool is_dropped(double rate, uint64_t key, int64_t row, int64_t column) {
  const uint64_t low = static_cast<uint64_t>(column / 64 * 16 + column % 16);
  const uint32_t word = philox(low, static_cast<uint64_t>(row), key).words[column % 64 / 16];
  return word < static_cast<uint64_t>(std::llround(rate * 4294967296.0));
}

std::vector<float> reference(double rate, uint64_t key, const std::vector<float>& x,
                             int64_t first_row, int64_t columns) {
  std::vector<float> y(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t row = first_row + int64_t(i) / columns, column = int64_t(i) % columns;
    y[i] = is_dropped(rate, key, row, column) ? 0.0f : x[i] * float(1 / (1 - rate));
  }
  return y;
}

TEST(Philox, PublishedKnownAnswers) {
  // From the test vectors of Random123, the authors' library.
  const PhiloxBlock ones = philox(~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0});
  const uint32_t expected[4] = {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(ones.words[i], expected[i]);
  const PhiloxBlock pi = philox(0x85a308d3243f6a88, 0x0370734413198a2e, 0x299f31d0a4093822);
  const uint32_t digits[4] = {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(pi.words[i], digits[i]);
}

TEST(Dropout, HasTheSameBitsOnEveryInstructionSet) {
  for (const int64_t columns : {1, 3, 4, 15, 16, 17, 63, 64, 65, 100, 256})
    for (const int64_t rows : {1, 5})
      for (const InstructionSet set : available_sets()) {
        SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns) + ", " + name_of(set));
        const UseSet use(set);
        const std::vector<float> x = Numbers(7).floats(rows * columns);
        std::vector<float> y(x.size() + 1, 12345.0f);
        dropout(Dropout(0.3, 99), x.data(), 40, rows, columns, y.data());
        EXPECT_EQ(y.back(), 12345.0f) << "written past the end";
        y.pop_back();
        EXPECT_EQ(y, reference(0.3, 99, x, 40, columns));
      }
}

TEST(Dropout, LargeRowsAndKeysCountWhole) {
  // Both halves of the row number and of the key reach the generator.
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    const std::vector<float> x(64, 1.0f);
    for (const int64_t row : {int64_t{0}, int64_t{1} << 32, (int64_t{5} << 32) + 1})
      for (const uint64_t key : {uint64_t{1}, uint64_t{1} << 40, ~uint64_t{0}}) {
        std::vector<float> y(64);
        dropout(Dropout(0.5, key), x.data(), row, 1, 64, y.data());
        EXPECT_EQ(y, reference(0.5, key, x, row, 64)) << row << ' ' << key << name_of(set);
      }
  }
}

TEST(Dropout, DropsTheAskedShareInEveryColumn) {
  constexpr int64_t kRows = 4000, kColumns = 70;
  for (const double rate : {0.1, 0.5, 0.9}) {
    std::vector<float> x(kRows * kColumns, 1.0f), y(x.size());
    dropout(Dropout(rate, 3), x.data(), 0, kRows, kColumns, y.data());
    for (int64_t c = 0; c < kColumns; ++c) {
      int64_t dropped = 0;
      for (int64_t r = 0; r < kRows; ++r) dropped += y[size_t(r * kColumns + c)] == 0;
      const double deviation = std::sqrt(rate * (1 - rate) / kRows);
      EXPECT_NEAR(double(dropped) / kRows, rate, 5 * deviation) << "column " << c;
    }
  }
}

TEST(Dropout, WhatIsDroppedIsZeroWhateverItWas) {
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    for (const float bad : {float(NAN), std::numeric_limits<float>::infinity()}) {
      std::vector<float> y(133, bad);
      dropout(Dropout(0.5, 8), y.data(), 2, 7, 19, y.data());  // in place
      for (int64_t i = 0; i < 133; ++i) {
        const bool dropped = is_dropped(0.5, 8, 2 + i / 19, i % 19);
        EXPECT_EQ(y[size_t(i)] == 0, dropped);
        EXPECT_EQ(!std::isfinite(y[size_t(i)]), !dropped);
      }
    }
  }
}

TEST(Dropout, EdgeRatesAndNoElements) {
  EXPECT_EQ(Dropout(0, 1).threshold, 0u);
  EXPECT_EQ(Dropout(0, 1).scale, 1.0f);
  EXPECT_EQ(Dropout(0.5, 1).threshold, 0x80000000u);
  EXPECT_EQ(Dropout(1 - 0x1p-50, 1).threshold, 0xFFFFFFFFu);
  for (const InstructionSet set : available_sets()) {
    const UseSet use(set);
    dropout(Dropout(0.5, 1), nullptr, 0, 0, 5, nullptr);
    dropout(Dropout(0.5, 1), nullptr, 0, 5, 0, nullptr);
    const std::vector<float> x = Numbers(1).floats(37);
    std::vector<float> y(37);
    dropout(Dropout(0, 1), x.data(), 0, 1, 37, y.data());
    EXPECT_EQ(y, x);
  }
}

}  // namespace
}  // namespace fovea::kernels::dropout_test
