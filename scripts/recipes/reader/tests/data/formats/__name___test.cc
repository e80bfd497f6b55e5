#include <gtest/gtest.h>

#include "fovea/data/formats/table.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea::__name___test {
namespace {

TEST(__Name__, CellsStandBetweenBlanks) {
  const testing::TemporaryFolder folder;
  const CsvTable table = read_table(folder.write("a.__name__", "x  y\n1 2\n\n3   4\n"));
  EXPECT_EQ(table.names, (std::vector<std::string>{"x", "y"}));
  ASSERT_EQ(table.rows(), 2);
  EXPECT_EQ(table.cell(1, 1), "4");
  EXPECT_TRUE(table.place(1).ends_with("a.__name__:4"));
  EXPECT_FALSE(table.hash.empty());
}

TEST(__Name__, ErrorsNameTheLine) {
  const testing::TemporaryFolder folder;
  testing::expect_error(ErrorKind::BadData, {"a.__name__:3", "3 cells", "2"},
                        [&] { read_table(folder.write("a.__name__", "x y\n\n1 2 3\n")); });
  testing::expect_error(ErrorKind::BadData, {"a.__name__:1", "two columns are called 'x'"},
                        [&] { read_table(folder.write("a.__name__", "x y x\n1 2 3\n")); });
  testing::expect_error(ErrorKind::BadData, {"a.__name__", "no rows"},
                        [&] { read_table(folder.write("a.__name__", "x y\n")); });
}

}  // namespace
}  // namespace fovea::__name___test
