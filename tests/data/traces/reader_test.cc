#include "fovea/data/traces/reader.h"

#ifdef FOVEA_WITH_ZLIB
#include <zlib.h>
#endif

#include "tests/data/testing.h"

namespace fovea::traces::reader_test {
namespace {

std::vector<TraceAccess> read(const std::filesystem::path& path, CutTrace cut = CutTrace::Refuse) {
  TraceReader reader(path, cut);
  std::vector<TraceAccess> accesses;
  TraceAccess access;
  while (reader.next(access)) accesses.push_back(access);
  return accesses;
}

class Traces : public ::testing::Test {
 protected:
  void refuse(const std::string& content, const std::vector<std::string>& words) const {
    const auto path = folder.write("bad.trace", content);
    expect_error(ErrorKind::BadData, words, [&] { read(path); });
  }
  TemporaryFolder folder;
};

TEST_F(Traces, FourColumns) {
  const auto path = folder.write("a.trace",
                                 "# a comment\n"
                                 "L 04acfa68 8 00109200\n"
                                 "S\t0x1ffeffeb98 4 0X493d94a\r\n"
                                 "\n"
                                 "M ffffffffffffffff 16 ffffffffffffffff\n");
  EXPECT_EQ(read(path), (std::vector<TraceAccess>{{'L', 0x04acfa68, 0x109200},
                                                  {'S', 0x1ffeffeb98, 0x493d94a},
                                                  {'M', 0xffffffffffffffff, 0xffffffffffffffff}}));
}

TEST_F(Traces, LackeyNamesTheInstructionFirst) {
  const auto path = folder.write("a.lackey",
                                 "==123== Lackey, an example Valgrind tool\n"
                                 " L 1ffeffe7e8,8\n"
                                 "I  04017d90,3\n"
                                 "I  04017d93,5\n"
                                 " S 1ffeffe7d8,8\n"
                                 " M 0421c7cc,4\n"
                                 "==123== done\n");
  EXPECT_EQ(read(path), (std::vector<TraceAccess>{{'L', 0x1ffeffe7e8, 0},
                                                  {'S', 0x1ffeffe7d8, 0x4017d93},
                                                  {'M', 0x421c7cc, 0x4017d93}}));
}

TEST_F(Traces, WhatIsRefusedSaysWhere) {
  refuse("L 10 8 400\nX 10 8 400\n", {"bad.trace:2", "'X'", "kind of access"});
  refuse("L 1g 8 400\n", {"bad.trace:1", "'1g'", "hexadecimal"});
  refuse("L 10000000000000000 8 400\n", {"64 bits"});
  refuse("L -1 8 400\n", {"'-1'"});
  refuse("L 10 0 400\n", {"0 bytes"});
  refuse("L 10 8\n", {"bad.trace:1", "KIND ADDRESS SIZE PC"});
  refuse("L 10 8 400 1\n", {"four fields"});
  refuse("L 10 8 0x\n", {"'0x'"});
  refuse("I  400,3\nL 10 8 400\n", {"bad.trace:2", "lackey"});
  refuse("I  400,3\n L 10,\n", {"bad.trace:2", "size"});
  refuse(std::string("L 10 \0 400\n", 11), {"bad.trace:1"});
}

TEST_F(Traces, ATraceCutInMidLine) {
  // Even where what is left could be read: half an address is another one.
  for (const char* rest : {"L 04ac", "L 04acfa68 8 0010"}) {
    refuse(std::string("L 04acfa68 8 00109200\n") + rest,
           {"bad.trace:2", "cut in mid-line", "data.cut=leave_out"});
    const auto path = folder / "bad.trace";
    TraceReader reader(path, CutTrace::LeaveOut);
    TraceAccess access;
    EXPECT_TRUE(reader.next(access));
    EXPECT_FALSE(reader.next(access));
    EXPECT_FALSE(reader.next(access));
    EXPECT_TRUE(has_note(reader.notes(), "left out"));
  }
  EXPECT_TRUE(read(folder.write("empty.trace", "")).empty());
  expect_error(ErrorKind::NotFound, "no such file", [&] { read(folder / "none.trace"); });
  expect_error(ErrorKind::Io, "folder", [&] { read(folder.path()); });
}

#ifdef FOVEA_WITH_ZLIB
TEST_F(Traces, GzipWholeAndCut) {
  const std::string path = (folder / "a.trace.gz").string();
  gzFile file = gzopen(path.c_str(), "wb");
  uint64_t state = 1;
  for (int i = 0; i < 50000; ++i) {  // more than is read at once, packed too
    state = state * 6364136223846793005u + 1442695040888963407u;
    gzprintf(file, "L %llx 8 400\n", static_cast<unsigned long long>(state));
  }
  gzclose(file);
  const auto whole = read(path);
  ASSERT_EQ(whole.size(), 50000u);
  EXPECT_EQ(whole.back().address, state);
  const std::string bytes = read_file(path);
  const auto cut = folder.write("cut.trace.gz", bytes.substr(0, bytes.size() / 2));
  expect_error(ErrorKind::BadData, {"cut.trace.gz:", "ends too early"}, [&] { read(cut); });
  const auto half = read(cut, CutTrace::LeaveOut);
  ASSERT_GT(half.size(), 10000u);
  ASSERT_LT(half.size(), 40000u);
  EXPECT_TRUE(std::equal(half.begin(), half.end(), whole.begin()));
}
#endif

}  // namespace
}  // namespace fovea::traces::reader_test
