#include "fovea/data/formats/bytes.h"

#include "tests/data/testing.h"

namespace fovea::bytes_test {
namespace {

constexpr int64_t kLimit = 1 << 30;

#ifdef FOVEA_WITH_ZLIB
#define NEEDS_ZLIB
#else
#define NEEDS_ZLIB GTEST_SKIP() << "built without zlib"
#endif

TEST(Bytes, PlainFilesComeAsTheyAre) {
  const TemporaryFolder folder;
  const auto path = folder.write("a.txt", std::string("x\0y", 3));
  const FileBytes bytes = read_bytes(path, kLimit);
  EXPECT_EQ(bytes.content, std::string("x\0y", 3));
  EXPECT_EQ(bytes.hash, hash_of_file(path));
  EXPECT_EQ(read_bytes(path, 3).content.size(), 3u);
  expect_error(ErrorKind::BadData, {"more than 2 bytes"}, [&] { read_bytes(path, 2); });
}

TEST(Bytes, AnArchiveThatUnpacksToManyPieces) {
  NEEDS_ZLIB;
  const FileBytes bytes = read_bytes(fixture("long.txt.gz"), kLimit);
  EXPECT_EQ(bytes.content, std::string(3000001, 'a'));
  expect_error(ErrorKind::BadData, {"long.txt.gz", "3,000,000"},
               [&] { read_bytes(fixture("long.txt.gz"), 3000000); });
}

TEST(Bytes, GzipIsKnownByItsBytesNotItsName) {
  const TemporaryFolder folder;
  NEEDS_ZLIB;
  const FileBytes bytes =
      read_bytes(folder.write("a.csv", read_file(fixture("people.csv.gz"))), kLimit);
  EXPECT_EQ(bytes.content, read_file(fixture("people.csv")));
}

TEST(Bytes, EveryCutOfAnArchiveIsAnError) {
  const TemporaryFolder folder;
  const std::string whole = read_file(fixture("people.csv.gz"));
  NEEDS_ZLIB;
  for (size_t size = 2; size < whole.size(); ++size)
    expect_error(ErrorKind::BadData, {"cut.gz", "ends too early"},
                 [&] { read_bytes(folder.write("cut.gz", whole.substr(0, size)), kLimit); });
  expect_error(ErrorKind::BadData, {"damaged gzip"},
               [&] { read_bytes(folder.write("more.gz", whole + "trailing"), kLimit); });
}

}  // namespace
}  // namespace fovea::bytes_test
