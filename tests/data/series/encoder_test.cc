#include "fovea/data/series/encoder.h"

#include <cmath>

#include "fovea/tensor/torch.h"
#include "tests/data/testing.h"

namespace fovea::series::encoder_test {
namespace {

using Names = std::vector<std::string>;

/// a = 0, 1, 2, …; b = 10 a.
std::string ramp(int64_t steps, const std::string& header = "a,b") {
  std::string text = header + "\n";
  for (int64_t i = 0; i < steps; ++i) text += concat(i, ",", 10 * i, "\n");
  return text;
}

class SeriesTest : public ::testing::Test {
 protected:
  SeriesTest() {
    options_.window = 3;
    options_.horizon = 2;
    options_.standardise = "no";
  }
  CsvTable write(const std::string& text) { return read_csv(folder_.write("t.csv", text)); }
  std::shared_ptr<SeriesDataset> fit(const std::string& text) {
    const CsvTable table = write(text);
    encoder_.fit(table, options_);
    return encoder_.encode(table);
  }
  SeriesOptions options_;
  SeriesEncoder encoder_;
  TemporaryFolder folder_;
};

TEST_F(SeriesTest, WindowsOfInputsAndTargets) {
  options_.input_columns = {"b", "a"};
  options_.target_columns = {"a"};
  const auto data = fit(ramp(7));
  ASSERT_EQ(data->size(), 3);
  const std::vector<int64_t> rows{2, 0};
  const Batch batch = data->batch(rows);
  EXPECT_EQ(batch.size, 2);
  EXPECT_TRUE(torch::equal(batch.at("source"), torch::tensor({20.f, 2.f, 30.f, 3.f, 40.f, 4.f, 0.f,
                                                              0.f, 10.f, 1.f, 20.f, 2.f})
                                                   .view({2, 3, 2})));
  EXPECT_TRUE(
      torch::equal(batch.at("target"), torch::tensor({5.f, 6.f, 3.f, 4.f}).view({2, 2, 1})));
  EXPECT_TRUE(torch::equal(batch.at("source.keep"), torch::ones({2, 3}, torch::kBool)));
  EXPECT_TRUE(torch::equal(batch.at("target.keep"), torch::ones({2, 2}, torch::kBool)));
  EXPECT_TRUE(data->columns().empty());
  EXPECT_EQ(data->length(0), 3);
  for (const int64_t row : {-1, 3}) {
    const std::vector<int64_t> outside{row};
    expect_error(ErrorKind::InvalidArgument, {"0 … 2"}, [&] { data->batch(outside); });
    expect_error(ErrorKind::InvalidArgument, {"0 … 2"}, [&] { data->example(row); });
  }
}

TEST_F(SeriesTest, EveryColumnOfNumbersIsInputAndTargetByDefault) {
  const auto data = fit(ramp(9));
  EXPECT_EQ(encoder_.layout().input_names(), (Names{"a", "b"}));
  EXPECT_EQ(encoder_.layout().target_names(), (Names{"a", "b"}));
  EXPECT_TRUE(has_note(encoder_.notes(), "'a', 'b', 2 steps ahead, from 3 steps"));
  EXPECT_EQ(data->example(4).tensors.at("target").sizes(), (at::IntArrayRef{2, 2}));
  EXPECT_EQ(data->example(4).tensors.at("target")[1][1].item<float>(), 80);
  options_.stride = 2;
  EXPECT_EQ(fit(ramp(10))->size(), 3);  // starts 0, 2, 4
  EXPECT_EQ(fit(ramp(9))->size(), 3);
  EXPECT_EQ(fit(ramp(8))->size(), 2);
  EXPECT_EQ(fit(ramp(4))->size(), 0);
}

TEST_F(SeriesTest, LabelsAndTruth) {
  const auto data = fit(ramp(7));
  EXPECT_EQ(data->example(1).axis("source").labels, (Names{"t-2", "t-1", "t-0"}));
  EXPECT_EQ(data->example(1).axis("target").labels, (Names{"t+1", "t+2"}));
  EXPECT_TRUE(data->example(1).truth.empty());
  data->set_truth(std::vector<int64_t>{1, -1});
  EXPECT_TRUE(torch::equal(data->example(1).truth.at("attention"),
                           torch::tensor({false, true, false, false, false, false}).view({2, 3})));
  const auto timed = fit(ramp(7, "Date,b"));
  EXPECT_EQ(timed->example(1).axis("source").labels, (Names{"1", "2", "3"}));
  EXPECT_EQ(encoder_.layout().series, Names{"b"});
  options_.time = "none";
  fit(ramp(7, "Date,b"));
  EXPECT_EQ(encoder_.layout().series, (Names{"Date", "b"}));
}

TEST_F(SeriesTest, StandardisesEachSeriesByTheTrainingPart) {
  options_.standardise = "auto";
  const CsvTable train = write(ramp(9));
  encoder_.fit(train, options_);
  const SeriesLayout& layout = encoder_.layout();
  EXPECT_DOUBLE_EQ(layout.means[0], 4);
  EXPECT_DOUBLE_EQ(layout.deviations[0], std::sqrt(60. / 9));
  EXPECT_DOUBLE_EQ(layout.means[1], 40);
  const Example example = encoder_.encode(write("a,b\n4,40\n0,0\n0,0\n100,0\n0,0\n"))->example(0);
  EXPECT_EQ(example.tensors.at("source")[0][1].item<float>(), 0);
  const float encoded = example.tensors.at("target")[0][0].item<float>();
  EXPECT_NEAR(encoded, 96 / std::sqrt(60. / 9), 1e-4);
  EXPECT_NEAR(encoder_.original(encoded, 0), 100, 1e-4);
  expect_error(ErrorKind::InvalidArgument, {"series 2", "0 … 1"}, [&] { encoder_.original(0, 2); });
}

TEST_F(SeriesTest, GapsAreFilledOrTheirWindowsLeftOut) {
  options_.maximum_gap = 1;
  options_.target_columns = {"b"};
  //                        0    1   2    3    4    5    6   7    8    9
  const std::string text = "a,b\n0,0\n,1\n2,2\n3,3\n4,4\n,5\n,6\n7,7\n8,8\n9,9\n";
  options_.input_columns = {"a"};
  const auto data = fit(text);
  EXPECT_EQ(data->filled_cells(), 1);
  ASSERT_EQ(data->size(), 3);  // starts 0, 1, 2 of 0 … 5
  EXPECT_EQ(data->dropped_windows(), 3);
  EXPECT_EQ(data->example(0).tensors.at("source")[1][0].item<float>(), 1);
  EXPECT_EQ(data->example(2).tensors.at("target")[1][0].item<float>(), 6);  // a's gap is no harm
  options_.maximum_gap = 2;
  EXPECT_EQ(fit(text)->size(), 6);
  options_.input_columns = {"b"};
  options_.target_columns = {"a"};
  options_.maximum_gap = 1;
  const auto other = fit(text);
  EXPECT_EQ(other->dropped_windows(), 3);  // targets 5 and 6: starts 1, 2, 3
  EXPECT_EQ(other->example(1).tensors.at("source")[0][0].item<float>(), 4);
}

TEST_F(SeriesTest, ColumnsThatAreNoSeries) {
  const std::string text = "a,place,b,empty\n1,x,5,\n2,y,5,\n3,z,5,\n4,w,5,\n5,v,5,\n";
  fit(text);
  EXPECT_EQ(encoder_.layout().series, (Names{"a", "b"}));
  EXPECT_TRUE(has_note(encoder_.notes(), "'place' is left out: 'x' at "));
  EXPECT_TRUE(has_note(encoder_.notes(), "--columns known=place"));
  EXPECT_TRUE(has_note(encoder_.notes(), "'empty' has no values"));
  EXPECT_TRUE(has_note(encoder_.notes(), "series 'b' is always 5"));
  options_.input_columns = {"place"};
  expect_error(ErrorKind::BadData, {"t.csv:2", "'place' is 'x'"}, [&] { fit(text); });
  options_.input_columns = {"empty"};
  expect_error(ErrorKind::BadData, {"'empty' has no values"}, [&] { fit(text); });
  options_.input_columns = {"a", "a"};
  expect_error(ErrorKind::InvalidArgument, {"'a' is named twice"}, [&] { fit(text); });
  options_.input_columns = {"a"};
  options_.target_columns = {"b"};
  expect_error(ErrorKind::BadData, {"'b' never changes"}, [&] { fit(text); });
  options_.target_columns = {"c"};
  expect_error(ErrorKind::NotFound, {"'c'"}, [&] { fit(text); });
  options_.target_columns = {};
  options_.time = "a";
  expect_error(ErrorKind::InvalidArgument, {"'a' is the time"}, [&] { fit(text); });
  options_ = {};
  // One slip among eleven numbers is no column of text.
  expect_error(ErrorKind::BadData, {"t.csv:13", "'b' is '1o'"}, [&] { fit(ramp(11) + "11,1o\n"); });
  expect_error(ErrorKind::BadData, {"no column of numbers"}, [&] { fit("a\nx\ny\n"); });
}

TEST_F(SeriesTest, AConstantSeriesIsZeroAndNotNoise) {
  options_.standardise = "yes";
  const auto data = fit("a,b\n1,0.1\n2,0.1\n3,0.1\n4,0.1\n5,0.1\n6,0.1\n7,0.1\n");
  EXPECT_EQ(data->example(0).tensors.at("source").select(1, 1).abs().max().item<float>(), 0);
  EXPECT_DOUBLE_EQ(encoder_.original(0, 1), 0.1);
}

TEST_F(SeriesTest, TypedSteps) {
  fit(ramp(9, "a,b"));
  const at::Tensor expected = torch::tensor({7.f, 1.f, 8.f, 2.f, 9.f, 3.f}).view({3, 2});
  for (const char* text :
       {R"({"b": [1, 2, 3], "a": [7, 8, 9]})", R"({"a": [6, 7, "8", 9], "b": [5, 1, null, 3]})",
        "[[7, 1], [8, 2], [9, 3]]", " [[0, 0], [7, 1], [8, 2], [9, 3]]"}) {
    const Example example = encoder_.encode_row(text);
    EXPECT_TRUE(torch::equal(example.tensors.at("source"), expected)) << text;
    EXPECT_EQ(example.tensors.count("target"), 0u);
    EXPECT_EQ(example.axis("source").labels[0], "t-2");
  }
  EXPECT_TRUE(encoder_.encode_row("[[7, 1], [8, 2], [9, 3]]").cuts.empty());
  const Example longer = encoder_.encode_row("[[5, 5], [0, 0], [7, 1], [8, 2], [9, 3]]");
  ASSERT_EQ(longer.cuts.size(), 1u) << "what came before the window is said";
  EXPECT_EQ(longer.cuts[0].unit, "steps");
  EXPECT_EQ(longer.cuts[0].read, 3);
  EXPECT_EQ(longer.cuts[0].of, 5);
  const auto refused = [&](const std::vector<std::string>& words, const std::string& text) {
    expect_error(ErrorKind::BadData, words, [&] { encoder_.encode_row(text); });
  };
  refused({"2 steps", "looks at 3"}, R"({"a": [1, 2], "b": [1, 2]})");
  refused({"0 steps"}, "[]");
  refused({"'b' has 4 steps", "'a' has 3"}, R"({"a": [1, 2, 3], "b": [1, 2, 3, 4]})");
  refused({"'b' is missing"}, R"({"a": [1, 2, 3]})");
  refused({"unknown column 'c'"}, R"({"a": [1, 2, 3], "b": [1, 2, 3], "c": [1, 2, 3]})");
  refused({"'a' is 5", "list"}, R"({"a": 5, "b": [1]})");
  refused({"'b' has 'x'", "number"}, R"({"a": [1, 2, 3], "b": [1, "x", 3]})");
  refused({"'b' has 'true'"}, R"({"a": [1, 2, 3], "b": [1, true, 3]})");
  refused({"step 2 is [8]", "2 numbers"}, "[[7, 1], [8], [9, 3]]");
  refused({"step 3", "'a' is missing, in a gap"}, R"({"a": [1, 2, null], "b": [1, 2, 3]})");
  refused({"plain line holds one series", "looks at 2"}, "1,2,3");
  refused({"empty"}, "  ");
  options_.input_columns = {"b"};
  fit(ramp(9, "time,b"));
  for (const char* text : {"5, 7,8,9", "7,,9", "[7, 8, 9]", "[[7], [8], [9]]"})
    EXPECT_TRUE(torch::equal(encoder_.encode_row(text).tensors.at("source"),
                             torch::tensor({7.f, 8.f, 9.f}).view({3, 1})))
        << text;
  refused({"'b' has 'x'"}, "1,x,2");
  const Example timed = encoder_.encode_row(R"({"time": [5, "six", 7, 8], "b": [1, 2, 3, 4]})");
  EXPECT_EQ(timed.axis("source").labels, (Names{"six", "7", "8"}));
  refused({"'time'", "3 steps"}, R"({"time": [5], "b": [1, 2, 3]})");
}

TEST_F(SeriesTest, TheEndOfAFileForPrediction) {
  options_.target_columns = {"b"};
  options_.input_columns = {"a"};
  fit(ramp(9));
  const auto data = encoder_.encode_inputs(write("a\n1\n2\n3\n\"\"\n5\n"));
  ASSERT_EQ(data->size(), 1);
  const std::vector<int64_t> rows{0};
  const Batch batch = data->batch(rows);
  EXPECT_TRUE(torch::equal(batch.at("source"), torch::tensor({3.f, 4.f, 5.f}).view({1, 3, 1})));
  EXPECT_FALSE(batch.has("target") || batch.has("target.keep"));
  EXPECT_EQ(data->example(0).cuts.at(0).of, 5);
  expect_error(ErrorKind::BadData, {"t.csv: 2 steps", "looks at 3"},
               [&] { encoder_.encode_inputs(write("a\n1\n2\n")); });
  expect_error(ErrorKind::BadData, {"t.csv:5", "'a' is missing"},
               [&] { encoder_.encode_inputs(write("a\n1\n2\n3\n\"\"\n")); });
}

TEST_F(SeriesTest, TypedExamplesSideBySide) {
  fit(ramp(9));
  const std::vector<Example> examples{encoder_.encode_row("[[1, 2], [3, 4], [5, 6]]"),
                                      encoder_.encode_row("[[7, 8], [9, 10], [11, 12]]")};
  const Batch batch = collate_series(examples);
  EXPECT_EQ(batch.size, 2);
  EXPECT_TRUE(
      torch::equal(batch.at("source"), torch::arange(1., 13.).to(torch::kFloat).view({2, 3, 2})));
  EXPECT_TRUE(torch::equal(batch.at("source.keep"), torch::ones({2, 3}, torch::kBool)));
  EXPECT_EQ(collate_series({}).size, 0);
}

TEST_F(SeriesTest, JsonKeepsEverything) {
  options_.standardise = "yes";
  options_.input_columns = {"b"};
  options_.target_columns = {"a"};
  options_.stride = 2;
  const auto data = fit(ramp(11, "a,b"));
  SeriesEncoder again = SeriesEncoder::from_json(Json::parse(encoder_.to_json().dump()));
  EXPECT_EQ(again.to_json(), encoder_.to_json());
  const auto same = again.encode(write(ramp(11, "a,b")));
  ASSERT_EQ(same->size(), data->size());
  for (const char* name : {"source", "target"})
    EXPECT_TRUE(torch::equal(same->example(2).tensors.at(name), data->example(2).tensors.at(name)));
  expect_error(ErrorKind::NotFound, {"no column 'a'"}, [&] { again.encode(write("b\n1\n")); });
  const auto broken = [&](const char* key, const Json& value, ErrorKind kind, const char* words) {
    Json json = encoder_.to_json();
    json[key] = value;
    expect_error(kind, words, [&] { SeriesEncoder::from_json(json); });
  };
  broken("version", 2, ErrorKind::Unsupported, "version 2");
  broken("format", "x", ErrorKind::BadData, "fovea-series");
  broken("targets", {"a", "c"}, ErrorKind::BadData, "targets[1]");
  broken("inputs", 3, ErrorKind::BadData, "inputs: found 3, expected 1 to 2");
  broken("window", 0, ErrorKind::BadData, "window: found 0");
  broken("series", 5, ErrorKind::BadData, "series encoding");
  expect_error(ErrorKind::Internal, {"neither fitted nor loaded"},
               [] { SeriesEncoder().layout(); });
}

}  // namespace
}  // namespace fovea::series::encoder_test
