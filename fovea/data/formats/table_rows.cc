#include "fovea/data/formats/table_rows.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/data/formats/table.h"

namespace fovea {

namespace {

constexpr int64_t kTogether = 8192;  // rows of a block

}  // namespace

TableRows::TableRows(const std::filesystem::path& path, int64_t kept_bytes) {
  const bool small = !std::filesystem::is_regular_file(path) ||
                     int64_t(std::filesystem::file_size(path)) <= kept_bytes;
  if (small || !is_csv_name(path)) {
    *this = TableRows(read_table(path));
    return;
  }
  CsvStream stream(path);
  head_ = stream.head();  // with all names
  stream.keep_columns({0});
  for (CsvTable block; stream.next(block, kTogether);) rows_ += block.rows();
  head_.notes = stream.head().notes;
  head_.hash = stream.head().hash;
  path_ = path;
}

TableRows TableRows::select(std::span<const int64_t> rows) const {
  if (is_kept()) return head_.select(rows);
  std::vector<bool> own(size_t(rows_), false);
  for (const int64_t row : rows) own[size_t(row)] = true;
  TableRows selected = *this;
  selected.rows_ = int64_t(rows.size());
  if (wanted_) {
    std::vector<bool> of_file = *wanted_;
    size_t next = 0;
    for (size_t row = 0; row < of_file.size(); ++row)
      if (of_file[row]) of_file[row] = own[next++];
    own = std::move(of_file);
  }
  selected.wanted_ = std::make_shared<const std::vector<bool>>(std::move(own));
  return selected;
}

std::function<bool(int64_t)> TableRows::filter() const {
  if (!wanted_) return {};
  return [wanted = wanted_.get()](int64_t row) {
    return row < int64_t(wanted->size()) && (*wanted)[size_t(row)];
  };
}

int64_t TableRows::column_bytes() const {
  constexpr int64_t kPacked = 4, kOfCell = 24;  // of a gzip file's bytes; what CsvTable notes
  if (is_kept()) return 0;
  const auto bytes = int64_t(std::filesystem::file_size(path_));
  return bytes * (path_.extension() == ".gz" ? kPacked : 1) / head_.columns() + kOfCell * rows_;
}

CsvTable TableRows::with_columns(std::span<const std::string> names) const {
  if (is_kept()) return head_;
  CsvStream stream(path_);
  std::vector<int64_t> columns;
  for (const std::string& name : names) columns.push_back(head_.column(name));
  stream.keep_columns(columns);
  CsvTable table;
  stream.next(table, INT64_MAX, filter());
  check(stream);
  table.names.assign(names.begin(), names.end());  // match_names() may have changed them
  return table;
}

void TableRows::for_each_block(const std::function<void(const CsvTable&, int64_t)>& job) const {
  if (is_kept()) return job(head_, 0);
  CsvStream stream(path_);
  int64_t before = 0;
  for (CsvTable block; stream.next(block, kTogether, filter()); before += block.rows()) {
    block.names = head_.names;
    job(block, before);
  }
  check(stream);
}

CsvTable TableRows::first(int64_t count) const {
  std::vector<int64_t> rows(size_t(std::min(count, rows_)));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  if (is_kept()) return head_.select(rows);
  CsvTable table;
  CsvStream(path_).next(table, count, filter());
  return table.select(rows);
}

void TableRows::check(const CsvStream& stream) const {
  require(stream.head().hash == head_.hash, ErrorKind::BadData, head_.path,
          ": was changed while it was read; start again");
}

}  // namespace fovea
