#include "fovea/data/traces/prefetchers.h"

#include <ATen/ATen.h>

#include "fovea/data/traces/filter.h"
#include "tests/data/testing.h"

namespace fovea::prefetchers_test {
namespace {

using Lines = std::vector<int64_t>;

Lines named_by(const Prefetcher& prefetcher, size_t degree = 3) {
  Lines lines(degree);
  prefetcher.name(lines);
  return lines;
}

void see_all(Prefetcher& prefetcher, const Lines& lines, uint64_t pc = 1, bool learns = true) {
  for (const int64_t line : lines) prefetcher.see({line, pc}, learns);
}

TEST(Prefetchers, NothingIsNamedBeforeTheFirstAccess) {
  for (const char* name : {"next_line", "stride", "last_successor"})
    EXPECT_EQ(named_by(*make_prefetcher(name)), (Lines{kNoLine, kNoLine, kNoLine})) << name;
}

TEST(Prefetchers, NextLine) {
  const auto prefetcher = make_prefetcher("next_line");
  see_all(*prefetcher, {10});
  EXPECT_EQ(named_by(*prefetcher), (Lines{11, 12, 13}));
  see_all(*prefetcher, {kMostLines - 2});
  EXPECT_EQ(named_by(*prefetcher), (Lines{kMostLines - 1, kNoLine, kNoLine})) << "memory ends";
}

TEST(Prefetchers, AStrideMustComeTwice) {
  const auto prefetcher = make_prefetcher("stride");
  see_all(*prefetcher, {10, 14});
  EXPECT_EQ(named_by(*prefetcher, 1), Lines{kNoLine});
  see_all(*prefetcher, {18});
  EXPECT_EQ(named_by(*prefetcher), (Lines{22, 26, 30}));
  prefetcher->see({5, 2}, true);  // another instruction
  EXPECT_EQ(named_by(*prefetcher, 1), Lines{kNoLine});
  see_all(*prefetcher, {22});
  EXPECT_EQ(named_by(*prefetcher, 1), Lines{26}) << "each instruction has its own";
  see_all(*prefetcher, {21});
  EXPECT_EQ(named_by(*prefetcher, 1), Lines{kNoLine});
  see_all(*prefetcher, {20});
  EXPECT_EQ(named_by(*prefetcher, 2), (Lines{19, 18})) << "downwards";
  see_all(*prefetcher, {2, 1, 0});
  EXPECT_EQ(named_by(*prefetcher, 1), Lines{kNoLine}) << "memory begins";
  see_all(*prefetcher, {7, 7, 7});
  EXPECT_EQ(named_by(*prefetcher, 1), Lines{kNoLine}) << "a step of 0 is none";
}

TEST(Prefetchers, LastSuccessorFollowsItsTable) {
  const auto prefetcher = make_prefetcher("last_successor");
  see_all(*prefetcher, {1, 2, 3, 1});
  EXPECT_EQ(named_by(*prefetcher), (Lines{2, 3, 1}));
  EXPECT_EQ(named_by(*prefetcher, 5), (Lines{2, 3, 1, kNoLine, kNoLine})) << "a circle ends";
  see_all(*prefetcher, {9, 1});
  EXPECT_EQ(named_by(*prefetcher, 1), Lines{9}) << "the last one counts";
  see_all(*prefetcher, {50});
  EXPECT_EQ(named_by(*prefetcher, 1), Lines{kNoLine});
  see_all(*prefetcher, {1}, 1, /*learns=*/false);
  EXPECT_EQ(named_by(*prefetcher, 1), Lines{50});
  see_all(*prefetcher, {50, 1, 77, 1}, 1, /*learns=*/false);
  EXPECT_EQ(named_by(*prefetcher, 1), Lines{50}) << "frozen";
}

TEST(Prefetchers, WhatWasLearnedCanBeKept) {
  const auto first = make_prefetcher("last_successor");
  see_all(*first, {5, 7, 6, 5});
  const NamedTensors learned = first->learned();
  const auto second = make_prefetcher("last_successor", learned);
  see_all(*second, {7});
  EXPECT_EQ(named_by(*second), (Lines{6, 5, 7}));
  EXPECT_TRUE(second->learned().at("successors").equal(learned.at("successors")));
  EXPECT_TRUE(make_prefetcher("stride")->learned().empty());
}

TEST(Prefetchers, ADamagedTableIsRefused) {
  const auto refuse = [](const at::Tensor& table) {
    expect_error(ErrorKind::BadData, "run.safetensors", [&] {
      make_prefetcher("last_successor", {{"successors", table}}, "run.safetensors");
    });
  };
  refuse(at::zeros({3, 3}, at::kLong));
  refuse(at::zeros({3, 2}, at::kFloat));
  refuse(at::full({3, 2}, -1, at::kLong));
  refuse(at::full({3, 2}, kMostLines, at::kLong));
}

}  // namespace
}  // namespace fovea::prefetchers_test
