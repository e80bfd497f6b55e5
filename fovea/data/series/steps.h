// The rows of a table as steps, series after series, each in time order and with a place for every
// missing time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/data/formats/csv.h"
#include "fovea/data/series/calendar.h"

namespace fovea {

/// Steps begin … end - 1 of one series.
struct SeriesBlock {
  std::string name;  // the cell of the series column; "" without one
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
};

struct SeriesSteps {
  std::vector<SeriesBlock> blocks;
  std::vector<int64_t> rows;        // [N] of the table; -1: no row has this time
  std::vector<std::string> labels;  // [N] time cells; empty without a time column
  std::vector<double> times;        // [N]; empty where they cannot be read
  StepInterval interval;
  bool even = false;               // every step is one interval after the one before
  int64_t inserted = 0;            // steps without a row
  std::vector<std::string> notes;  // what was done to the rows

  int64_t size() const { return int64_t(rows.size()); }
};

/// `time` and `series` name columns, or are "". Times that descend throughout are turned around. A
/// missing time becomes a step without a row when the others keep an interval, the one that is
/// given or found, and at most one step in five is missing. BadData as read_times().
SeriesSteps lay_out_steps(const CsvTable& table, const std::string& time, const std::string& series,
                          const StepInterval& given = {});

}  // namespace fovea
