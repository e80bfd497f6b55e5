// Files that want to do harm: each is refused with an Error, without a crash and without a large
// allocation.
#include <gtest/gtest.h>
#include <fstream>
#include <random>

#include "fovea/base/file.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/hostile_files.h"
#include "tests/support/temporary_folder.h"
#include "tests/tensor/raw_safetensors.h"

namespace fovea::safetensors_hostile_test {
namespace {

using namespace testing;

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return "{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

/// One tensor "a" and eight bytes of data.
std::string one(const std::string& value) {
  return make_raw_safetensors("{\"a\":" + value + "}", "12345678");
}
std::string one(const std::string& shape, const std::string& offsets) {
  return one(entry("U8", shape, offsets));
}
/// Two tensors of bytes in eight bytes of data.
std::string two(const std::string& first, const std::string& second) {
  const auto bytes = [](const std::string& offsets) {
    return entry("U8",
                 "[" +
                     std::to_string(std::stoi(offsets.substr(offsets.find(',') + 1)) -
                                    std::stoi(offsets.substr(1))) +
                     "]",
                 offsets);
  };
  return make_raw_safetensors("{\"a\":" + bytes(first) + ",\"b\":" + bytes(second) + "}",
                              "12345678");
}
std::string with_length(uint64_t length, const std::string& rest) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i));
  return bytes + rest;
}
std::string dimensions(size_t count) {
  std::string shape = "[8";
  for (size_t i = 1; i < count; ++i) shape += ",1";
  return shape + "]";
}

std::vector<Hostile> broken_frames() {
  return {
      {"empty", "", "0 bytes"},
      {"seven bytes", std::string(7, '\0'), "7 bytes"},
      {"no header", with_length(0, ""), "begin with '{'"},
      {"header of 2^63 bytes", with_length(uint64_t{1} << 63, "{}"), "limit"},
      {"header of 2^64-1 bytes", with_length(~uint64_t{0}, "{}"), "limit"},
      {"header over the limit", with_length(100'000'001, "{}"), "limit"},
      {"header over the file", with_length(3, "{}"), "truncated"},
      {"header of nearly the limit", with_length(99'999'999, "{}"), "truncated"},
      {"not JSON", make_raw_safetensors("{not json}", ""), "not valid JSON"},
      {"cut JSON", make_raw_safetensors("{\"a\":", ""), "not valid JSON"},
      {"two values", make_raw_safetensors("{}{}", ""), "not valid JSON"},
      {"a list", make_raw_safetensors("[1, 2]", ""), "begin with '{'"},
      {"a space first", make_raw_safetensors(" {}", ""), "begin with '{'"},
      {"zeros after the header", make_raw_safetensors(std::string("{}\0\0", 4), ""), "zero byte"},
      {"a comment", make_raw_safetensors("{/**/}", ""), "not valid JSON"},
      {"bytes that are not UTF-8", make_raw_safetensors("{\"\xFF\":1}", ""), "not valid JSON"},
      {"too deep", make_raw_safetensors("{\"a\":{\"shape\":[[1]]}}", ""), "nested"},
      {"much too deep", make_raw_safetensors("{\"a\":" + std::string(1'000'000, '['), ""),
       "nested"},
      {"metadata that is no object", make_raw_safetensors(R"({"__metadata__":[1]})", ""),
       "__metadata__"},
      {"metadata with a number", make_raw_safetensors(R"({"__metadata__":{"a":1}})", ""),
       "texts only"},
      {"metadata with an object", make_raw_safetensors(R"({"__metadata__":{"a":{}}})", ""),
       "texts only"},
      {"two metadata of a name", make_raw_safetensors(R"({"__metadata__":{"a":"1","a":"2"}})", ""),
       "twice"},
      {"two metadata", make_raw_safetensors(R"({"__metadata__":{},"__metadata__":{}})", ""),
       "twice"},
      {"data without tensors", make_raw_safetensors("{}", "x"), "left over"}};
}

