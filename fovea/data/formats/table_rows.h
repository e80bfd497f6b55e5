// The rows of a table that may be larger than memory: they are read again whenever they are needed,
// some columns or some rows at a time. A small table is in memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/formats/csv.h"

namespace fovea {

class TableRows {
 public:
  TableRows(CsvTable table) : head_(std::move(table)), rows_(head_.rows()) {}
  /// All rows of a file: in memory where it has `kept_bytes` at most, is a pipe, or is no CSV.
  TableRows(const std::filesystem::path& path, int64_t kept_bytes);

  /// Path, names, delimiter, notes and hash; the rows only where they are in memory.
  const CsvTable& head() const { return head_; }
  CsvTable& head() { return head_; }
  int64_t rows() const { return rows_; }

  /// These rows, which ascend.
  TableRows select(std::span<const int64_t> rows) const;
  /// The rows with these columns, and with the others too where they are in memory.
  CsvTable with_columns(std::span<const std::string> names) const;
  CsvTable with_column(const std::string& name) const { return with_columns({&name, 1}); }
  /// About how many bytes a column would take in memory; 0 where it does already.
  int64_t column_bytes() const;
  /// All rows with all columns, for those who need them together.
  operator CsvTable() const { return with_columns(head_.names); }
  /// job(rows, number of the first) for some rows at a time.
  void for_each_block(const std::function<void(const CsvTable&, int64_t)>& job) const;
  /// The first rows.
  CsvTable first(int64_t count) const;

 private:
  bool is_kept() const { return path_.empty(); }
  std::function<bool(int64_t)> filter() const;
  void check(const CsvStream& stream) const;

  CsvTable head_;
  int64_t rows_ = 0;
  std::filesystem::path path_;                       // empty: they are in memory
  std::shared_ptr<const std::vector<bool>> wanted_;  // rows of the file; null: all
};

}  // namespace fovea
