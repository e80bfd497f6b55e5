// Rows of one split on their way from a file, or from a generator, to a data set: in memory, or
// read again whenever they are walked over, so that only some are in memory at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/data/dataset.h"

namespace fovea {

template <class Row>
class Rows {
 public:
  static constexpr size_t kTogether = 1024;  // rows of a block
  using Take = std::function<void(Row&&)>;
  using Walk = std::function<void(const Take&)>;  // reads all rows, in their order

  Rows() = default;
  Rows(std::vector<Row> kept) : kept_(std::move(kept)) {}
  Rows(std::initializer_list<Row> kept) : kept_(kept) {}
  Rows(int64_t size, Walk walk) : size_(size), walk_(std::move(walk)) {}

  int64_t size() const { return walk_ ? size_ : int64_t(kept_.size()); }
  bool empty() const { return size() == 0; }

  /// job(const Row&) for each.
  template <class Job>
  void for_each(const Job& job) const {
    if (walk_)
      walk_([&](Row&& row) { job(std::as_const(row)); });
    else
      for (const Row& row : kept_) job(row);
  }
  /// job(std::span<const Row>) for some at a time.
  template <class Job>
  void for_each_block(const Job& job) const {
    if (walk_)
      walk_blocks([&](std::span<const Row> block) { job(block); });
    else
      for_each_block(std::span<const Row>(kept_), job);
  }
  /// job(std::span<Row>) for some at a time, and the rows are gone.
  template <class Job>
  void take_blocks(const Job& job) {
    Rows rows = std::exchange(*this, {});
    if (rows.walk_) return rows.walk_blocks(job);
    for_each_block(std::span<Row>(rows.kept_), [&](std::span<Row> block) {
      job(block);
      for (Row& row : block) row = Row();
    });
  }
  /// job(Row&&) for each, and the rows are gone.
  template <class Job>
  void take_each(const Job& job) {
    take_blocks([&](std::span<Row> block) {
      for (Row& row : block) job(std::move(row));
    });
  }
  /// All of them, for data sets that are made of rows.
  std::vector<Row> take() {
    keep();
    return std::exchange(*this, {}).kept_;
  }

  /// In memory from now on.
  std::vector<Row>& keep() {
    if (walk_) {
      kept_.reserve(size_t(size_));
      walk_([&](Row&& row) { kept_.push_back(std::move(row)); });
      walk_ = {};
    }
    return kept_;
  }
  /// Of rows that are in memory: drawn ones, those of a Reader with keeps_rows.
  const std::vector<Row>& kept() const {
    require(!walk_, ErrorKind::Internal, "these rows are not in memory");
    return kept_;
  }
  operator const std::vector<Row>&() const { return kept(); }
  auto begin() const { return kept().begin(); }
  auto end() const { return kept().end(); }
  const Row& operator[](size_t row) const { return kept()[row]; }
  void push_back(Row row) { keep().push_back(std::move(row)); }

  /// to(Row&&) of each row, now or whenever it is read.
  template <class Other, class To>
  Rows<Other> map(const To& to) && {
    if (walk_)
      return {size_, [walk = std::move(walk_), to](const auto& take) {
                walk([&](Row&& row) { take(to(std::move(row))); });
              }};
    std::vector<Other> others;
    others.reserve(kept_.size());
    take_each([&](Row&& row) { others.push_back(to(std::move(row))); });
    return others;
  }

  /// Leaves out the rows of which goes(row) is true. How many they were.
  template <class Goes>
  int64_t erase_if(const Goes& goes) {
    if (!walk_) return int64_t(std::erase_if(kept_, goes));
    int64_t gone = 0;
    for_each([&](const Row& row) { gone += goes(row) ? 1 : 0; });
    if (gone > 0)
      *this = Rows(size_ - gone, [walk = std::move(walk_), goes](const Take& take) {
        walk([&](Row&& row) {
          if (!goes(std::as_const(row))) take(std::move(row));
        });
      });
    return gone;
  }

  /// The rows of each split; `splits` has that of each row.
  std::array<Rows, kSplitCount> split(const std::vector<int>& splits) && {
    std::array<Rows, kSplitCount> placed;
    if (!walk_) {
      size_t at = 0;
      take_each([&](Row&& row) { placed[size_t(splits[at++])].kept_.push_back(std::move(row)); });
      return placed;
    }
    const auto own = std::make_shared<const std::vector<uint8_t>>(splits.begin(), splits.end());
    for (int split = 0; split < kSplitCount; ++split)
      if (const auto size = std::count(own->begin(), own->end(), split); size > 0)
        placed[size_t(split)] = {size, [walk = walk_, own, split](const Take& take) {
                                   size_t at = 0;
                                   walk([&](Row&& row) {
                                     if (at < own->size() && (*own)[at] == split)
                                       take(std::move(row));
                                     ++at;
                                   });
                                 }};
    return placed;
  }

 private:
  template <class Span, class Job>
  static void for_each_block(Span all, const Job& job) {
    for (size_t begin = 0; begin < all.size(); begin += kTogether)
      job(all.subspan(begin, std::min(kTogether, all.size() - begin)));
  }
  template <class Job>
  void walk_blocks(const Job& job) const {
    std::vector<Row> block;
    const auto flush = [&] {
      if (!block.empty()) job(std::span<Row>(block));
      block.clear();
    };
    walk_([&](Row&& row) {
      block.push_back(std::move(row));
      if (block.size() == kTogether) flush();
    });
    flush();
  }

  std::vector<Row> kept_;
  int64_t size_ = 0;
  Walk walk_;  // empty: they are in memory
};

}  // namespace fovea
