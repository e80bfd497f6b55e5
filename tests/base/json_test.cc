#include "fovea/base/json.h"

#include <cmath>

#include "fovea/base/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea::json_test {
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

TEST(Json, NestingHasALimit) {
  for (const size_t depth : {size_t{65}, size_t{200'000}}) {
    const std::string open(depth, '['), closed = open + std::string(depth, ']');
    for (const std::string& text : {open, closed}) {
      expect_error(ErrorKind::BadData, {"c.json", "nested more than 64"},
                   [&] { parse_json(text, "c.json"); });
      expect_error(ErrorKind::BadData, {"c.json", "nested more than 64"},
                   [&] { parse_sorted_json(text, "c.json"); });
    }
  }
  EXPECT_TRUE(parse_json(std::string(64, '[') + std::string(64, ']'), "c.json").is_array());
}

TEST(Json, SizeHasALimit) {
  JsonLimits limits;
  limits.bytes = 4;
  EXPECT_EQ(parse_json("[12]", "c.json", limits)[0], 12);
  expect_error(ErrorKind::BadData, {"c.json", "has 5 bytes", "at most 4"},
               [&] { parse_json("[123]", "c.json", limits); });
}

TEST(Json, KeysStandOnceAndHaveALimitWhereTheyAreSearchedFromTheFront) {
  const auto object = [](int keys) {
    std::string text = "{";
    for (int i = 0; i < keys; ++i) text += concat(i ? "," : "", "\"", i, "\":0");
    return text + "}";
  };
  EXPECT_EQ(parse_json(object(10'000), "c.json").size(), 10'000u);
  expect_error(ErrorKind::BadData, {"c.json", "more than 10000 keys"},
               [&] { parse_json(object(10'001), "c.json"); });
  EXPECT_EQ(parse_sorted_json(object(300'000), "c.json").size(), 300'000u);
  const std::string twice = R"({"a": 1, "b": {"a": 2}, "a": 3})";
  expect_error(ErrorKind::BadData, {"c.json", "'a' stands there twice"},
               [&] { parse_json(twice, "c.json"); });
  expect_error(ErrorKind::BadData, {"c.json", "'a' stands there twice"},
               [&] { parse_sorted_json(twice, "c.json"); });
  for (const char* lines :
       {"{\"a\": 1,\n\"b\": 2,\n\"a\"\n: 3}", "{\"a\": 1, \"b\":\n\n{\"a\":1,\"a\":2}}"})
    expect_error(ErrorKind::BadData, {"c.json:3", "stands there twice"},
                 [&] { parse_json(lines, "c.json"); });
  expect_error(ErrorKind::BadData, {"c.json:2", "levels deep"},
               [&] { parse_json("[1,\n" + std::string(100, '[') + "\n", "c.json"); });
}

TEST(Json, ErrorsSayWhatIsWrongInWordsForAUser) {
  const std::string long_text = "\"" + std::string(500'000, 'x') + "\x01";
  const std::string letters = "[\"größe\" ü]";  // where the parser stops, half a letter was read
  for (const std::string& text :
       {std::string("{\"a\": }"), std::string("[1e999]"), long_text, letters})
    try {
      parse_json(text, "c.json");
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("json.exception"), std::string::npos);
      EXPECT_LT(std::string(error.what()).size(), 400u);
      EXPECT_EQ(valid_utf8_prefix(error.what()), std::string(error.what()).size());
    }
  const Json value = parse_json(R"({"epoch": "one"})", "c.json");
  expect_error(ErrorKind::BadData, {"c.json", "key 'loss' not found"},
               [&] { with_json_errors("c.json", [&] { return value.at("loss").get<double>(); }); });
  expect_error(ErrorKind::BadData, {"c.json", "must be number, but is string"}, [&] {
    with_json_errors("c.json", [&] { return value.at("epoch").get<double>(); });
  });
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

TEST(Json, ADeviceIsNoFileOfJson) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("/dev/zero", folder / "x.json");
  expect_error(ErrorKind::BadData, {"x.json", "device"},
               [&] { read_json_file(folder / "x.json"); });
}

TEST(Json, WhatJsonCannotSayIsWrittenAllTheSame) {
  const TemporaryFolder folder;
  write_json_file(folder / "x.json", Json{{"nan", NAN}, {"bytes", "a\xFF"}});
  const Json back = read_json_file(folder / "x.json");
  EXPECT_TRUE(back["nan"].is_null());
  EXPECT_EQ(back["bytes"], "a\xEF\xBF\xBD");
}

}  // namespace
}  // namespace fovea::json_test
