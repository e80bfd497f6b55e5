#include "fovea/data/speech/synthetic.h"

#include <cmath>
#include <set>

#include "tests/data/testing.h"

namespace fovea {
namespace {

TonesOptions small() {
  TonesOptions options;
  options.rows = 30;
  options.validation_rows = 10;
  options.test_rows = 10;
  return options;
}

TEST(Tones, MelodiesAreDifferentAndHaveTheirNotes) {
  const TonesDraw draw = draw_tones(small(), 8000);
  ASSERT_EQ(draw.train.size(), 30u);
  ASSERT_EQ(draw.test.size(), 10u);
  std::set<std::string> seen;
  for (const auto* part : {&draw.train, &draw.validation, &draw.test})
    for (const DrawnMelody& melody : *part) {
      EXPECT_TRUE(seen.insert(melody.transcript).second) << melody.transcript;
      const auto names = word_spans(melody.transcript);
      ASSERT_EQ(melody.words.size(), names.size());
      EXPECT_GE(names.size(), 3u);
      EXPECT_LE(names.size(), 8u);
      int64_t before = 0;
      for (size_t i = 0; i < names.size(); ++i) {
        EXPECT_EQ(melody.words[i].bytes.begin, names[i].begin);
        EXPECT_GT(melody.words[i].begin, before);
        EXPECT_GT(melody.words[i].end, melody.words[i].begin);
        before = melody.words[i].end;
      }
      EXPECT_LE(before, int64_t(melody.sound.samples.size()));
    }
}

TEST(Tones, NotesAreLoudAndGapsAreNot) {
  const DrawnMelody melody = draw_tones(small(), 8000).test[0];
  const auto loudness = [&](int64_t begin, int64_t end) {
    double sum = 0;
    for (int64_t i = begin; i < end; ++i)
      sum += std::pow(double(melody.sound.samples[size_t(i)]) / 32768, 2);
    return std::sqrt(sum / double(end - begin));
  };
  EXPECT_LT(loudness(0, melody.words[0].begin), 0.02);
  for (const SpokenWord& word : melody.words) EXPECT_GT(loudness(word.begin, word.end), 0.03);
}

TEST(Tones, TheSeedAloneDecides) {
  TonesOptions more = small(), other = small();
  more.rows = 40;
  other.seed = 2;
  const auto samples = [](const TonesOptions& options) {
    return draw_tones(options, 8000).test[3].sound.samples;
  };
  EXPECT_EQ(samples(small()), samples(more)) << "the small parts stay the same";
  EXPECT_NE(samples(small()), samples(other));
}

TEST(Tones, WhatCannotBeDrawnIsRefused) {
  TonesOptions options = small();
  options.shortest = 9;
  expect_error(ErrorKind::InvalidArgument, "data.shortest=9", [&] { draw_tones(options, 8000); });
  options.shortest = options.longest = 1;
  expect_error(ErrorKind::InvalidArgument, "no more different", [&] { draw_tones(options, 8000); });
}

}  // namespace
}  // namespace fovea
