#include "fovea/data/graph/reader.h"

#include "fovea/data/source.h"
#include "tests/data/testing.h"

namespace fovea::graph::reader_test {
namespace {

/// A small graph; single files are overwritten by the tests.
class GraphReader : public ::testing::Test {
 protected:
  void SetUp() override {
    folder.write("edges.tsv", "a\tb\nb\tc\n");
    folder.write("features.tsv", "a\t3 17\nb\t17:0.5 red\nc\t\nd\n");
    folder.write("labels.tsv", "a\tx\nb\ty\nd\tx\n");
    folder.write("split.tsv", "a\ttrain\nb\tTest\nc\tunused\nd\tdev\n");
  }
  ReadGraph read() const { return read_graph(folder.path()); }
  void refuse(const std::string& file, const std::string& content,
              const std::vector<std::string>& words) const {
    const std::string before = read_file(folder / file);
    folder.write(file, content);
    expect_error(ErrorKind::BadData, words, [&] { read(); });
    folder.write(file, before);
  }
  TemporaryFolder folder;
};

TEST_F(GraphReader, ReadsAllFourFiles) {
  const ReadGraph graph = read();
  EXPECT_EQ(graph.names, (std::vector<std::string>{"a", "b", "c", "d"}));
  EXPECT_EQ(graph.edges, (std::vector<std::pair<int64_t, int64_t>>{{0, 1}, {1, 2}}));
  EXPECT_EQ(graph.labels, (std::vector<std::string>{"x", "y", "", "x"}));
  EXPECT_EQ(graph.splits, (std::vector<int>{kTrain, kTest, -1, kValidation}));
  EXPECT_FALSE(graph.features.dense);
  EXPECT_EQ(graph.features.columns, (std::vector<std::string>{"3", "17", "red"}));
  EXPECT_EQ(graph.features.begin, (std::vector<int64_t>{0, 2, 4, 4, 4}));
  EXPECT_EQ(graph.features.index, (std::vector<int64_t>{0, 1, 1, 2}));
  EXPECT_EQ(graph.features.value, (std::vector<float>{1, 1, 0.5, 1}));
  EXPECT_EQ(graph.hash, read().hash);
  folder.write("split.tsv", "a\ttrain\n");
  EXPECT_NE(graph.hash, read().hash);
}

TEST_F(GraphReader, HeadersCommentsAndCsv) {
  std::filesystem::remove(folder / "features.tsv");
  std::filesystem::remove(folder / "edges.tsv");
  folder.write("features.csv",
               "node,height,\"weight, in kg\"\na,1,2.5\r\nb,-3,4e2\n\nc,0,0\nd,1,1\n");
  folder.write("edges.csv", "# from somewhere\nsource,target\na,b\n");
  folder.write("labels.tsv", "node\tclass\na\tx\nb\ty\n");
  const ReadGraph graph = read();
  EXPECT_TRUE(graph.features.dense);
  EXPECT_EQ(graph.features.columns, (std::vector<std::string>{"height", "weight, in kg"}));
  EXPECT_EQ(graph.features.value, (std::vector<float>{1, 2.5, -3, 400, 0, 0, 1, 1}));
  EXPECT_EQ(graph.edges.size(), 1u);
  EXPECT_EQ(graph.labels[0], "x");
}

TEST_F(GraphReader, AHeaderTellsOneDenseColumnFromSparseFeatures) {
  folder.write("features.tsv", "node\theight\na\t3\nb\t4\nc\t5\nd\t6\n");
  EXPECT_TRUE(read().features.dense);
  folder.write("features.tsv", "node\tfeatures\na\t3\nb\t4\nc\t5\nd\t6\n");
  EXPECT_FALSE(read().features.dense);
  EXPECT_EQ(read().features.columns.size(), 4u);
  folder.write("features.tsv", "a\t3\t1\nb\t4\t1\nc\t5\t1\nd\t6\t1\n");
  EXPECT_TRUE(read().features.dense);
}

TEST_F(GraphReader, RepeatedFeaturesOfANodeAddUp) {
  folder.write("features.tsv", "a\t3 1 3 3:0.5\nb\t1\nc\t\nd\t\n");
  const ReadGraph graph = read();
  EXPECT_EQ(graph.features.index, (std::vector<int64_t>{0, 1, 1}));
  EXPECT_EQ(graph.features.value, (std::vector<float>{2.5, 1, 1}));
}

TEST_F(GraphReader, WithoutFeaturesAllNamesAreNodes) {
  std::filesystem::remove(folder / "features.tsv");
  std::filesystem::remove(folder / "split.tsv");
  const ReadGraph graph = read();
  EXPECT_EQ(graph.names, (std::vector<std::string>{"a", "b", "c", "d"}));
  EXPECT_TRUE(graph.features.columns.empty());
  EXPECT_TRUE(graph.splits.empty());
}

TEST_F(GraphReader, SelfLoopsAndRepeatedEdgesAreRead) {
  folder.write("edges.tsv", "a\ta\na\tb\nb\ta\na\tb\n");
  EXPECT_EQ(read().edges.size(), 4u) << "what they mean is decided later";
  folder.write("edges.tsv", "");
  EXPECT_TRUE(read().edges.empty());
}

TEST_F(GraphReader, RefusesWhatDoesNotFit) {
  refuse("edges.tsv", "a\tb\na\tz\n", {"edges.tsv:2", "'z'", "features.tsv"});
  refuse("edges.tsv", "a\tb\t0.5\na\tb\n", {"edges.tsv:2", "2 cells", "1 numbers"});
  refuse("edges.tsv", "a\tb\tnear\n", {"edges.tsv:1", "'near'"});
  refuse("labels.tsv", "a\t0\t1\nb\t1\n", {"labels.tsv:2", "1 labels"});
  refuse("labels.tsv", "a\t0\t2\n", {"labels.tsv:1", "'2'"});
  refuse("edges.tsv", "a\n", {"edges.tsv:1", "1 cells"});
  refuse("edges.tsv", "a\t\n", {"edges.tsv:1"});
  refuse("edges.tsv", "\tb\n", {"edges.tsv:1", "first cell is empty"});
  refuse("labels.tsv", "z\tx\n", {"labels.tsv:1", "'z'"});
  refuse("labels.tsv", "a\tx\na\ty\n", {"labels.tsv:2", "second time", "'x'"});
  refuse("split.tsv", "a\ttraining set\n", {"split.tsv:1", "training set", "unused"});
  refuse("features.tsv", "a\t1\na\t2\n", {"features.tsv:2", "second time"});
  refuse("features.tsv", "a\t1\nb\t1\t2\n", {"features.tsv:2", "3 cells"});
  refuse("features.tsv", "a\t1\t2\nb\t1\n", {"features.tsv:2", "1 numbers, expected 2"});
  refuse("features.tsv", "a\t1\t2\nb\t1\tred\n", {"features.tsv:2", "'red'"});
  refuse("features.tsv", "a\t1\t2\nb\t1\tnan\n", {"features.tsv:2", "'nan'"});
  refuse("features.tsv", "a\t1:1e99\n", {"features.tsv:1", "1e99"});
  refuse("features.tsv", "\n\n", {"holds no node"});
  refuse("labels.tsv", "a\t\xff\n", {"labels.tsv:1", "UTF-8"});
}

TEST_F(GraphReader, RefusesFoldersThatAreNoGraph) {
  folder.write("edges.csv", "a,b\n");
  expect_error(ErrorKind::BadData, {"edges.tsv", "edges.csv", "remove one"}, [&] { read(); });
  std::filesystem::remove(folder / "edges.csv");
  std::filesystem::remove(folder / "edges.tsv");
  expect_error(ErrorKind::NotFound, "edges.tsv", [&] { read(); });
  expect_error(ErrorKind::NotFound, "no such folder", [&] { read_graph(folder / "nowhere"); });
  expect_error(ErrorKind::BadData, "a graph is a folder",
               [&] { read_graph(folder / "labels.tsv"); });
}

}  // namespace
}  // namespace fovea::graph::reader_test
