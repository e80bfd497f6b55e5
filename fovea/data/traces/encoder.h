// The task `prefetch`: windows over a trace of memory accesses, and what comes next.
//   line    address / 64                      what a cache holds and a prefetcher fetches
//   page    line / 64      offset  line % 64
// Addresses become numbers of a vocabulary before any network sees them, learned from the training
// split: every page that is accessed often enough there has a number of its own. Of a page that has
// none (rare, or not seen in training) only the step from the page before may be known: the most
// frequent steps to such pages have numbers behind those of the pages. 0 is all the rest. So a
// network can name pages that it never saw, as Voyager does for rare addresses (Shi et al. 2021).
// docs/formats/trace.md is the whole of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/data/dataset.h"
#include "fovea/data/traces/filter.h"
#include "fovea/data/traces/store.h"

namespace fovea {

constexpr int64_t kUnknownOffset = kPageLines;  // of an access that is not there
constexpr int64_t kNoTarget = -100;             // what a loss leaves out

struct TraceVocabulary {
  std::vector<int64_t> pages;  // numbers 1, 2, …, the most frequent first
  std::vector<int64_t> steps;  // from the page before to one without a number; numbers after those
  std::vector<uint64_t> pcs;   // numbers 1, 2, …
};

class TraceCoding {
 public:
  explicit TraceCoding(TraceVocabulary vocabulary);

  int64_t page_numbers() const;  // how many there are, 0 included
  int64_t pc_numbers() const { return 1 + int64_t(vocabulary_.pcs.size()); }

  /// `before`: the page of the access before, or nothing.
  int64_t number_of_page(int64_t page, std::optional<int64_t> before) const;
  int64_t number_of_pc(uint64_t pc) const;
  /// The page that a number means right after an access to page `now`; nothing for 0, and for a
  /// step that leads out of memory.
  std::optional<int64_t> page_of(int64_t number, int64_t now) const;

  Json to_json() const;
  /// BadData, beginning with `where`.
  static TraceCoding from_json(const Json& json, const std::string& where);

 private:
  TraceVocabulary vocabulary_;
  std::unordered_map<int64_t, int64_t> pages_, steps_;
  std::unordered_map<uint64_t, int64_t> pcs_;
};

struct VocabularyLimits {
  int64_t minimum_count = 2;  // accesses of a page, or steps of that width, to have a number
  int64_t pages = 20000;      // at most
  int64_t steps = 10;
  int64_t pcs = 20000;
};

/// From the first `count` accesses.
TraceVocabulary learn_vocabulary(const TraceStore& store, int64_t count,
                                 const VocabularyLimits& limits);

/// Which access decides what an instruction reads next, where it is planted: PC -> how many
/// accesses before its own, from 1.
using AccessCauses = std::map<uint64_t, int64_t>;

/// What of a window a network is given.
struct WindowShape {
  int64_t accesses = 16;  // S
  int64_t experts = 0;    // units of the axis "experts"; 0: there is no such axis
};

/// Accesses as inputs.
class TraceEncoder {
 public:
  TraceEncoder(std::shared_ptr<const TraceCoding> coding, WindowShape shape)
      : coding_(std::move(coding)), shape_(shape) {}
  const TraceCoding& coding() const { return *coding_; }
  const WindowShape& shape() const { return shape_; }

  /// int64 [S] each: "pages", "offsets" and "pcs" in numbers, "lines". `accesses` may be more than
  /// S: the last count; or fewer: what is missing at the beginning is unknown. The one before the
  /// last S says from where the first step leads.
  NamedTensors numbers(std::span<const StoredAccess> accesses) const;
  /// The same with the axes "accesses" and "experts".
  Example example(std::span<const StoredAccess> accesses) const;
  /// Examples side by side; where some say which "experts" are there, so do all.
  Batch collate(std::span<const Example> examples) const;
  /// Accesses become unknown; experts are not there. Unsupported for another axis.
  Example erase(const Example& example, const std::string& axis,
                std::span<const int64_t> units) const;

 private:
  std::shared_ptr<const TraceCoding> coding_;
  WindowShape shape_;
};

/// Lines that a prefetcher named after each access, `degree` of each: [accesses * degree].
struct NamedLines {
  std::shared_ptr<const ScratchArray<int64_t>> lines;  // null: there are none
  int64_t degree = 0;
};

/// Rows of a split: windows that end with access first, first + stride, …
struct TraceRows {
  int64_t first = 0, stride = 1, count = 0;
  char kind = 'L';  // of the accesses, as one would type them
};

class TraceDataset : public Dataset {
 public:
  TraceDataset(std::shared_ptr<const TraceStore> store, TraceEncoder encoder, TraceRows rows,
               NamedLines named, std::shared_ptr<const AccessCauses> causes);

  int64_t size() const override { return rows_.count; }
  /// With the axes "accesses" and "experts", and the truth of the map "history" [2, S].
  Example example(int64_t row) const override;
  /// Besides the tensors of an example: "target_pages" and "target_offsets" [B, S], what came after
  /// each access of the window (kNoTarget where there was none); "next" [B], the line that came
  /// after it; "candidates" [B, K], what a prefetcher named, where there is one.
  Batch batch(std::span<const int64_t> rows) const override;

  bool has_truth() const override { return causes_ != nullptr && !causes_->empty(); }
  /// The accesses of a row and the one before: "L 4acfa40 8 109200; …".
  Json input(int64_t row) const override;

 private:
  std::vector<StoredAccess> accesses(int64_t row) const;
  /// S accesses and the one behind them, in numbers; what lies before the trace is unknown.
  struct Window {
    std::vector<int64_t> pages, offsets, pcs, lines;
  };
  Window window_to(int64_t last) const;
  int64_t last_access(int64_t row) const;

  std::shared_ptr<const TraceStore> store_;
  TraceEncoder encoder_;
  TraceRows rows_;
  NamedLines named_;
  std::shared_ptr<const AccessCauses> causes_;
};

/// "4acfa40", the address of the line's first byte.
std::string hexadecimal(uint64_t number);

}  // namespace fovea
