#include "fovea/metrics/characters.h"

#include <gtest/gtest.h>

#include "tests/metrics/translation_samples.h"

namespace fovea::characters_test {
namespace {

TEST(Characters, AnyTextComesBackFromItsCodePoints) {
  const std::string text = "aß東🙂\xC3\x28\xFF\xE2\x82 \xED\xA0\x80\xF4\x90\x80\x80z";
  EXPECT_EQ(utf8(code_points(text)), text);
  EXPECT_EQ(utf8(code_points("")), "");
}

TEST(Characters, WhiteSpaceIsThatOfUnicode) {
  const auto expected = translation_golden("white_space").get<std::vector<int64_t>>();
  std::vector<int64_t> found;
  for (int64_t character = 0; character < 0x110000; ++character)
    if (is_white_space(character)) found.push_back(character);
  EXPECT_EQ(found, expected);
}

TEST(Characters, LowersTheScriptsItSpeaksOf) {
  const auto expected = translation_golden("lowered").get<std::vector<int64_t>>();
  std::vector<int64_t> found;
  for (const auto& [first, end] : {std::pair{0, 0x180}, {0x386, 0x3CF}, {0x400, 0x530}})
    for (int64_t character = first; character < end; ++character)
      found.push_back(lowered(character));
  EXPECT_EQ(found, expected);
  EXPECT_EQ(lowered(0x10400), 0x10400);  // Deseret is none of them
}

TEST(Characters, WordsAreSplitAtAnyWhiteSpace) {
  const auto words = split_words(code_points("\u3000a\u00A0 b\u2028c\t"));
  ASSERT_EQ(words.size(), 3u);
  EXPECT_EQ(utf8(words[0]), "a");
  EXPECT_EQ(utf8(words[2]), "c");
  EXPECT_TRUE(split_words(code_points(" \n")).empty());
}

}  // namespace
}  // namespace fovea::characters_test
