// What a run answers to every row of a data set, beside what is right, with explanations of the
// rows that say most: those that are furthest off and those that it expected least.
#pragma once

#include <vector>

#include "fovea/explain/record/rows.h"
#include "fovea/tasks/pipeline.h"

namespace fovea {

struct RecordOptions {
  int64_t explain = 20;      // rows, half of them the worst and half the most surprising
  bool faithfulness = true;  // of those: whether the picture shows what the network used
  RowProgress progress = {}, explaining = {};
};

struct RecordedRows {
  RowsRecord record;
  std::vector<Explanation> explanations;  // of record.explained
};

/// Unsupported for a task whose answers are not compared row by row.
void check_rows_kind(const Pipeline& pipeline);

RecordedRows record_rows(const Pipeline& pipeline, const Dataset& rows,
                         const RecordOptions& options);

}  // namespace fovea
