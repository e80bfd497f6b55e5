#include "fovea/serving/strict_json.h"

#include "tests/serving/expect_refusal.h"

namespace fovea::serving {
namespace {

using fovea::testing::expect_refusal;

TEST(StrictJson, ReadsWhatParseJsonReads) {
  for (const std::string text :
       {"null", "true", "-3", "18446744073709551615", "1.5e-3", "\"\\u00e4\\n\"", "[]", "{}",
        R"({"a": [1, {"b": null}, [[]]], "c": "d", "e": {"f": {"g": [false]}}})"})
    EXPECT_EQ(parse_strictly(text), parse_json(text, "text")) << text;
}

TEST(StrictJson, KeepsTheOrderOfKeys) {
  EXPECT_EQ(parse_strictly(R"({"z":1,"a":2,"m":3})").dump(), R"({"z":1,"a":2,"m":3})");
}

TEST(StrictJson, RefusesWhatIsNotJson) {
  for (const std::string text :
       {"", "{", "[1,]", "{\"a\" 1}", "nope", "{} {}", "NaN", "[Infinity]", "[-Infinity]",
        "[1e999]", "// comment\n1", "'a'", "[01]", "\"\\ud800\"", "\"\t\""})
    expect_refusal(400, "not valid JSON", [&] { parse_strictly(text); });
}

TEST(StrictJson, RefusesInvalidUtf8AndZeroBytes) {
  expect_refusal(400, "UTF-8 at byte 2", [] { parse_strictly("[\"\xff\"]"); });
  expect_refusal(400, "UTF-8", [] { parse_strictly("\"\xed\xa0\x80\""); });
  expect_refusal(400, "byte 2 is zero", [] { parse_strictly(std::string("[]\0x", 4)); });
}

TEST(StrictJson, RefusesAKeyThatStandsTwice) {
  expect_refusal(400, "'a' stands there twice", [] { parse_strictly(R"({"a":1,"b":2,"a":3})"); });
  EXPECT_EQ(parse_strictly(R"([{"a":1},{"a":2}])").size(), 2u);
  EXPECT_EQ(parse_strictly(R"({"a":{"a":{"a":1}}})").size(), 1u);
}

TEST(StrictJson, NestingHasALimit) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_NO_THROW(parse_strictly(nested(32)));
  expect_refusal(400, "nested more than 32", [&] { parse_strictly(nested(33)); });
  expect_refusal(400, "nested", [&] { parse_strictly(nested(100000)); });
  expect_refusal(400, "nested", [] { parse_strictly(std::string(1000000, '[')); });
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  expect_refusal(400, "nested", [&] { parse_strictly(objects); });
}

TEST(StrictJson, TheNumberOfKeysHasALimitAndIsReadInTimeInProportion) {
  const auto object = [](int keys) {
    std::string text = "{";
    for (int i = 0; i < keys; ++i) text += concat(i ? "," : "", "\"", i, "\":0");
    return text + "}";
  };
  EXPECT_EQ(parse_strictly(object(10000)).size(), 10000u);
  expect_refusal(400, "more than 10000 keys", [&] { parse_strictly(object(10001)); });
  expect_refusal(400, "more than 10000 keys", [&] { parse_strictly(object(200000)); });
}

TEST(StrictJson, MessagesStayShort) {
  try {
    parse_strictly("\"" + std::string(500000, 'x') + "\x01");
    FAIL();
  } catch (const HttpError& error) {
    EXPECT_LT(std::string(error.what()).size(), 400u);
  }
}

}  // namespace
}  // namespace fovea::serving
