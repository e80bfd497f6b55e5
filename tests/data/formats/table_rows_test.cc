#include "fovea/data/formats/table_rows.h"

#include "tests/data/testing.h"

namespace fovea::table_rows_test {
namespace {

constexpr int64_t kKept = int64_t{1} << 30;

std::filesystem::path write_rows(const TemporaryFolder& folder, const std::string& name = "t.csv") {
  std::string text = "a,b,c\n";
  for (int i = 0; i < 20000; ++i) text += concat(i, ",\"x", i % 10, "\",", i * i, "\n");
  return folder.write(name, text);
}

void expect_same(const CsvTable& one, const CsvTable& other, const std::string& column) {
  ASSERT_EQ(one.rows(), other.rows());
  for (int64_t row = 0; row < one.rows(); ++row) {
    ASSERT_EQ(one.cell(row, one.column(column)), other.cell(row, other.column(column)));
    ASSERT_EQ(one.place(row), other.place(row));
  }
}

TEST(TableRows, ReadAgainOrInMemoryTheyAreTheSame) {
  const TemporaryFolder folder;
  const auto path = write_rows(folder);
  const TableRows kept(path, kKept), streamed(path, 0);
  EXPECT_EQ(kept.column_bytes(), 0);
  EXPECT_GT(streamed.column_bytes(), 0) << "in memory";
  EXPECT_EQ(streamed.rows(), 20000);
  EXPECT_EQ(streamed.head().hash, kept.head().hash);
  EXPECT_EQ(streamed.head().names, kept.head().names);
  expect_same(streamed.with_column("b"), kept.with_column("b"), "b");
  EXPECT_EQ(streamed.with_column("b").columns(), 1);
  std::vector<int64_t> third, odd;
  for (int64_t row = 0; row < 20000; row += 3) third.push_back(row);
  for (int64_t row = 1; row < int64_t(third.size()); row += 2) odd.push_back(row);
  const TableRows few = streamed.select(third).select(odd);
  const TableRows expected = kept.select(third).select(odd);
  EXPECT_EQ(few.rows(), int64_t(odd.size()));
  expect_same(few, expected, "c");
  expect_same(few.first(100), expected.first(100), "a");
  int64_t seen = 0;
  const CsvTable all = expected;
  few.for_each_block([&](const CsvTable& block, int64_t before) {
    EXPECT_EQ(before, seen);
    for (int64_t row = 0; row < block.rows(); ++row, ++seen)
      ASSERT_EQ(block.cell(row, 0), all.cell(seen, 0));
  });
  EXPECT_EQ(seen, few.rows());
}

TEST(TableRows, AColumnKeepsItsNewName) {
  const TemporaryFolder folder;
  TableRows rows(write_rows(folder), 0);
  rows.head().names = {"a", "B", "c"};
  EXPECT_EQ(rows.with_column("B").cell(3, 0), "x3");
  rows.for_each_block([](const CsvTable& block, int64_t) { EXPECT_EQ(block.column("B"), 1); });
}

TEST(TableRows, AFileThatChangesIsAnError) {
  const TemporaryFolder folder;
  const auto path = write_rows(folder);
  const TableRows rows(path, 0);
  folder.write("t.csv", read_file(path) + "1,2,3\n");
  expect_error(ErrorKind::BadData, {"t.csv", "changed while it was read"},
               [&] { rows.with_column("a"); });
}

}  // namespace
}  // namespace fovea::table_rows_test
