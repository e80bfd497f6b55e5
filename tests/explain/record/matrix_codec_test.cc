#include "fovea/explain/record/matrix_codec.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/tensor/random.h"
#include "tests/support/expect_error.h"

namespace fovea::matrix_codec_test {
namespace {

using testing::expect_error;

Matrix random_matrix(size_t rows, size_t columns, bool negative) {
  Matrix matrix{rows, columns, std::vector<double>(rows * columns)};
  Random random(rows * 31 + columns);
  for (size_t i = 0; i < matrix.values.size(); ++i)
    matrix.values[i] = random.uniform(i) * (negative && i % 3 == 0 ? -1 : 1);
  return matrix;
}

Matrix round_trip(const Matrix& matrix, Packing packing, Json& json) {
  ChunkWriter chunks;
  json = matrix_to_json(matrix, packing, chunks);
  const Json list = chunks.chunks();
  MatrixReader reader(&list);
  return reader.dense(Field(json, "m"), matrix.rows, matrix.columns);
}

TEST(MatrixCodec, SizesAroundEveryBorder) {
  for (const size_t rows : {0u, 1u, 3u, 64u, 65u, 257u})
    for (const size_t columns : {0u, 1u, 5u, 64u, 65u, 300u})
      for (const bool negative : {false, true})
        for (const Packing packing : {Packing::Plain, Packing::Packed, Packing::Exact}) {
          const Matrix matrix = random_matrix(rows, columns, negative);
          Json json;
          const Matrix back = round_trip(matrix, packing, json);
          const double bound = packing == Packing::Plain   ? 0
                               : packing == Packing::Exact ? 1e-7
                               : negative                  ? 0.008
                                                           : 0.004;
          ASSERT_EQ(back.values.size(), matrix.values.size());
          for (size_t i = 0; i < matrix.values.size(); ++i)
            ASSERT_NEAR(back.values[i], matrix.values[i], bound) << rows << " x " << columns;
        }
}

TEST(MatrixCodec, GapsStayGaps) {
  for (const bool negative : {false, true}) {
    Matrix matrix = random_matrix(70, 70, negative);
    matrix.values[17] = NAN;
    matrix.values[4000] = INFINITY;
    for (size_t i = 140; i < 210; ++i) matrix.values[i] = NAN;  // a whole row
    Json json;
    const Matrix back = round_trip(matrix, Packing::Packed, json);
    EXPECT_TRUE(std::isnan(back.values[17]));
    EXPECT_TRUE(std::isnan(back.values[4000]));
    EXPECT_TRUE(std::isnan(back.values[150]));
    EXPECT_FALSE(std::isnan(back.values[18]));
  }
}

TEST(MatrixCodec, LevelsKeepTheLargestOfEachCell) {
  Matrix matrix{260, 260, std::vector<double>(260 * 260, 0.001)};
  matrix.values[5 * 260 + 6] = -0.5;
  ChunkWriter chunks;
  const Json json = matrix_to_json(matrix, Packing::Packed, chunks);
  ASSERT_EQ(json["levels"].size(), 2u);
  EXPECT_EQ(json["levels"][0]["factor"], 4);
  EXPECT_EQ(json["levels"][1]["factor"], 16);
  // A level has the same bytes as a matrix of its size.
  Json level = json;
  level["rows"] = level["columns"] = 17;
  level["chunks"] = json["levels"][1]["chunks"];
  level["band"] = json["levels"][1]["band"];
  level.erase("top");
  const Json list = chunks.chunks();
  MatrixReader reader(&list);
  const Matrix overview = reader.dense(Field(level, "m"), 17, 17);
  EXPECT_NEAR(overview.values[0], -0.5, 1e-3);
  EXPECT_NEAR(overview.values[1], 0.001, 0.004) << "within 0.8 % of the row's largest";
}

TEST(MatrixCodec, SparseWhenSparse) {
  Matrix matrix{300, 300, std::vector<double>(90000, 0.0)};
  for (size_t i = 0; i < 90000; i += 11) matrix.values[i] = double(float(0.1) * float(i));
  Json json;
  const Matrix back = round_trip(matrix, Packing::Packed, json);
  EXPECT_EQ(json["encoding"], "sparse");
  for (size_t i = 0; i < matrix.values.size(); ++i)
    ASSERT_EQ(back.values[i], double(float(matrix.values[i])));
  matrix.values.assign(90000, 0.0);
  for (size_t i = 0; i < 90000; i += 7) matrix.values[i] = 1;
  round_trip(matrix, Packing::Packed, json);
  EXPECT_EQ(json["encoding"], "u8") << "one in seven is not sparse";
}

TEST(MatrixCodec, SeveralBands) {
  const Matrix matrix = random_matrix(3, 700000, false);
  Json json;
  const Matrix back = round_trip(matrix, Packing::Packed, json);
  EXPECT_EQ(json["chunks"].size(), 3u);
  for (size_t i = 0; i < matrix.values.size(); i += 997)
    ASSERT_NEAR(back.values[i], matrix.values[i], 0.004);
}

TEST(MatrixCodec, HostileSparseMatrices) {
  SparseMatrix good{2, 3, {0, 1, 2}, {2, 0}, {1, 1}};
  const auto read = [](const SparseMatrix& matrix) {
    ChunkWriter chunks;
    const Json json = matrix_to_json(matrix, chunks), list = chunks.chunks();
    MatrixReader reader(&list);
    return reader.sparse(Field(json, "m"), 2, 3);
  };
  EXPECT_EQ(read(good).keys, good.keys);
  SparseMatrix bad = good;
  bad.keys[0] = 3;
  expect_error(ErrorKind::BadData, "rising order below 3", [&] { read(bad); });
  bad = good;
  bad.starts = {0, 2, 1};
  expect_error(ErrorKind::BadData, "must rise", [&] { read(bad); });
  bad = good;
  bad.starts = {0, 1, 4000000000u};
  expect_error(ErrorKind::BadData, "too many", [&] { read(bad); });
}

}  // namespace
}  // namespace fovea::matrix_codec_test
