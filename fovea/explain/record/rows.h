// The record of rows: what a network answered to every row of a data set, beside what is right,
// column by column. The report of a data set shows it (draw/report.h); docs/formats/rows.md has the
// JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/explain/record/matrix_codec.h"

namespace fovea {

inline constexpr int kRowsVersion = 1;

/// One column of a record of rows: exactly one of the lists has an entry for each row.
struct RowColumn {
  std::string role;  // input, cell, answer, truth, probability, surprisal, distance, right, length,
                     // supported; beside_answer, …: of a second run (beside.h)
  std::string name;  // for people
  std::string about = "";                       // what the numbers are, where the name does not say
  std::vector<std::string> texts = {};          //
  std::vector<double> numbers = {};             // NaN: not known
  bool exact = false;                           // numbers as float64, not float32
  std::vector<int64_t> places = {};             // in `names`; -1: not known
  std::vector<std::vector<int64_t>> sets = {};  // of places in `names`
  std::vector<std::string> names = {};
};

struct RowsRecord {
  std::string task, title, run, data, split;
  std::string kind;         // class, labels, number, text, tags, span or choice
  std::string target;       // numbers: what they are
  std::string beside = "";  // the second run, where its answers stand beside
  int64_t rows = 0;
  std::vector<RowColumn> columns;
  std::vector<int64_t> explained;  // rows from 0 with an explanation, in the order of those
  Json evaluation = nullptr;       // what `fovea evaluate --json` prints
  std::vector<std::string> notes;
};

/// Texts that are all numbers become numbers, few different ones places in a list of names.
RowColumn column_of_cells(std::string name, std::vector<std::string> cells);

/// Internal for a column with another number of entries than there are rows. The packed columns go
/// to `chunks`.
Json rows_to_json(const RowsRecord& record, ChunkWriter& chunks);
/// With the chunks.
Json rows_to_json(const RowsRecord& record);

}  // namespace fovea
