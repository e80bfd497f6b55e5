// What a column of a stranger's table is taken for: the target without --target, identifiers with a
// slip, spellings of one category, decimal commas that only one column proves, several units.
#include <gtest/gtest.h>

#include <functional>

#include "fovea/base/file.h"
#include "tests/cli/program.h"
#include "tests/support/temporary_folder.h"

namespace fovea::strangers_columns_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

class StrangersColumns : public ::testing::Test {
 protected:
  /// `row(i)` is the i-th line of the file.
  Outcome train(const std::string& header, int rows, const std::function<std::string(int)>& row,
                const std::vector<std::string>& more = {}) {
    std::string content = header + "\n";
    for (int i = 0; i < rows; ++i) content += row(i) + "\n";
    write_file(folder_.path() / "table.csv", content);
    std::vector<std::string> arguments{"train",
                                       "features",
                                       (folder_.path() / "table.csv").string(),
                                       "--out",
                                       run(),
                                       "--overwrite",
                                       "--epochs",
                                       "1",
                                       "--set",
                                       "model.name=linear"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fovea(arguments);
  }
  Outcome predict(const std::string& content) {
    write_file(folder_.path() / "new.csv", content);
    return fovea({"predict", run(), "--input", (folder_.path() / "new.csv").string()});
  }
  std::string run() const { return (folder_.path() / "run").string(); }
  static bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  TemporaryFolder folder_;
};

TEST_F(StrangersColumns, ATargetFoundByItsNameIsHeldOutClassByClass) {
  const auto rare = [](int i) {
    return concat(i % 7, ",", i % 5, ",", i == 11 ? "rare" : i % 2 ? "yes" : "no");
  };
  for (const char* seed : {"0", "3", "6"}) {
    const Outcome outcome = train("a,b,y", 60, rare, {"--seed", seed});
    EXPECT_EQ(outcome.status, 0) << "seed " << seed << ": " << outcome.err;
  }
}

TEST_F(StrangersColumns, AnIdentifierWithASlipIsStillOne) {
  const auto row = [](const std::string& slip) {
    return [slip](int i) {
      return concat(i == 40 ? slip : concat(100 + i), ",", i * 7 % 31 / 3., ",",
                    i < 60 ? "no" : "yes");
    };
  };
  for (const char* slip : {"unknown", "Total"}) {
    const Outcome outcome = train("order_no,a,y", 120, row(slip));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(holds(outcome.err, "left out: 'order_no'")) << outcome.err;
  }
}

TEST_F(StrangersColumns, SpellingsOfOneCategoryAreOne) {
  const std::vector<std::string> plans{"premium", "Premium", "BASIC", "basic", "Basic"},
      truths{"no", "0", "FALSE", "1", "TRUE", "true", "yes"}, grades{"a", "A", "b"};
  const Outcome outcome = train("n,plan,act,grade,y", 140, [&](int i) {
    return concat(i % 9, ",", plans[size_t(i) % 5], ",", truths[size_t(i) % 7], ",",
                  grades[size_t(i) % 3], ",", i % 2);
  });
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(holds(outcome.err, "are taken for one category (and ")) << outcome.err;
  EXPECT_TRUE(holds(outcome.err, "categories: plan (2 values), act (2 values), grade (3 values)"))
      << outcome.err;
  const Outcome answers = predict("n,plan,act,grade\n1,bAsIc,True,a\n2,PREMIUM,off,b\n");
  EXPECT_EQ(answers.status, 0) << answers.err;
  EXPECT_FALSE(holds(answers.err, "training never saw it")) << answers.err;
}

TEST_F(StrangersColumns, DecimalCommasThatOneColumnProvesHoldForAll) {
  const auto decimals = [](int i) {
    return concat("\"0,", 100 + i, "\",\"", 1 + i % 9, ",", 100 + i * 7 % 900, "\",", i % 2);
  };
  const Outcome outcome = train("a,b,y", 80, decimals);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(holds(outcome.err, "'0,100' is read as 0.1")) << outcome.err;
  EXPECT_TRUE(holds(outcome.err, "'1,100' is read as 1.1")) << outcome.err;

  const auto points = [](int i) { return concat(i % 7, ";", 10 + i * 7 % 40, ".000;", i % 2); };
  const Outcome guessed = train("n;price;y", 60, points);
  ASSERT_EQ(guessed.status, 0) << guessed.err;
  EXPECT_TRUE(holds(guessed.err, "'10.000' is read as 10; if that is wrong")) << guessed.err;
}

TEST_F(StrangersColumns, NumbersInAnotherFormAreAnsweredWithTheOneThatWasLearned) {
  const auto german = [](int i) { return concat(i % 7, ";", 1 + i, ".5", i % 10, "0,25;", i % 2); };
  ASSERT_EQ(train("n;price;y", 60, german).status, 0);
  const Outcome outcome = predict("n;price\n3;81499.12\n");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(holds(outcome.err,
                    "a number is expected: the training rows had only numbers there, "
                    "written as 1234,5"))
      << outcome.err;
}

TEST_F(StrangersColumns, ThousandsWithCommasAndSharesWithPercentAreNumbers) {
  const auto english = [](int i) {
    return concat("\"", 10 + i, ",", 100 + i * 7 % 900, ".", 10 + i % 90, "\",", i % 50, " %,",
                  i % 2);
  };
  const Outcome trained = train("price,share,y", 90, english);
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_TRUE(holds(trained.err, "2 columns: 2 numbers")) << trained.err;
  const Outcome written = predict("price,share\n\"33,374.10\",12 %\n");
  ASSERT_EQ(written.status, 0) << written.err;
  EXPECT_FALSE(holds(written.err, "training")) << written.err;
  const Outcome bare = predict("price,share\n33374.10,12%\n");
  EXPECT_EQ(bare.status, 0) << bare.err;
  EXPECT_EQ(bare.out, written.out) << "one number in two spellings";
  EXPECT_NE(predict("price,share\n\"93,374.10\",12 %\n").out, written.out);
}

TEST_F(StrangersColumns, ADateWithAnHourBecomesItsParts) {
  const auto row = [](int i) {
    const int hour = i * 7 % 24;
    return concat("2021-0", 1 + i % 9, "-", 10 + i % 19, " ", hour < 10 ? "0" : "", hour, ":30:00,",
                  i % 7, ",", hour > 11 ? "late" : "early");
  };
  const Outcome planned = train("when,a,y", 120, row, {"--dry-run"});
  const std::string parts = "when (days, month, weekday, hour)";
  ASSERT_EQ(planned.status, 0) << planned.err;
  EXPECT_TRUE(holds(planned.out, parts)) << planned.out;
  const Outcome trained =
      train("when,a,y", 120, row, {"--set", "model.name=attention", "--set", "training.epochs=2"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_TRUE(holds(trained.err, parts)) << trained.err;
  const Outcome explained = fovea({"explain", run(), "2021-03-15 14:30:00,3", "--json"});
  ASSERT_EQ(explained.status, 0) << explained.err;
  EXPECT_TRUE(holds(explained.out, "'when' is seen as its days, month, weekday, hour"))
      << explained.out;
}

TEST_F(StrangersColumns, FreeTextIsEncodedAndAloneIsATaskOfItsOwn) {
  const std::string words[] = {"slow", "fine", "broken", "late", "kind", "cheap", "quick"};
  const auto text = [&](int i) {
    return concat("the delivery was ", words[size_t(i) % 7], " and the box looked ",
                  words[size_t(i * 3 + 1) % 7], " when number ", i, " came");
  };
  const auto label = [](int i) { return i % 7 == 2 ? "bad" : "good"; };
  const Outcome trained =
      train("a,comment,y", 105, [&](int i) { return concat(i % 5, ",", text(i), ",", label(i)); });
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_TRUE(holds(trained.err, "free texts: comment")) << trained.err;
  EXPECT_FALSE(holds(trained.err, "left out")) << trained.err;
  const Outcome answers = predict("a,comment\n1,the box was broken\n2,all was fine\n");
  EXPECT_EQ(answers.status, 0) << answers.err;
  const Outcome alone =
      train("comment,y", 105, [&](int i) { return concat(text(i), ",", label(i)); });
  EXPECT_TRUE(holds(alone.err, "fovea train documents")) << alone.err;
}

TEST_F(StrangersColumns, AColumnThatAnOptionMisspellsNamesTheNearest) {
  const auto row = [](int i) { return concat(i % 7, ",", 10 + i % 40, ",", i % 2); };
  for (const char* option : {"data.drop=incme", "data.keep=incme", "data.split=incme"}) {
    const Outcome outcome = train("age,income,y", 60, row, {"--set", option});
    EXPECT_EQ(outcome.status, 1) << option;
    EXPECT_TRUE(holds(outcome.err, "'income'")) << option << ": " << outcome.err;
  }
}

TEST_F(StrangersColumns, NumbersOfSeveralUnitsAreSaidToBeCategories) {
  const auto weights = [](int i) {
    return concat(i % 30, i % 2 ? " kg" : " g", ",", i % 7, ".5,", i % 3 ? "yes" : "no");
  };
  const Outcome outcome = train("weight,a,y", 90, weights);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(holds(outcome.err, "column 'weight' has numbers of several units, such as '"))
      << outcome.err;
}

TEST_F(StrangersColumns, ADryRunNamesTheColumnsOfEachKind) {
  const Outcome outcome =
      train("id,age,city,since,y", 90,
            [](int i) {
              return concat("k", i, ",", 20 + i % 50, ",", i % 3 ? "Bern" : "Basel", ",2021-0",
                            1 + i % 9, "-15,", i % 2);
            },
            {"--dry-run"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const std::string said = outcome.out + outcome.err;
  for (const char* line :
       {"numbers: age", "categories: city (2 values)", "dates: since", "left out: 'id'"})
    EXPECT_TRUE(holds(said, line)) << line << " not in: " << said;
}

}  // namespace
}  // namespace fovea::strangers_columns_test