std::vector<Hostile> broken_entries() {
  const std::string good = entry("U8", "[8]", "[0,8]");
  return {
      {"a number for a tensor", one("7"), "exactly dtype"},
      {"no dtype", one(R"({"shape":[8],"data_offsets":[0,8]})"), "exactly dtype"},
      {"one key too many", one(R"({"dtype":"U8","shape":[8],"data_offsets":[0,8],"x":1})"),
       "exactly dtype"},
      {"dtype no text", one(R"({"dtype":8,"shape":[8],"data_offsets":[0,8]})"), "exactly dtype"},
      {"dtype twice", one(R"({"dtype":"F64","dtype":"U8","shape":[8],"data_offsets":[0,8]})"),
       "twice"},
      {"unknown dtype", one(entry("F128", "[1]", "[0,8]")), "F128", ErrorKind::Unsupported},
      {"dtype in small letters", one(entry("u8", "[8]", "[0,8]")), "u8", ErrorKind::Unsupported},
      {"two tensors of a name",
       make_raw_safetensors("{\"a\":" + good + ",\"a\":" + good + "}", "12345678"), "twice"},
      {"shape no list", one("8", "[0,8]"), "list"},
      {"shape with a text", one("[\"8\"]", "[0,8]"), "whole number"},
      {"shape with a fraction", one("[8.0]", "[0,8]"), "whole number"},
      {"negative dimension", one("[-8]", "[0,8]"), "whole number"},
      {"two negative dimensions", one("[-2,-4]", "[0,8]"), "whole number"},
      {"65 dimensions", one(dimensions(65), "[0,8]"), "at most 64"},
      {"2^62 x 4", one("[4611686018427387904,4]", "[0,8]"), "overflows"},
      {"2^62 x 4 of zero", one("[4611686018427387904,4,0]", "[0,0]"), "overflows"},
      {"zero of 2^62 x 4", one("[0,4611686018427387904,4]", "[0,0]"), "overflows"},
      {"2^63", one("[9223372036854775808]", "[0,8]"), "overflows"},
      {"2^32 x 2^32 x 8 bytes", one(entry("F64", "[4294967296,4294967296]", "[0,0]")), "overflows"},
      {"2^64", one("[18446744073709551616]", "[0,8]"), "whole number"},
      {"a petabyte", one("[1125899906842624]", "[0,1125899906842624]"), "leave the data"},
      {"a petabyte in eight bytes", one("[1125899906842624]", "[0,8]"), "need 1125899906842624"},
      {"begin after end", one("[8]", "[8,0]"), "leave the data"},
      {"end after the data", one("[9]", "[0,9]"), "truncated"},
      {"offsets no list", one("[8]", "8"), "two whole numbers"},
      {"three offsets", one("[8]", "[0,8,8]"), "two whole numbers"},
      {"negative offset", one("[8]", "[-0,8]"), "two whole numbers"},
      {"offsets with a fraction", one("[8]", "[0,8.0]"), "two whole numbers"},
      {"fewer bytes than the shape", one("[9]", "[0,8]"), "need 9 bytes"},
      {"more bytes than the shape", one("[7]", "[0,8]"), "need 7 bytes"},
      {"a hole at the beginning", one("[7]", "[1,8]"), "begins at byte 1"},
      {"a hole in the middle", two("[0,3]", "[4,8]"), "begins at byte 4"},
      {"an overlap", two("[0,5]", "[4,8]"), "begins at byte 4"},
      {"the same bytes twice", two("[0,8]", "[0,8]"), "begins at byte 0"},
      {"one inside the other", two("[0,8]", "[2,4]"), "begins at byte 2"},
      {"nothing in the middle of a tensor", two("[0,8]", "[4,4]"), "begins at byte 4"},
      {"bytes left over", one("[7]", "[0,7]"), "left over"},
      {"a BOOL of 2",
       make_raw_safetensors("{\"a\":" + entry("BOOL", "[2]", "[0,2]") + "}", "\x01\x02"), "BOOL"}};
}

