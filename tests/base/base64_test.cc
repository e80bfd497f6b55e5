#include "fovea/base/base64.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/expect_error.h"

namespace fovea::base64_test {
namespace {

using testing::expect_error;

void expect_refused(const std::string& text, const std::string& words) {
  expect_error(ErrorKind::BadData, {"chunks[3]: not base64", words},
               [&] { base64_decode(text, "chunks[3]"); });
}

TEST(Base64, TheTestVectorsOfTheStandard) {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(base64_encode(bytes), text);
    EXPECT_EQ(base64_decode(text, "test"), bytes);
  }
}

TEST(Base64, EveryByteAndEveryCharacterOfTheAlphabet) {
  std::string bytes;
  for (int high = 0; high < 256; ++high) bytes += {static_cast<char>(high), '\xFB', '\xFF'};
  const std::string text = base64_encode(bytes);
  for (const char c : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    EXPECT_TRUE(c == '\0' || text.find(c) != std::string::npos) << c;
  EXPECT_EQ(base64_decode(text, "test"), bytes);
  EXPECT_EQ(base64_encode("\xFB\xFF\xBF"), "+/+/");
}

TEST(Base64, AnyBytesComeBack) {
  std::mt19937 engine(1);
  for (size_t size = 0; size < 300; ++size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(engine());
    const std::string text = base64_encode(bytes);
    EXPECT_EQ(text.size(), (size + 2) / 3 * 4);
    EXPECT_EQ(base64_decode(text, "test"), bytes) << size;
  }
}

TEST(Base64, EveryForeignCharacterIsRefusedWithItsPlace) {
  const std::string good = "Zm9vYmFyZm9vYg==";
  for (size_t at = 0; at < good.size() - 2; ++at)
    for (const char foreign : {' ', '\n', '-', '_', '=', '\0', '\xC3', '.'}) {
      std::string bad = good;
      bad[at] = foreign;
      expect_refused(bad, concat("byte ", at, " is 0x"));
    }
  expect_refused("Zm9v=mFy", "which may stand only at the end");
  expect_refused("Zm9vYg=A", "byte 6 is 0x3D");
  expect_refused("Zm9v====", "byte 4 is 0x3D");
  expect_refused("Zm9vY===", "byte 5 is 0x3D");
  expect_refused("====", "byte 0 is 0x3D");
}

TEST(Base64, PaddingIsNeededAndNothingIsThrownAway) {
  for (const char* cut : {"Z", "Zg", "Zg=", "Zm9vYg=", "Zm9vYg", "Zm9vYmFyZ"})
    expect_refused(cut, concat("it has ", std::string(cut).size(), " characters"));
  expect_refused("Zh==", "byte 1 ('h') has bits that belong to no byte");
  expect_refused("Zm9=", "byte 2 ('9') has bits that belong to no byte");
}

}  // namespace
}  // namespace fovea::base64_test
