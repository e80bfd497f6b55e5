#include "fovea/data/sequences/load.h"

#include "fovea/tensor/torch.h"
#include "tests/data/same_splits.h"
#include "tests/data/testing.h"

namespace fovea::sequences::load_test {
namespace {

TEST(ContextData, TheWrittenFolderGivesTheSameTensors) {
  const TemporaryFolder folder;
  write_context_data(folder.path(), {});
  ContextEncoder built_in, from_files;
  const Splits left = load_context({}, {}, built_in, 1);
  const Splits right = load_context({folder.path(), {}, false}, {}, from_files, 2);
  EXPECT_EQ(left.train->size(), 10000);
  EXPECT_EQ(left.validation->size(), 2000);
  expect_same_splits(left, right);
  EXPECT_EQ(built_in.to_json(), from_files.to_json());
  for (const int64_t row : {0, 1, 2, 3, 4, 5, 6, 7}) {
    const Example example = left.train->example(row);
    const at::Tensor truth = example.truth.at("attention");
    EXPECT_EQ(example.tensors.at("inputs").masked_select(truth[0]).item<float>(),
              example.tensors.at("target").item<float>());
  }
}

TEST(ContextData, AFileOfTheUsersAndARestoredEncoder) {
  const TemporaryFolder folder;
  const auto path = folder.write(
      "t.csv", "who,split,a,b,y\np,train,1,2,1\nq,train,3,4,4\np,val,5,6,5\nq,test,7,8,8\n");
  ContextEncoder encoder;
  const Splits splits = load_context({path, {{"context", {"who"}}}, false}, {}, encoder, 1);
  EXPECT_EQ(encoder.layout().positions, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(splits.test->size(), 1);
  EXPECT_TRUE(splits.train->example(0).truth.empty());
  ContextEncoder restored = ContextEncoder::from_json(encoder.to_json());
  const auto other = folder.write("o.csv", "b,a,who,y\n1,2,q,1\n");
  EXPECT_EQ(load_context({other, {}, true}, {}, restored, 1)
                .test->columns()
                .at("context")
                .item<int64_t>(),
            1);
  expect_error(ErrorKind::NotFound, {"built-in data", "no column"},
               [&] { load_context({}, {}, restored, 1); });
}

TEST(ContextData, BadTruthAndRoles) {
  const TemporaryFolder folder;
  folder.write("train.csv", "context,a,y\np,1,1\nq,3,4\n");
  folder.write("val.csv", "context,a,y\np,1,1\n");
  folder.write(
      "dataset.json",
      R"({"format":"fovea-dataset","version":1,"task":"context","truth":{"map":{"p":3}}})");
  ContextEncoder encoder;
  expect_error(ErrorKind::BadData, {"dataset.json", "map"}, [&] {
    load_context({folder.path(), {}, false}, {}, encoder, 1);
  });
  ContextEncoder other;
  expect_error(ErrorKind::InvalidArgument, {"'drop'", "position"}, [&] {
    load_context({folder.path(), {{"drop", {"a"}}}, false}, {}, other, 1);
  });
}

TEST(ContextData, OptionsAreDescribedOnce) {
  ContextDataOptions options;
  OptionList list;
  list.group("data", options);
  list.set("data.positions", "3");
  list.set("data.position_columns", "a,b");
  EXPECT_EQ(options.generator.positions, 3);
  EXPECT_EQ(options.rows.position_columns.size(), 2u);
}

}  // namespace
}  // namespace fovea::sequences::load_test
