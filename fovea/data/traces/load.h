// The data of the task `prefetch`, from wherever it comes, in splits. A trace is cut in time order:
// training first, then validation, then the test. Windows look back over a border, as a prefetcher
// does that is switched on there: only what comes next belongs to a split.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "fovea/data/source.h"
#include "fovea/data/traces/encoder.h"
#include "fovea/data/traces/synthetic.h"

namespace fovea {

/// Everything under data. for this task.
struct TracesDataOptions {
  SyntheticTraceOptions generator;
  FilterOptions filter;
  VocabularyLimits vocabulary;
  int64_t window = 16;
  int64_t stride = 8;
  double validation_fraction = 0.05;
  double test_fraction = 0.2;
  std::string cut = "refuse";
  std::string scratch;
  void describe(OptionList& list);
  CutTrace cut_trace() const { return cut == "refuse" ? CutTrace::Refuse : CutTrace::LeaveOut; }
};

/// What the model needs of the data.
struct TraceUse {
  int64_t experts = 0;          // of a network; 0: it has none
  std::string prefetcher = {};  // of prefetchers.h, whose lines are to be named; empty: none
  int64_t degree = 1;           // how many lines it names
  bool frozen = false;          // it learns from the training split alone
};

/// What is learned from the data and kept in the run.
struct KnownTrace {
  std::shared_ptr<const TraceCoding> coding;
  NamedTensors learned;  // by the prefetcher, from the training split
  bool fitted() const { return coding != nullptr; }
};

/// Reads a trace or a folder of them, or draws the synthetic one. A first call learns the
/// vocabulary, and what the prefetcher knows, from the training split. A validation or test split
/// without an access is noted and left out; a training split of fewer than two accesses is BadData.
Splits load_traces(const DataSource& source, const TracesDataOptions& options, const TraceUse& use,
                   KnownTrace& known);

/// Writes the synthetic trace as train.trace, val.trace, test.trace and dataset.json, which holds
/// the planted truth: loading the folder gives the same rows.
void write_traces_data(const std::filesystem::path& folder, const TracesDataOptions& options);

}  // namespace fovea
