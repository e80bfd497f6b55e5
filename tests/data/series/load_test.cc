#include "fovea/data/series/load.h"

#include "fovea/tensor/torch.h"
#include "tests/data/same_splits.h"
#include "tests/data/testing.h"

namespace fovea::series::load_test {
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
  options.rows.look_back = false;
  return options;
}

/// First and last value that the windows of a split hold.
std::pair<float, float> range(const Dataset& data) {
  return {data.example(0).tensors.at("source").min().item<float>(),
          data.example(data.size() - 1).tensors.at("target").max().item<float>()};
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
    expect_same_splits(left, right);
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

TEST(SeriesData, LaterSplitsMayLookBackButNeverForecastBefore) {
  const TemporaryFolder folder;
  const auto path = folder.write("t.csv", ramp(0, 100));
  SeriesDataOptions options = small_windows();
  options.rows.look_back = true;
  SeriesEncoder encoder;
  const Splits splits = load_series({path, {}, false}, options, encoder, 1);
  EXPECT_EQ(range(*splits.train), (std::pair<float, float>{0, 69}));
  EXPECT_EQ(range(*splits.validation), (std::pair<float, float>{67, 89}));
  EXPECT_EQ(range(*splits.test), (std::pair<float, float>{87, 99}));
  EXPECT_EQ(splits.validation->example(0).tensors.at("target").min().item<float>(), 70);
  EXPECT_EQ(splits.test->size(), 9);
  EXPECT_TRUE(has_note(splits.notes, "70 training, 20 validation and 10 test steps"));
}

TEST(SeriesData, StepsInsteadOfFractions) {
  const TemporaryFolder folder;
  const auto path = folder.write("t.csv", ramp(0, 100));
  SeriesDataOptions options = small_windows();
  options.rows.train_steps = 40;
  options.rows.validation_steps = 20;
  options.rows.test_steps = 30;
  SeriesEncoder encoder;
  const Splits splits = load_series({path, {}, false}, options, encoder, 1);
  EXPECT_EQ(range(*splits.train), (std::pair<float, float>{0, 39}));
  EXPECT_EQ(range(*splits.validation), (std::pair<float, float>{40, 59}));
  EXPECT_EQ(range(*splits.test), (std::pair<float, float>{60, 89}));
  EXPECT_TRUE(has_note(splits.notes, "the last 10 steps are left out"));
  options.rows.test_steps = 50;
  SeriesEncoder fresh;
  expect_error(ErrorKind::InvalidArgument, {"40 + 20 + 50", "has 100"}, [&] {
    load_series({path, {}, false}, options, fresh, 1);
  });
}

/// Rows of two shops, day by day; y is 10 on holidays, and 100 more in shop b.
std::string shops(int64_t days) {
  std::string text = "date,shop,kind,holiday,y\n";
  for (int64_t day = 0; day < days; ++day)
    for (const char* shop : {"a", "b"}) {
      const bool holiday = day % 5 == 0;
      text += concat("2024-0", 1 + day / 28, "-", day % 28 < 9 ? "0" : "", day % 28 + 1, ",", shop,
                     ",", *shop == 'a' ? "small" : "large", ",", holiday ? "yes" : "no", ",",
                     (holiday ? 10 : 0) + day % 3 + (*shop == 'b' ? 100 : 0), "\n");
    }
  return text;
}

TEST(SeriesData, SeveralSeriesInOneFile) {
  const TemporaryFolder folder;
  const auto path = folder.write("shops.csv", shops(28));
  SeriesDataOptions options = small_windows();
  options.rows.standardise = "yes";
  options.rows.calendar = "no";
  const Roles roles{
      {"target", {"y"}}, {"series", {"shop"}}, {"known", {"holiday"}}, {"static", {"kind"}}};
  SeriesEncoder encoder;
  const Splits splits = load_series({path, roles, false}, options, encoder, 1);
  const SeriesLayout& layout = encoder.layout();
  EXPECT_EQ(layout.input_names(), Names{"y"});
  EXPECT_EQ(layout.known_width(), 4);  // no, yes; large, small
  EXPECT_NEAR(layout.scales.at("b")[0].mean - layout.scales.at("a")[0].mean, 100, 1e-9);
  EXPECT_TRUE(has_note(splits.notes, "which of 2 series"));
  // Each series has 28 steps, 19 of them for training: 15 windows.
  ASSERT_EQ(splits.train->size(), 2 * 15);
  const Example first = splits.train->example(0), last = splits.train->example(29);
  EXPECT_EQ(first.axis("series").labels, Names{"a"});
  EXPECT_EQ(last.axis("series").labels, Names{"b"});
  EXPECT_EQ(first.tensors.at("known").sizes(), (at::IntArrayRef{5, 4}));
  EXPECT_EQ(first.tensors.at("known")[0][1].item<float>(), 1);  // day 0 is a holiday
  EXPECT_EQ(first.tensors.at("known")[1][1].item<float>(), 0);
  // Standardised by its own series, both look the same.
  EXPECT_TRUE(splits.train->example(15).tensors.at("source").allclose(first.tensors.at("source")));
  const SeriesEncoder again = SeriesEncoder::from_json(Json::parse(encoder.to_json().dump()));
  EXPECT_EQ(again.to_json(), encoder.to_json());

  // For prediction: one window for each series, with the rows to come.
  const std::string header = "date,shop,kind,holiday,y\n";
  std::string rows = header;
  for (const char* shop : {"b", "new"})
    for (int day = 1; day <= 5; ++day)
      rows += concat("2024-03-0", day, ",", shop, ",small,no,", day <= 3 ? concat(200 + day) : "",
                     "\n");
  const auto inputs = again.encode_inputs(read_csv(folder.write("now.csv", rows)));
  ASSERT_EQ(inputs->size(), 2);
  EXPECT_EQ(inputs->example(1).axis("series").labels, Names{"new"});
  EXPECT_NEAR(inputs->example(1).tensors.at("source").mean().item<double>(), 0, 1e-5);
  const CsvTable table = read_csv(folder.write(
      "past.csv",
      header + "2024-03-01,a,small,no,1\n2024-03-02,a,small,no,1\n2024-03-03,a,small,no,2\n"));
  expect_error(ErrorKind::BadData, {"past.csv", "2 steps to predict", "'holiday'"},
               [&] { again.encode_inputs(table); });
  const Example typed = again.encode_row(
      R"({"shop": "a", "y": [1, 2, 3], "holiday": ["no", "yes", "no", "no", "yes"], "kind": "small"})");
  EXPECT_EQ(typed.tensors.at("known")[4][1].item<float>(), 1);
  for (const char* less : {R"({"y": [1, 2, 3], "kind": "small"})",
                           R"({"y": [1, 2, 3], "kind": "small", "holiday": ["no"]})", "1,2,3"})
    expect_error(ErrorKind::BadData, {"'holiday'", "known in advance"},
                 [&] { again.encode_row(less); });
}

TEST(SeriesData, TheColumnOfSeriesIsFoundWhereTimesBeginAnew) {
  const TemporaryFolder folder;
  std::string text = shops(28);
  text.replace(text.find("shop"), 4, "id");
  SeriesDataOptions options = small_windows();
  SeriesEncoder encoder;
  load_series({folder.write("t.csv", text), {}, false}, options, encoder, 1);
  EXPECT_EQ(encoder.layout().series_column, "id");
  options.rows.static_columns = {"kind"};
  options.rows.series = "none";
  options.rows.time = "none";
  SeriesEncoder none;
  expect_error(ErrorKind::InvalidArgument, {"static_columns", "series="}, [&] {
    load_series({folder.path() / "t.csv", {}, false}, options, none, 1);
  });
}

TEST(SeriesData, LengthsSeasonsAndCalendarFitTheData) {
  const TemporaryFolder folder;
  std::string hours = "date,y\n", days = hours, bare = "y\n";
  for (int i = 0; i < 2000; ++i)
    hours += concat("2024-0", 1 + i / 24 / 28, "-", i / 24 % 28 < 9 ? "0" : "", i / 24 % 28 + 1,
                    " ", i % 24 < 10 ? "0" : "", i % 24, ":00,", (i * 7) % 24, "\n");
  for (int i = 0; i < 84; ++i)
    days += concat("2024-0", 1 + i / 28, "-", i % 28 < 9 ? "0" : "", i % 28 + 1, ",", i % 7, "\n");
  for (int i = 0; i < 200; ++i) bare += concat(i % 10, "\n");
  const auto layout = [&](const std::string& text) {
    SeriesEncoder encoder;
    const Splits splits = load_series({folder.write("t.csv", text), {}, false}, {}, encoder, 1);
    EXPECT_TRUE(splits.train && splits.validation && splits.test);
    return encoder.layout();
  };
  const SeriesLayout hourly = layout(hours);
  EXPECT_EQ(hourly.season, 24);
  EXPECT_EQ(hourly.horizon, 24);
  EXPECT_EQ(hourly.window, 96);
  EXPECT_EQ(hourly.calendar[0], "hour");
  EXPECT_EQ(layout(days).horizon, 7);
  const SeriesLayout plain = layout(bare);
  EXPECT_EQ(plain.season, 10);  // by autocorrelation
  EXPECT_TRUE(plain.calendar.empty());
}

TEST(SeriesData, ColumnsAreWhatStrangersWrite) {
  const TemporaryFolder folder;
  SeriesEncoder encoder;
  Names notes;
  const auto layout = [&](const std::string& text) {
    encoder = {};
    notes = load_series({folder.write("t.csv", text), {}, false}, {}, encoder, 1).notes;
    return encoder.layout();
  };
  std::string months = "Month,Sales\n", prices = "Datum;Kurs\n", years = "Year,Sales\n",
              shops = "when,shop,region,sales\n", numbered = "day,store,units\n";
  for (int i = 0; i < 120; ++i) {
    months +=
        concat(1990 + i / 12, "-", i % 12 < 9 ? "0" : "", i % 12 + 1, ",", 100 + i % 12, "\n");
    prices += concat(i % 28 < 9 ? "0" : "", i % 28 + 1, ".0", i / 28 + 1, ".2024;1.2", i % 7, i % 5,
                     ",5\n");
    years += concat(1800 + i, ",", (i * i) % 17, "\n");
    for (const char* shop : {"b", "a"}) {
      const std::string day =
          concat("2024-0", i / 28 + 1, "-", i % 28 < 9 ? "0" : "", i % 28 + 1, ",");
      shops += concat(day, shop, ",north,", i % 7, "\n");
      numbered +=
          concat(day, shop[0] == 'a' ? 1 : 2, ",", i % 7 + (shop[0] == 'a' ? 100 : 0), "\n");
    }
  }
  const SeriesLayout monthly = layout(months);
  EXPECT_EQ(monthly.time, "Month");
  EXPECT_EQ(monthly.interval.text(), "1 month");
  EXPECT_EQ(monthly.season, 12);
  EXPECT_EQ(monthly.series, Names{"Sales"});

  const SeriesLayout priced = layout(prices);
  EXPECT_EQ(priced.time, "Datum");
  EXPECT_NEAR(priced.means[0], 1232, 20);  // 1.234,5
  EXPECT_TRUE(has_note(notes, "column 'Kurs'"));
  const SeriesEncoder again = SeriesEncoder::from_json(encoder.to_json());
  const CsvTable table = read_csv(folder.path() / "t.csv");
  EXPECT_TRUE(torch::equal(encoder.encode_inputs(table)->example(0).tensors.at("source"),
                           again.encode_inputs(table)->example(0).tensors.at("source")));

  EXPECT_EQ(layout(years).time, "Year");
  EXPECT_EQ(encoder.layout().series, Names{"Sales"});
  EXPECT_EQ(layout(ramp(0, 100)).series, Names{"a"});  // the only column is no counter

  const SeriesLayout long_format = layout(shops);
  EXPECT_EQ(long_format.time, "when");
  EXPECT_EQ(long_format.series_column, "shop");
  EXPECT_EQ(long_format.series, Names{"sales"});
  EXPECT_EQ(layout(numbered).series_column, "store");
  // Two columns tell the rows apart only together.
  std::string both = "date,shop,item,sales\n";
  for (int i = 0; i < 50; ++i)
    for (const char* shop : {"a", "b"})
      for (const char* item : {"x", "y"})
        both += concat("2024-0", i / 28 + 1, "-", i % 28 < 9 ? "0" : "", i % 28 + 1, ",", shop, ",",
                       item, ",", i, "\n");
  expect_error(ErrorKind::BadData, {"t.csv:3", "--columns series="}, [&] { layout(both); });
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
}  // namespace fovea::series::load_test
