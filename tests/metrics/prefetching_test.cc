#include "fovea/metrics/prefetching.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/tensor/random.h"

namespace fovea::prefetching_test {
namespace {

TEST(Prefetching, AtDegreeOneItIsTheNextLine) {
  PrefetchScore score(1);
  score.add(std::vector<int64_t>{5, 6}, 5);   // right
  score.add(std::vector<int64_t>{6, 7}, 7);   // only the first counts
  score.add(std::vector<int64_t>{}, 8);       // says nothing
  score.add(std::vector<int64_t>{-1, 9}, 9);  // nothing in the first place
  EXPECT_EQ(score.accesses(), 4);
  EXPECT_EQ(score.lines_named(), 2);
  EXPECT_DOUBLE_EQ(score.accuracy(), 1.0 / 2);
  EXPECT_DOUBLE_EQ(score.coverage(), 1.0 / 4);
}

TEST(Prefetching, NothingIsNeitherAccurateNorCovered) {
  const PrefetchScore score(2);
  EXPECT_EQ(score.accuracy(), 0);
  EXPECT_EQ(score.coverage(), 0);
}

/// By the definition, over whole lists.
struct Plain {
  double accuracy = 0, coverage = 0;
  Plain(const std::vector<std::vector<int64_t>>& named, const std::vector<int64_t>& next,
        size_t degree) {
    double lines = 0, right = 0, covered = 0;
    const auto first = [&](size_t t) {
      std::vector<int64_t> own(named[t].begin(),
                               named[t].begin() + ptrdiff_t(std::min(degree, named[t].size())));
      return own;
    };
    for (size_t t = 0; t < next.size(); ++t) {
      for (const int64_t line : first(t)) {
        ++lines;
        const size_t end = std::min(next.size(), t + degree);
        right += std::find(next.begin() + ptrdiff_t(t), next.begin() + ptrdiff_t(end), line) !=
                 next.begin() + ptrdiff_t(end);
      }
      bool is_covered = false;
      for (size_t before = t + 1 > degree ? t + 1 - degree : 0; before <= t; ++before) {
        const auto own = first(before);
        is_covered |= std::find(own.begin(), own.end(), next[t]) != own.end();
      }
      covered += is_covered;
    }
    accuracy = right / lines;
    coverage = covered / double(next.size());
  }
};

TEST(Prefetching, EqualsItsDefinition) {
  const Random random(3);
  std::vector<std::vector<int64_t>> named;
  std::vector<int64_t> next;
  for (uint64_t t = 0; t < 500; ++t) {
    std::vector<int64_t> lines = random.split(t).permutation(9);
    lines.resize(size_t(random.below(t, 5)));
    named.push_back(lines);
    next.push_back(int64_t(random.split("next").below(t, 9)));
  }
  for (const size_t degree : {1u, 2u, 4u}) {
    PrefetchScore score{int64_t(degree)};
    for (size_t t = 0; t < next.size(); ++t) score.add(named[t], next[t]);
    const Plain plain(named, next, degree);
    EXPECT_DOUBLE_EQ(score.accuracy(), plain.accuracy) << degree;
    EXPECT_DOUBLE_EQ(score.coverage(), plain.coverage) << degree;
  }
}

}  // namespace
}  // namespace fovea::prefetching_test
