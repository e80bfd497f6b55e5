#include "fovea/data/traces/synthetic.h"

#include <set>

#include "tests/data/testing.h"

namespace fovea::traces::synthetic_test {
namespace {

SyntheticTrace draw(const std::string& pattern, int64_t accesses = 3000) {
  SyntheticTraceOptions options;
  options.pattern = pattern;
  options.accesses = accesses;
  return draw_trace(options);
}

/// Whether what an instruction with a cause reads is a function of the access that decides it, up
/// to the constant step of a walk.
bool is_decided(const SyntheticTrace& trace, uint64_t pc, bool by_step) {
  std::map<uint64_t, uint64_t> next;
  const auto before = size_t(trace.causes.at(pc));
  for (size_t i = before; i < trace.accesses.size(); ++i) {
    if (trace.accesses[i].pc != pc) continue;
    const uint64_t cause = trace.accesses[i - before].address, own = trace.accesses[i].address;
    const auto [place, is_new] = next.try_emplace(by_step ? 0 : cause, by_step ? own - cause : own);
    if (!is_new && place->second != (by_step ? own - cause : own)) return false;
  }
  return next.size() > 0;
}

TEST(SyntheticTraces, ListsAreWalkedInTurn) {
  const SyntheticTrace trace = draw("pointer_chase");
  ASSERT_EQ(trace.accesses.size(), 3000u);
  ASSERT_EQ(trace.causes.size(), 2u);
  for (const auto& [pc, before] : trace.causes) {
    EXPECT_EQ(before, 2);
    EXPECT_TRUE(is_decided(trace, pc, false));
  }
  std::set<uint64_t> lines;
  for (const TraceAccess& access : trace.accesses) lines.insert(access.address >> 6);
  EXPECT_EQ(lines.size(), 60u + 59u);
  // What follows a line in the trace is another one each time.
  std::map<uint64_t, std::set<uint64_t>> followers;
  for (size_t i = 1; i < trace.accesses.size(); ++i)
    followers[trace.accesses[i - 1].address].insert(trace.accesses[i].address);
  EXPECT_GT(followers.begin()->second.size(), 20u);
}

TEST(SyntheticTraces, AMatrixIsWalkedByColumns) {
  const SyntheticTrace trace = draw("matrix_walk", 500);
  for (size_t i = 1; i < 64; ++i)
    EXPECT_EQ(trace.accesses[i].address - trace.accesses[i - 1].address, 512u * 8);
  EXPECT_EQ(trace.accesses[64].address - trace.accesses[0].address, 8u) << "the next column";
}

TEST(SyntheticTraces, AJoinGoesFromRowToBucketToEntry) {
  const SyntheticTrace trace = draw("hash_join");
  ASSERT_EQ(trace.causes.size(), 2u) << "nobody knows the keys";
  EXPECT_TRUE(is_decided(trace, trace.accesses[0].pc, true)) << "the scan";
  EXPECT_TRUE(is_decided(trace, trace.accesses[2].pc, false)) << "the entry of a bucket";
  EXPECT_FALSE(trace.causes.contains(trace.accesses[1].pc));
}

TEST(SyntheticTraces, TheSeedDecides) {
  SyntheticTraceOptions options;
  const auto first = draw_trace(options), again = draw_trace(options);
  options.seed = 2;
  EXPECT_EQ(first.accesses, again.accesses);
  EXPECT_NE(first.accesses, draw_trace(options).accesses);
  options.nodes = 2;
  options.lists = 3;
  expect_error(ErrorKind::InvalidArgument, "data.nodes=2", [&] { draw_trace(options); });
}

}  // namespace
}  // namespace fovea::traces::synthetic_test
