#include "fovea/metrics/entities.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/expect_error.h"

namespace fovea::entities_test {
namespace {

using Entities = std::vector<Entity>;
using testing::expect_error;

TEST(Entities, BeginAtBAndGoOnWithI) {
  EXPECT_EQ(to_entities(Tags{"O", "B-per", "I-per", "O", "B-loc"}),
            (Entities{{"per", 1, 3}, {"loc", 4, 5}}));
  EXPECT_EQ(to_entities(Tags{"B-per", "B-per", "I-per"}), (Entities{{"per", 0, 1}, {"per", 1, 3}}));
  EXPECT_EQ(to_entities(Tags{}), Entities{});
  EXPECT_EQ(to_entities(Tags{"O", "O"}), Entities{});
}

TEST(Entities, AnInsideTagWithoutABeginningBeginsOne) {
  EXPECT_EQ(to_entities(Tags{"I-per", "I-per", "O", "I-loc"}),
            (Entities{{"per", 0, 2}, {"loc", 3, 4}}));
  // A change of type begins a new one, after B and after I.
  EXPECT_EQ(to_entities(Tags{"B-per", "I-loc", "I-loc", "I-per"}),
            (Entities{{"per", 0, 1}, {"loc", 1, 3}, {"per", 3, 4}}));
}

TEST(Entities, TagsThatEndAnEntity) {
  EXPECT_EQ(to_entities(Tags{"B-per", "E-per", "I-per", "E-per", "S-loc", "I-loc", "S-loc"}),
            (Entities{{"per", 0, 2}, {"per", 2, 4}, {"loc", 4, 5}, {"loc", 5, 6}, {"loc", 6, 7}}));
  EXPECT_EQ(to_entities(Tags{"E-per", "E-per"}), (Entities{{"per", 0, 1}, {"per", 1, 2}}));
}

TEST(Entities, TypesMayHoldAHyphen) {
  EXPECT_EQ(to_entities(Tags{"B-creative-work", "I-creative-work"}),
            (Entities{{"creative-work", 0, 2}}));
}

TEST(Entities, ScoresCountedByHand) {
  // Sentence 1: one of two is right. Sentence 2: the end is wrong. Sentence 3: the type is wrong.
  const std::vector<Tags> targets{
      {"B-per", "I-per", "O", "B-loc"}, {"B-per", "I-per", "O"}, {"B-loc"}};
  const std::vector<Tags> outputs{{"B-per", "I-per", "O", "O"}, {"B-per", "O", "O"}, {"B-per"}};
  const EntityScores scores = score_entities(outputs, targets);
  EXPECT_EQ(scores.all.right, 1);
  EXPECT_EQ(scores.all.found, 3);
  EXPECT_EQ(scores.all.wanted, 4);
  EXPECT_DOUBLE_EQ(scores.all.precision(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(scores.all.recall(), 1.0 / 4);
  EXPECT_DOUBLE_EQ(scores.all.f1(), 2.0 / 7);
  EXPECT_DOUBLE_EQ(scores.token_accuracy, 5.0 / 8);
  ASSERT_EQ(scores.by_type.size(), 2u);
  EXPECT_DOUBLE_EQ(scores.by_type.at("per").precision(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(scores.by_type.at("per").recall(), 1.0 / 2);
  EXPECT_DOUBLE_EQ(scores.by_type.at("per").f1(), 2.0 / 5);
  EXPECT_EQ(scores.by_type.at("loc").found, 0);
  EXPECT_EQ(scores.by_type.at("loc").wanted, 2);
  EXPECT_DOUBLE_EQ(scores.by_type.at("loc").precision(), 0);
  EXPECT_DOUBLE_EQ(scores.by_type.at("loc").f1(), 0);
}

TEST(Entities, AnEntityDoesNotReachIntoTheNextSentence) {
  const std::vector<Tags> targets{{"B-per"}, {"I-per"}};
  const EntityScores scores = score_entities(targets, targets);
  EXPECT_EQ(scores.all.wanted, 2);
  EXPECT_DOUBLE_EQ(scores.all.f1(), 1);
}

TEST(Entities, DifferentTagsMayMeanTheSameEntities) {
  // The entities are right, though one tag of three is another one.
  const std::vector<Tags> targets{{"B-per", "I-per", "O"}}, outputs{{"I-per", "I-per", "O"}};
  const EntityScores scores = score_entities(outputs, targets);
  EXPECT_DOUBLE_EQ(scores.all.f1(), 1);
  EXPECT_DOUBLE_EQ(scores.token_accuracy, 2.0 / 3);
}

TEST(Entities, NothingThereAndNothingFound) {
  const std::vector<Tags> none{{"O", "O"}}, some{{"B-per", "O"}};
  EXPECT_DOUBLE_EQ(score_entities(none, none).all.f1(), 0);
  EXPECT_DOUBLE_EQ(score_entities(none, none).token_accuracy, 1);
  EXPECT_DOUBLE_EQ(score_entities(some, none).all.precision(), 0);
  EXPECT_DOUBLE_EQ(score_entities(none, some).all.recall(), 0);
}

/// conlleval's own walk over the tokens: both chains of tags side by side, an entity is right when
/// both begin and end together with one type.
struct Walk {
  static std::string type(const std::string& tag) { return tag == "O" ? "" : tag.substr(2); }
  static bool begins(const std::string& before, const std::string& tag) {
    if (tag == "O") return false;
    return tag[0] == 'B' || before == "O" || type(before) != type(tag);
  }
  static bool ends(const std::string& before, const std::string& tag) {
    if (before == "O") return false;
    return tag == "O" || tag[0] == 'B' || type(before) != type(tag);
  }

  int64_t right = 0, found = 0, wanted = 0;
  bool both = false;

  void sentence(const Tags& output, const Tags& target) {
    std::string last_output = "O", last_target = "O";
    for (size_t i = 0; i <= output.size(); ++i) {
      const std::string out = i < output.size() ? output[i] : "O";
      const std::string aim = i < output.size() ? target[i] : "O";
      if (both) {
        const bool end_out = ends(last_output, out), end_aim = ends(last_target, aim);
        if (end_out && end_aim && type(last_output) == type(last_target))
          ++right, both = false;
        else if (end_out != end_aim || type(out) != type(aim))
          both = false;
      }
      const bool begin_out = begins(last_output, out), begin_aim = begins(last_target, aim);
      if (begin_out && begin_aim && type(out) == type(aim)) both = true;
      found += begin_out;
      wanted += begin_aim;
      last_output = out;
      last_target = aim;
    }
  }
};

TEST(Entities, EqualConllevalsWalkOnRandomTags) {
  std::mt19937 random(5);
  const Tags all{"O", "O", "B-a", "I-a", "B-b", "I-b"};
  for (int round = 0; round < 300; ++round) {
    std::vector<Tags> outputs(3), targets(3);
    Walk walk;
    for (size_t row = 0; row < 3; ++row) {
      for (size_t i = 0, n = 1 + random() % 8; i < n; ++i) {
        targets[row].push_back(all[random() % all.size()]);
        outputs[row].push_back(random() % 3 ? targets[row].back() : all[random() % all.size()]);
      }
      walk.sentence(outputs[row], targets[row]);
    }
    const EntityScores scores = score_entities(outputs, targets);
    EXPECT_EQ(scores.all.right, walk.right);
    EXPECT_EQ(scores.all.found, walk.found);
    EXPECT_EQ(scores.all.wanted, walk.wanted);
  }
}

TEST(Entities, BadTagsAndSizes) {
  for (const char* tag : {"", "B", "B-", "X-per", "person", "b-per", "BI-per"})
    expect_error(ErrorKind::InvalidArgument, {"tag", tag}, [&] { to_entities(Tags{tag}); });
  const std::vector<Tags> one{{"O"}}, two{{"O"}, {"O"}}, longer{{"O", "O"}}, empty{{}};
  expect_error(ErrorKind::InvalidArgument, {"1 tagged", "2 targets"},
               [&] { score_entities(one, two); });
  expect_error(ErrorKind::InvalidArgument, {"sentence 1", "1 tags", "2 targets"},
               [&] { score_entities(one, longer); });
  expect_error(ErrorKind::InvalidArgument, {"at least one token"},
               [&] { score_entities(empty, empty); });
}

}  // namespace
}  // namespace fovea::entities_test
