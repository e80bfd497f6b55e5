// One map over many examples: the mean and the standard deviation of each weight, in one pass and
// without keeping the examples. Rows are matched by the label of their query, so that a map whose
// single query is "context 3" here and "context 0" there becomes one row per context.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fovea/explain/record/explanation.h"
#include "fovea/metrics/statistics.h"

namespace fovea {

class MapAverage {
 public:
  /// Unsupported when the keys have other labels than before: such weights have no common mean.
  void add(const MapView& view);

  /// Mean weights, their deviation, and the truth where it never changed. Rows stand in the order
  /// of the first view when every view had the same queries; otherwise they are sorted by label
  /// ("context 2" before "context 10") and drawn as panels.
  MapView result() const;

 private:
  struct Row {
    std::string label;
    std::vector<RunningStatistics> keys;
    std::vector<char> truth;
    bool truth_is_fixed = true;
  };
  MapView first_;  // names, labels and kind of the first view; its numbers are not used
  std::map<std::string, size_t> row_of_;
  std::vector<Row> rows_;
  bool same_queries_ = true;
  bool started_ = false;
};

}  // namespace fovea
