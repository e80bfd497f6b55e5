#include "fovea/explain/draw/direction.h"

#include <gtest/gtest.h>

namespace fovea {
namespace {

TEST(Direction, OtherTextComesBackAsItIs) {
  for (const char* text : {"", "Saturday (9 May)", "größer", "日本語", "12.5 %"})
    EXPECT_EQ(visual_order(text), text);
}

TEST(Direction, HebrewIsTurnedRound) {
  EXPECT_EQ(visual_order("שלום"), "םולש");
  EXPECT_EQ(visual_order("see שלום here"), "see םולש here");
}

TEST(Direction, ArabicLettersTakeTheFormThatJoins) {
  // kaf initial, teh medial, alef final, beh isolated: alef joins nothing after it
  EXPECT_EQ(visual_order("كتاب"), "\uFE8F\uFE8E\uFE98\uFEDB");
  EXPECT_EQ(visual_order("في"), "\uFEF2\uFED3");
  EXPECT_EQ(visual_order("ء"), "\uFE80");
  EXPECT_EQ(visual_order("گپ"), "\uFB57\uFB94");  // two Persian letters
}

TEST(Direction, LamAndAlefAreOneLetter) {
  EXPECT_EQ(visual_order("لا"), "\uFEFB");
  EXPECT_EQ(visual_order("سلام"), "\uFEE1\uFEFC\uFEB3");
  EXPECT_EQ(visual_order("الأ"), "\uFEF7\uFE8D");
}

TEST(Direction, MarksStayOnTheirLetter) {
  EXPECT_EQ(visual_order("بَت"), "\uFE96\uFE91\u064E");
}

TEST(Direction, NumbersKeepTheirOrderAndBracketsTurn) {
  EXPECT_EQ(visual_order("של 12.5"), "12.5 לש");
  EXPECT_EQ(visual_order("א (ב) ג"), "ג (ב) א");
  EXPECT_EQ(visual_order("א 2018 ב"), "ב 2018 א");
}

}  // namespace
}  // namespace fovea