std::vector<Hostile> hostile_files() {
  std::vector<Hostile> all = broken_frames();
  for (const Hostile& file : broken_entries()) all.push_back(file);
  return all;
}

/// Without AtomicFile, whose syncing would make thousands of files slow.
std::filesystem::path put(const TemporaryFolder& folder, const std::string& bytes) {
  std::ofstream(folder / "f", std::ios::binary) << bytes;
  return folder / "f";
}

TEST(HostileSafetensors, EachIsRefusedForItsOwnReason) {
  const TemporaryFolder folder;
  for (const Hostile& file : hostile_files()) {
    SCOPED_TRACE(file.what);
    const auto path = put(folder, file.bytes);
    expect_error(file.kind, {path.string(), file.says}, [&] { read_safetensors(path); });
  }
}

TEST(HostileSafetensors, TheHandmadeFilesAreFineWhenNothingIsWrong) {
  const TemporaryFolder folder;
  for (const std::string& bytes :
       {one("[8]", "[0,8]"), one(dimensions(64), "[0,8]"), two("[0,4]", "[4,8]"),
        two("[4,8]", "[0,4]"), two("[0,8]", "[8,8]"), two("[0,0]", "[0,8]")})
    EXPECT_NO_THROW(read_safetensors(put(folder, bytes)));
}

TEST(HostileSafetensors, NoneNeedsMuchMemory) {
  const TemporaryFolder folder;
  expect_refusals_need_little_memory(
      hostile_files(), [&](const std::string& bytes) { read_safetensors(put(folder, bytes)); });
}

Outcome outcome_of(const std::filesystem::path& path) {
  return outcome_of_reading([&] { return read_safetensors(path).tensors; });
}

std::string golden_bytes() {
  return read_file(std::string(FOVEA_TEST_FILES) + "/fixtures/core/golden.safetensors");
}

TEST(HostileSafetensors, EveryTruncationIsRefused) {
  const TemporaryFolder folder;
  const std::string whole = golden_bytes();
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(outcome_of(put(folder, whole.substr(0, size))), Outcome::Refused) << size;
  EXPECT_EQ(outcome_of(put(folder, whole)), Outcome::Read);
  EXPECT_EQ(outcome_of(put(folder, whole + '\0')), Outcome::Refused);
}

TEST(HostileSafetensors, RandomBytesAreReadOrRefused) {
  const TemporaryFolder folder;
  std::mt19937 engine(1);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(engine() % 300, '\0');
    for (char& byte : bytes) byte = static_cast<char>(engine());
    if (round % 2) bytes = make_raw_safetensors("{" + bytes, "");  // gets past the frame
    EXPECT_EQ(outcome_of(put(folder, bytes)), Outcome::Refused) << round;
  }
}

TEST(HostileSafetensors, FlippedBitsAndSwappedBytesAreReadOrRefused) {
  const TemporaryFolder folder;
  const std::string whole = golden_bytes(), telling = "{}[],:\"0198-.e ";
  std::mt19937 engine(2);
  int counts[3] = {};
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = whole;
    for (uint32_t change = 0; change <= engine() % 3; ++change) {
      char& byte = bytes[engine() % bytes.size()];
      if (round % 2)
        byte = static_cast<char>(byte ^ (1 << engine() % 8));
      else
        byte = telling[engine() % telling.size()];
    }
    const Outcome outcome = outcome_of(put(folder, bytes));
    ++counts[static_cast<int>(outcome)];
    EXPECT_NE(outcome, Outcome::Other) << round;
  }
  EXPECT_GT(counts[0], 50) << "changed numbers and names are still valid files";
  EXPECT_GT(counts[1], 1000);
}

}  // namespace
}  // namespace fovea::safetensors_hostile_test
