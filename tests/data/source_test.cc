#include "fovea/data/source.h"

#include <algorithm>
#include <set>

#include "tests/data/testing.h"

namespace fovea::source_test {
namespace {

SplitOptions options(double fraction = 0.25, uint64_t seed = 1) {
  SplitOptions options;
  options.task = "features";
  options.fraction = fraction;
  options.seed = seed;
  return options;
}

std::string rows(int from, int to) {
  std::string text = "a,y\n";
  for (int i = from; i < to; ++i) text += std::to_string(i) + "," + std::to_string(i % 2) + "\n";
  return text;
}

std::vector<std::string> first_column(const CsvTable& table) {
  std::vector<std::string> cells;
  for (int64_t row = 0; row < table.rows(); ++row) cells.emplace_back(table.cell(row, 0));
  return cells;
}

TEST(Source, RowsAreHeldOutBySeed) {
  const RowSplit split = split_rows(100, 0.25, 1);
  EXPECT_EQ(split.validation.size(), 25u);
  EXPECT_EQ(split.train.size(), 75u);
  std::set<int64_t> all(split.train.begin(), split.train.end());
  all.insert(split.validation.begin(), split.validation.end());
  EXPECT_EQ(all.size(), 100u);
  EXPECT_TRUE(std::is_sorted(split.train.begin(), split.train.end()));
  EXPECT_EQ(split_rows(100, 0.25, 1).validation, split.validation);
  EXPECT_NE(split_rows(100, 0.25, 2).validation, split.validation);
  EXPECT_EQ(split_rows(2, 0.01, 1).validation.size(), 1u);
  EXPECT_EQ(split_rows(2, 0.99, 1).train.size(), 1u);
  EXPECT_TRUE(split_rows(10, 0, 1).validation.empty());
  expect_error(ErrorKind::InvalidArgument, {"fraction 1"}, [] { split_rows(10, 1, 1); });
}

TEST(Source, ClassesAreSpreadEvenlyOverWhatIsHeldOut) {
  std::vector<std::string> classes;
  for (int row = 0; row < 200; ++row)
    classes.push_back(row % 20 == 0 ? "rare" : row % 2 ? "b" : "a");
  const auto count = [&](const std::vector<int64_t>& picked, const std::string& name) {
    return std::count_if(picked.begin(), picked.end(),
                         [&](int64_t row) { return classes[size_t(row)] == name; });
  };
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const RowSplit split = hold_out_rows(200, options(0.2, seed), classes);
    EXPECT_EQ(split.validation.size(), 40u);
    EXPECT_EQ(count(split.validation, "rare"), 2) << "seed " << seed;
    EXPECT_EQ(count(split.validation, "b"), 20) << "seed " << seed;
  }
  EXPECT_NE(hold_out_rows(200, options(0.2, 1), classes).validation,
            hold_out_rows(200, options(0.2, 2), classes).validation);
  // Of numbers nearly every row is a class of its own: as without.
  std::vector<std::string> numbers;
  for (int row = 0; row < 200; ++row) numbers.push_back(std::to_string(row));
  EXPECT_EQ(hold_out_rows(200, options(), numbers).validation, split_rows(200, 0.25, 1).validation);
}

TEST(Source, AClassOfOneRowIsForTraining) {
  std::vector<std::string> classes(60, "usual");
  classes[5] = "rare", classes[17] = "unique";
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const RowSplit split = hold_out_rows(60, options(0.2, seed), classes);
    for (const int64_t row : {5, 17})
      EXPECT_TRUE(std::binary_search(split.train.begin(), split.train.end(), row)) << seed;
    EXPECT_EQ(split.train.size() + split.validation.size(), 60u);
  }
}

TEST(Source, EveryRowIsInOneFold) {
  std::vector<std::string> classes;
  for (int row = 0; row < 103; ++row) classes.push_back(row % 10 == 0 ? "rare" : "usual");
  SplitOptions own = options();
  own.folds = 5;
  std::multiset<int64_t> seen;
  for (own.fold = 0; own.fold < 5; ++own.fold) {
    const RowSplit split = hold_out_rows(103, own, classes);
    EXPECT_EQ(split.train.size() + split.validation.size(), 103u);
    const auto rare = std::count_if(split.validation.begin(), split.validation.end(),
                                    [](int64_t row) { return row % 10 == 0; });
    EXPECT_GE(rare, 2);
    EXPECT_LE(rare, 3);
    seen.insert(split.validation.begin(), split.validation.end());
  }
  EXPECT_EQ(seen.size(), 103u);
  EXPECT_EQ(std::set<int64_t>(seen.begin(), seen.end()).size(), 103u);
  own.folds = 200;
  expect_error(ErrorKind::InvalidArgument, {"--folds 200"},
               [&] { hold_out_rows(103, own, classes); });
}

