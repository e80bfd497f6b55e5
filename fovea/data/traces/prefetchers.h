// Prefetchers as processors have them, without a network. Each sees one access after the other and
// names lines that will be wanted next, the likeliest first:
//   next_line        line + 1, line + 2, …                                  always
//   stride           line + s, line + 2 s, …   when the last two steps from access to access of the
//                    same instruction were both s, not 0                    Baer and Chen 1991
//   last_successor   what came after this line the last time, then what came after that, …
//                    an unlimited table from line to line: STMS without its limits, Wenisch 2009
// All of them learn as they go, unless they are told not to.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "fovea/data/traces/store.h"
#include "fovea/tensor/example.h"

namespace fovea {

constexpr int64_t kNoLine = -1;

class Prefetcher {
 public:
  virtual ~Prefetcher() = default;

  /// Takes note of an access, and learns from it if it may.
  virtual void see(const StoredAccess& access, bool learns) = 0;
  /// What it names after the last access: different lines, then kNoLine to the end.
  virtual void name(std::span<int64_t> lines) const = 0;

  /// What it has learned of a program and keeps for another trace; empty where nothing is worth it.
  virtual NamedTensors learned() const { return {}; }
};

/// `name` is one of those above; `learned` what a prefetcher of that name had learned, or empty.
/// BadData, beginning with `where`, when it does not fit.
std::unique_ptr<Prefetcher> make_prefetcher(const std::string& name,
                                            const NamedTensors& learned = {},
                                            const std::string& where = "");

}  // namespace fovea
