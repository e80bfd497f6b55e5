// Tables of scores, normalisers and alignments: rows that have a name.
#pragma once

#include <string>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/text.h"

namespace fovea {

template <class Row>
std::vector<std::string> row_names(const std::vector<Row>& rows) {
  std::vector<std::string> names;
  for (const Row& row : rows) names.push_back(row.name);
  return names;
}

/// NotFound suggests the nearest name. `kind` is what the rows are: "alignment".
template <class Row>
const Row& find_row(const std::vector<Row>& rows, const char* kind, const std::string& name) {
  for (const Row& row : rows)
    if (row.name == name) return row;
  const auto names = row_names(rows);
  fail(ErrorKind::NotFound, "there is no ", kind, " '", name, "'", suggestion(name, names),
       "; known: ", join(names));
}

}  // namespace fovea
