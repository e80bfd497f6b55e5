#include "fovea/data/tokenisers/vocabulary.h"

#include "tests/data/testing.h"

namespace fovea::vocabulary_test {
namespace {

TEST(Vocabulary, SpecialSymbolsComeFirst) {
  const Vocabulary empty;
  EXPECT_EQ(empty.size(), 4);
  EXPECT_EQ(empty.token(Vocabulary::kPadding), "<pad>");
  EXPECT_EQ(empty.token(Vocabulary::kUnknown), "<unk>");
  EXPECT_EQ(empty.token(Vocabulary::kBegin), "<s>");
  EXPECT_EQ(empty.token(Vocabulary::kEnd), "</s>");
  EXPECT_TRUE(Vocabulary::is_special(3));
  EXPECT_FALSE(Vocabulary::is_special(4));
}

TEST(Vocabulary, TokensAndNumbersAreInverse) {
  const Vocabulary vocabulary({"b", "a", "ä"});
  EXPECT_EQ(vocabulary.size(), 7);
  EXPECT_EQ(vocabulary.id("b"), 4);
  EXPECT_EQ(vocabulary.id("ä"), 6);
  for (int64_t id = 0; id < vocabulary.size(); ++id)
    EXPECT_EQ(vocabulary.id(vocabulary.token(id)), id);
  EXPECT_EQ(vocabulary.id("c"), Vocabulary::kUnknown);
  EXPECT_EQ(vocabulary.id(""), Vocabulary::kUnknown);
}

TEST(Vocabulary, NoTokenTwiceAndNoneOutOfRange) {
  expect_error(ErrorKind::InvalidArgument, {"'a'", "twice"}, [] { Vocabulary({"a", "b", "a"}); });
  expect_error(ErrorKind::InvalidArgument, {"'<s>'"}, [] { Vocabulary({"<s>"}); });
  const Vocabulary vocabulary({"a"});
  expect_error(ErrorKind::InvalidArgument, {"no token 5", "0 to 4"}, [&] { vocabulary.token(5); });
  expect_error(ErrorKind::InvalidArgument, {"no token -1"}, [&] { vocabulary.token(-1); });
}

TEST(Vocabulary, TheMostFrequentFirstThenAlphabetically) {
  const std::map<std::string, int64_t> counts{{"a", 1}, {"b", 3}, {"c", 7}, {"d", 3}, {"e", 2}};
  const auto list = [&](int64_t minimum_count, int64_t maximum_size) {
    return Vocabulary::from_counts(counts, minimum_count, maximum_size).to_json();
  };
  EXPECT_EQ(list(1, 0), Json({"c", "b", "d", "e", "a"}));
  EXPECT_EQ(list(3, 0), Json({"c", "b", "d"}));
  EXPECT_EQ(list(1, 6), Json({"c", "b"}));
  EXPECT_EQ(list(1, 100).size(), 5u);
  EXPECT_EQ(list(1, 4), Json::array());
  EXPECT_EQ(list(8, 0), Json::array());
  for (const int64_t size : {-1, 1, 3})
    expect_error(ErrorKind::InvalidArgument, {"maximum size", "at least 4"},
                 [&] { list(1, size); });
}

TEST(Vocabulary, ComesBackFromJson) {
  const Vocabulary vocabulary({"a", " ", "\u2581b", std::string("\0", 1)});
  const Json stored = parse_json(vocabulary.to_json().dump(), "here");
  EXPECT_EQ(stored.size(), 4u);
  const Vocabulary again = Vocabulary::from_json(stored, "here");
  ASSERT_EQ(again.size(), vocabulary.size());
  for (int64_t id = 0; id < again.size(); ++id) EXPECT_EQ(again.token(id), vocabulary.token(id));
}

TEST(Vocabulary, DamagedJsonIsBadData) {
  const auto read = [](const char* text) {
    return [text] { Vocabulary::from_json(Json::parse(text), "run.json"); };
  };
  expect_error(ErrorKind::BadData, {"run.json", "object", "list"}, read("{}"));
  expect_error(ErrorKind::BadData, {"run.json", "token 1", "number"}, read(R"(["a", 3])"));
  expect_error(ErrorKind::BadData, {"run.json", "'a'", "twice"}, read(R"(["a", "b", "a"])"));
  expect_error(ErrorKind::BadData, {"run.json", "'<unk>'"}, read(R"(["<unk>"])"));
}

}  // namespace
}  // namespace fovea::vocabulary_test