TEST(Source, AFileIsCutIntoFolds) {
  const TemporaryFolder folder;
  DataSource source{folder.write("t.csv", rows(0, 8)), {}, false};
  source.folds = 4;
  source.fold = 1;
  const SourceTables second = open_source(source, options());
  EXPECT_EQ(second.train->rows(), 6);
  EXPECT_EQ(second.validation->rows(), 2);
  EXPECT_TRUE(has_note(second.notes, "fold 2 of 4"));
  source.fold = 4;  // all
  EXPECT_EQ(open_source(source, options()).train->rows(), 8);
  EXPECT_FALSE(open_source(source, options()).validation);
}

TEST(Source, AFileIsCutByFraction) {
  const TemporaryFolder folder;
  const auto path = folder.write("t.csv", rows(0, 8));
  const SourceTables tables = open_source({path, {}, false}, options());
  EXPECT_EQ(tables.train->rows(), 6);
  EXPECT_EQ(tables.validation->rows(), 2);
  EXPECT_FALSE(tables.test);
  EXPECT_EQ(tables.hash, hash_of_file(path));
  EXPECT_TRUE(has_note(tables.notes, "2 of the 8 rows, chosen with seed 1"));
  const SourceTables whole = open_source({path, {}, true}, [] {
    SplitOptions any = options();
    any.needs_training = false;
    return any;
  }());
  EXPECT_EQ(whole.test->rows(), 8);
  EXPECT_FALSE(whole.train || whole.validation);
  EXPECT_FALSE(open_source({path, {}, false}, options(0)).validation);
}

TEST(Source, ASplitColumnDecides) {
  const TemporaryFolder folder;
  const auto path = folder.write(
      "t.csv", "a,split,y\n1,train,0\n2,Dev,1\n3,test,1\n4, TRAIN,0\n5,validation,0\n");
  const SourceTables tables = open_source({path, {}, false}, options());
  EXPECT_EQ(tables.split_column, "split");
  EXPECT_EQ(first_column(*tables.train), (std::vector<std::string>{"1", "4"}));
  EXPECT_EQ(first_column(*tables.validation), (std::vector<std::string>{"2", "5"}));
  EXPECT_EQ(first_column(*tables.test), (std::vector<std::string>{"3"}));

  const auto other =
      folder.write("o.csv", "a,split,part,y\n1,left,train,0\n2,right,bad,1\n3,left,train,0\n");
  EXPECT_EQ(open_source({other, {}, false}, options()).split_column,
            "");  // an ordinary column that is called split
  const auto typo = folder.write("typo.csv", "a,split,y\n1,train,0\n2,tset,1\n3,test,0\n");
  expect_error(ErrorKind::BadData, {"typo.csv:3", "'tset'", "expected train"}, [&] {
    open_source({typo, {}, false}, options());
  });
  SplitOptions named = options();
  named.split = "part";
  expect_error(ErrorKind::BadData, {"o.csv:3", "'part'", "'bad'", "train"}, [&] {
    open_source({other, {}, false}, named);
  });
  named.split = "prt";
  expect_error(ErrorKind::NotFound, {"did you mean 'part'"}, [&] {
    open_source({other, {}, false}, named);
  });
  const auto no_train = folder.write("n.csv", "a,split,y\n1,test,0\n2,test,1\n");
  expect_error(ErrorKind::BadData, {"no row belongs to the training split"}, [&] {
    open_source({no_train, {}, false}, options());
  });
}

