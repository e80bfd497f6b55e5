#include "fovea/explain/draw/direction.h"

#include <gtest/gtest.h>

namespace fovea::direction_test {
namespace {

TEST(Direction, OtherTextComesBackAsItIs) {
  for (const char* text : {"", "Saturday (9 May)", "größer", "日本語", "12.5 %"})
    EXPECT_EQ(visual_order(text), text);
}

/// Texts that only ICU orders and shapes.
class RightToLeft : public ::testing::Test {
  void SetUp() override {
    if (visual_order("אב") == "אב") GTEST_SKIP() << "this build has no ICU";
  }
};

TEST_F(RightToLeft, HebrewIsTurnedRound) {
  EXPECT_EQ(visual_order("שלום"), "םולש");
  EXPECT_EQ(visual_order("see שלום here"), "see םולש here");
}

TEST_F(RightToLeft, ArabicLettersTakeTheFormThatJoins) {
  // kaf initial, teh medial, alef final, beh isolated: alef joins nothing after it
  EXPECT_EQ(visual_order("كتاب"), "\uFE8F\uFE8E\uFE98\uFEDB");
  EXPECT_EQ(visual_order("في"), "\uFEF2\uFED3");
  EXPECT_EQ(visual_order("ء"), "ء");              // joins nothing
  EXPECT_EQ(visual_order("گپ"), "\uFB57\uFB94");  // two Persian letters
}

TEST_F(RightToLeft, LamAndAlefAreOneLetter) {
  EXPECT_EQ(visual_order("لا"), "\uFEFB");
  EXPECT_EQ(visual_order("سلام"), "\uFEE1\uFEFC\uFEB3");
  EXPECT_EQ(visual_order("الأ"), "\uFEF7\uFE8D");
}

TEST_F(RightToLeft, MarksStayOnTheirLetter) {
  EXPECT_EQ(visual_order("بَت"), "\uFE96\uFE91\u064E");
}

TEST_F(RightToLeft, NumbersKeepTheirOrderAndBracketsTurn) {
  EXPECT_EQ(visual_order("של 12.5"), "12.5 לש");
  EXPECT_EQ(visual_order("א (ב) ג"), "ג (ב) א");
  EXPECT_EQ(visual_order("א 2018 ב"), "ב 2018 א");
}

TEST_F(RightToLeft, TheFirstStrongLetterGivesTheBase) {
  EXPECT_EQ(visual_order("שלום abc"), "abc םולש");
  EXPECT_EQ(visual_order("abc שלום, 3 x"), "abc 3 ,םולש x");
  EXPECT_EQ(visual_order("1. שלום"), "םולש .1");
}

TEST(Direction, WhatIsNotUtf8DoesNoHarm) {
  EXPECT_NO_THROW(visual_order("a\xFF\xD7"));
}

}  // namespace
}  // namespace fovea::direction_test
