#include "fovea/data/sequences/synthetic.h"

#include <map>
#include <set>

#include "tests/data/testing.h"

namespace fovea::sequences::synthetic_test {
namespace {

/// The position that each context points to.
Json map_of(const SyntheticTables& drawn) {
  return drawn.description["truth"]["map"];
}

/// Whether the target of every row is where its context points.
void expect_planted(const CsvTable& rows, const Json& map) {
  for (int64_t row = 0; row < rows.rows(); ++row) {
    const auto position = map.at(std::string(rows.cell(row, 0))).get<std::string>();
    ASSERT_EQ(rows.cell(row, rows.column("y")), rows.cell(row, rows.column(position)));
  }
}

TEST(SyntheticContext, TheTargetIsWhereTheContextPoints) {
  const SyntheticTables drawn = draw_context({});
  const SourceTables tables = parse_tables(drawn);
  EXPECT_EQ(map_of(drawn), (Json{{"0", "x2"}, {"1", "x7"}, {"2", "x3"}, {"3", "x5"}, {"4", "x1"}}));
  ASSERT_EQ(tables.train->rows(), 10000);
  ASSERT_EQ(tables.validation->rows(), 2000);
  EXPECT_EQ(tables.train->head().columns(), 10) << "context, eight positions, y";
  expect_planted(*tables.train, map_of(drawn));
  expect_planted(*tables.validation, map_of(drawn));
  std::map<std::string, int64_t> counts;
  for (int64_t row = 0; row < 10000; ++row) {
    ++counts[std::string(tables.train->head().cell(row, 0))];
    double x = -1;
    ASSERT_TRUE(parse_number(tables.train->head().cell(row, 1), x));
    ASSERT_TRUE(x >= 0 && x <= 1);
  }
  for (const auto& [context, count] : counts) EXPECT_GT(count, 1800) << context;
  EXPECT_NE(tables.train->head().cell(0, 1), tables.validation->head().cell(0, 1));
}

TEST(SyntheticContext, OtherSizesDrawTheMap) {
  SyntheticContextOptions options;
  options.rows = 500;
  options.positions = 6;
  options.contexts = 6;
  const SyntheticTables drawn = draw_context(options, 0.1);
  std::set<std::string> positions;
  const Json map = map_of(drawn);
  for (const auto& [context, position] : map.items()) positions.insert(position);
  EXPECT_EQ(positions.size(), 6u);
  EXPECT_EQ(parse_tables(drawn).validation->rows(), 50);
  expect_planted(*parse_tables(drawn).train, map_of(drawn));
  options.contexts = 20;
  const SyntheticTables more = draw_context(options);
  EXPECT_EQ(map_of(more).size(), 20u);
  expect_planted(*parse_tables(more).train, map_of(more));
  options.seed = 2;
  EXPECT_NE(map_of(draw_context(options)), map_of(more));
}

TEST(SyntheticContext, ImpossibleOptions) {
  SyntheticContextOptions options;
  options.rows = 4;
  expect_error(ErrorKind::InvalidArgument, {"4 training rows", "too few"},
               [&] { draw_context(options); });
  options.rows = 1;
  expect_error(ErrorKind::InvalidArgument, {"at least 2"}, [&] { draw_context(options); });
  options = {};
  options.positions = 0;
  expect_error(ErrorKind::InvalidArgument, {"0 positions"}, [&] { draw_context(options); });
}

}  // namespace
}  // namespace fovea::sequences::synthetic_test
