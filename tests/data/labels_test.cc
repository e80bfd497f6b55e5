#include "fovea/data/labels.h"

#include "fovea/data/source.h"
#include "tests/data/testing.h"

namespace fovea::labels_test {
namespace {

constexpr LabelWords kWords{"text", "label", "NAME"};

TEST(LabelSet, KnowsWhatTrainingNeverSees) {
  LabelSet labels(kWords);
  labels.add("b", kTrain);
  labels.add("a", kTrain);
  labels.add("c", kValidation);
  EXPECT_EQ(labels.all(), (std::set<std::string>{"a", "b", "c"}));
  EXPECT_EQ(labels.trained(), (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(labels.notes(), std::vector<std::string>{"no training text has the label 'c'"});
}

TEST(LabelSet, TooManyAreRefused) {
  LabelSet labels(kWords);
  expect_error(ErrorKind::BadData, {"labels have more than 1000", "'1000'", "--columns label=NAME"},
               [&] {
                 for (int i = 0; i < 2000; ++i) labels.add(std::to_string(i), kTrain);
               });
}

TEST(Labels, NumbersAreThoseOfTheRun) {
  EXPECT_EQ(label_index("yes", {"no", "yes"}, kTest, kWords), 1);
  expect_error(ErrorKind::BadData, {"a test text has the label 'new'", "no, yes"}, [] {
    label_index("new", {"no", "yes"}, kTest, kWords);
  });
}

TEST(Decisive, IsReadBackAsItWasWritten) {
  const TemporaryFolder folder;
  EXPECT_TRUE(read_decisive(folder.path(), "[a, b]").empty());
  write_description(folder.path(), "tag", {});
  EXPECT_TRUE(read_decisive(folder.path(), "[a, b]").empty());
  const Decisive decisive{{"a good one", {{0, 1}, {2, 10}}}, {"plain", {}}};
  write_description(folder.path(), "tag", {}, {{"truth", decisive_json(decisive)}});
  Decisive expected = decisive;
  expected.erase("plain");  // nothing is known of it
  EXPECT_EQ(read_decisive(folder.path(), "[a, b]"), expected);
  EXPECT_TRUE(read_decisive(folder / "dataset.json", "[a, b]").empty()) << "a file has none";
}

TEST(Decisive, OfVeryManyTexts) {
  const TemporaryFolder folder;
  std::string texts;
  for (int i = 0; i < 20'000; ++i) texts += concat(i == 0 ? "" : ",", "\"text ", i, "\":[[0,1]]");
  folder.write("dataset.json", concat(R"({"format":"fovea-dataset","version":1,"truth":)",
                                      R"({"decisive":{)", texts, "}}}"));
  EXPECT_EQ(read_decisive(folder.path(), "[a, b]").size(), 20'000u);
}

TEST(Decisive, OtherShapesAreRefused) {
  const TemporaryFolder folder;
  for (const Json& truth : {Json{{"links", 1}}, Json{{"decisive", {{"text", {1, 2}}}}},
                            Json{{"decisive", {{"t", 3}}}}}) {
    write_description(folder.path(), "tag", {}, {{"truth", truth}});
    expect_error(ErrorKind::BadData, {"dataset.json", "[word, word that decides]"},
                 [&] { read_decisive(folder.path(), "[word, word that decides]"); });
  }
}

}  // namespace
}  // namespace fovea::labels_test
