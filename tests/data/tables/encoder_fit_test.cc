#include "fovea/data/tables/encoder.h"
#include "fovea/tensor/torch.h"
#include "tests/data/testing.h"

namespace fovea::tables::encoder_fit_test {
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
  expect_error(ErrorKind::BadData, {"no column beside the target", "'a' has no values"},
               [&] { fit(read_csv(folder.write("u.csv", "a,y\n,0\n,1\n")), {}); });
}

/// `cell(i)` in 40 rows, with a target that changes.
template <class Cell>
std::string column_of(const std::string& name, const Cell& cell, char delimiter = ',') {
  std::string text = concat(name, delimiter, "y\n");
  for (int i = 0; i < 40; ++i) text += concat(cell(i), delimiter, i % 2, "\n");
  return text;
}

TEST(TableFit, AlmostNumbersAreNoted) {
  const TemporaryFolder folder;
  const auto with = [&](int strays) {
    return fit(read_csv(folder.write("t.csv", column_of("a",
                                                        [&](int i) {
                                                          return i >= 40 - strays
                                                                     ? concat("oops", i)
                                                                     : concat(i * i);
                                                        }))),
               {});
  };
  const TableEncoder few = with(2);
  EXPECT_TRUE(few.columns()[0].is_number());
  EXPECT_TRUE(has_note(few.notes(), "'a' is read as numbers; 'oops38', 'oops39'"));
  EXPECT_TRUE(has_note(few.notes(), "t.csv:40"));
  EXPECT_EQ(few.columns()[0].missing_share(), 0.05);
  EXPECT_EQ(few.columns()[0].check("oops38"), CellCheck::Usual) << "missing, as in training";
  EXPECT_EQ(few.columns()[0].check("hello"), CellCheck::Unreadable);
  const TableEncoder many = with(3);
  EXPECT_EQ(many.columns()[0].kind(), ColumnKind::Category);
  EXPECT_TRUE(has_note(many.notes(), "'a' is read as categories because 'oops37'"));
}

TEST(TableFit, NumbersAsPeopleWriteThem) {
  const TemporaryFolder folder;
  struct Case {
    std::string delimiter;
    std::vector<std::string> cells;
    std::vector<double> low_and_high;
  };
  const std::vector<Case> cases{
      {";", {"33.374,10", "1.200,00", "7,5"}, {7.5, 33374.1}},
      {",", {"\"33,374.10\"", "\"1,200.00\"", "7.5"}, {7.5, 33374.1}},
      {",", {"$7", "\"$1,200\"", "-"}, {7, 1200}},
      {",", {"12 %", "7.5 %", "0 %"}, {0, 12}},
      {",", {"\"(1,200)\"", "\"1,300\"", "5"}, {-1200, 1300}},
      {",", {"1'234.50", "7", "+5"}, {5, 1234.5}},
      {";", {"1 234,5", "7,25", "n.a."}, {7.25, 1234.5}},
      {",", {"36 months", "60 months", "12 months"}, {12, 60}},
      {",", {"1.234", "1.500", "2.000"}, {1.234, 2}},
      {",", {"\"1,234\"", "\"2,500\"", "7"}, {7, 2500}},
      {";", {"1,234", "2,500", "7,125"}, {1.234, 7.125}},
  };
  for (const Case& one : cases) {
    const TableEncoder encoder =
        fit(read_csv(folder.write(
                "t.csv", column_of(
                             "a", [&](int i) { return one.cells[size_t(i) % one.cells.size()]; },
                             one.delimiter[0]))),
            {});
    const TableColumn& column = encoder.columns()[0];
    ASSERT_TRUE(column.is_number()) << one.cells[0];
    EXPECT_DOUBLE_EQ(column.number().low(), one.low_and_high[0]) << one.cells[0];
    EXPECT_DOUBLE_EQ(column.number().high(), one.low_and_high[1]) << one.cells[0];
    const TableEncoder again = TableEncoder::from_json(encoder.to_json());
    const Example left = encoder.encode_row(Names{"7"}), right = again.encode_row(Names{"7"});
    EXPECT_TRUE(torch::equal(left.tensors.at("inputs"), right.tensors.at("inputs")));
  }
  for (const char* text :
       {"1.2.3.4,1.2.3.5", "12-15,12-16", "3A,3B", "Room 5,Room 6", "5 apples,6 pears"}) {
    const std::vector<std::string> words = split(text, ',');
    const TableEncoder encoder = fit(
        read_csv(folder.write(
            "t.csv", column_of("a", [&](int i) { return i % 3 ? words.front() : words.back(); }))),
        {});
    EXPECT_EQ(encoder.columns()[0].kind(), ColumnKind::Category) << text;
  }
}

