#include "fovea/tasks/data_kind.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"

namespace fovea {

void DataKind::prepare(const DataSource&, uint64_t, const std::filesystem::path&) {
  fail(ErrorKind::Unsupported,
       "prepare: this task reads its files quickly enough; it works for "
       "caption, dates, speech and translate");
}

std::vector<Example> DataKind::parse_table(const CsvTable& table,
                                           const InputColumns& columns) const {
  std::vector<Example> examples;
  for (int64_t row = 0; row < table.rows(); ++row) {
    const std::string line = input_object(table, row, columns).dump();
    try {
      examples.push_back(parse(line));
    } catch (const Error& error) {
      fail(error.kind(), table.place(row), ": ", error.what());
    }
    examples.back().given = line;
  }
  return examples;
}

std::vector<int64_t> DataKind::example_rows(const Dataset& rows, int64_t count) const {
  std::vector<int64_t> first(size_t(std::min(count, rows.size())));
  std::iota(first.begin(), first.end(), int64_t{0});
  return first;
}

Example DataKind::erase(const Example&, const std::string& axis, std::span<const int64_t>) const {
  fail(ErrorKind::Unsupported, "units of the axis '", axis, "' cannot be erased");
}

}  // namespace fovea
