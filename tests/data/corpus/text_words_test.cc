#include "fovea/data/corpus/text_words.h"

#include "tests/data/testing.h"

#ifdef FOVEA_WITH_ICU

namespace fovea::text_words_test {
namespace {

/// All words in order, with "|" where a text ends.
std::string read(const std::vector<std::string>& files) {
  WordSequences words;
  int64_t steps = 0;
  add_texts(files, words, [&] { ++steps; });
  EXPECT_EQ(steps, int64_t(files.size()));
  std::vector<std::string> all;
  const std::vector<int32_t>& numbers = words.numbers();
  for (size_t i = 2; i < numbers.size(); ++i)
    if (numbers[i] != WordSequences::kGap)
      all.push_back(words.words()[size_t(numbers[i])]);
    else if (numbers[i - 1] != WordSequences::kGap)
      all.push_back("|");
  return join(all, " ");
}

TEST(TextWords, LinesAndColumnsAreCutIntoWords) {
  const TemporaryFolder folder;
  const std::string lines = folder.write("a.txt", "Emma's cat, it isn’t.\n\nA 'b' '' c\n").string(),
                    table = folder.write("b.tsv", "id\ttext\n1\tMr. Ada\n2\tso\n").string(),
                    rows = folder.write("c.jsonl", "{\"text\": \"x\\ny\"}\n").string();
  EXPECT_EQ(read({lines}), "Emma ' s cat , it isn ’ t . | A ' b ' ' ' c |");
  EXPECT_EQ(read({table, rows}), "Mr . Ada | so | x | y |");
  EXPECT_EQ(read({}), "");
}

TEST(TextWords, FilesThatHoldNoTextAreNamed) {
  const TemporaryFolder folder;
  WordSequences words;
  expect_error(ErrorKind::NotFound, "none.txt",
               [&] { add_texts({(folder / "none.txt").string()}, words); });
  expect_error(ErrorKind::BadData, "empty.txt",
               [&] { add_texts({folder.write("empty.txt", "\n").string()}, words); });
  expect_error(ErrorKind::BadData, "bad.txt:2",
               [&] { add_texts({folder.write("bad.txt", "a\nb\xff\n").string()}, words); });
  expect_error(ErrorKind::NotFound, "text",
               [&] { add_texts({folder.write("t.csv", "a,b\n1,2\n").string()}, words); });
}

}  // namespace
}  // namespace fovea::text_words_test

#endif
