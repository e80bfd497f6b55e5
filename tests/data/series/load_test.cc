#include "fovea/data/series/load.h"

#include "fovea/tensor/torch.h"
#include "tests/data/testing.h"

namespace fovea {
namespace {

using Names = std::vector<std::string>;

/// a = first, first + 1, …
std::string ramp(int64_t first, int64_t steps) {
  std::string text = "a\n";
  for (int64_t i = first; i < first + steps; ++i) text += concat(i, "\n");
  return text;
}

SeriesDataOptions small_windows() {
  SeriesDataOptions options;
  options.rows.window = 3;
  options.rows.horizon = 2;
  options.rows.standardise = "no";
  return options;
}

/// First and last value that the windows of a split hold.
std::pair<float, float> range(const Dataset& data) {
  return {data.example(0).tensors.at("source").min().item<float>(),
          data.example(data.size() - 1).tensors.at("target").max().item<float>()};
}

void expect_same(const Dataset& left, const Dataset& right) {
  ASSERT_EQ(left.size(), right.size());
  std::vector<int64_t> rows(static_cast<size_t>(left.size()));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = int64_t(i);
  const Batch a = left.batch(rows), b = right.batch(rows);
  for (const char* name : {"source", "target"}) EXPECT_TRUE(torch::equal(a.at(name), b.at(name)));
  EXPECT_TRUE(
      torch::equal(left.example(0).truth.at("attention"), right.example(0).truth.at("attention")));
}

TEST(SeriesData, TheWrittenFolderGivesTheSameTensors) {
  for (const char* standardise : {"auto", "yes"}) {
    const TemporaryFolder folder;
    SeriesDataOptions options;
    options.generator.rows = 1000;
    options.generator.distractors = 1;
    options.generator.noise = 0.1;
    options.rows.standardise = standardise;
    write_series_data(folder.path(), options);
    EXPECT_EQ(folder.names(), (Names{"dataset.json", "test.csv", "train.csv", "val.csv"}));
    SeriesEncoder built_in, from_files;
    const Splits left = load_series({}, options, built_in, 1);
    const Splits right = load_series({folder.path(), {}, false}, options, from_files, 2);
    EXPECT_EQ(left.train->size(), 700 - 29);
    EXPECT_EQ(left.validation->size(), 200 - 29);
    EXPECT_EQ(left.test->size(), 100 - 29);
    expect_same(*left.train, *right.train);
    expect_same(*left.validation, *right.validation);
    expect_same(*left.test, *right.test);
    EXPECT_EQ(built_in.to_json(), from_files.to_json());
    EXPECT_EQ(built_in.layout().input_names(), (Names{"x", "n0"}));
    EXPECT_EQ(built_in.layout().target_names(), Names{"y"});
  }
}

TEST(SeriesData, TheTargetStandsAtThePlantedPlace) {
  SeriesDataOptions options;
  options.generator.rows = 400;
  SeriesEncoder encoder;
  const Splits splits = load_series({}, options, encoder, 1);
  for (const auto& data : {splits.train, splits.validation, splits.test})
    for (int64_t row = 0; row < data->size(); ++row) {
      const Example example = data->example(row);
      const at::Tensor truth = example.truth.at("attention");  // [T, S]
      ASSERT_EQ(truth.sum().item<int64_t>(), 6);
      ASSERT_TRUE(
          torch::equal(example.tensors.at("source").squeeze(1).expand({6, 24}).masked_select(truth),
                       example.tensors.at("target").squeeze(1)));
    }
  EXPECT_TRUE(has_note(splits.notes, "280 training, 80 validation and 40 test steps"));
  options.generator.seed = 2;
  EXPECT_NE(load_series({}, options, encoder, 1).hash, splits.hash);
}

TEST(SeriesData, BuiltInDataThatCannotBePredicted) {
  for (const auto& [lag, window, horizon] :
       {std::tuple<int64_t, int64_t, int64_t>{6, 24, 6}, {12, 11, 6}}) {
    SeriesDataOptions options;
    options.generator.lag = lag;
    options.rows.window = window;
    options.rows.horizon = horizon;
    SeriesEncoder encoder;
    expect_error(ErrorKind::InvalidArgument, {"horizon < lag <= window"},
                 [&] { load_series({}, options, encoder, 1); });
  }
}

TEST(SeriesData, TruthOnlyForTheForecastItWasPlantedFor) {
  SeriesDataOptions options;
  options.generator.rows = 400;
  options.generator.distractors = 1;
  options.rows.input_columns = {"n0"};
  SeriesEncoder blind;
  EXPECT_TRUE(load_series({}, options, blind, 1).train->example(0).truth.empty());
  options.rows.input_columns = {"x"};
  options.rows.target_columns = {"y", "x"};
  SeriesEncoder both;
  EXPECT_TRUE(load_series({}, options, both, 1).train->example(0).truth.empty());
  options.rows.target_columns = {"z"};
  SeriesEncoder unknown;
  expect_error(ErrorKind::NotFound, {"no column 'z'"},
               [&] { load_series({}, options, unknown, 1); });
}

TEST(SeriesData, OneFileIsCutInTimeOrder) {
  const TemporaryFolder folder;
  const auto path = folder.write("t.csv", ramp(0, 100));
  SeriesEncoder encoder;
  const SeriesDataOptions options = small_windows();
  const Splits splits = load_series({path, {}, false}, options, encoder, 1);
  ASSERT_TRUE(splits.train && splits.validation && splits.test);
  EXPECT_EQ(range(*splits.train), (std::pair<float, float>{0, 69}));
  EXPECT_EQ(range(*splits.validation), (std::pair<float, float>{70, 89}));
  EXPECT_EQ(range(*splits.test), (std::pair<float, float>{90, 99}));
  EXPECT_EQ(splits.train->size(), 66);
  EXPECT_TRUE(has_note(splits.notes, "no window crosses a border"));
  const auto other = folder.write("o.csv", ramp(0, 10));
  const Splits whole = load_series({other, {}, true}, options, encoder, 1);
  EXPECT_EQ(whole.test->size(), 6);
  EXPECT_FALSE(whole.train || whole.validation);
}

TEST(SeriesData, FoldersAndSplitColumns) {
  const TemporaryFolder folder;
  folder.write("train.csv", ramp(0, 50));
  folder.write("test.csv", ramp(200, 10));
  SeriesEncoder encoder;
  Splits splits = load_series({folder.path(), {}, false}, small_windows(), encoder, 1);
  EXPECT_EQ(range(*splits.train), (std::pair<float, float>{0, 39}));
  EXPECT_EQ(range(*splits.validation), (std::pair<float, float>{40, 49}));
  EXPECT_EQ(range(*splits.test), (std::pair<float, float>{200, 209}));
  EXPECT_TRUE(has_note(splits.notes, "the last 10 of the 50 training steps"));

  std::string blocks = "split,a\n", mixed = blocks;
  for (int i = 0; i < 30; ++i) {
    blocks += concat(i < 10 ? "val" : i < 24 ? "train" : "test", ",", i, "\n");
    mixed += concat(i % 10 == 9 ? "val" : "train", ",", i, "\n");
  }
  SeriesEncoder by_column;
  splits = load_series({folder.write("t.csv", blocks), {}, false}, small_windows(), by_column, 1);
  EXPECT_EQ(range(*splits.train), (std::pair<float, float>{10, 23}));
  EXPECT_EQ(range(*splits.validation), (std::pair<float, float>{0, 9}));
  EXPECT_EQ(range(*splits.test), (std::pair<float, float>{24, 29}));
  EXPECT_EQ(by_column.layout().series, Names{"a"});
  SeriesEncoder torn;
  const auto path = folder.write("m.csv", mixed);
  expect_error(ErrorKind::BadData, {"m.csv:11", "column 'split' alternate"}, [&] {
    load_series({path, {}, false}, small_windows(), torn, 1);
  });
}

TEST(SeriesData, ShortSplitsAndGaps) {
  const TemporaryFolder folder;
  SeriesDataOptions options = small_windows();
  SeriesEncoder encoder;
  const Splits splits =
      load_series({folder.write("t.csv", ramp(0, 20)), {}, false}, options, encoder, 1);
  EXPECT_EQ(splits.train->size(), 10);
  EXPECT_FALSE(splits.validation || splits.test);
  EXPECT_TRUE(has_note(splits.notes, "the test split has 2 steps"));
  const auto path = folder.write("o.csv", ramp(0, 4));
  expect_error(ErrorKind::BadData, {"o.csv", "4 steps", "need 5"}, [&] {
    load_series({path, {}, true}, options, encoder, 1);
  });
  SeriesEncoder fresh;
  expect_error(ErrorKind::BadData, {"training split has 3 steps", "need 5", "data.window"}, [&] {
    load_series({path, {}, false}, options, fresh, 1);
  });

  folder.write("train.csv", "a,b\n1,1\n2,\n3,3\n,4\n,5\n,6\n,7\n8,8\n9,9\n10,10\n11,11\n12,12\n");
  folder.write("val.csv", "a,b\n1,1\n2,2\n,3\n,4\n,5\n");
  SeriesEncoder with_gaps;
  const Splits gaps = load_series({folder.path(), {}, false}, options, with_gaps, 1);
  EXPECT_TRUE(has_note(gaps.notes, "of the training split that were interpolated: 1"));
  EXPECT_TRUE(has_note(gaps.notes, "training windows that were left out: 7;"));
  EXPECT_TRUE(has_note(gaps.notes, "every window of the validation split touches a gap"));
  EXPECT_EQ(gaps.train->size(), 1);
  EXPECT_FALSE(gaps.validation);
}

TEST(SeriesData, SplitsInTime) {
  const TimeSplit split = split_in_time(101, 0.2, 0.1);
  EXPECT_EQ(split.train, 71);
  EXPECT_EQ(split.validation, 20);
  EXPECT_EQ(split.test, 10);
  EXPECT_EQ(split_in_time(5, 0, 0).train, 5);
  expect_error(ErrorKind::InvalidArgument, {"0.5 and test_fraction 0.5", "less than 1"},
               [] { split_in_time(10, 0.5, 0.5); });
}

TEST(SeriesData, RolesAndDescriptions) {
  const TemporaryFolder folder;
  std::string text = "when,a,b\n";
  for (int i = 0; i < 20; ++i) text += concat("day ", i, ",", i, ",", -i, "\n");
  folder.write("train.csv", text);
  const auto describe = [&](const std::string& keys) {
    folder.write("dataset.json",
                 R"({"format":"fovea-dataset","version":1,"task":"forecast",)" + keys + "}");
  };
  const auto load = [&](const Roles& roles) {
    SeriesEncoder encoder;
    load_series({folder.path(), roles, false}, small_windows(), encoder, 1);
    return encoder;
  };
  describe(R"("target_columns": ["b"])");
  EXPECT_EQ(load({}).layout().target_names(), Names{"b"});
  const SeriesEncoder told = load({{"input", {"b"}}, {"target", {"a"}}, {"time", {"when"}}});
  EXPECT_EQ(told.layout().series, (Names{"b", "a"}));
  EXPECT_EQ(told.layout().inputs, 1);
  EXPECT_EQ(told.layout().time, "when");
  EXPECT_TRUE(has_note(told.notes(), "order of column 'when' is not checked"));
  expect_error(ErrorKind::InvalidArgument, {"'drop'", "input"}, [&] { load({{"drop", {"a"}}}); });
  describe(R"("target_columns": "b")");
  expect_error(ErrorKind::BadData, {"dataset.json", "target_columns", "list"}, [&] { load({}); });
  for (const char* truth :
       {R"("truth": {"lag": "x"})", R"("truth": {"lag": 0, "input": "a", "target": "b"})"}) {
    describe(truth);
    expect_error(ErrorKind::BadData, {"dataset.json", "truth.lag"}, [&] { load({}); });
  }
}

TEST(SeriesData, OptionsAreDescribedOnce) {
  SeriesDataOptions options;
  OptionList list;
  list.group("data", options);
  list.set("data.lag", "5");
  list.set("data.window", "48");
  list.set("data.input_columns", "a,b");
  EXPECT_EQ(options.generator.lag, 5);
  EXPECT_EQ(options.rows.window, 48);
  EXPECT_EQ(options.rows.input_columns.size(), 2u);
}

}  // namespace
}  // namespace fovea
