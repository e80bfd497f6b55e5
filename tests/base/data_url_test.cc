#include "fovea/base/data_url.h"

#include <gtest/gtest.h>

#include "fovea/base/base64.h"

namespace fovea::data_url_test {
namespace {

TEST(DataUrl, WhatIsPutTogetherComesApart) {
  const std::string url = data_url("audio/wav", "é two;one,%.wav", "bytes");
  EXPECT_EQ(url, "data:audio/wav;name=%C3%A9%20two%3Bone%2C%25.wav;base64,Ynl0ZXM=");
  const auto parts = split_data_url(url);
  ASSERT_TRUE(parts.has_value());
  EXPECT_EQ(parts->type, "audio/wav");
  EXPECT_EQ(parts->name, "é two;one,%.wav");
  EXPECT_EQ(base64_decode(parts->base64, "test"), "bytes");
  EXPECT_EQ(data_url("audio/wav", "", ""), "data:audio/wav;base64,");
}

TEST(DataUrl, WhatIsNoneIsNothing) {
  for (const char* text : {"", "data:", "data:audio/wav,x", "xdata:a;base64,", "file.wav"})
    EXPECT_FALSE(split_data_url(text).has_value()) << text;
  const auto bare = split_data_url("data:;base64,");
  ASSERT_TRUE(bare.has_value());
  EXPECT_EQ(bare->type + bare->name, "");
}

TEST(DataUrl, ANameThatIsNoLineStaysEncoded) {
  const auto name = [](const std::string& encoded) {
    return split_data_url("data:a;name=" + encoded + ";base64,")->name;
  };
  for (const char* encoded : {"a%0Ab", "%FF", "%1b[31m"}) EXPECT_EQ(name(encoded), encoded);
  EXPECT_EQ(name("100%"), "100%");
  EXPECT_EQ(name("%4"), "%4");
  EXPECT_EQ(name("%zz%41"), "%zzA");
  EXPECT_EQ(name("a;charset=x"), "a");
}

TEST(DataUrl, EscapesStandForBytes) {
  EXPECT_EQ(percent_decode("%41b%2f%2F+"), "Ab//+");
  EXPECT_EQ(percent_decode("%00%ff"), std::string("\0\xff", 2));
  for (const char* text : {"", "%", "%4", "%zz", "%+1", "% 1", "%-1"})
    EXPECT_EQ(percent_decode(text), text);
}

}  // namespace
}  // namespace fovea::data_url_test
