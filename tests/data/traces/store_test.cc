#include "fovea/data/traces/store.h"

#include <fstream>

#include "fovea/data/traces/filter.h"
#include "tests/data/testing.h"

namespace fovea::traces::store_test {
namespace {

TEST(TraceStore, GivesBackWhatWasWritten) {
  TemporaryFolder folder;
  TraceStore store(folder.path());
  constexpr int64_t kCount = 100'003;  // several pieces, the last one not full
  for (int64_t i = 0; i < kCount; ++i) store.push_back({i * i, uint64_t(i) << 40});
  store.finish();
  ASSERT_EQ(store.size(), kCount);
  for (int64_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(store[i].line, i * i);
    ASSERT_EQ(store[i].pc, uint64_t(i) << 40);
  }
  EXPECT_TRUE(folder.names().empty()) << "its file has no name";
}

/// Memory of this process that no file stands behind, in KiB.
int64_t own_memory() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line))
    if (line.starts_with("RssAnon:")) return std::stoll(line.substr(8));
  return -1;
}

TEST(TraceStore, TakesNoMemoryOfTheProcess) {
  if (own_memory() < 0) GTEST_SKIP() << "this system does not say";
  TraceStore store("");
  const int64_t before = own_memory();
  constexpr int64_t kCount = 4'000'000;  // 64 MB
  for (int64_t i = 0; i < kCount; ++i) store.push_back({i, 0});
  store.finish();
  int64_t sum = 0;
  for (int64_t i = 0; i < kCount; ++i) sum += store[i].line;
  EXPECT_EQ(sum, kCount * (kCount - 1) / 2);
  EXPECT_LT(own_memory() - before, 8'000);
}

TEST(TraceStore, NothingIsAStoreToo) {
  TraceStore store("");
  store.finish();
  EXPECT_EQ(store.size(), 0);
}

TEST(TraceStore, AFolderThatIsNotThere) {
  expect_error(ErrorKind::Io, {"/no/such/folder", "data.scratch"},
               [] { TraceStore store("/no/such/folder"); });
}

std::vector<int> seen_of(const FilterOptions& options, const std::vector<TraceAccess>& accesses) {
  TraceFilter filter(options);
  std::vector<int> seen;
  for (const TraceAccess& access : accesses) seen.push_back(filter.sees(access));
  return seen;
}

TEST(TraceFilter, ACacheAnswersWhatWasUsedLast) {
  // Lines 0, 0, 1, 0, 2, 1, 0
  const std::vector<TraceAccess> accesses{{'L', 0, 0},   {'S', 63, 0}, {'L', 64, 0}, {'L', 8, 0},
                                          {'L', 128, 0}, {'L', 64, 0}, {'L', 0, 0}};
  EXPECT_EQ(seen_of({"all", 0}, accesses), (std::vector<int>{1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(seen_of({"all", 1}, accesses), (std::vector<int>{1, 0, 1, 1, 1, 1, 1}));
  // After 0 1 0 the line 2 drives out 1, then 1 drives out 0.
  EXPECT_EQ(seen_of({"all", 2}, accesses), (std::vector<int>{1, 0, 1, 0, 1, 1, 1}));
  EXPECT_EQ(seen_of({"all", 3}, accesses), (std::vector<int>{1, 0, 1, 0, 1, 0, 0}));
}

TEST(TraceFilter, AModificationIsALoadAndAStore) {
  const std::vector<TraceAccess> accesses{{'L', 0, 0}, {'S', 64, 0}, {'M', 128, 0}};
  EXPECT_EQ(seen_of({"loads", 0}, accesses), (std::vector<int>{1, 0, 1}));
  EXPECT_EQ(seen_of({"stores", 0}, accesses), (std::vector<int>{0, 1, 1}));
}

TEST(TraceFilter, LinesAndPagesOfTheLastAddress) {
  const int64_t line = to_line(0xffffffffffffffff);
  EXPECT_EQ(line, kMostLines - 1);
  EXPECT_EQ(to_address(line), 0xffffffffffffffc0);
  EXPECT_EQ(to_page(line), (int64_t{1} << 52) - 1);
  EXPECT_EQ(to_offset(line), 63);
}

}  // namespace
}  // namespace fovea::traces::store_test
