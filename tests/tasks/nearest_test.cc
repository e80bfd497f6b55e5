#include "fovea/tasks/nearest.h"

#include <gtest/gtest.h>
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea::nearest_test {
namespace {

using testing::expect_error;

TEST(Nearest, NeighboursAreSortedAndTiesStayInOrder) {
  const at::Tensor corpus = torch::tensor({{1., 0.}, {0., 1.}, {1., 0.}, {-1., 0.}}, torch::kFloat);
  const at::Tensor queries = torch::tensor({{1., 0.}, {0.6, 0.8}}, torch::kFloat);
  const auto found = nearest_neighbours(queries, corpus, 3);
  ASSERT_EQ(found.size(), 2u);
  ASSERT_EQ(found[0].size(), 3u);
  EXPECT_EQ(found[0][0].index, 0);
  EXPECT_EQ(found[0][1].index, 2) << "equal: the earlier one first";
  EXPECT_EQ(found[0][2].index, 1);
  EXPECT_EQ(found[1][0].index, 1);
  EXPECT_NEAR(found[1][0].cosine, 0.8, 1e-6);
  EXPECT_EQ(nearest_neighbours(queries, corpus, 10)[0].size(), 4u) << "no more than there are";
}

TEST(Nearest, RecallCountsTheRightTextsAmongTheNearest) {
  const SearchCorpus corpus{{"a", "b", "c", "d"}, {1, 2, 4, 5}, {}};
  // Found, as numbers: 2 1 / 5 4 / 1 2
  const std::vector<std::vector<Neighbour>> found = {
      {{1, 0.9}, {0, 0.8}}, {{3, 0.9}, {2, 0.8}}, {{0, 0.9}, {1, 0.8}}};
  const std::vector<std::vector<int64_t>> relevant = {{2, 4}, {4}, {}};
  const Metrics metrics = measure_retrieval(found, corpus, relevant, 2);
  ASSERT_EQ(metrics.size(), 3u);
  EXPECT_EQ(metrics[0].name, "recall_at_1");
  EXPECT_DOUBLE_EQ(metrics[0].value, 0.25);  // half of the first, none of the second
  EXPECT_EQ(metrics[1].name, "recall_at_2");
  EXPECT_DOUBLE_EQ(metrics[1].value, 0.75);  // half, all
  EXPECT_DOUBLE_EQ(metrics[2].value, 0.75);  // ranks 1 and 2
  EXPECT_TRUE(measure_retrieval(found, corpus, std::vector<std::vector<int64_t>>(3), 2).empty());
  expect_error(ErrorKind::BadData, {"input 1", "3", "not in the corpus"}, [&] {
    measure_retrieval(found, corpus, std::vector<std::vector<int64_t>>{{3}, {}, {}}, 2);
  });
}

TEST(Nearest, RelevantNumbersComeFromTheInput) {
  EXPECT_EQ(relevant_of(R"({"text": "x", "relevant": [17, 3, 3]})"), (std::vector<int64_t>{3, 17}));
  EXPECT_TRUE(relevant_of("a text").empty());
  EXPECT_TRUE(relevant_of(R"({"text": "x"})").empty());
  for (const char* bad : {"0", "[0]", "[1.5]", "\"3\"", "[\"3\"]"})
    expect_error(ErrorKind::BadData, "relevant",
                 [&] { relevant_of(std::string(R"({"text": "x", "relevant": )") + bad + "}"); });
}

TEST(Nearest, ACorpusIsLinesOrAColumn) {
  testing::TemporaryFolder folder;
  const SearchCorpus lines = read_search_corpus(folder.write("a.txt", "one\n\n{two}\r\n"), {});
  EXPECT_EQ(lines.texts, (std::vector<std::string>{"one", "{two}"}));
  EXPECT_EQ(lines.numbers, (std::vector<int64_t>{1, 3})) << "as an editor counts them";
  const SearchCorpus column = read_search_corpus(
      folder.write("a.csv", "id,review\n7,one\n8,\"two, too\"\n"), {{"text", {"review"}}});
  EXPECT_EQ(column.texts, (std::vector<std::string>{"one", "two, too"}));
  EXPECT_EQ(column.numbers, (std::vector<int64_t>{1, 2}));
  expect_error(ErrorKind::BadData, "no text",
               [&] { read_search_corpus(folder.write("b.txt", "\n\n"), {}); });
  expect_error(ErrorKind::InvalidArgument, "no columns", [&] {
    read_search_corpus(folder / "a.txt", {{"text", {"x"}}});
  });
}

}  // namespace
}  // namespace fovea::nearest_test
