// Archives and arrays that want to do harm: each is refused with an Error, without a crash and
// without a large allocation.
#include <random>

#include "fovea/data/formats/npz.h"
#include "tests/data/formats/raw_npz.h"
#include "tests/data/testing.h"
#include "tests/support/hostile_files.h"

namespace fovea::npz_hostile_test {
namespace {

using testing::Hostile;
using testing::Outcome;

const std::string kGood = make_npy("|u1", "(8,)", "12345678");

std::string shaped(const std::string& shape) {
  return make_npz(make_npy("|u1", shape, "12345678"));
}
std::string headed(const std::string& header) {
  return make_npz(make_raw_npy(header, "12345678"));
}
std::string changed(RawFile file) {
  file.name = "a.npy";
  file.bytes = kGood;
  return make_zip({file});
}
/// The end of a good archive with `bytes` in place of its own from `at` on.
std::string ended(size_t at, const std::string& bytes) {
  std::string archive = make_npz(kGood);
  return archive.replace(archive.size() - 22 + at, bytes.size(), bytes);
}

std::vector<Hostile> broken_arrays() {
  const std::string rest = "'fortran_order': False, 'shape': (8,)}";
  const std::string good = "{'descr': '|u1', " + rest;
  return {
      {"nothing", make_npz(""), "does not begin"},
      {"half a magic", make_npz("\x93NUM"), "does not begin"},
      {"no version", make_npz("\x93NUMPY\x01"), "does not begin"},
      {"version 0", make_npz(make_raw_npy(good, "12345678", 0)), "0.0", ErrorKind::Unsupported},
      {"version 4", make_npz(make_raw_npy(good, "12345678", 4)), "4.0", ErrorKind::Unsupported},
      {"no length", make_npz(std::string("\x93NUMPY\x01\x00\x10", 9)), "ends inside"},
      {"a header longer than the file", make_npz(std::string("\x93NUMPY\x01\x00\x10\x00{", 11)),
       "claims 16 bytes, found 1"},
      {"a header of 4 GiB", make_npz(std::string("\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF{", 13)),
       "claims 4294967295 bytes, the limit"},
      {"no dictionary", headed("descr"), "no '{'"},
      {"an empty header", headed(""), "its end"},
      {"an empty dictionary", headed("{}"), "without descr"},
      {"no shape", headed("{'descr': '|u1', 'fortran_order': False}"), "without descr"},
      {"a foreign key", headed("{'x': 1, " + rest), "'x'"},
      {"a key twice", headed("{'descr': '|u1', 'descr': '|u1', " + rest), "'descr'"},
      {"a text that does not end", headed("{'descr"), "does not end"},
      {"no colon", headed("{'descr' '|u1'}"), "no ':'"},
      {"no comma", headed("{'descr': '|u1' " + rest), "no ','"},
      {"text after it", headed(good + "x"), "after its dictionary"},
      {"a call for code", headed("__import__('os').system('true')"), "no '{'"},
      {"an order that is a number", headed("{'descr': '|u1', 'fortran_order': 1, 'shape': (8,)}"),
       "neither True nor False"},
      {"a dtype that is a number", headed("{'descr': 1, " + rest), "no '''"},
      {"a shape without an end", headed("{'descr': '|u1', 'shape': (8,"), "its end"},
      {"a negative size", shaped("(-8,)"), "no size"},
      {"a fraction", shaped("(8.0,)"), "no ','"},
      {"an expression", shaped("(4*2,)"), "no ','"},
      {"a list", shaped("[8]"), "no '('"},
      {"2^64", shaped("(18446744073709551616,)"), "no size"},
      {"2^63 - 1", shaped("(9223372036854775807,)"), "more than 134,217,728"},
      {"2^28", shaped("(268435456,)"), "more than 134,217,728"},
      {"2^32 x 2^32", shaped("(4294967296, 4294967296)"), "more than 134,217,728"},
      {"zero of 2^40", shaped("(0, 1099511627776)"), "more than 134,217,728"},
      {"65 dimensions",
       shaped("(" +
              [] {
                std::string ones;
                for (int i = 0; i < 64; ++i) ones += "1, ";
                return ones;
              }() +
              "8)"),
       "65 dimensions"},
      {"fewer numbers than the shape", shaped("(9,)"), "need 9 bytes, found 8 (is it truncated?)"},
      {"2^27 numbers in eight bytes", shaped("(134217728,)"), "need 134217728 bytes"},
      {"more numbers than the shape", shaped("(7,)"), "need 7 bytes, found 8"},
      {"a bool of 2", make_npz(make_npy("|b1", "(2,)", "\x01\x02")), "neither 0 nor 1"}};
}

std::vector<Hostile> broken_archives() {
  const int64_t gigabyte = 1 << 30;
  return {
      {"nothing but the letters", "PK", "2 bytes"},
      {"an end without a directory", std::string(ended(0, "")).substr(10), "begins neither"},
      {"more files than there are", ended(8, little(2, 2) + little(2, 2)), "no entry"},
      {"fewer files than there are", ended(8, little(0, 2) + little(0, 2)), "more than its files"},
      {"a directory elsewhere", ended(16, little(0, 4)), "should begin at byte 0"},
      {"a directory after the end", ended(16, little(gigabyte, 4)), "should begin"},
      {"a shorter directory", ended(12, little(46, 4)), "should begin"},
      {"a comment that is not there", ended(20, little(1, 2)), "does not end with a directory"},
      {"bytes after the end", make_npz(kGood) + "x", "does not end with a directory"},
      {"several disks", ended(4, little(1, 2)), "split", ErrorKind::Unsupported},
      {"65,535 files", ended(8, little(0xFFFF, 2) + little(0xFFFF, 2)), "zip64",
       ErrorKind::Unsupported},
      {"a zip64 directory", ended(16, little(0xFFFFFFFF, 4)), "zip64", ErrorKind::Unsupported},
      {"zip64 sizes", changed({.more_size = 0xFFFFFFFF - int64_t(kGood.size())}), "zip64",
       ErrorKind::Unsupported},
      {"encrypted", changed({.flags = 1}), "encrypted", ErrorKind::Unsupported},
      {"another method", changed({.method = 14}), "method 14", ErrorKind::Unsupported},
      {"a stored file that grows", changed({.more_size = 1}), "cannot be packed in"},
      {"a file that reaches into the directory", changed({.more_size = 9, .more_packed = 9}),
       "needs"},
      {"a file of a gigabyte", changed({.more_size = gigabyte, .more_packed = gigabyte}), "needs"},
      {"a bomb", changed({.method = 8, .more_size = gigabyte}), "cannot be packed in"},
      {"a file that begins elsewhere", changed({.shift = 1}), "no file begins"},
      {"a file that begins outside", changed({.shift = gigabyte}), "no file begins"},
      {"a file with two names", changed({.local_name = "b.npy"}), "another name"},
      {"a wrong checksum", changed({.checksum_error = 1}), "checksum"},
      {"two arrays of a name", make_zip({{"a.npy", kGood}, {"a.npy", kGood}}), "two files"},
      {"an array without a name", make_zip({{".npy", kGood}}), "names end in .npy"}};
}

std::vector<Hostile> hostile_files() {
  std::vector<Hostile> all = broken_arrays();
  for (const Hostile& file : broken_archives()) all.push_back(file);
  return all;
}

TEST(HostileNpz, EachIsRefusedForItsOwnReason) {
  for (const Hostile& file : hostile_files()) {
    SCOPED_TRACE(file.what);
    expect_error(file.kind, {"f.npz: ", file.says}, [&] { parse_npz(file.bytes, "f.npz"); });
  }
}

TEST(HostileNpz, TheHandmadeFilesAreFineWhenNothingIsWrong) {
  for (const std::string& bytes : {changed({}), shaped("(8,)"), shaped("(2, 2, 2)"), ended(0, "")})
    EXPECT_NO_THROW(parse_npz(bytes, "f.npz"));
}

TEST(HostileNpz, NoneNeedsMuchMemory) {
  testing::expect_refusals_need_little_memory(
      hostile_files(), [](const std::string& bytes) { parse_npz(bytes, "f.npz"); });
}

Outcome outcome_of(const std::string& bytes) {
  return testing::outcome_of_reading([&] { return parse_npz(bytes, "f.npz"); });
}

TEST(HostileNpz, EveryTruncationIsRefused) {
  for (const char* name : {"arrays.npz", "arrays_deflated.npz"}) {
    const std::string whole = read_file(fixture(name));
    for (size_t size = 0; size < whole.size(); ++size)
      EXPECT_EQ(outcome_of(whole.substr(0, size)), Outcome::Refused) << size;
  }
  EXPECT_EQ(outcome_of(read_file(fixture("arrays.npz"))), Outcome::Read);
}

TEST(HostileNpz, EveryTruncationOfAnArrayIsRefused) {
  for (size_t size = 0; size < kGood.size(); ++size)
    EXPECT_EQ(outcome_of(make_npz(kGood.substr(0, size))), Outcome::Refused) << size;
}

/// A bomb that the limits of the format allow: what is promised is what is written, no more.
TEST(HostileNpz, UnpackingStopsAtTheDeclaredSize) {
  const std::string whole = read_file(fixture("arrays_deflated.npz"));
#ifndef FOVEA_WITH_ZLIB
  GTEST_SKIP() << "built without zlib";
#endif
  ASSERT_EQ(outcome_of(whole), Outcome::Read);
  for (const int change : {-1, 1, -100, 100, 1000}) {
    std::string bytes = whole;
    const size_t size_at = bytes.find("PK\x01\x02") + 24;
    const int before = static_cast<unsigned char>(bytes[size_at]);
    bytes.replace(size_at, 2, little(static_cast<uint64_t>(before + change), 2));
    expect_error(ErrorKind::BadData, {"'half.npy' does not unpack to"},
                 [&] { parse_npz(bytes, "f.npz"); });
  }
}

TEST(HostileNpz, FlippedBitsAndRandomBytesAreReadOrRefused) {
  const std::string whole[] = {read_file(fixture("arrays.npz")),
                               read_file(fixture("arrays_deflated.npz"))};
  std::mt19937 engine(1);
  int counts[3] = {};
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = whole[round % 2];
    for (uint32_t change = 0; change <= engine() % 3; ++change) {
      char& byte = bytes[engine() % bytes.size()];
      byte = static_cast<char>(round % 3 ? byte ^ (1 << engine() % 8) : engine());
    }
    const Outcome outcome = outcome_of(bytes);
    ++counts[static_cast<int>(outcome)];
    EXPECT_NE(outcome, Outcome::Other) << round;
  }
  EXPECT_GT(counts[0], 50) << "times and versions of an archive do not matter";
  EXPECT_GT(counts[1], 1000);
}

/// Behind the checksum: the header of an array.
TEST(HostileNpz, ChangedHeadersAreReadOrRefused) {
  const std::string telling = "{}()[],:'\"0198-.eTFuifbO<>| ";
  std::mt19937 engine(2);
  int counts[3] = {};
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = kGood;
    for (uint32_t change = 0; change <= engine() % 3; ++change)
      bytes[6 + engine() % (bytes.size() - 14)] = telling[engine() % telling.size()];
    const Outcome outcome = outcome_of(make_npz(bytes));
    ++counts[static_cast<int>(outcome)];
    EXPECT_NE(outcome, Outcome::Other) << round;
  }
  EXPECT_GT(counts[0], 20) << "a changed blank is still a blank";
  EXPECT_GT(counts[1], 1000);
}

}  // namespace
}  // namespace fovea::npz_hostile_test
