#include "fovea/serving/known_names.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace fovea::serving::known_names_test {
namespace {

using fovea::testing::expect_error;
using Names = std::vector<std::string>;

Json schema_of(const Json& names) {
  const Json codes{{"type", "array"}, {"items", {{"type", "string"}}}, {"known", names}};
  const Json visit{{"type", "object"}, {"properties", {{"codes", codes}}}};
  return {{"type", "object"}, {"properties", {{"visits", {{"type", "array"}, {"items", visit}}}}}};
}

TEST(KnownNames, AreTakenOutOfTheSchemaWhereverTheyStand) {
  Json many = Json::array();
  for (int i = 0; i < 1000; ++i) many.push_back(std::to_string(i));
  Json schema = schema_of(many);
  KnownNames names;
  names.take(schema);
  const Json shown = schema["properties"]["visits"]["items"]["properties"]["codes"]["known"];
  EXPECT_EQ(shown["count"], 1000);
  EXPECT_EQ(shown["names"].size(), kNamesShown);
  EXPECT_EQ(shown["names"][1], "1");
  EXPECT_EQ(names.properties(), Names{"codes"});
}

TEST(KnownNames, FindsWhatBeginsWithATextBeforeWhatHoldsIt) {
  Json schema = schema_of({"Anna", "Hannah", "Bob", "anne", ""});
  KnownNames names;
  names.take(schema);
  EXPECT_EQ(names.find("codes", "ANN"), (Names{"Anna", "anne", "Hannah"}));
  EXPECT_EQ(names.find("codes", "x"), Names{});
  EXPECT_EQ(names.find("codes", ""), (Names{"Anna", "Hannah", "Bob", "anne", ""}));
  expect_error(ErrorKind::NotFound, "codes", [&] { names.find("nodes", "a"); });
}

TEST(KnownNames, AreAtMostSoMany) {
  Json many = Json::array();
  for (int i = 0; i < 500; ++i) many.push_back("b" + std::to_string(i));
  for (int i = 0; i < 30; ++i) many.push_back("1b" + std::to_string(i));
  Json schema = schema_of(many);
  KnownNames names;
  names.take(schema);
  EXPECT_EQ(names.find("codes", "b").size(), kNamesShown);
  const Names found = names.find("codes", "1b");
  EXPECT_EQ(found.size(), 30u);
  const Names mixed = names.find("codes", "b1");  // b1, b10 … b19, b100 …
  EXPECT_EQ(mixed.size(), kNamesShown);
  EXPECT_EQ(mixed[0], "b1");
}

TEST(KnownNames, OfASchemaWithoutNamesThereAreNone) {
  Json table{{"type", "object"}, {"properties", {{"known", {{"type", "number"}}}}}};
  Json text{{"type", "string"}};
  const Json before = table;
  KnownNames names;
  names.take(table);
  names.take(text);
  EXPECT_EQ(table, before) << "a column may be called known";
  EXPECT_TRUE(names.properties().empty());
}

}  // namespace
}  // namespace fovea::serving::known_names_test
