#include "fovea/data/speech/synthetic.h"

#include <cmath>
#include <set>

#include "fovea/data/speech/spoken_word.h"
#include "tests/data/testing.h"

namespace fovea::speech::synthetic_test {
namespace {

SyntheticSpeechOptions small() {
  SyntheticSpeechOptions options;
  options.rows = 30;
  options.validation_rows = 10;
  options.test_rows = 10;
  return options;
}

TEST(SyntheticSpeech, MelodiesAreDifferentAndHaveTheirNotes) {
  const auto draw = draw_speech(small(), 8000);
  ASSERT_EQ(draw.train.size(), 30);
  ASSERT_EQ(draw.test.size(), 10);
  std::set<std::string> seen;
  for (int split = 0; split < kSplitCount; ++split)
    for (const Utterance& melody : draw[split]) {
      EXPECT_TRUE(seen.insert(melody.transcript).second) << melody.transcript;
      EXPECT_TRUE(melody.sounds.empty()) << "there are no files";
      const size_t names = word_spans(melody.transcript).size();
      ASSERT_EQ(melody.boundaries.size(), names);
      EXPECT_GE(names, 3u);
      EXPECT_LE(names, 8u);
      double before = 0;
      for (const auto& [begin, end] : melody.boundaries) {
        EXPECT_GT(begin, before);
        EXPECT_GT(end, begin);
        before = end;
      }
      EXPECT_LE(before, melody.drawn.seconds());
    }
}

TEST(SyntheticSpeech, NotesAreLoudAndGapsAreNot) {
  const Utterance melody = draw_speech(small(), 8000).test[0];
  const auto loudness = [&](double first, double last) {
    const auto begin = std::lround(first * 8000), end = std::lround(last * 8000);
    double sum = 0;
    for (auto i = begin; i < end; ++i)
      sum += std::pow(double(melody.drawn.samples[size_t(i)]) / 32768, 2);
    return std::sqrt(sum / double(end - begin));
  };
  EXPECT_LT(loudness(0, melody.boundaries[0].first), 0.02);
  for (const auto& [begin, end] : melody.boundaries) EXPECT_GT(loudness(begin, end), 0.03);
}

TEST(SyntheticSpeech, TheSeedAloneDecides) {
  SyntheticSpeechOptions more = small(), other = small();
  more.rows = 40;
  other.seed = 2;
  const auto samples = [](const SyntheticSpeechOptions& options) {
    return draw_speech(options, 8000).test[3].drawn.samples;
  };
  EXPECT_EQ(samples(small()), samples(more)) << "the small splits stay the same";
  EXPECT_NE(samples(small()), samples(other));
}

TEST(SyntheticSpeech, WhatCannotBeDrawnIsRefused) {
  SyntheticSpeechOptions options = small();
  options.shortest = 9;
  expect_error(ErrorKind::InvalidArgument, "data.shortest=9", [&] { draw_speech(options, 8000); });
  options.shortest = options.longest = 1;
  expect_error(ErrorKind::InvalidArgument, "no more different",
               [&] { draw_speech(options, 8000); });
}

}  // namespace
}  // namespace fovea::speech::synthetic_test
