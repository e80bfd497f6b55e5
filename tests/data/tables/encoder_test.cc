#include "fovea/data/tables/encoder.h"

#include "fovea/tensor/torch.h"
#include "tests/data/testing.h"

namespace fovea::tables::encoder_test {
namespace {

using Names = std::vector<std::string>;

class TableTest : public ::testing::Test {
 protected:
  TableTest() : people_(read_csv(fixture("people.csv"))) {
    TableOptions options;
    options.target = "income";
    options.drop = {"id"};
    options.numbers = "standard";
    encoder_.fit(people_, options);
  }
  CsvTable people_;
  TableEncoder encoder_;
  TemporaryFolder folder_;
};

TEST_F(TableTest, EncodesTheTrainingRows) {
  const auto data = encoder_.encode(people_);
  EXPECT_EQ(data->size(), 7);
  EXPECT_EQ(data->dropped_rows(), 1);
  const at::Tensor inputs = data->columns().at("inputs"), target = data->columns().at("target");
  EXPECT_EQ(inputs.scalar_type(), torch::kFloat);
  ASSERT_EQ(inputs.sizes(), (at::IntArrayRef{7, 12}));
  EXPECT_TRUE(torch::equal(target, torch::tensor({0.f, 1.f, 0.f, 0.f, 1.f, 1.f, 1.f})));
  // Row 4: age missing, Private, "Chur, GR", 40 hours.
  const float mean = (40 + 13 + 40 + 40 + 45 + 45) / 6.f;
  EXPECT_EQ(inputs[3][0].item<float>(), 0);
  EXPECT_EQ(inputs[3][1].item<float>(), 1);
  EXPECT_TRUE(torch::equal(inputs[3].slice(0, 2, 10),
                           torch::tensor({1.f, 0.f, 0.f, 0.f, 0.f, 0.f, 1.f, 0.f})));
  EXPECT_EQ(inputs[3][10].item<float>() > 0, 40 > mean);
  // Each number has mean 0 over the rows, missing ones included.
  EXPECT_NEAR(inputs.select(1, 0).sum().item<float>(), 0, 1e-5);
}

TEST_F(TableTest, ExamplesCarryLabelsAndTruth) {
  const auto data = encoder_.encode(people_);
  EXPECT_TRUE(data->example(0).truth.empty());
  data->set_truth({"age", "hours"});
  const Example example = data->example(1);
  EXPECT_EQ(example.axis("columns").labels, encoder_.layout().columns);
  EXPECT_EQ(example.axis("columns").kind, "column");
  EXPECT_TRUE(torch::equal(example.truth.at("attention"),
                           torch::tensor({true, false, false, true}).view({1, 4})));
  EXPECT_TRUE(torch::equal(example.tensors.at("inputs"), data->columns().at("inputs")[1]));
}

TEST_F(TableTest, RawRowsGiveTheSameNumbers) {
  const auto data = encoder_.encode(people_);
  const Example typed = encoder_.encode_row(Names{"50", " Private", "Basel", "13"});
  EXPECT_TRUE(torch::equal(typed.tensors.at("inputs"), data->columns().at("inputs")[1]));
  EXPECT_EQ(typed.tensors.count("target"), 0u);
  EXPECT_EQ(typed.axis("columns").labels.size(), 4u);
  for (const Names& cells : {Names{"2", "50", "Private", "Basel", "13"},
                             Names{"2", "50", "Private", "Basel", "13", "?"}})
    EXPECT_TRUE(
        torch::equal(encoder_.encode_row(cells).tensors.at("inputs"), typed.tensors.at("inputs")));
  const Example named = encoder_.encode_row(NamedCells{{"hours", "13"},
                                                       {"city", "Basel"},
                                                       {"workclass", "Private"},
                                                       {"age", "50"},
                                                       {"income", "whatever"}});
  EXPECT_TRUE(torch::equal(named.tensors.at("inputs"), typed.tensors.at("inputs")));
}

TEST_F(TableTest, UnseenCategoriesAreZeros) {
  const Example example = encoder_.encode_row(Names{"50", "Unheard-of", "Basel", "13"});
  EXPECT_EQ(example.tensors.at("inputs").slice(0, 2, 6).sum().item<float>(), 0);
}

TEST_F(TableTest, CategoriesMayDifferInCase) {
  const at::Tensor known =
      encoder_.encode_row(Names{"50", "Private", "Basel", "13"}).tensors.at("inputs");
  EXPECT_TRUE(torch::equal(
      encoder_.encode_row(Names{"50", " PRIVATE ", "basel", "13"}).tensors.at("inputs"), known));
}

TEST_F(TableTest, WhatTrainingNeverSawIsSaid) {
  const CsvTable table = read_csv(folder_.write(
      "new.csv",
      "age,workclass,city,hours\n500,Private,Ulm,40\n30,Alien,Bonn,40\n30,private,,40\n"));
  const Names notes = encoder_.check(table);
  EXPECT_TRUE(has_note(notes, "new.csv: 1 of 3 rows: column 'age' is '500': out of the training"));
  EXPECT_TRUE(has_note(notes, "1 of 3 rows: column 'workclass' is 'Alien': training never saw it"));
  EXPECT_TRUE(has_note(notes, "2 of 3 rows: column 'city' is 'Ulm', 'Bonn'"));
  EXPECT_TRUE(has_note(notes, "1 of 3 rows: column 'city' is empty: training saw no missing"));
  EXPECT_EQ(notes.size(), 3u);
  const auto examples = encoder_.encode_inputs(table);
  EXPECT_EQ(encoder_.check(examples[1]).size(), 2u);
  EXPECT_TRUE(encoder_.check(encoder_.encode_row(Names{"50", "Private", "Basel", "13"})).empty());
}

TEST_F(TableTest, UnknownNamesAreNoMistakeWhereAllOthersAreThere) {
  EXPECT_TRUE(encoder_
                  .encode_row(NamedCells{{"hours", "13"},
                                         {"city", "Basel"},
                                         {"workclass", "Private"},
                                         {"age", "50"},
                                         {"order", "7"}})
                  .tensors.contains("inputs"));
}

TEST_F(TableTest, BadRawRows) {
  expect_error(ErrorKind::BadData, {"column 'age'", "'fifty'", "number"}, [&] {
    encoder_.encode_row(Names{"fifty", "Private", "Basel", "13"});
  });
  expect_error(ErrorKind::BadData, {"3 cells", "expected 4"}, [&] {
    encoder_.encode_row(Names{"1", "2", "3"});
  });
  expect_error(ErrorKind::BadData, {"no column 'city'"}, [&] {
    encoder_.encode_row(NamedCells{{"age", "1"}, {"workclass", ""}, {"hours", "1"}});
  });
  expect_error(ErrorKind::BadData, {"'agee'", "did you mean 'age'"}, [&] {
    encoder_.encode_row(NamedCells{{"agee", "1"}});
  });
}

TEST_F(TableTest, BadFilesForPrediction) {
  const auto write = [&](const std::string& text) {
    return read_csv(folder_.write("t.csv", text));
  };
  expect_error(ErrorKind::BadData, {"t.csv:3", "'age'", "'old'", "number"}, [&] {
    encoder_.encode(write("age,workclass,city,hours,income\n1,a,b,2,0\nold,a,b,2,1\n"));
  });
  expect_error(ErrorKind::NotFound, {"no column 'city'"},
               [&] { encoder_.encode(write("age,workclass,hours,income\n1,a,2,0\n")); });
  expect_error(ErrorKind::NotFound, {"no column 'income'"},
               [&] { encoder_.encode(write("age,workclass,city,hours\n1,a,b,2\n")); });
  expect_error(ErrorKind::BadData, {"missing in every row"},
               [&] { encoder_.encode(write("age,workclass,city,hours,income\n1,a,b,2,\n")); });
  expect_error(ErrorKind::BadData, {"t.csv:2", "'3'", "'0', '1'"},
               [&] { encoder_.encode(write("age,workclass,city,hours,income\n1,a,b,2,3\n")); });
  const auto inputs =
      encoder_.encode_inputs(write("extra,hours,city,workclass,age\n9,13,Basel,Private,50\n"));
  EXPECT_EQ(inputs[0].tensors.count("target"), 0u);
  EXPECT_TRUE(torch::equal(inputs[0].tensors.at("inputs"),
                           encoder_.encode(people_)->columns().at("inputs")[1]));
}

TEST_F(TableTest, SeveralClassesAreIntegers) {
  TableEncoder encoder;
  const CsvTable table = read_csv(fixture("semicolons.csv"));
  encoder.fit(table, {});
  const auto data = encoder.encode(table);
  EXPECT_TRUE(torch::equal(data->columns().at("target"), torch::tensor({0, 1, 2}, torch::kLong)));
  EXPECT_EQ(encoder.layout().kind, TargetKind::Classes);
}

TEST_F(TableTest, JsonKeepsEverything) {
  const TableEncoder again = TableEncoder::from_json(Json::parse(encoder_.to_json().dump()));
  EXPECT_EQ(again.to_json(), encoder_.to_json());
  EXPECT_EQ(again.file_columns(), people_.names);
  const auto left = encoder_.encode(people_), right = again.encode(people_);
  EXPECT_TRUE(torch::equal(left->columns().at("inputs"), right->columns().at("inputs")));
  EXPECT_TRUE(torch::equal(left->columns().at("target"), right->columns().at("target")));
}

TEST_F(TableTest, BadJson) {
  Json json = encoder_.to_json();
  json["version"] = 2;
  expect_error(ErrorKind::Unsupported, {"version 2", "newer"},
               [&] { TableEncoder::from_json(json); });
  json = encoder_.to_json();
  json.erase("columns");
  expect_error(ErrorKind::BadData, {"table encoding", "columns"},
               [&] { TableEncoder::from_json(json); });
  expect_error(ErrorKind::BadData, {"fovea-table"}, [&] {
    TableEncoder::from_json(Json{{"format", "x"}});
  });
  expect_error(ErrorKind::Internal, {"neither fitted nor loaded"}, [] { TableEncoder().layout(); });
}

}  // namespace
}  // namespace fovea::tables::encoder_test
