#include "fovea/serving/access_log.h"

#include <gtest/gtest.h>

#include <thread>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/base/text.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea::serving::access_log_test {
namespace {

using fovea::testing::expect_error;
using fovea::testing::TemporaryFolder;

AccessRecord sample() {
  AccessRecord record;
  record.id = "7";
  record.method = "POST";
  record.path = "/v1/predict";
  record.remote = "127.0.0.1";
  record.status = 200;
  record.bytes = 12;
  record.milliseconds = 1.23456;
  return record;
}

std::vector<Json> lines_of(const std::filesystem::path& path) {
  std::vector<Json> lines;
  for (const std::string& line : split(read_file(path), '\n'))
    if (!line.empty()) lines.push_back(parse_json(line, "log"));
  return lines;
}

TEST(AccessLog, OneObjectALine) {
  TemporaryFolder folder;
  const std::string path = (folder / "log").string();
  AccessLog log(path);
  log.write(sample());
  AccessRecord record = sample();
  record.model = "dates";
  record.batch = 9;
  record.error = "line one\nline \"two\" \xff";
  log.write(record);
  const std::vector<Json> lines = lines_of(path);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["status"], 200);
  EXPECT_EQ(lines[0]["milliseconds"], 1.235);
  EXPECT_FALSE(lines[0].contains("model") || lines[0].contains("batch") ||
               lines[0].contains("error"));
  EXPECT_EQ(lines[1]["model"], "dates");
  EXPECT_EQ(lines[1]["batch"], 9);
  EXPECT_EQ(lines[1]["error"], "line one\nline \"two\" \ufffd");
  EXPECT_EQ(log.lost(), 0);
}

TEST(AccessLog, GoesOnWhereItEnded) {
  TemporaryFolder folder;
  const std::string path = (folder / "log").string();
  AccessLog(path).write(sample());
  AccessLog(path).write(sample());
  EXPECT_EQ(lines_of(path).size(), 2u);
}

TEST(AccessLog, LinesOfManyThreadsStayWhole) {
  TemporaryFolder folder;
  const std::string path = (folder / "log").string();
  AccessLog log(path);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 200; ++n) log.write(sample());
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lines_of(path).size(), 800u);
}

TEST(AccessLog, WhatCannotBeWrittenIsCounted) {
  AccessLog full("/dev/full");
  full.write(sample());
  EXPECT_EQ(full.lost(), 1);
  AccessLog none("none");
  none.write(sample());
  EXPECT_EQ(none.lost(), 0);
  expect_error(ErrorKind::Io, "cannot be opened", [] { AccessLog("/nowhere/at/all"); });
}

TEST(AccessLog, TheTimeIsInUtc) {
  const std::string stamp = time_stamp();
  ASSERT_EQ(stamp.size(), 24u) << stamp;
  EXPECT_EQ(stamp[10], 'T');
  EXPECT_EQ(stamp[19], '.');
  EXPECT_EQ(stamp[23], 'Z');
}

TEST(RequestId, TakesASaneOneAndMakesOthers) {
  EXPECT_EQ(request_id("abc-123._X"), "abc-123._X");
  for (const std::string& given : {std::string(), std::string("a b"), std::string("a\r\nb"),
                                   std::string(65, 'a'), std::string("ä")})
    EXPECT_NE(request_id(given), given);
  EXPECT_NE(request_id(""), request_id(""));
}

}  // namespace
}  // namespace fovea::serving::access_log_test
