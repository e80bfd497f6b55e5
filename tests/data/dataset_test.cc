#include "fovea/data/dataset.h"

#include "fovea/tensor/torch.h"
#include "tests/data/testing.h"

namespace fovea::dataset_test {
namespace {

class PlainDataset : public ColumnDataset {
 public:
  using ColumnDataset::ColumnDataset;
  Example example(int64_t row) const override { return row_example(row); }
};

PlainDataset small() {
  return PlainDataset({{"inputs", torch::arange(12, torch::kFloat32).view({4, 3})},
                       {"target", torch::tensor({5, 6, 7, 8}, torch::kInt64)}});
}

TEST(Dataset, BatchGathersRowsInTheGivenOrder) {
  const PlainDataset data = small();
  const std::vector<int64_t> rows{3, 0, 3};
  const Batch batch = data.batch(rows);
  EXPECT_EQ(batch.size, 3);
  EXPECT_TRUE(torch::equal(batch.at("inputs"),
                           torch::tensor({{9.f, 10.f, 11.f}, {0.f, 1.f, 2.f}, {9.f, 10.f, 11.f}})));
  EXPECT_TRUE(torch::equal(batch.at("target"), torch::tensor({8, 5, 8}, torch::kInt64)));
}

TEST(Dataset, ABatchOwnsItsNumbers) {
  const PlainDataset data = small();
  const std::vector<int64_t> rows{0};
  data.batch(rows).at("inputs").zero_();
  data.example(1).tensors.at("inputs").zero_();
  EXPECT_EQ(data.columns().at("inputs").sum().item<float>(), 66);
}

TEST(Dataset, EmptyBatchAndBadRows) {
  const PlainDataset data = small();
  EXPECT_EQ(data.batch({}).at("inputs").size(0), 0);
  const std::vector<int64_t> rows{4};
  expect_error(ErrorKind::InvalidArgument, {"row 4", "0 … 3"}, [&] { data.batch(rows); });
  expect_error(ErrorKind::InvalidArgument, {"row -1"}, [&] { data.example(-1); });
}

TEST(Dataset, ColumnsMustAgree) {
  expect_error(ErrorKind::Internal, {"'b'", "2 rows", "3"}, [] {
    PlainDataset({{"a", torch::zeros({3})}, {"b", torch::zeros({2})}});
  });
  expect_error(ErrorKind::Internal, {"at least one"}, [] { PlainDataset(NamedTensors{}); });
}

}  // namespace
}  // namespace fovea::dataset_test
