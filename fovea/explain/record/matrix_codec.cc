#include "fovea/explain/record/matrix_codec.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "fovea/base/base64.h"

#if FOVEA_WITH_ZLIB
#include <zlib.h>
#endif

namespace fovea {
namespace {

static_assert(std::endian::native == std::endian::little, "chunks are little-endian");

constexpr size_t kBandBytes = size_t{1} << 20;
constexpr size_t kSmallestLevel = 64;
constexpr size_t kLevelFactor = 4;
constexpr size_t kTopCount = 16;
constexpr uint32_t kNoKey = 0xffffffff;
constexpr double kEmptyCell = std::numeric_limits<double>::quiet_NaN();

enum class Encoding { U8, I8, F32 };
constexpr Encoding kEncodings[] = {Encoding::U8, Encoding::I8, Encoding::F32};
const char* name_of(Encoding encoding) {
  return encoding == Encoding::U8 ? "u8" : encoding == Encoding::I8 ? "i8" : "f32";
}

template <class Value>
std::string_view as_bytes(const std::vector<Value>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)};
}

template <class Value>
std::vector<Value> from_bytes(const std::string& bytes) {
  std::vector<Value> values(bytes.size() / sizeof(Value));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

double magnitude(double value) {
  return std::isfinite(value) ? std::abs(value) : -1;
}

size_t band_rows(size_t columns) {
  return std::max<size_t>(1, kBandBytes / std::max<size_t>(1, columns));
}

/// Rows first … last-1 as bytes.
std::string encode_band(const Matrix& matrix, Encoding encoding, size_t first, size_t last) {
  const size_t columns = matrix.columns, count = (last - first) * columns;
  const double* from = matrix.values.data() + first * columns;
  std::vector<float> floats(encoding == Encoding::F32 ? count : last - first);
  if (encoding == Encoding::F32) {
    std::transform(from, from + count, floats.begin(), [](double value) { return float(value); });
    return std::string(as_bytes(floats));
  }
  std::string bytes(count, '\0');
  for (size_t row = 0; row < last - first; ++row) {
    const double* values = from + row * columns;
    double scale = 0;
    for (size_t i = 0; i < columns; ++i) scale = std::max(scale, magnitude(values[i]));
    floats[row] = float(scale);
    for (size_t i = 0; i < columns; ++i) {
      const double share = scale > 0 ? std::sqrt(std::abs(values[i]) / scale) : 0;
      char& byte = bytes[row * columns + i];
      if (encoding == Encoding::U8)
        byte = char(std::isfinite(values[i]) ? uint8_t(std::lround(share * 254)) : uint8_t(255));
      else
        byte = char(std::isfinite(values[i])
                        ? int8_t(std::copysign(double(std::lround(share * 127)), values[i]))
                        : int8_t(-128));
    }
  }
  return std::string(as_bytes(floats)) + bytes;
}

void decode_band(const std::string& bytes, Encoding encoding, size_t rows, size_t columns,
                 double* to) {
  if (encoding == Encoding::F32) {
    const auto floats = from_bytes<float>(bytes);
    std::transform(floats.begin(), floats.end(), to,
                   [](float value) { return std::isfinite(value) ? double(value) : kEmptyCell; });
    return;
  }
  const auto scales = from_bytes<float>(bytes.substr(0, rows * sizeof(float)));
  const char* from = bytes.data() + rows * sizeof(float);
  for (size_t row = 0; row < rows; ++row)
    for (size_t i = 0; i < columns; ++i) {
      const char byte = from[row * columns + i];
      const bool gap = encoding == Encoding::U8 ? uint8_t(byte) == 255 : int8_t(byte) == -128;
      const double share = encoding == Encoding::U8 ? uint8_t(byte) / 254.0 : int8_t(byte) / 127.0;
      to[row * columns + i] = gap ? kEmptyCell : double(scales[row]) * share * std::abs(share);
    }
}

size_t band_bytes(Encoding encoding, size_t rows, size_t columns) {
  return encoding == Encoding::F32 ? rows * columns * sizeof(float)
                                   : rows * sizeof(float) + rows * columns;
}

/// {"band": n, "chunks": […]}
Json bands_to_json(const Matrix& matrix, Encoding encoding, ChunkWriter& chunks) {
  const size_t band = band_rows(matrix.columns);
  Json numbers = Json::array();
  for (size_t first = 0; first < matrix.rows; first += band)
    numbers.push_back(
        chunks.add(encode_band(matrix, encoding, first, std::min(matrix.rows, first + band))));
  return {{"band", band}, {"chunks", numbers}};
}

/// Each cell the weight of largest magnitude of 4 x 4.
Matrix coarser_level(const Matrix& matrix) {
  const auto smaller = [](size_t size) { return (size + kLevelFactor - 1) / kLevelFactor; };
  Matrix level{smaller(matrix.rows), smaller(matrix.columns), {}};
  level.values.assign(level.rows * level.columns, kEmptyCell);
  for (size_t row = 0; row < matrix.rows; ++row)
    for (size_t column = 0; column < matrix.columns; ++column) {
      const double value = matrix.values[row * matrix.columns + column];
      double& cell = level.values[row / kLevelFactor * level.columns + column / kLevelFactor];
      if (magnitude(value) > magnitude(cell)) cell = value;
    }
  return level;
}

Json levels_to_json(const Matrix& matrix, Encoding encoding, ChunkWriter& chunks) {
  Json levels = Json::array();
  size_t factor = 1;
  Matrix level;
  const Matrix* from = &matrix;
  while (from->rows > kSmallestLevel || from->columns > kSmallestLevel) {
    level = coarser_level(*from);
    from = &level;
    factor *= kLevelFactor;
    Json json = bands_to_json(level, encoding, chunks);
    json["factor"] = factor;
    levels.push_back(std::move(json));
  }
  return levels;
}

Json top_to_json(const Matrix& matrix, ChunkWriter& chunks) {
  const size_t count = std::min(matrix.columns, kTopCount);
  std::vector<uint32_t> keys(matrix.rows * count, kNoKey), order(matrix.columns);
  std::vector<float> values(matrix.rows * count, float(kEmptyCell));
  for (size_t row = 0; row < matrix.rows; ++row) {
    const double* weights = matrix.values.data() + row * matrix.columns;
    std::iota(order.begin(), order.end(), 0u);
    std::partial_sort(order.begin(), order.begin() + std::ptrdiff_t(count), order.end(),
                      [&](uint32_t a, uint32_t b) {
                        const double left = magnitude(weights[a]), right = magnitude(weights[b]);
                        return left != right ? left > right : a < b;
                      });
    for (size_t i = 0; i < count && std::isfinite(weights[order[i]]); ++i) {
      keys[row * count + i] = order[i];
      values[row * count + i] = float(weights[order[i]]);
    }
  }
  return {{"count", count},
          {"keys", chunks.add(as_bytes(keys))},
          {"values", chunks.add(as_bytes(values))}};
}

Json plain_to_json(const Matrix& matrix) {
  Json rows = Json::array();
  for (size_t row = 0; row < matrix.rows; ++row) {
    Json list = Json::array();
    for (size_t i = 0; i < matrix.columns; ++i) {
      const double value = matrix.values[row * matrix.columns + i];
      list.push_back(std::isfinite(value) ? Json(value) : Json(nullptr));
    }
    rows.push_back(std::move(list));
  }
  return rows;
}

/// Only the weights that are not 0, when they are few enough for that to pay.
bool make_sparse(const Matrix& matrix, SparseMatrix& sparse) {
  const auto zeros = size_t(std::ranges::count(matrix.values, 0.0));
  if (matrix.values.size() <= kPlainWeights ||
      (matrix.values.size() - zeros) * 8 > matrix.values.size())
    return false;
  sparse = {matrix.rows, matrix.columns, {0}, {}, {}};
  for (size_t row = 0; row < matrix.rows; ++row) {
    for (size_t i = 0; i < matrix.columns; ++i)
      if (const double value = matrix.values[row * matrix.columns + i]; value != 0) {
        sparse.keys.push_back(uint32_t(i));
        sparse.values.push_back(value);
      }
    sparse.starts.push_back(uint32_t(sparse.keys.size()));
  }
  return true;
}

#if FOVEA_WITH_ZLIB
std::string inflated(const std::string& packed, size_t bytes, const std::string& place) {
  constexpr size_t kMostGrowth = 1032;  // deflate cannot pack tighter
  require(bytes / kMostGrowth <= packed.size(), ErrorKind::BadData, place, ": does not hold ",
          bytes, " bytes, as its matrix says");
  std::string result(bytes + 1, '\0');  // one more, to see that there is no more
  uLongf size = uLongf(result.size());
  const int status =
      uncompress(reinterpret_cast<Bytef*>(result.data()), &size,
                 reinterpret_cast<const Bytef*>(packed.data()), uLong(packed.size()));
  require(status == Z_OK || status == Z_BUF_ERROR, ErrorKind::BadData, place,
          ": is not in the deflate format");
  require(status == Z_OK && size == bytes, ErrorKind::BadData, place, ": does not hold ", bytes,
          " bytes, as its matrix says");
  result.resize(bytes);
  return result;
}
#endif

}  // namespace

