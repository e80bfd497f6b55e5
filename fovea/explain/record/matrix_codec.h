// Matrices of an explanation as JSON: plain lists while they are small, packed bytes with an
// overview pyramid and the exact top of each row when they are large, sparse when most of them is
// 0. docs/formats/explanation.md has the bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/json_field.h"

namespace fovea {

/// How many weights an explanation may have before they are packed.
inline constexpr size_t kPlainWeights = 65536;
/// How many weights a file may hold in all.
inline constexpr size_t kMostWeights = size_t{1} << 27;

struct Matrix {
  size_t rows = 0, columns = 0;
  std::vector<double> values;  // rows * columns; NaN is a gap
};

/// Weights at some places, 0 elsewhere; sorted by row, then by column.
struct SparseMatrix {
  size_t rows = 0, columns = 0;
  std::vector<uint32_t> starts;  // rows + 1
  std::vector<uint32_t> keys;
  std::vector<double> values;
};

/// Collects the packed bytes of one or several explanations.
class ChunkWriter {
 public:
  /// Returns the number of the chunk.
  size_t add(std::string_view bytes);
  const std::vector<std::string>& chunks() const { return chunks_; }  // base64
  std::vector<std::string> take() { return std::move(chunks_); }
  /// What every matrix that refers to chunks says of them.
  static const char* compression();

 private:
  std::vector<std::string> chunks_;
};

enum class Packing { Plain, Packed, Exact };  // exact: packed float32

Json matrix_to_json(const Matrix& matrix, Packing packing, ChunkWriter& chunks);
Json matrix_to_json(const SparseMatrix& matrix, ChunkWriter& chunks);

/// Reads matrices of one file: checks every size before memory is taken, and all of them together.
class MatrixReader {
 public:
  /// `chunks` is the file's list, or null where it has none.
  explicit MatrixReader(const Json* chunks) : chunks_(chunks) {}

  /// BadData unless the matrix has that many rows and columns.
  Matrix dense(const Field& field, size_t rows, size_t columns);
  /// The same with any number of columns.
  Matrix with_rows(const Field& field, size_t rows);
  SparseMatrix sparse(const Field& field, size_t rows, size_t columns);

 private:
  void take(const Field& field, size_t rows, size_t columns);
  std::string chunk(const Field& number, const std::string& compression, size_t bytes) const;
  void read_plain(const Field& field, Matrix& matrix);
  void read_packed(const Field& field, Matrix& matrix);
  void read_top(const Field& field, const std::string& compression, Matrix& matrix);
  const Json* chunks_;
  size_t left_ = kMostWeights;
};

}  // namespace fovea
