#include "fovea/data/tables/load.h"

#include "fovea/tensor/torch.h"
#include "tests/data/same_splits.h"
#include "tests/data/testing.h"

namespace fovea::tables::load_test {
namespace {

using Names = std::vector<std::string>;

FeaturesDataOptions small(int64_t rows = 3000) {
  FeaturesDataOptions options;
  options.generator.rows = rows;
  return options;
}

TEST(FeaturesData, BuiltInValidationIsTheTail) {
  TableEncoder encoder;
  FeaturesDataOptions options = small();
  options.table.numbers = "standard";
  const Splits splits = load_features({}, options, encoder, 1);
  EXPECT_EQ(splits.train->size(), 2100);
  EXPECT_EQ(splits.validation->size(), 900);
  EXPECT_EQ(splits.test, nullptr);
  const FeaturesDraw draw = draw_features(small().generator);
  EXPECT_TRUE(
      torch::equal(splits.validation->columns().at("inputs"), draw.table.inputs.slice(0, 2100)));
  EXPECT_TRUE(
      torch::equal(splits.train->columns().at("inputs"), draw.table.inputs.slice(0, 0, 2100)));
  EXPECT_TRUE(torch::equal(splits.train->example(0).truth.at("attention").nonzero().select(1, 1),
                           torch::tensor({1, 2}, torch::kLong)));
  EXPECT_TRUE(has_note(splits.notes, "synthetic"));
  TableEncoder again;
  EXPECT_EQ(load_features({}, small(), again, 99).hash,
            splits.hash);  // the training seed changes nothing
  FeaturesDataOptions other = small();
  other.generator.seed = 2;
  TableEncoder third;
  EXPECT_NE(load_features({}, other, third, 1).hash, splits.hash);
}

TEST(FeaturesData, TheWrittenFolderGivesTheSameTensors) {
  for (const char* law : {"uniform", "normal"}) {
    const TemporaryFolder folder;
    FeaturesDataOptions options = small(20000);
    options.generator.law = law;
    write_features_data(folder.path() / "deep" / "data", options);
    TableEncoder built_in, from_files;
    const Splits left = load_features({}, options, built_in, 1);
    const Splits right =
        load_features({folder.path() / "deep" / "data", {}, false}, options, from_files, 2);
    expect_same_splits(left, right);
    EXPECT_EQ(built_in.to_json(), from_files.to_json());
  }
}

TEST(FeaturesData, DroppedColumnsOfTheBuiltInData) {
  FeaturesDataOptions options = small();
  options.table.features = {"x2", "x1", "x5"};
  options.table.validation_fraction = 0.5;
  TableEncoder encoder;
  const Splits splits = load_features({}, options, encoder, 1);
  EXPECT_EQ(encoder.layout().columns, (Names{"x1", "x2", "x5"}));
  EXPECT_EQ(splits.validation->size(), 1500);
  EXPECT_TRUE(torch::equal(splits.train->example(0).truth.at("attention"),
                           torch::tensor({true, true, false}).view({1, 3})));
}

TEST(FeaturesData, AFileOfTheUsers) {
  TableEncoder encoder;
  const DataSource source{
      fixture("people.csv"), {{"target", {"income"}}, {"drop", {"id", "city"}}}, false};
  const Splits splits = load_features(source, {}, encoder, 1);
  EXPECT_EQ(encoder.layout().columns, (Names{"age", "workclass", "hours"}));
  EXPECT_EQ(splits.train->size() + splits.validation->size(), 7);
  EXPECT_TRUE(has_note(splits.notes, "two classes 0, 1"));
  EXPECT_TRUE(has_note(splits.notes, "rows without a target were left out"));
  EXPECT_TRUE(splits.train->example(0).truth.empty());
}

TEST(FeaturesData, ARestoredEncoderIsUsedAsItIs) {
  TableEncoder encoder;
  const DataSource source{fixture("people.csv"), {{"target", {"income"}}, {"drop", {"id"}}}, false};
  const Splits trained = load_features(source, {}, encoder, 1);
  TableEncoder restored = TableEncoder::from_json(encoder.to_json());
  const Splits again = load_features({fixture("people.csv"), {}, false}, {}, restored, 1);
  EXPECT_TRUE(
      torch::equal(trained.train->columns().at("inputs"), again.train->columns().at("inputs")));
  EXPECT_TRUE(torch::equal(trained.validation->columns().at("inputs"),
                           again.validation->columns().at("inputs")));
  const Splits whole = load_features({fixture("people.csv"), {}, true}, {}, restored, 1);
  EXPECT_EQ(whole.train, nullptr);
  EXPECT_EQ(whole.test->size(), 7);
  EXPECT_EQ(restored.to_json(), encoder.to_json());
  expect_error(ErrorKind::NotFound, {"built-in data", "'age'"},
               [&] { load_features({}, {}, restored, 1); });
}

TEST(FeaturesData, AFolderSaysWhetherToStandardise) {
  const TemporaryFolder folder;
  folder.write("train.csv", "a,y\n1,0\n3,1\n5,0\n7,1\n");
  folder.write("val.csv", "a,y\n4,0\n");
  TableEncoder yes, no, told;
  EXPECT_EQ(load_features({folder.path(), {}, false}, {}, yes, 1)
                .validation->columns()
                .at("inputs")
                .item<float>(),
            0);
  folder.write("dataset.json", R"({"format":"fovea-dataset","version":1,"standardise":"no"})");
  EXPECT_EQ(load_features({folder.path(), {}, false}, {}, no, 1)
                .validation->columns()
                .at("inputs")
                .item<float>(),
            4);
  FeaturesDataOptions options;
  options.table.standardise = "yes";
  EXPECT_EQ(load_features({folder.path(), {}, false}, options, told, 1)
                .validation->columns()
                .at("inputs")
                .item<float>(),
            0);
}

TEST(FeaturesData, ASplitColumnIsNoInput) {
  const TemporaryFolder folder;
  const auto path = folder.write("t.csv", "a,split,y\n1,train,0\n2,train,1\n3,val,1\n4,test,0\n");
  TableEncoder encoder;
  const Splits splits = load_features({path, {}, false}, {}, encoder, 1);
  EXPECT_EQ(encoder.layout().columns, Names{"a"});
  EXPECT_EQ(splits.test->size(), 1);
}

TEST(FeaturesData, BadTruthAndBadOptions) {
  const TemporaryFolder folder;
  folder.write("train.csv", "a,y\n1,0\n3,1\n5,0\n7,1\n");
  folder.write("val.csv", "a,y\n4,0\n");
  folder.write("dataset.json", R"({"format":"fovea-dataset","version":1,"truth":{"columns":5}})");
  TableEncoder encoder, other;
  expect_error(ErrorKind::BadData, {"dataset.json", "truth"}, [&] {
    load_features({folder.path(), {}, false}, {}, encoder, 1);
  });
  FeaturesDataOptions options;
  options.table.target = "z";
  expect_error(ErrorKind::NotFound, {"'y'", "'z'"}, [&] { load_features({}, options, other, 1); });
  options = {};
  options.table.target_kind = "number";
  expect_error(ErrorKind::InvalidArgument, {"two classes", "number"},
               [&] { load_features({}, options, other, 1); });
}

TEST(FeaturesData, OptionsAreDescribedOnce) {
  FeaturesDataOptions options;
  OptionList list;
  list.group("data", options);
  list.set("data.noise", "3");
  list.set("data.max_categories", "7");
  list.set("data.drop", "a,b");
  EXPECT_EQ(options.generator.noise, 3);
  EXPECT_EQ(options.table.max_categories, 7);
  EXPECT_EQ(options.table.drop, (Names{"a", "b"}));
  expect_error(ErrorKind::InvalidArgument, {"data.law", "triangle"},
               [&] { list.set("data.law", "triangle"); });
}

}  // namespace
}  // namespace fovea::tables::load_test