const char* ChunkWriter::compression() {
#if FOVEA_WITH_ZLIB
  return "deflate";
#else
  return "none";
#endif
}

size_t ChunkWriter::add(std::string_view bytes) {
#if FOVEA_WITH_ZLIB
  constexpr int kLevel = 4;  // attention hardly shrinks further
  uLongf size = compressBound(uLong(bytes.size()));
  std::string packed(size, '\0');
  const int status =
      compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), uLong(bytes.size()), kLevel);
  require(status == Z_OK, ErrorKind::Internal, "zlib cannot compress ", bytes.size(), " bytes");
  packed.resize(size);
  chunks_.push_back(base64_encode(packed));
#else
  chunks_.push_back(base64_encode(bytes));
#endif
  return chunks_.size() - 1;
}

Json matrix_to_json(const SparseMatrix& matrix, ChunkWriter& chunks) {
  std::vector<float> values(matrix.values.begin(), matrix.values.end());
  return {{"rows", matrix.rows},
          {"columns", matrix.columns},
          {"encoding", "sparse"},
          {"compression", ChunkWriter::compression()},
          {"starts", chunks.add(as_bytes(matrix.starts))},
          {"keys", chunks.add(as_bytes(matrix.keys))},
          {"values", chunks.add(as_bytes(values))}};
}

