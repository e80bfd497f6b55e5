#include "fovea/serving/codec.h"
#include "fovea/serving/http_error.h"
#include "tests/serving/expect_refusal.h"

namespace fovea::serving::body_json_test {
namespace {

using fovea::testing::expect_refusal;

TEST(BodyJson, ReadsWhatParseJsonReads) {
  for (const std::string text :
       {"null", "true", "-3", "18446744073709551615", "1.5e-3", "\"\\u00e4\\n\"", "[]", "{}",
        R"({"a": [1, {"b": null}, [[]]], "c": "d", "e": {"f": {"g": [false]}}})"})
    EXPECT_EQ(parse_body(text), parse_json(text, "text")) << text;
}

TEST(BodyJson, KeepsTheOrderOfKeys) {
  EXPECT_EQ(parse_body(R"({"z":1,"a":2,"m":3})").dump(), R"({"z":1,"a":2,"m":3})");
}

TEST(BodyJson, RefusesWhatIsNotJson) {
  for (const std::string text :
       {"", "{", "[1,]", "{\"a\" 1}", "nope", "{} {}", "NaN", "[Infinity]", "[-Infinity]",
        "[1e999]", "// comment\n1", "'a'", "[01]", "\"\\ud800\"", "\"\t\""})
    expect_refusal(400, "not valid JSON", [&] { parse_body(text); });
}

TEST(BodyJson, RefusesInvalidUtf8AndZeroBytes) {
  expect_refusal(400, "UTF-8 at byte 2", [] { parse_body("[\"\xff\"]"); });
  expect_refusal(400, "UTF-8", [] { parse_body("\"\xed\xa0\x80\""); });
  expect_refusal(400, "zero byte at byte 2", [] { parse_body(std::string("[]\0x", 4)); });
}

TEST(BodyJson, RefusesAKeyThatStandsTwice) {
  expect_refusal(400, "'a' stands there twice", [] { parse_body(R"({"a":1,"b":2,"a":3})"); });
  EXPECT_EQ(parse_body(R"([{"a":1},{"a":2}])").size(), 2u);
  EXPECT_EQ(parse_body(R"({"a":{"a":{"a":1}}})").size(), 1u);
}

TEST(BodyJson, NestingHasALimit) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_NO_THROW(parse_body(nested(32)));
  expect_refusal(400, "nested more than 32", [&] { parse_body(nested(33)); });
  expect_refusal(400, "nested", [&] { parse_body(nested(100000)); });
  expect_refusal(400, "nested", [] { parse_body(std::string(1000000, '[')); });
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  expect_refusal(400, "nested", [&] { parse_body(objects); });
}

TEST(BodyJson, TheNumberOfKeysHasALimitAndIsReadInTimeInProportion) {
  const auto object = [](int keys) {
    std::string text = "{";
    for (int i = 0; i < keys; ++i) text += concat(i ? "," : "", "\"", i, "\":0");
    return text + "}";
  };
  EXPECT_EQ(parse_body(object(10000)).size(), 10000u);
  expect_refusal(400, "more than 10000 keys", [&] { parse_body(object(10001)); });
  expect_refusal(400, "more than 10000 keys", [&] { parse_body(object(200000)); });
}

TEST(BodyJson, MessagesStayShort) {
  try {
    parse_body("\"" + std::string(500000, 'x') + "\x01");
    FAIL();
  } catch (const HttpError& error) {
    EXPECT_LT(std::string(error.what()).size(), 400u);
  }
}

}  // namespace
}  // namespace fovea::serving::body_json_test
