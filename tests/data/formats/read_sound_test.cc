#include "fovea/data/formats/read_sound.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "tests/data/testing.h"

namespace fovea::read_sound_test {
namespace {

/// Numbers with the lowest byte first.
std::string little(uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += char(number >> (8 * i) & 0xff);
  return text;
}

/// A WAV file of any kind: format 1 whole numbers, 3 floating ones.
std::string wav(int format, int channels, int rate, int bits, const std::string& data) {
  const int frame = channels * bits / 8;
  return "RIFF" + little(36 + data.size(), 4) + "WAVEfmt " + little(16, 4) +
         little(uint64_t(format), 2) + little(uint64_t(channels), 2) + little(uint64_t(rate), 4) +
         little(uint64_t(rate * frame), 4) + little(uint64_t(frame), 2) +
         little(uint64_t(bits), 2) + "data" + little(data.size(), 4) + data;
}

class ReadSound : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_read_sounds()) GTEST_SKIP() << "FOVEA_WITH_SNDFILE=OFF: this build reads no sounds";
  }
};

TEST_F(ReadSound, WhatWasWrittenIsReadBack) {
  const std::vector<int16_t> samples{0, 1, -1, 32767, -32768, 1234};
  const Sound sound = decode_sound(encode_wav(samples, 8000), "a.wav");
  EXPECT_EQ(sound.samples, samples);
  EXPECT_EQ(sound.rate, 8000);
  const TemporaryFolder folder;
  EXPECT_EQ(read_sound(folder.write("a", encode_wav(samples, 8000))).samples, samples)
      << "the name says nothing";
}

TEST_F(ReadSound, ChannelsAreAveraged) {
  const std::string data = little(1000, 2) + little(3000, 2) + little(500, 2) + little(500, 2);
  EXPECT_EQ(decode_sound(wav(1, 2, 8000, 16, data), "a.wav").samples,
            (std::vector<int16_t>{2000, 500}));
}

TEST_F(ReadSound, FortyEightKilohertzBecomeEight) {
  std::vector<int16_t> samples;
  for (int i = 0; i < 48000; ++i)
    samples.push_back(int16_t(10000 * std::sin(2 * std::numbers::pi * 300 * i / 48000)));
  const Sound sound = decode_sound(encode_wav(samples, 48000), "a.wav");
  ASSERT_EQ(sound.samples.size(), 8000u);
  for (int i = 200; i < 7800; ++i)
    ASSERT_NEAR(sound.samples[size_t(i)], 10000 * std::sin(2 * std::numbers::pi * 300 * i / 8000),
                15);
}

TEST_F(ReadSound, OtherDepthsAreRead) {
  EXPECT_EQ(decode_sound(wav(1, 1, 8000, 8, std::string("\x80\xc0", 2)), "a.wav").samples,
            (std::vector<int16_t>{0, 16384}));
  EXPECT_EQ(decode_sound(wav(1, 1, 8000, 24, little(0x400000, 3)), "a.wav").samples,
            (std::vector<int16_t>{16384}));
  const std::string half = little(std::bit_cast<uint32_t>(-0.5f), 4);
  EXPECT_EQ(decode_sound(wav(3, 1, 8000, 32, half), "a.wav").samples,
            (std::vector<int16_t>{-16384}));
}

TEST_F(ReadSound, SilenceIsASound) {
  EXPECT_EQ(decode_sound(encode_wav(std::vector<int16_t>(80, 0), 8000), "a.wav").samples,
            std::vector<int16_t>(80, 0));
}

TEST_F(ReadSound, WhatIsNoSoundIsRefused) {
  expect_error(ErrorKind::BadData, {"a.wav", "no samples"},
               [] { decode_sound(encode_wav({}, 8000), "a.wav"); });
  expect_error(ErrorKind::BadData, {"a.wav", "is empty"}, [] { decode_sound("", "a.wav"); });
  expect_error(ErrorKind::BadData, {"a.wav", "is no sound"},
               [] { decode_sound("a text of some length that is no sound", "a.wav"); });
  const std::string nan =
      little(std::bit_cast<uint32_t>(std::numeric_limits<float>::quiet_NaN()), 4);
  expect_error(ErrorKind::BadData, {"sample 0", "not a finite number"},
               [&] { decode_sound(wav(3, 1, 8000, 32, nan), "a.wav"); });
  expect_error(ErrorKind::BadData, {"a.wav", "samples a second"},
               [] { decode_sound(encode_wav(std::vector<int16_t>{1}, 100), "a.wav"); });
  expect_error(ErrorKind::NotFound, "no such file", [] { read_sound("/nowhere/a.wav"); });
}

TEST_F(ReadSound, SizesAreCheckedBeforeAnythingIsAllocated) {
  ReadSoundOptions options;
  options.longest = 0.01;
  const std::vector<int16_t> samples(81, 5);
  expect_error(ErrorKind::BadData, {"data.longest_sound"},
               [&] { decode_sound(encode_wav(samples, 8000), "a.wav", options); });
  options.largest_file = 100;
  expect_error(ErrorKind::BadData, {"206 bytes", "100"},
               [&] { decode_sound(encode_wav(samples, 8000), "a.wav", options); });
}

TEST_F(ReadSound, EveryCutOffFileIsRefused) {
  const std::string whole = encode_wav(std::vector<int16_t>(50, 700), 8000);
  for (size_t size = 0; size < whole.size(); ++size)
    expect_error(ErrorKind::BadData, "a.wav",
                 [&] { decode_sound(whole.substr(0, size), "a.wav"); });
  expect_error(ErrorKind::BadData, "after 7 of 100 bytes of sound",
               [&] { decode_sound(whole.substr(0, 51), "a.wav"); });
}

TEST_F(ReadSound, AFileWrittenIntoAPipeKnowsNoSize) {
  std::string streamed = encode_wav(std::vector<int16_t>(50, 700), 8000);
  streamed.replace(40, 4, "\xff\xff\xff\xff");
  streamed.replace(4, 4, "\xff\xff\xff\xff");
  EXPECT_EQ(decode_sound(streamed, "a.wav").samples.size(), 50u);
}

}  // namespace
}  // namespace fovea::read_sound_test
