#include "fovea/data/tables/encoder.h"
#include "fovea/tensor/torch.h"
#include "tests/data/testing.h"

namespace fovea {
namespace {

using Names = std::vector<std::string>;

TableOptions people_options() {
  TableOptions options;
  options.target = "income";
  options.drop = {"id"};
  return options;
}

TableEncoder fit(const CsvTable& table, const TableOptions& options) {
  TableEncoder encoder;
  encoder.fit(table, options);
  return encoder;
}

TEST(TableFit, InfersColumnsAndSaysSo) {
  const TableEncoder encoder = fit(read_csv(fixture("people.csv")), people_options());
  const TableLayout& layout = encoder.layout();
  EXPECT_EQ(layout.columns, (Names{"age", "workclass", "city", "hours"}));
  EXPECT_EQ(layout.input_names,
            (Names{"age", "age=(missing)", "workclass=Private", "workclass=Self-emp",
                   "workclass=State-gov", "workclass=(missing)", "city=Bern", "city=Basel",
                   "city=Chur, GR", "city=the \"old\" town", "hours", "hours[13..40]",
                   "hours[40..45]", "hours=(missing)"}));
  EXPECT_EQ(layout.column_of_input,
            (std::vector<int64_t>{0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}));
  EXPECT_EQ(layout.input_roles[11], InputRole::Piece);
  EXPECT_EQ(layout.input_roles.size(), layout.input_names.size());
  EXPECT_EQ(layout.input_means.size(), layout.input_names.size());
  EXPECT_EQ(layout.kind, TargetKind::TwoClasses);
  EXPECT_EQ(layout.classes, (Names{"0", "1"}));
  EXPECT_EQ(layout.target, "income");
  EXPECT_EQ(encoder.notes()[0], "target 'income': two classes 0, 1 (57.1 % are 1)");
  EXPECT_TRUE(has_note(encoder.notes(), "4 columns: 2 numbers, 2 categories; 14 inputs"));
  EXPECT_TRUE(has_note(encoder.notes(), "workclass (14.3 %)"));
}

TEST(TableFit, OnlyTheColumnsAskedFor) {
  TableOptions options = people_options();
  options.drop.clear();
  options.features = {"hours", "age"};
  EXPECT_EQ(fit(read_csv(fixture("people.csv")), options).layout().columns,
            (Names{"age", "hours"}));
  options.split = "city";
  options.features.clear();
  EXPECT_EQ(fit(read_csv(fixture("people.csv")), options).layout().columns,
            (Names{"id", "age", "workclass", "hours"}));
}

TEST(TableFit, NumbersMayStayWithoutPieces) {
  TableOptions options = people_options();
  options.numbers = "standard";
  EXPECT_EQ(fit(read_csv(fixture("people.csv")), options).layout().input_names.size(), 12u);
}

TEST(TableFit, MoreColumnsLeaveRoomForFewerPieces) {
  const TemporaryFolder folder;
  const auto inputs = [&](int columns, int64_t bins) {
    std::string text;
    for (int column = 0; column < columns; ++column) text += concat("c", column, ",");
    text += "y\n";
    for (int row = 0; row < 400; ++row) {
      for (int column = 0; column < columns; ++column)
        text += concat((row * 37 + column * 11) % 401, ".5,");
      text += concat(row % 2, "\n");
    }
    TableOptions options;
    options.bins = bins;
    return int64_t(fit(read_csv(folder.write("t.csv", text)), options).layout().input_names.size());
  };
  EXPECT_LE(inputs(3, 0), 3 * 12);
  EXPECT_LE(inputs(3, 4), 3 * 5);
  EXPECT_GT(inputs(3, 0), 3 * 3);
  EXPECT_LE(inputs(1200, 0), 1200 + 4096);
}

TEST(TableFit, WrongNames) {
  const CsvTable table = read_csv(fixture("people.csv"));
  TableOptions options = people_options();
  options.drop = {"idd"};
  expect_error(ErrorKind::NotFound, {"'idd'", "did you mean 'id'"}, [&] { fit(table, options); });
  options = people_options();
  options.features = {"income"};
  expect_error(ErrorKind::InvalidArgument, {"'income' is the target"},
               [&] { fit(table, options); });
  options = people_options();
  options.target = "incom";
  expect_error(ErrorKind::NotFound, {"did you mean 'income'"}, [&] { fit(table, options); });
  options = people_options();
  options.target = "";
  expect_error(ErrorKind::NotFound, {"which column is the target"}, [&] { fit(table, options); });
  options = people_options();
  options.drop = {"id", "age", "workclass", "city", "hours"};
  expect_error(ErrorKind::BadData, {"no column is left"}, [&] { fit(table, options); });
}

TEST(TableFit, EmptyAndConstantColumns) {
  const TemporaryFolder folder;
  const CsvTable table = read_csv(folder.write("t.csv", "a,none,k,y\n1,,5,0\n2,NA,5,1\n3,?,5,1\n"));
  const TableEncoder encoder = fit(table, {});
  EXPECT_EQ(encoder.layout().columns, (Names{"a", "k"}));
  EXPECT_TRUE(has_note(encoder.notes(), "'none' has no values"));
  EXPECT_TRUE(has_note(encoder.notes(), "encoded as zeros: 'k'"));
  expect_error(ErrorKind::BadData, {"every column beside the target"},
               [&] { fit(read_csv(folder.write("u.csv", "a,y\n,0\n,1\n")), {}); });
}

TEST(TableFit, AlmostNumbersAreNoted) {
  const TemporaryFolder folder;
  std::string text = "a,y\n";
  for (int i = 0; i < 20; ++i) text += std::to_string(i) + "," + std::to_string(i % 2) + "\n";
  const TableEncoder encoder = fit(read_csv(folder.write("t.csv", text + "oops,1\n")), {});
  EXPECT_TRUE(has_note(encoder.notes(), "'a' is read as categories because 'oops'"));
  EXPECT_TRUE(has_note(encoder.notes(), "t.csv:22"));
}

TEST(TableFit, TargetsThatCannotBeLearnt) {
  const TemporaryFolder folder;
  expect_error(ErrorKind::BadData, {"'y' is missing in every row"},
               [&] { fit(read_csv(folder.write("t.csv", "a,y\n1,\n2,NA\n")), {}); });
  expect_error(ErrorKind::BadData, {"'y' is always '1'"},
               [&] { fit(read_csv(folder.write("t.csv", "a,y\n1,1\n2,1\n3,\n")), {}); });
}

TEST(TableFit, ManyCategoriesAreCapped) {
  const TemporaryFolder folder;
  std::string text = "name,y\n";
  for (int i = 0; i < 300; ++i)
    text += "n" + std::to_string(i) + "," + std::to_string(i % 2) + "\n";
  const CsvTable table = read_csv(folder.write("t.csv", text));
  EXPECT_EQ(fit(table, {}).layout().input_names.size(), 101u);
  EXPECT_TRUE(has_note(fit(table, {}).notes(), "name (66.7 % of the rows)"));
}

TEST(TableFit, NumbersThatNeverWereText) {
  NumberTable numbers{{"a", "b"},
                      torch::tensor({{1.f, 5.f}, {2.f, 5.f}, {4.f, 5.f}}),
                      "y",
                      {"0", "1"},
                      torch::tensor({0, 1, 1}, torch::kLong)};
  TableEncoder encoder;
  TableOptions options;
  options.numbers = "standard";
  encoder.fit(numbers, options);
  EXPECT_TRUE(torch::equal(encoder.encode(numbers)->columns().at("inputs"),
                           torch::tensor({{1.f, 0.f}, {2.f, 0.f}, {4.f, 0.f}})));
  options.standardise = "yes";
  options.features = {"a"};
  encoder.fit(numbers, options);
  EXPECT_EQ(encoder.layout().columns, Names{"a"});
  EXPECT_NEAR(encoder.encode(numbers)->columns().at("inputs").sum().item<float>(), 0, 1e-6);
  numbers.labels = torch::ones({3}, torch::kLong);
  expect_error(ErrorKind::BadData, {"'y' is the same in every training row"},
               [&] { encoder.fit(numbers, {}); });
}

}  // namespace
}  // namespace fovea
