#include "fovea/data/tables/categories.h"

#include "tests/data/testing.h"

namespace fovea::categories_test {
namespace {

TEST(CategoryIndex, CaseAndWhiteSpaceMayDiffer) {
  const CategoryIndex index({"Basic", "Two  Words", "x"});
  EXPECT_EQ(index.find("Basic"), 0);
  EXPECT_EQ(index.find("basic"), 0);
  EXPECT_EQ(index.find("two words"), 1);
  EXPECT_EQ(index.find("y"), -1);
  EXPECT_EQ(index.find("yes"), -1);
}

TEST(CategoryIndex, TwoThatDifferOnlyInCaseAreNotGuessed) {
  const CategoryIndex index({"Basic", "BASIC"});
  EXPECT_EQ(index.find("BASIC"), 1);
  EXPECT_EQ(index.find("basic"), -1);
}

TEST(CategoryIndex, TruthValuesInAnySpelling) {
  const CategoryIndex index({"FALSE", "TRUE"});
  for (const char* yes : {"true", "True", "yes", "Y", "1", "t"})
    EXPECT_EQ(index.find(yes), 1) << yes;
  for (const char* no : {"false", "no", "N", "0"}) EXPECT_EQ(index.find(no), 0) << no;
  const CategoryIndex three({"yes", "no", "perhaps"});
  EXPECT_EQ(three.find("YES"), 0);
  EXPECT_EQ(three.find("true"), -1) << "not all are truth values";
}

TEST(CategoryIndex, NumbersInAnySpelling) {
  const CategoryIndex index({"1", "2", "many"});
  EXPECT_EQ(index.find("2.0"), 1);
  EXPECT_EQ(index.find("true"), -1);
}

}  // namespace
}  // namespace fovea::categories_test