Json matrix_to_json(const Matrix& matrix, Packing packing, ChunkWriter& chunks) {
  if (packing == Packing::Plain) return plain_to_json(matrix);
  if (SparseMatrix sparse; make_sparse(matrix, sparse)) return matrix_to_json(sparse, chunks);
  const bool negative = std::ranges::any_of(matrix.values, [](double value) { return value < 0; });
  const Encoding encoding = packing == Packing::Exact ? Encoding::F32
                            : negative                ? Encoding::I8
                                                      : Encoding::U8;
  Json json = bands_to_json(matrix, encoding, chunks);
  json["rows"] = matrix.rows;
  json["columns"] = matrix.columns;
  json["encoding"] = name_of(encoding);
  json["compression"] = ChunkWriter::compression();
  json["levels"] = levels_to_json(matrix, encoding, chunks);
  json["top"] = top_to_json(matrix, chunks);
  return json;
}

void MatrixReader::take(const Field& field, size_t rows, size_t columns) {
  const bool fits = columns == 0 || rows <= left_ / columns;
  require(fits, ErrorKind::BadData, field.place(), ": ", rows, " x ", columns,
          " weights are too many: a file may hold ", kMostWeights);
  left_ -= rows * columns;
}

std::string MatrixReader::chunk(const Field& number, const std::string& compression,
                                size_t bytes) const {
  const size_t count = chunks_ ? chunks_->size() : 0;
  require(count > 0, ErrorKind::BadData, number.place(), ": the file has no chunks");
  const auto index = size_t(number.integer(0, int64_t(count) - 1));
  const std::string place = concat("chunks[", index, "]");
  const Field text((*chunks_)[index], place);
  text.expect(text.value().is_string(), "a text");
  const auto& base64 = text.value().get_ref<const std::string&>();
  require(compression != "none" || base64.size() <= bytes / 3 * 4 + 8, ErrorKind::BadData, place,
          ": does not hold ", bytes, " bytes, as its matrix says");
  std::string packed = base64_decode(base64, place);
  if (compression == "none") {
    require(packed.size() == bytes, ErrorKind::BadData, place, ": holds ", packed.size(),
            " bytes, its matrix says ", bytes);
    return packed;
  }
#if FOVEA_WITH_ZLIB
  return inflated(packed, bytes, place);
#else
  fail(ErrorKind::Unsupported, place, ": this build has no zlib to read deflate with");
#endif
}

namespace {

std::string read_compression(const Field& field) {
  const Field compression = field.at("compression");
  const std::string name = compression.text();
  require(name == "deflate" || name == "none", ErrorKind::BadData, compression.place(),
          ": unknown value \"", name, "\", expected one of deflate, none");
  return name;
}

}  // namespace

void MatrixReader::read_plain(const Field& field, Matrix& matrix) {
  matrix.values.reserve(matrix.rows * matrix.columns);
  field.each(matrix.rows, [&](const Field& row) {
    row.each(matrix.columns, [&](const Field& value) { matrix.values.push_back(value.number()); });
  });
}

