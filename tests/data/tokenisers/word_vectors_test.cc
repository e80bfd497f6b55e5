#include "fovea/data/tokenisers/word_vectors.h"

#include <ATen/ATen.h>

#include "tests/data/testing.h"

namespace fovea::word_vectors_test {
namespace {

const Vocabulary kVocabulary(std::vector<std::string>{"good", "bad", "film", ". ."});

WordVectors read(const std::string& content, const std::string& name = "vectors.txt") {
  const TemporaryFolder folder;
  return read_word_vectors(folder.write(name, content), kVocabulary);
}

std::vector<float> row(const WordVectors& vectors, const std::string& word) {
  const at::Tensor own = vectors.vectors[kVocabulary.id(word)].contiguous();
  return {own.data_ptr<float>(), own.data_ptr<float>() + own.numel()};
}

TEST(WordVectors, GloveAndWord2Vec) {
  const std::string lines = "the 1 1 1\ngood 0.5 -1e-2 3\nbad 4 5 6 \r\n";
  for (const std::string& content : {lines, "3 3\n" + lines, lines + "\n"}) {
    const WordVectors vectors = read(content);
    EXPECT_EQ(vectors.size(), 3);
    EXPECT_EQ(vectors.found, 2);
    EXPECT_EQ(row(vectors, "good"), (std::vector<float>{0.5f, -0.01f, 3}));
    EXPECT_EQ(row(vectors, "bad"), (std::vector<float>{4, 5, 6}));
    EXPECT_EQ(vectors.known.sum().item<int64_t>(), 2);
    EXPECT_FALSE(vectors.known[kVocabulary.id("film")].item<bool>());
    EXPECT_NE(vectors.note.find("2 of 4 words found, 2 missing"), std::string::npos)
        << vectors.note;
  }
}

TEST(WordVectors, TheFirstCountsAndWordsMayHoldBlanks) {
  const WordVectors vectors = read("good 1 2\ngood 3 4\n. . 5 6\n<unk> 7 8\n");
  EXPECT_EQ(row(vectors, "good"), (std::vector<float>{1, 2}));
  EXPECT_EQ(row(vectors, ". ."), (std::vector<float>{5, 6}));
  EXPECT_FALSE(vectors.known[Vocabulary::kUnknown].item<bool>());
}

void refused(const std::vector<std::string>& words, const std::string& content) {
  expect_error(ErrorKind::BadData, words, [&] { read(content); });
}

TEST(WordVectors, RefusesWhatIsNoVectors) {
  refused({"vectors.txt:2", "2 fields", "3 numbers"}, "good 1 2 3\nbad 1\n");
  refused({"vectors.txt:2", "'x'", "3 numbers"}, "the 1 2 3\ngood 1 x 3\n");
  refused({"vectors.txt:1", "'nan'"}, "good 1 nan\n");
  refused({"vectors.txt:1", "'1e999'"}, "good 1 1e999\n");
  refused({"holds no word vectors"}, "");
  refused({"holds no word vectors"}, "2 3\n");
  refused({"vectors.txt:1", "0 numbers"}, "word\n");
  refused({"vectors.txt:1", "99999999999 numbers"}, "1 99999999999\n");
  refused({"ends after 1 words", "3"}, "3 2\ngood 1 2\n");
  refused({"ends after 1 words", "9,223,372,036,854,775,807"}, "9223372036854775807 2\ngood 1 2\n");
  refused({"vectors.txt:2", "3 fields", "10000 numbers"}, "1 10000\ngood 1 2\n");
  refused({"vectors.txt:3", "2 fields"}, "2 2\ngood 1 2\nbad 1");
  refused({"none of its 1 words", "data.lowercase"}, "Good 1 2\n");
  refused({"vectors.txt:1", "more than 1,000,000 bytes"}, std::string(3'000'000, 'x'));
  expect_error(ErrorKind::NotFound, "no such file",
               [] { read_word_vectors("/no/such/file", kVocabulary); });
  const TemporaryFolder folder;
  expect_error(ErrorKind::Io, "folder", [&] { read_word_vectors(folder.path(), kVocabulary); });
}

TEST(WordVectors, TheirSizeBecomesTheEmbeddings) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.write("v.vec", "1 3\ngood 1 2 3\n");
  std::vector<std::string> notes;
  int64_t embedding = 50;
  EXPECT_EQ(read_first_vectors(path, kVocabulary, {embedding, 50}, notes).size(), 3);
  EXPECT_EQ(embedding, 3);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_NE(notes[1].find("model.embedding is 3"), std::string::npos) << notes[1];
  read_first_vectors(path, kVocabulary, {embedding, 50}, notes);
  EXPECT_EQ(notes.size(), 3u) << "it is that already";
  embedding = 8;
  expect_error(ErrorKind::InvalidArgument, {"v.vec", "3 numbers", "model.embedding=8"}, [&] {
    read_first_vectors(path, kVocabulary, {embedding, 50}, notes);
  });
}

TEST(WordVectors, LongFilesAreReadPieceByPiece) {
  std::string content;
  for (int i = 0; i < 60000; ++i) content += concat("word", i, " 1 2 3 4\n");
  const WordVectors vectors = read(content + "film 5 6 7 8");
  EXPECT_EQ(row(vectors, "film"), (std::vector<float>{5, 6, 7, 8}));
}

}  // namespace
}  // namespace fovea::word_vectors_test
