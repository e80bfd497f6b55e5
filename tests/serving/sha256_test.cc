#include "fovea/serving/sha256.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace fovea::serving::sha256_test {
namespace {

std::string hexadecimal(const Digest& digest) {
  std::string text;
  char pair[3];
  for (const uint8_t byte : digest) {
    std::snprintf(pair, sizeof pair, "%02x", byte);
    text += pair;
  }
  return text;
}

// The examples of FIPS 180-4 and its companion, and lengths around the end of a block.
TEST(Sha256, KnownDigests) {
  EXPECT_EQ(hexadecimal(sha256("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hexadecimal(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hexadecimal(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hexadecimal(sha256(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(hexadecimal(sha256(std::string(55, 'x'))),
            "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
  EXPECT_EQ(hexadecimal(sha256(std::string(64, 'x'))),
            "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
}

TEST(Sha256, SecretsAreTheSameOrNot) {
  EXPECT_TRUE(same_secret("key", "key"));
  EXPECT_TRUE(same_secret("", ""));
  EXPECT_FALSE(same_secret("key", "kez"));
  EXPECT_FALSE(same_secret("key", "keyy"));
  EXPECT_FALSE(same_secret("key", ""));
}

}  // namespace
}  // namespace fovea::serving::sha256_test
