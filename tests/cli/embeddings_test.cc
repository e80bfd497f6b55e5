// fovea embeddings: vocabularies and rows as points.
#include <gtest/gtest.h>

#include "tests/cli/program_test.h"

namespace fovea::embeddings_test {
namespace {

using testing::fovea;
using testing::Outcome;

class EmbeddingsCommand : public testing::TextProgramTest {
 protected:
  void train(std::vector<std::string> words) {
    words.insert(words.begin(), "train");
    for (const char* word : {"--epochs", "1", "--quiet", "--out"}) words.emplace_back(word);
    words.push_back(run);
    const Outcome outcome = fovea(words);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
  }
  void train_dates() {
    train({"dates", "--set", "data.rows=60", "--set", "data.validation_rows=8", "--set",
           "model.hidden=8", "--set", "model.embedding=8"});
  }
  static bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  std::string run = path("run");
};

TEST_F(EmbeddingsCommand, ShowsAVocabulary) {
  train_dates();
  const Outcome json = fovea({"embeddings", run, "--of", "target", "--json"});
  ASSERT_EQ(json.status, 0) << json.err;
  const Json points = json.json();
  EXPECT_EQ(points["format"], "fovea-embeddings");
  EXPECT_EQ(points["name"], "target");
  EXPECT_EQ(points["numbers"], 8);
  const size_t count = points["labels"].size();
  EXPECT_EQ(points["of"], count);
  EXPECT_EQ(points["points"].size(), count);
  ASSERT_EQ(points["neighbours"].size(), count);
  EXPECT_EQ(points["neighbours"][0].size(), 10u);
  EXPECT_GE(points["neighbours"][0][0][1].get<double>(),
            points["neighbours"][0][9][1].get<double>());
  for (const Json& neighbour : points["neighbours"][5]) EXPECT_NE(neighbour[0], 5) << "itself";
  EXPECT_GE(points["explained"][0].get<double>(), points["explained"][1].get<double>());

  const Outcome text = fovea({"embeddings", run, "--most", "12", "--nearest", "0", "--of", "target",
                              "--out", path("p.tsv")});
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_TRUE(holds(text.out, "target: the first 12 of")) << text.out;
  EXPECT_TRUE(holds(text.out, "nearest to 0")) << text.out;
  EXPECT_TRUE(read_file(path("p.tsv")).starts_with("label\tpc1\tpc2\n"));
  ASSERT_EQ(fovea({"embeddings", run, "--out", path("p.html")}).status, 0);
  EXPECT_TRUE(holds(read_file(path("p.html")), "\"fovea-embeddings\""));
}

TEST_F(EmbeddingsCommand, ShowsNodesByTheirLastLayer) {
  train({"graph", "--set", "data.nodes=200", "--set", "data.train_each=10", "--set",
         "data.validation_nodes=20", "--set", "data.test_nodes=20", "--set", "model.hidden=4",
         "--set", "model.heads=2"});
  const Outcome json = fovea({"embeddings", run, "--json"});
  ASSERT_EQ(json.status, 0) << json.err;
  EXPECT_EQ(json.json()["name"], "rows");
  EXPECT_EQ(json.json()["labels"].size(), 20u);
  EXPECT_EQ(json.json()["groups"].size(), 20u);
}

TEST_F(EmbeddingsCommand, ShowsTextsOfADataSet) {
  train({"pretrain", "--set", "data.rows=40", "--set", "data.validation_rows=8", "--set",
         "model.hidden=8", "--set", "model.heads=2"});
  const Outcome json = fovea({"embeddings", run, "--of", "rows", "--split", "train", "--json"});
  ASSERT_EQ(json.status, 0) << json.err;
  EXPECT_EQ(json.json()["numbers"], 8);
  EXPECT_GT(json.json()["labels"].size(), 8u);
}

TEST_F(EmbeddingsCommand, SaysWhatThereIsNot) {
  train_dates();
  const auto refusal = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"embeddings", run});
    const Outcome outcome = fovea(words);
    EXPECT_EQ(outcome.status, 1);
    return outcome.err;
  };
  EXPECT_TRUE(holds(refusal({"--of", "sauce"}), "source, target")) << refusal({"--of", "sauce"});
  EXPECT_TRUE(holds(refusal({"--of", "rows"}), "three classes")) << refusal({"--of", "rows"});
  EXPECT_TRUE(holds(refusal({"--nearest", "nobody"}), "there is no 'nobody'"));
  EXPECT_TRUE(holds(refusal({"--out", path("p.docx")}), ".html, .json or .tsv"));
}

}  // namespace
}  // namespace fovea::embeddings_test