TEST(TableFit, IdentifiersAreLeftOutAndSaid) {
  const TemporaryFolder folder;
  std::string text = "order_id,row,uuid,size,weight,y\n";
  for (int i = 0; i < 60; ++i)
    text += concat(91000 + i * 37 % 61 * 101, ",", i + 1, ",a", i * 7919 % 100003, "f,",
                   1000 + i * 37 % 61 * 17, ",", i * 0.37, ",", i % 2, "\n");
  const CsvTable table = read_csv(folder.write("t.csv", text));
  const TableEncoder encoder = fit(table, {});
  EXPECT_EQ(encoder.layout().columns, (Names{"size", "weight"}))
      << "measurements may all be different";
  EXPECT_TRUE(has_note(encoder.notes(), "left out: 'order_id', 'row', 'uuid'"));
  EXPECT_TRUE(has_note(encoder.notes(), "data.keep=order_id,row,uuid"));
  TableOptions options;
  options.keep = {"row", "uuid"};
  EXPECT_EQ(fit(table, options).layout().columns, (Names{"row", "uuid", "size", "weight"}));
  options.keep.clear();
  options.categories = {"size"};
  EXPECT_EQ(fit(table, options).columns()[0].kind(), ColumnKind::Category);
}

TEST(TableFit, DatesBecomePartsOfOneColumn) {
  const TemporaryFolder folder;
  const auto day = [](int i) { return concat("2011-", i % 4 < 2 ? "01" : "07", "-", 10 + i % 20); };
  const TableEncoder encoder = fit(
      read_csv(folder.write(
          "t.csv",
          column_of("when", [&](int i) { return concat(day(i), " ", 10 + i % 12, ":30:00"); }))),
      {});
  const TableColumn& column = encoder.columns()[0];
  ASSERT_EQ(column.kind(), ColumnKind::Date);
  const Names names = column.input_names();
  for (const char* part : {"when.days", "when.month", "when.month.sin", "when.weekday.cos",
                           "when.hour", "when.hour.sin"})
    EXPECT_TRUE(has_note(names, part)) << part;
  EXPECT_EQ(std::count(names.begin(), names.end(), "when.year"), 0) << "always the same";
  EXPECT_EQ(column.input_roles().size(), names.size());
  EXPECT_EQ(column.input_means().size(), names.size());
  std::vector<float> inputs(names.size(), 0.f);
  ASSERT_TRUE(column.encode("2011-07-12T15:30", inputs.data()));
  EXPECT_EQ(column.decode(inputs.data()), "2011-07-12 15:30:00");
  EXPECT_EQ(column.check("2031-01-01"), CellCheck::OutOfRange);
  EXPECT_EQ(column.check("soon"), CellCheck::Unreadable);
  const TableEncoder again = TableEncoder::from_json(Json::parse(encoder.to_json().dump()));
  std::vector<float> same(names.size(), 0.f);
  ASSERT_TRUE(again.columns()[0].encode("2011-07-12T15:30", same.data()));
  EXPECT_EQ(same, inputs);
}

TEST(TableFit, FreeTextBecomesWords) {
  const TemporaryFolder folder;
  const auto note = [](int i) {
    return concat(i % 2 ? "the parcel never came, number " : "quick delivery and friendly staff ",
                  i);
  };
  const TableEncoder encoder =
      fit(read_csv(folder.write(
              "t.csv", column_of("note", [&](int i) { return concat("\"", note(i), "\""); }))),
          {});
  const TableColumn& column = encoder.columns()[0];
  ASSERT_EQ(column.kind(), ColumnKind::Text);
  EXPECT_TRUE(has_note(encoder.notes(), "fovea train documents --columns text=note,label=y"));
  std::vector<float> inputs(size_t(column.inputs()), 0.f);
  ASSERT_TRUE(column.encode("The QUICK staff!", inputs.data()));
  EXPECT_EQ(column.decode(inputs.data()), "quick staff the");
  EXPECT_EQ(column.check("zebra"), CellCheck::Unseen);
  EXPECT_EQ(column.input_roles()[0], InputRole::Word);
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
  for (int i = 0; i < 600; ++i)
    text += "n" + std::to_string(i % 300) + "," + std::to_string(i % 2) + "\n";
  const CsvTable table = read_csv(folder.write("t.csv", text));
  EXPECT_EQ(fit(table, {}).layout().input_names.size(), 121u);
  EXPECT_TRUE(has_note(fit(table, {}).notes(), "name (60"));
}

TEST(TableFit, ManyRowsBearMoreCategories) {
  const auto inputs = [](int rows, int64_t most) {
    std::string text = "name,y\n";
    for (int i = 0; i < rows; ++i) text += concat("n", i % 250, ",", i % 3 ? "a" : "b", "\n");
    TableOptions options;
    options.max_categories = most;
    return fit(parse_csv(text, "towns.csv"), options).layout().input_names.size();
  };
  EXPECT_EQ(inputs(500, 0), 101u) << "a hundred, and one for the others";
  EXPECT_EQ(inputs(750, 0), 151u);
  EXPECT_EQ(inputs(1250, 0), 250u) << "all of them";
  EXPECT_EQ(inputs(2500, 20), 21u);
}

}  // namespace
}  // namespace fovea::tables::encoder_fit_test