TEST(Source, AFolderHasPartsByName) {
  const TemporaryFolder folder;
  folder.write("train.csv", rows(0, 4));
  folder.write("dev.tsv", "a\ty\n7\t1\n");
  folder.write("test.csv", rows(8, 10));
  const SourceTables tables = open_source({folder.path(), {}, false}, options());
  EXPECT_EQ(tables.train->rows(), 4);
  EXPECT_EQ(tables.validation->rows(), 1);
  EXPECT_EQ(tables.test->rows(), 2);
  const std::string before = tables.hash;
  folder.write("test.csv", rows(8, 11));
  EXPECT_NE(open_source({folder.path(), {}, false}, options()).hash, before);
  folder.write("val.csv", rows(0, 2));
  expect_error(ErrorKind::BadData, {"val.csv", "dev.tsv", "remove one"}, [&] {
    open_source({folder.path(), {}, false}, options());
  });
}

TEST(Source, AFolderWithoutValidationIsCut) {
  const TemporaryFolder folder;
  folder.write("train.csv", rows(0, 8));
  EXPECT_EQ(open_source({folder.path(), {}, false}, options()).validation->rows(), 2);
  folder.write("train.csv", rows(0, 1));
  expect_error(ErrorKind::BadData, {"1 training row"}, [&] {
    open_source({folder.path(), {}, false}, options());
  });
}

TEST(Source, NothingThere) {
  const TemporaryFolder folder;
  expect_error(ErrorKind::NotFound, {"none", "no such file or folder"}, [&] {
    open_source({folder.path() / "none", {}, false}, options());
  });
  expect_error(ErrorKind::NotFound, {"no train.csv"}, [&] {
    open_source({folder.path(), {}, false}, options());
  });
  SplitOptions any = options();
  any.needs_training = false;
  expect_error(ErrorKind::NotFound, {"no train, val or test"}, [&] {
    open_source({folder.path(), {}, false}, any);
  });
  folder.write("test.csv", rows(0, 2));
  EXPECT_EQ(open_source({folder.path(), {}, false}, any).test->rows(), 2);
}

TEST(Source, DatasetJsonIsChecked) {
  const TemporaryFolder folder;
  folder.write("train.csv", rows(0, 8));
  const auto open = [&](const std::string& json) {
    folder.write("dataset.json", json);
    return open_source({folder.path(), {}, false}, options());
  };
  EXPECT_EQ(
      open(R"({"format":"fovea-dataset","version":1,"task":"features"})").description.at("task"),
      "features");
  expect_error(ErrorKind::BadData, {"dataset.json", "fovea-dataset"}, [&] { open("{}"); });
  expect_error(ErrorKind::BadData, {"fovea-dataset"}, [&] { open("[1]"); });
  expect_error(ErrorKind::BadData, {"dataset.json:1", "JSON"}, [&] { open("{"); });
  expect_error(ErrorKind::BadData, {"version"},
               [&] { open(R"({"format":"fovea-dataset","version":"x"})"); });
  expect_error(ErrorKind::Unsupported, {"version 2", "newer"},
               [&] { open(R"({"format":"fovea-dataset","version":2})"); });
  expect_error(ErrorKind::BadData, {"\"context\"", "\"features\""},
               [&] { open(R"({"format":"fovea-dataset","version":1,"task":"context"})"); });
  expect_error(ErrorKind::BadData, {"standardise", "\"maybe\""},
               [&] { open(R"({"format":"fovea-dataset","version":1,"standardise":"maybe"})"); });
}

TEST(Source, RolesAreChecked) {
  const Roles roles{{"target", {"a", "b"}}, {"split", {"s"}}};
  EXPECT_EQ(single_role(roles, "split", "x"), "s");
  EXPECT_EQ(single_role(roles, "drop", "x"), "x");
  expect_error(ErrorKind::InvalidArgument, {"'target'", "'a', 'b'"},
               [&] { single_role(roles, "target", ""); });
  expect_error(ErrorKind::InvalidArgument, {"'trget'", "did you mean 'target'"}, [] {
    check_roles({"x.csv", {{"trget", {"a"}}}, false}, {"target", "drop"});
  });
  expect_error(ErrorKind::InvalidArgument, {"need a data file"}, [] {
    check_roles({"", {{"target", {"a"}}}, false}, {"target"});
  });
  expect_error(ErrorKind::InvalidArgument, {"no columns to name"}, [] {
    check_roles({"folder", {{"target", {"a"}}}, false}, {});
  });
}

}  // namespace
}  // namespace fovea::source_test
