#include "fovea/core/json.h"

#include <cmath>

#include "fovea/core/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea {
namespace {

using testing::expect_error;
using testing::TemporaryFolder;

TEST(Json, KeepsTheOrderOfKeysAndAllowsComments) {
  const Json value = parse_json("{\"z\": 1, // one\n \"a\": /* two */ [2, 3]}", "config.json");
  EXPECT_EQ(value.dump(), R"({"z":1,"a":[2,3]})");
}

TEST(Json, ALineIsAnObjectWhereItBeginsWithABrace) {
  EXPECT_TRUE(is_json_object("{\"a\": 1}"));
  EXPECT_TRUE(is_json_object("  {"));
  for (const char* line : {"", " ", "text", "[1]", "a {b}"}) EXPECT_FALSE(is_json_object(line));
}

TEST(Json, SyntaxErrorsNameTheLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "c.json:1:"},
      {"{", "c.json:1:"},
      {"{\"a\": }", "c.json:1:"},
      {"{\n\"a\": 1,\n}\n", "c.json:3:"},
      {"{\n\"a\": 1\n\"b\": 2}", "c.json:3:"},
      {"{\n\"a\": \"open\n}", "c.json:2:"},  // the line's end itself is the error
      {"[1]\n\n]", "c.json:3:"},
      {"{\"a\": \"\xFF\"}", "c.json:1:"},
      {"/* never closed", "c.json:1:"},
      {"nul", "c.json:1:"}};
  for (const auto& [text, place] : cases)
    expect_error(ErrorKind::BadData, {place, "not valid JSON"},
                 [text = text] { parse_json(text, "c.json"); });
}

TEST(Json, ZeroBytesAreNotTheEnd) {
  expect_error(ErrorKind::BadData, {"c.json:2:", "zero byte"},
               [] { parse_json(std::string("{}\n\0more", 8), "c.json"); });
}

TEST(Json, NumbersTooLargeForADoubleAreBadData) {
  expect_error(ErrorKind::BadData, {"c.json", "1e999"}, [] { parse_json("[1e999]", "c.json"); });
}

TEST(Json, DeepNestingIsNoProblem) {
  const std::string deep(100'000, '[');
  expect_error(ErrorKind::BadData, {"c.json:1:"}, [&] { parse_json(deep, "c.json"); });
  EXPECT_TRUE(parse_json(deep + std::string(deep.size(), ']'), "c.json").is_array());
}

TEST(Json, FilesRoundTrip) {
  const TemporaryFolder folder;
  const Json value{{"b", 1}, {"a", {1.5, "größe", nullptr, true}}, {"empty", Json::object()}};
  write_json_file(folder / "x.json", value);
  EXPECT_EQ(read_json_file(folder / "x.json").dump(), value.dump());
  EXPECT_EQ(read_file(folder / "x.json").back(), '\n');
  expect_error(ErrorKind::NotFound, {"none.json"}, [&] { read_json_file(folder / "none.json"); });
  write_file(folder / "bad.json", "{\n1");
  expect_error(ErrorKind::BadData, {"bad.json:2:"}, [&] { read_json_file(folder / "bad.json"); });
}

TEST(Json, WhatJsonCannotSayIsWrittenAllTheSame) {
  const TemporaryFolder folder;
  write_json_file(folder / "x.json", Json{{"nan", NAN}, {"bytes", "a\xFF"}});
  const Json back = read_json_file(folder / "x.json");
  EXPECT_TRUE(back["nan"].is_null());
  EXPECT_EQ(back["bytes"], "a\xEF\xBF\xBD");
}

}  // namespace
}  // namespace fovea
