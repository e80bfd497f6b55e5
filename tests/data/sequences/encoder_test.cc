#include "fovea/data/sequences/encoder.h"

#include "fovea/tensor/torch.h"
#include "tests/data/testing.h"

namespace fovea::sequences::encoder_test {
namespace {

using Names = std::vector<std::string>;

class ContextTest : public ::testing::Test {
 protected:
  ContextTest() : table_(read_csv(fixture("pointer.csv"))) { encoder_.fit(table_, {}); }
  CsvTable write(const std::string& text) { return read_csv(folder_.write("t.csv", text)); }
  CsvTable table_;
  ContextEncoder encoder_;
  TemporaryFolder folder_;
};

TEST_F(ContextTest, EncodesTheTrainingRows) {
  const auto data = encoder_.encode(table_);
  EXPECT_TRUE(
      torch::equal(data->columns().at("inputs"),
                   torch::tensor({{0.5f, 0.25f, 1.f}, {2.f, 0.125f, 3.f}, {4.f, 0.1875f, 6.f}})));
  EXPECT_TRUE(torch::equal(data->columns().at("context"), torch::tensor({0, 1, 0}, torch::kLong)));
  EXPECT_TRUE(torch::equal(data->columns().at("target"), torch::tensor({0.5f, 3.f, 4.f})));
  EXPECT_EQ(encoder_.layout().input_means[1], 0.1875);
}

TEST_F(ContextTest, ExamplesCarryLabelsAndTruth) {
  const auto data = encoder_.encode(table_);
  data->set_truth({{"right", "x2"}});
  const Example example = data->example(1);
  EXPECT_EQ(example.axis("context").labels, Names{"right"});
  EXPECT_EQ(example.axis("positions").labels, (Names{"x0", "x1", "x2"}));
  EXPECT_TRUE(torch::equal(example.truth.at("attention"),
                           torch::tensor({false, false, true}).view({1, 3})));
  EXPECT_TRUE(data->example(0).truth.empty());
}

TEST_F(ContextTest, RawRows) {
  const at::Tensor expected = encoder_.encode(table_)->columns().at("inputs")[1];
  for (const Names& cells :
       {Names{" right ", "2", "0.125", "3"}, Names{"right", "2", "0.125", "3", "note"},
        Names{"right", "2", "0.125", "3", "note", "9"}}) {
    const Example example = encoder_.encode_row(cells);
    EXPECT_TRUE(torch::equal(example.tensors.at("inputs"), expected));
    EXPECT_EQ(example.tensors.at("context").item<int64_t>(), 1);
    EXPECT_EQ(example.tensors.count("target"), 0u);
  }
  expect_error(ErrorKind::BadData, {"context 'up'", "'left', 'right'"}, [&] {
    encoder_.encode_row(Names{"up", "1", "2", "3"});
  });
  expect_error(ErrorKind::BadData, {"'x1'", "'two'", "number"}, [&] {
    encoder_.encode_row(Names{"left", "1", "two", "3"});
  });
  expect_error(ErrorKind::BadData, {"no column 'x2'"}, [&] {
    encoder_.encode_row(NamedCells{{"context", "left"}, {"x0", "1"}, {"x1", "1"}});
  });
}

TEST_F(ContextTest, BadFilesForPrediction) {
  expect_error(ErrorKind::BadData, {"t.csv:2", "context 'up'"},
               [&] { encoder_.encode(write("context,x0,x1,x2,y\nup,1,2,3,1\n")); });
  expect_error(ErrorKind::BadData, {"t.csv:2", "'x0'", "'a'"},
               [&] { encoder_.encode(write("context,x0,x1,x2,y\nleft,a,2,3,1\n")); });
  expect_error(ErrorKind::BadData, {"t.csv:2", "target 'y'", "'b'"},
               [&] { encoder_.encode(write("context,x0,x1,x2,y\nleft,1,2,3,b\n")); });
  expect_error(ErrorKind::BadData, {"missing in every row"},
               [&] { encoder_.encode(write("context,x0,x1,x2,y\nleft,1,2,3,\n")); });
  expect_error(ErrorKind::NotFound, {"no column 'x1'"},
               [&] { encoder_.encode(write("context,x0,x2,y\nleft,1,3,1\n")); });
  EXPECT_EQ(encoder_.encode_inputs(write("x2,x1,x0,context\n1,2,3,left\n"))
                ->columns()
                .at("inputs")[0][0]
                .item<float>(),
            3);
}

TEST_F(ContextTest, JsonKeepsEverything) {
  ContextOptions options;
  options.standardise = "yes";
  encoder_.fit(table_, options);
  const ContextEncoder again = ContextEncoder::from_json(Json::parse(encoder_.to_json().dump()));
  EXPECT_EQ(again.to_json(), encoder_.to_json());
  for (const char* name : {"inputs", "context", "target"})
    EXPECT_TRUE(torch::equal(again.encode(table_)->columns().at(name),
                             encoder_.encode(table_)->columns().at(name)));
  Json json = encoder_.to_json();
  json["version"] = 3;
  expect_error(ErrorKind::Unsupported, {"version 3"}, [&] { ContextEncoder::from_json(json); });
  json = encoder_.to_json();
  json["input_means"] = {1};
  expect_error(ErrorKind::BadData, {"input_means", "expected 3"},
               [&] { ContextEncoder::from_json(json); });
  expect_error(ErrorKind::BadData, {"context encoding"},
               [&] { ContextEncoder::from_json(Json::object()); });
  expect_error(ErrorKind::Internal, {"neither fitted nor loaded"},
               [] { ContextEncoder().layout(); });
}

}  // namespace
}  // namespace fovea::sequences::encoder_test
