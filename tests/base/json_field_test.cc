#include "fovea/base/json_field.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/expect_error.h"

namespace fovea::json_field_test {
namespace {

using testing::expect_error;

Json sample() {
  return parse_json(R"({"a": {"b": [1, 2.5, null]}, "texts": ["x", "y"], "mark": true,
                        "big": 9223372036854775808, "huge": 1e300, "none": null})",
                    "f.json");
}

TEST(JsonField, GivesValuesOfTheirType) {
  const Json json = sample();
  const Field root = Field::root(json, "f.json");
  EXPECT_EQ(root.at("texts").texts(), (std::vector<std::string>{"x", "y"}));
  EXPECT_TRUE(root.at("mark").mark());
  EXPECT_TRUE(root.mark_or("other", true));
  EXPECT_FALSE(root.find("none").has_value());
  const std::vector<double> numbers = root.at("a").at("b").numbers();
  EXPECT_EQ(numbers[1], 2.5);
  EXPECT_TRUE(std::isnan(numbers[2]));
  EXPECT_EQ(root.integer_or("other", 3, 0, 9), 3);
}

TEST(JsonField, NamesThePlaceOfWhatIsWrong) {
  const Json json = sample();
  const Field root = Field::root(json, "f.json");
  const auto refused = [&](const std::vector<std::string>& words, const auto& read) {
    expect_error(ErrorKind::BadData, words, [&] { read(root); });
  };
  refused({"f.json: the field \"c\" is missing"}, [](const Field& f) { f.at("c"); });
  refused({"f.json: a.b[0]: found 1, expected a text"},
          [](const Field& f) { f.at("a").at("b").texts(); });
  refused({"f.json: a.b[2]: found null, expected a number"},
          [](const Field& f) { f.at("a").at("b").finites(); });
  refused({"f.json: a.b[1]", "a whole number"},
          [](const Field& f) { f.at("a").at("b").integers(0, 9); });
  refused({"f.json: texts", "2 elements, expected 3"},
          [](const Field& f) { f.at("texts").each(3, [](const Field&) {}); });
  refused({"f.json: mark: found true, expected an object"},
          [](const Field& f) { f.at("mark").find("x"); });
}

TEST(JsonField, NumbersThatNoSizeCanBeAreRefused) {
  const Json json = sample();
  const Field root = Field::root(json, "f.json");
  for (const char* key : {"big", "huge", "mark"})
    expect_error(ErrorKind::BadData, {"f.json", key}, [&] { root.at(key).integer(0, INT64_MAX); });
  expect_error(ErrorKind::BadData, {"a.b[0]: found 1, expected 2 to 3"},
               [&] { root.at("a").at("b").integers(2, 3); });
}

TEST(JsonField, AMessageShowsOnlyTheBeginningOfALongValue) {
  const Json json{{"x", std::string(100'000, 'x')}};
  try {
    Field::root(json, "f.json").at("x").mark();
    FAIL();
  } catch (const Error& error) {
    EXPECT_LT(std::string(error.what()).size(), 400u);
  }
}

TEST(JsonField, AFileOfOursSaysItsFormatAndVersion) {
  const auto check = [](const char* text) {
    const Json json = parse_json(text, "f.json");
    check_format(Field::root(json, "f.json"), "fovea-x", 2);
  };
  check(R"({"format": "fovea-x", "version": 1})");
  expect_error(ErrorKind::BadData, {"f.json", "fovea-x"}, [&] { check("[1]"); });
  expect_error(ErrorKind::BadData, {"version", "whole number"},
               [&] { check(R"({"format": "fovea-x", "version": 1e300})"); });
  expect_error(ErrorKind::Unsupported, {"version 3", "reads 2"},
               [&] { check(R"({"format": "fovea-x", "version": 3})"); });
}

}  // namespace
}  // namespace fovea::json_field_test
