#include "fovea/data/tokenisers/text_vectors.h"

#include <ATen/ATen.h>

#include <cmath>

#include "fovea/tensor/parallel.h"
#include "tests/data/testing.h"

namespace fovea::text_vectors_test {
namespace {

/// Persons and places have the same neighbours among themselves, and others than each other.
WordSequences names() {
  const std::vector<std::string> persons{"Ada", "Rolf", "Emma", "Nils"},
      places{"Oslo", "Bonn", "Lima", "Rome"};
  WordSequences texts;
  for (size_t i = 0; i < 200; ++i) {
    texts.add({"then", "Mr", persons[i % 4], "said", "so"});
    texts.add({"a", "street", "in", places[i / 4 % 4], ",", "where"});
  }
  texts.add({"rare"});
  return texts;
}

double likeness(const TextVectors& vectors, const std::string& one, const std::string& other) {
  const at::Tensor neighbours = vectors.vectors.narrow(1, 0, kNeighbourNumbers);
  const at::Tensor a = neighbours[vectors.words.id(one)], b = neighbours[vectors.words.id(other)];
  return (a * b).sum().item<double>() / double(kNeighbourNumbers);
}

TEST(TextVectors, WordsWithTheSameNeighboursAreAlike) {
  const TextVectors vectors = learn_text_vectors(names(), Random(0));
  for (const std::string person : {"Ada", "Rolf", "Emma"}) {
    EXPECT_GT(likeness(vectors, person, "Nils"), 0.9) << person;
    EXPECT_LT(likeness(vectors, person, "Rome"), 0.3) << person;
  }
  EXPECT_GT(likeness(vectors, "Oslo", "Lima"), 0.9);
  EXPECT_EQ(vectors.words.id("rare"), Vocabulary::kUnknown);
  EXPECT_EQ(vectors.vectors.sizes(), (std::vector<int64_t>{vectors.words.size(), kTextVectorSize}));
  EXPECT_EQ(vectors.vectors.narrow(0, 0, Vocabulary::kSpecial).abs().sum().item<double>(), 0);
  EXPECT_TRUE(vectors.vectors.isfinite().all().item<bool>());
  EXPECT_NEAR(likeness(vectors, "Ada", "Ada"), 1, 1e-4) << "unit variance";
}

TEST(TextVectors, NeighboursCountByTheirPosition) {
  WordSequences texts;
  for (int i = 0; i < 50; ++i) {
    texts.add({"left", "x", "right"});
    texts.add({"right", "y", "left"});
    texts.add({"left", "z", "right"});
  }
  const TextVectors vectors = learn_text_vectors(texts, Random(0));
  EXPECT_GT(likeness(vectors, "x", "z"), 0.9);
  EXPECT_LT(likeness(vectors, "x", "y"), 0.3);
}

TEST(TextVectors, AreTheSameAtAnyNumberOfThreads) {
  const int64_t before = threads();
  int64_t steps = 0;
  set_threads(1);
  const TextVectors one = learn_text_vectors(names(), Random(5), [&] { ++steps; });
  set_threads(3);
  const TextVectors three = learn_text_vectors(names(), Random(5));
  set_threads(before);
  EXPECT_TRUE(one.vectors.equal(three.vectors));
  EXPECT_EQ(steps, kTextVectorSteps);
}

TEST(TextVectors, SayHowAWordIsWritten) {
  WordSequences texts;
  for (int i = 0; i < 3; ++i) texts.add({"Emma", "emma", "Emma", "EMMA"});
  const TextVectors vectors = learn_text_vectors(texts, Random(0));
  for (const std::string word : {"Emma", "emma", "EMMA"}) {
    const at::Tensor own =
        vectors.vectors[vectors.words.id(word)].narrow(0, kNeighbourNumbers, kCaseNumbers);
    EXPECT_NEAR(own[0].item<double>(), std::log(13.) / 8, 1e-5) << word;
    EXPECT_NEAR(own[1].item<double>(), 3 / 13., 1e-5) << word;
    EXPECT_NEAR(own[2].item<double>(), 6 / 13., 1e-5) << word;
  }
}

TEST(TextVectors, NeedText) {
  WordSequences texts;
  expect_error(ErrorKind::BadData, "need more text", [&] { learn_text_vectors(texts, Random(0)); });
  texts.add({"once", "only"});
  texts.add({});
  EXPECT_EQ(texts.size(), 2);
  expect_error(ErrorKind::BadData, "the texts have 2 words",
               [&] { learn_text_vectors(texts, Random(0)); });
  for (int i = 0; i < 3; ++i) texts.add({"alone"});  // never a neighbour
  const TextVectors vectors = learn_text_vectors(texts, Random(0));
  EXPECT_EQ(vectors.words.size(), Vocabulary::kSpecial + 1);
  EXPECT_TRUE(vectors.vectors.isfinite().all().item<bool>());
}

TEST(TextVectors, AWordIsFoundInOtherForms) {
  const Vocabulary words(std::vector<std::string>{"paris", "Oslo", "the", "The", "#hash"});
  const auto found = [&](const std::string& word) {
    const int64_t id = TextVectors::find(words, word);
    return Vocabulary::is_special(id) ? "" : words.token(id);
  };
  EXPECT_EQ(found("The"), "The");
  EXPECT_EQ(found("THE"), "the");
  EXPECT_EQ(found("PARIS"), "paris");
  EXPECT_EQ(found("oslo"), "Oslo");
  EXPECT_EQ(found("#hash"), "#hash");
  EXPECT_EQ(found("#OSLO"), "Oslo");
  EXPECT_EQ(found("@@paris"), "paris");
  for (const std::string word : {"", "#", "Lima", "<unk>"}) EXPECT_EQ(found(word), "") << word;
}

}  // namespace
}  // namespace fovea::text_vectors_test
