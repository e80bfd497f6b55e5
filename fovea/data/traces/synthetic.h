// Synthetic traces for the task `prefetch`, each the inner loop of a program:
//   pointer_chase   linked lists whose nodes lie anywhere, walked in turn, round and round. The
//   next
//                   node of a list is what its node before says: as many accesses ago as there are
//                   lists. With more than one list of different lengths, what follows a line in the
//                   trace is another one each time, so a table of successors knows nothing.
//   matrix_walk     a matrix that lies row by row, summed up column by column: a constant stride.
//   hash_join       one table is scanned; each row's key, which nobody can know, leads to a bucket
//                   of a hash table, and that to the entry of another table.
// Which access decides an instruction's next one is known, but for the keys.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/data/traces/encoder.h"
#include "fovea/data/traces/reader.h"

namespace fovea {

struct SyntheticTraceOptions {
  std::string pattern = "pointer_chase";
  int64_t accesses = 12000;
  int64_t lists = 2;
  int64_t nodes = 60;  // of the first list; each further one has one less
  int64_t rows = 64, columns = 512;
  int64_t buckets = 200;
  int64_t seed = 1;
  void describe(OptionList& list);
};

struct SyntheticTrace {
  std::vector<TraceAccess> accesses;
  AccessCauses causes;
};

/// InvalidArgument for numbers that cannot be.
SyntheticTrace draw_trace(const SyntheticTraceOptions& options);

}  // namespace fovea