void MatrixReader::read_packed(const Field& field, Matrix& matrix) {
  const std::string compression = read_compression(field);
  const Encoding encoding = field.at("encoding").one_of(kEncodings);
  const auto band = size_t(field.at("band").integer(1, INT32_MAX));
  const Field numbers = field.at("chunks");
  size_t first = 0;
  numbers.each((matrix.rows + band - 1) / band, [&](const Field& number) {
    const size_t rows = std::min(band, matrix.rows - first);
    const std::string bytes =
        chunk(number, compression, band_bytes(encoding, rows, matrix.columns));
    matrix.values.resize((first + rows) * matrix.columns);  // only once the bytes are there
    decode_band(bytes, encoding, rows, matrix.columns,
                matrix.values.data() + first * matrix.columns);
    first += rows;
  });
  if (const auto top = field.find("top")) read_top(*top, compression, matrix);
}

void MatrixReader::read_top(const Field& field, const std::string& compression, Matrix& matrix) {
  const auto count = size_t(field.at("count").integer(0, int64_t(matrix.columns)));
  const size_t numbers = matrix.rows * count;
  const auto keys = from_bytes<uint32_t>(chunk(field.at("keys"), compression, numbers * 4));
  const auto values = from_bytes<float>(chunk(field.at("values"), compression, numbers * 4));
  for (size_t i = 0; i < numbers; ++i) {
    if (keys[i] == kNoKey) continue;
    require(keys[i] < matrix.columns, ErrorKind::BadData, field.place(), ": names column ", keys[i],
            " of ", matrix.columns);
    if (std::isfinite(values[i]))
      matrix.values[i / count * matrix.columns + keys[i]] = double(values[i]);
  }
}

SparseMatrix MatrixReader::sparse(const Field& field, size_t rows, size_t columns) {
  const auto check = [&](const char* key, size_t expected) {
    const int64_t found = field.at(key).integer(0, INT32_MAX);
    require(size_t(found) == expected, ErrorKind::BadData, field.place(), ".", key, ": found ",
            found, ", expected ", expected);
  };
  check("rows", rows);
  check("columns", columns);
  const std::string compression = read_compression(field);
  SparseMatrix matrix{rows, columns, {}, {}, {}};
  matrix.starts = from_bytes<uint32_t>(chunk(field.at("starts"), compression, (rows + 1) * 4));
  require(matrix.starts.front() == 0 && std::ranges::is_sorted(matrix.starts), ErrorKind::BadData,
          field.place(), ".starts: must rise from 0");
  const size_t count = matrix.starts.back();
  take(field, count, 1);
  matrix.keys = from_bytes<uint32_t>(chunk(field.at("keys"), compression, count * 4));
  const auto values = from_bytes<float>(chunk(field.at("values"), compression, count * 4));
  matrix.values.assign(values.begin(), values.end());
  for (size_t row = 0; row < rows; ++row)
    for (size_t i = matrix.starts[row]; i < matrix.starts[row + 1]; ++i)
      require(matrix.keys[i] < columns &&
                  (i == matrix.starts[row] || matrix.keys[i - 1] <= matrix.keys[i]),
              ErrorKind::BadData, field.place(), ".keys: row ", row,
              " is not in rising order below ", columns);
  return matrix;
}

Matrix MatrixReader::dense(const Field& field, size_t rows, size_t columns) {
  take(field, rows, columns);
  Matrix matrix{rows, columns, {}};
  if (field.value().is_array()) {
    read_plain(field, matrix);
    return matrix;
  }
  field.expect(field.value().is_object(), "a matrix");
  if (field.at("encoding").text() == "sparse") {
    const SparseMatrix given = sparse(field, rows, columns);
    matrix.values.assign(rows * columns, 0.0);
    for (size_t row = 0; row < rows; ++row)
      for (size_t i = given.starts[row]; i < given.starts[row + 1]; ++i)
        matrix.values[row * columns + given.keys[i]] = given.values[i];
    return matrix;
  }
  const int64_t found_rows = field.at("rows").integer(0, INT32_MAX),
                found_columns = field.at("columns").integer(0, INT32_MAX);
  require(size_t(found_rows) == rows && size_t(found_columns) == columns, ErrorKind::BadData,
          field.place(), ": found ", found_rows, " x ", found_columns, ", expected ", rows, " x ",
          columns);
  read_packed(field, matrix);
  return matrix;
}

Matrix MatrixReader::with_rows(const Field& field, size_t rows) {
  size_t columns = 0;
  if (field.value().is_array())
    columns = field.value().empty() || !field.value()[0].is_array() ? 0 : field.value()[0].size();
  else
    columns = size_t(field.at("columns").integer(0, INT32_MAX));
  return dense(field, rows, columns);
}

}  // namespace fovea
