#include "fovea/explain/record/rows.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "fovea/base/error.h"
#include "fovea/base/text.h"
#include "fovea/explain/record/json.h"
#include "fovea/explain/record/labels.h"

namespace fovea {

namespace {

constexpr size_t kMostNames = 50;  // of cells: more are texts

template <class Number>
std::string packed_as(const auto& numbers) {
  std::vector<Number> packed(numbers.begin(), numbers.end());
  return {reinterpret_cast<const char*>(packed.data()), packed.size() * sizeof(Number)};
}

/// The largest number of the encoding says that a place is not known.
template <class Number>
std::string places_as(const std::vector<int64_t>& places) {
  std::vector<Number> packed;
  for (const int64_t place : places)
    packed.push_back(place < 0 ? std::numeric_limits<Number>::max() : Number(place));
  return {reinterpret_cast<const char*>(packed.data()), packed.size() * sizeof(Number)};
}

struct PackedColumn {
  const char* encoding;
  std::string bytes;
};

PackedColumn pack_column(const RowColumn& column) {
  if (!column.texts.empty()) return {"texts", texts_to_json(column.texts).dump()};
  if (!column.sets.empty()) return {"sets", Json(column.sets).dump()};
  if (!column.places.empty()) {
    if (column.names.size() < std::numeric_limits<uint8_t>::max())
      return {"u8", places_as<uint8_t>(column.places)};
    return {"u32", places_as<uint32_t>(column.places)};
  }
  if (column.exact) return {"f64", packed_as<double>(column.numbers)};
  return {"f32", packed_as<float>(column.numbers)};
}

Json column_to_json(const RowColumn& column, size_t rows, ChunkWriter& chunks) {
  const size_t entries = std::max(
      {column.texts.size(), column.numbers.size(), column.places.size(), column.sets.size()});
  require(entries == rows, ErrorKind::Internal, "the column ", column.name, " has ", entries,
          " entries of ", rows, " rows");
  const PackedColumn packed = pack_column(column);
  Json json{{"role", column.role},
            {"name", valid_utf8(column.name)},
            {"encoding", packed.encoding},
            {"bytes", packed.bytes.size()},
            {"chunk", chunks.add(packed.bytes)}};
  if (!column.about.empty()) json["about"] = valid_utf8(column.about);
  if (!column.places.empty() || !column.sets.empty()) json["names"] = texts_to_json(column.names);
  return json;
}

/// Numbers that come out as they went in: not 007.
bool is_plain_number(const std::string& cell, double& number) {
  const size_t digit = cell.find_first_of("0123456789");
  const bool padded = digit != std::string::npos && cell[digit] == '0' && digit + 1 < cell.size() &&
                      std::isdigit(static_cast<unsigned char>(cell[digit + 1]));
  return !padded && parse_number(cell, number) && std::isfinite(number);
}

}  // namespace

RowColumn column_of_cells(std::string name, std::vector<std::string> cells) {
  RowColumn column{"cell", std::move(name)};
  std::vector<double> numbers;
  std::unordered_map<std::string, int64_t> names;
  bool any = false, all = true;
  for (const std::string& cell : cells) {
    double number = 0;
    const bool is_number = is_plain_number(cell, number);
    any = any || is_number;
    all = all && (is_number || cell.empty());
    numbers.push_back(is_number ? number : std::numeric_limits<double>::quiet_NaN());
    if (names.size() <= kMostNames) names.emplace(cell, int64_t(names.size()));
  }
  if (any && all) {
    column.numbers = std::move(numbers);
    column.exact = true;
  } else if (names.size() <= kMostNames) {
    column.names.resize(names.size());
    for (const auto& [cell, place] : names) column.names[size_t(place)] = cell;
    for (const std::string& cell : cells) column.places.push_back(names.at(cell));
  } else {
    column.texts = std::move(cells);
  }
  return column;
}

Json rows_to_json(const RowsRecord& record, ChunkWriter& chunks) {
  Json json{{"format", "fovea-rows"},
            {"version", kRowsVersion},
            {"task", record.task},
            {"title", valid_utf8(record.title)},
            {"run", valid_utf8(record.run)},
            {"data", valid_utf8(record.data)},
            {"split", record.split},
            {"kind", record.kind},
            {"rows", record.rows},
            {"compression", ChunkWriter::compression()},
            {"columns", Json::array()},
            {"explained", record.explained},
            {"evaluation", record.evaluation},
            {"notes", texts_to_json(record.notes)}};
  if (!record.target.empty()) json["target"] = valid_utf8(record.target);
  if (!record.beside.empty()) json["beside"] = valid_utf8(record.beside);
  for (const RowColumn& column : record.columns)
    json["columns"].push_back(column_to_json(column, size_t(record.rows), chunks));
  return json;
}

Json rows_to_json(const RowsRecord& record) {
  ChunkWriter chunks;
  Json json = rows_to_json(record, chunks);
  json["chunks"] = chunks.take();
  return json;
}

}  // namespace fovea
