#include "fovea/data/speech/sound.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/base64.h"
#include "fovea/base/text.h"
#include "fovea/data/media_input.h"
#include "fovea/data/speech/spoken_word.h"
#include "tests/data/testing.h"

namespace fovea::sound_test {
namespace {

TEST(Sound, NumbersBecomeTheNearestSample) {
  EXPECT_EQ(sample_of(0), 0);
  EXPECT_EQ(sample_of(0.5), 16384);
  EXPECT_EQ(sample_of(-1), -32768);
  EXPECT_EQ(sample_of(1), 32767);
  EXPECT_EQ(sample_of(7), 32767);
  EXPECT_EQ(sample_of(1.6 / 32768), 2);
}

TEST(Sound, AWavFileHasItsHeader) {
  const std::vector<int16_t> samples{1, -2, 300};
  const std::string wav = encode_wav(samples, 16000);
  ASSERT_EQ(wav.size(), 44u + 6u);
  EXPECT_EQ(wav.substr(0, 4), "RIFF");
  EXPECT_EQ(wav.substr(8, 8), "WAVEfmt ");
  EXPECT_EQ(wav.substr(36, 4), "data");
  EXPECT_EQ(wav.substr(44), std::string("\x01\x00\xfe\xff\x2c\x01", 6));
}

TEST(Sound, WordsLieBetweenBlanks) {
  const std::vector<Span> spans = word_spans(" one  two ");
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].begin, 1);
  EXPECT_EQ(spans[0].end, 4);
  EXPECT_EQ(spans[1].begin, 6);
  EXPECT_EQ(spans[1].end, 9);
  EXPECT_TRUE(word_spans("  ").empty());
}

TEST(SoundInput, WhatIsGivenComesBack) {
  if (!can_read_sounds()) GTEST_SKIP() << "FOVEA_WITH_SNDFILE=OFF: this build reads no sounds";
  const Sound sound{{5, -6, 7000, 0}, 8000};
  const Json input = sound_input(sound);
  EXPECT_EQ(sound_of_input(input.dump(), {}).samples, sound.samples);
  EXPECT_EQ(sound_of_input(input["audio"].get<std::string>(), {}).samples, sound.samples);
  EXPECT_EQ(sound_of_input(sound_input(sound, "a name").dump(), {}).samples, sound.samples);
}

TEST(SoundInput, WhatIsNoSoundIsRefused) {
  for (const std::string line : {"seven.wav", "{\"audio\": \"/etc/hostname\"}", "{\"audio\": 7}",
                                 "{\"sound\": \"data:audio/wav;base64,\"}"})
    expect_error(ErrorKind::BadData, "data:audio/wav;base64", [&] { sound_of_input(line, {}); });
  expect_error(ErrorKind::BadData, "input", [] { sound_of_input("data:audio/wav;base64,é", {}); });
  if (!can_read_sounds()) return;
  expect_error(ErrorKind::BadData, "is no sound", [] {
    sound_of_input("data:audio/wav;base64," + base64_encode("a text that calls itself one"), {});
  });
  expect_error(ErrorKind::BadData, "input: two one.wav: holds no samples", [] {
    sound_of_input(sound_input({{}, 8000}, "two one.wav").dump(), {});
  });
  ReadSoundOptions small;
  small.largest_file = 20;
  expect_error(ErrorKind::BadData, "more than 20 bytes", [&] {
    sound_of_input(sound_input({{1, 2, 3}, 8000}).dump(), small);
  });
}

}  // namespace
}  // namespace fovea::sound_test
