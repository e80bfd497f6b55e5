#include "fovea/data/packing.h"

#include "tests/data/wordpiece_samples.h"

namespace fovea::packing_test {
namespace {

/// Pieces with the numbers begin … begin+size-1, which stand for themselves.
Pieces numbered(int64_t begin, int64_t size) {
  Pieces pieces;
  for (int64_t i = 0; i < size; ++i) {
    pieces.ids.push_back(begin + i);
    pieces.spans.push_back({10 * i, 10 * i + 1});
    pieces.words.push_back(i / 2);
  }
  return pieces;
}

PackingOptions options(int64_t longest, const std::string& too_long = "cut", int64_t overlap = 1) {
  PackingOptions made;
  made.longest = longest;
  made.too_long = too_long;
  made.overlap = overlap;
  return made;
}

TEST(Packing, OneText) {
  const Pieces text = numbered(100, 3);
  const PackedInputs packed = pack_texts(small_wordpiece(), text, nullptr, {});
  ASSERT_EQ(packed.inputs.size(), 1u);
  const PackedInput& input = packed.inputs[0];
  EXPECT_EQ(input.ids, (Ids{2, 100, 101, 102, 3}));
  EXPECT_EQ(input.segments, (Ids{0, 0, 0, 0, 0}));
  EXPECT_EQ(input.words, (Ids{-1, 0, 0, 1, -1}));
  EXPECT_EQ(input.spans[0].begin, -1);
  EXPECT_EQ(input.spans[3].begin, 20);
  EXPECT_EQ(input.spans[4].end, -1);
  EXPECT_EQ(input.size(), 5);
}

TEST(Packing, Pairs) {
  const Pieces first = numbered(100, 2), second = numbered(200, 3), none;
  const PackedInputs packed = pack_texts(small_wordpiece(), first, &second, {});
  EXPECT_EQ(packed.inputs[0].ids, (Ids{2, 100, 101, 3, 200, 201, 202, 3}));
  EXPECT_EQ(packed.inputs[0].segments, (Ids{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(packed.cut, (std::array<int64_t, 2>{0, 0}));
  EXPECT_EQ(pack_texts(small_wordpiece(), none, &none, {}).inputs[0].ids, (Ids{2, 3, 3}));
  EXPECT_EQ(pack_texts(small_wordpiece(), none, nullptr, {}).inputs[0].ids, (Ids{2, 3}));
}

TEST(Packing, CutsTheLongerOneFirst) {
  const WordPiece tokeniser = small_wordpiece();
  for (int64_t first = 0; first <= 9; ++first)
    for (int64_t second = 0; second <= 9; ++second)
      for (int64_t room = 1; room <= 12; ++room) {
        int64_t left_first = first, left_second = second;
        while (left_first + left_second > room)
          --(left_first > left_second ? left_first : left_second);
        const Pieces one = numbered(100, first), two = numbered(200, second);
        const PackedInputs packed = pack_texts(tokeniser, one, &two, options(room + 3));
        EXPECT_EQ(packed.cut, (std::array<int64_t, 2>{first - left_first, second - left_second}))
            << first << " " << second << " " << room;
        EXPECT_EQ(packed.inputs[0].size(), left_first + left_second + 3);
      }
  const Pieces text = numbered(100, 9);
  const PackedInputs packed = pack_texts(tokeniser, text, nullptr, options(5));
  EXPECT_EQ(packed.inputs[0].ids, (Ids{2, 100, 101, 102, 3}));
  EXPECT_EQ(packed.cut[0], 6);
}

TEST(Packing, WindowsShareTheirOverlap) {
  const Pieces text = numbered(100, 6);
  const PackedInputs packed = pack_texts(small_wordpiece(), text, nullptr, options(5, "windows"));
  ASSERT_EQ(packed.inputs.size(), 3u);
  EXPECT_EQ(packed.inputs[0].ids, (Ids{2, 100, 101, 102, 3}));
  EXPECT_EQ(packed.inputs[1].ids, (Ids{2, 102, 103, 104, 3}));
  EXPECT_EQ(packed.inputs[2].ids, (Ids{2, 104, 105, 3}));
  EXPECT_EQ(packed.inputs[2].first_piece[0], 4);
  EXPECT_EQ(packed.inputs[1].spans[1].begin, 20);
  EXPECT_EQ(packed.cut[0], 0);
  // What fits is one input, and the last window never repeats what the one before it ended with.
  EXPECT_EQ(
      pack_texts(small_wordpiece(), numbered(0, 3), nullptr, options(5, "windows")).inputs.size(),
      1u);
  EXPECT_EQ(
      pack_texts(small_wordpiece(), numbered(0, 5), nullptr, options(5, "windows")).inputs.size(),
      2u);
}

TEST(Packing, WindowsOverTheLongerOfTwo) {
  const WordPiece tokeniser = small_wordpiece();
  const Pieces question = numbered(100, 2), text = numbered(200, 5);
  const PackedInputs packed = pack_texts(tokeniser, question, &text, options(8, "windows"));
  ASSERT_EQ(packed.inputs.size(), 2u);
  EXPECT_EQ(packed.inputs[0].ids, (Ids{2, 100, 101, 3, 200, 201, 202, 3}));
  EXPECT_EQ(packed.inputs[1].ids, (Ids{2, 100, 101, 3, 202, 203, 204, 3}));
  EXPECT_EQ(packed.inputs[1].first_piece, (std::array<int64_t, 2>{0, 2}));
  const PackedInputs turned = pack_texts(tokeniser, text, &question, options(8, "windows"));
  EXPECT_EQ(turned.inputs[1].ids, (Ids{2, 202, 203, 204, 3, 100, 101, 3}));
  expect_error(ErrorKind::BadData, {"shorter text has 4 pieces", "overlap of 1"}, [&] {
    const Pieces both = numbered(100, 4);
    pack_texts(tokeniser, both, &text, options(8, "windows"));
  });
}

TEST(Packing, RefusesWhatItIsToldTo) {
  const WordPiece tokeniser = small_wordpiece();
  const Pieces text = numbered(100, 4);
  EXPECT_NO_THROW(pack_texts(tokeniser, text, nullptr, options(6, "refuse")));
  expect_error(ErrorKind::BadData, {"4 pieces", "more than the 3", "windows"},
               [&] { pack_texts(tokeniser, text, nullptr, options(5, "refuse")); });
  expect_error(ErrorKind::InvalidArgument, {"'fold'"},
               [&] { pack_texts(tokeniser, text, nullptr, options(5, "fold")); });
  expect_error(ErrorKind::InvalidArgument, {"2 positions"},
               [&] { pack_texts(tokeniser, text, nullptr, options(2)); });
  expect_error(ErrorKind::InvalidArgument, {"overlap of 3"},
               [&] { pack_texts(tokeniser, text, nullptr, options(5, "windows", 3)); });
  expect_error(ErrorKind::InvalidArgument, {"overlap of -1"},
               [&] { pack_texts(tokeniser, text, nullptr, options(5, "cut", -1)); });
}

}  // namespace
}  // namespace fovea::packing_test
