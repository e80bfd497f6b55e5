// What happens within epochs: now and then a line of steps.jsonl, for people who watch a training
// (docs/formats/run.md). Time and size are bounded: at most ten lines a second, and whenever the
// file has 2,000 of them every second one is dropped and they are written half as often. Nothing
// here is needed to go on with a training.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fovea/base/json.h"

namespace fovea {

/// A moment of a training. Losses and rates are means since the last one.
struct StepReport {
  int64_t step = 0;  // optimiser steps so far
  double epoch = 0;  // and the share of the running one
  double loss = 0;
  double learning_rate = 0;
  double rows_per_second = 0;
  double units_per_second = 0;  // terms of the loss, such as tokens; 0: each row is one
  double seconds = 0;           // training alone, from the beginning
  double left = 0;              // seconds until the end, at most, if it goes on like this
  Json to_json() const;
};

/// What a block of rows or batches was.
struct StepWork {
  int64_t rows = 0;
  double units = 0, loss = 0, seconds = 0;  // loss: the sum over the units
};

class StepLog {
 public:
  /// Drops what was written after `step`, by a training that was killed. Without a path nothing is
  /// written.
  StepLog(std::filesystem::path path, int64_t step);

  void add(const StepWork& work);
  /// Whether it is time for a line.
  bool is_due() const { return pending_.seconds >= interval_; }
  bool has_news() const { return pending_.rows > 0; }
  /// Fills in what was added since the last one, and writes the line.
  void write(StepReport& report);

 private:
  std::filesystem::path path_;
  StepWork pending_;
  double seconds_ = 0, interval_ = 0;
  std::vector<std::string> lines_;  // as they stand in the file
};

/// The lines of a file that end; none where there is no file. A killed training may have left half
/// a line.
std::vector<std::string> whole_lines(const std::filesystem::path& path);

/// Keeps the lines, JSON objects each, whose "step" is at most that. Those that cannot be read go.
std::vector<std::string> keep_lines_until(const std::filesystem::path& path, int64_t step);

/// Replaces the file by these lines.
void write_lines(const std::filesystem::path& path, const std::vector<std::string>& lines);

/// Drops every second line, never the first.
void thin(std::vector<std::string>& lines);

}  // namespace fovea
