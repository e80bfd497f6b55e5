// Questions with choices: files in the styles of others, answers in all spellings, and inputs that
// share what they have in common.
#include <gtest/gtest.h>

#include <set>

#include "fovea/base/json.h"
#include "fovea/data/choices/load.h"
#include "tests/data/wordpiece_samples.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea::choices_test {
namespace {

using testing::expect_error;
using Texts = std::vector<std::string>;

std::vector<ChoiceRow> rows_of(const std::string& name, const std::string& content,
                               const Roles& roles = {}) {
  const testing::TemporaryFolder folder;
  ChoiceReading reading;
  reading.roles = roles;
  return read_choices(folder.write(name, content), reading).rows;
}

ChoiceRow row_of(const Json& json) {
  return rows_of("one.jsonl", json.dump() + "\n").at(0);
}

TEST(Choices, StylesOfOthers) {
  const Json commonsense{{"question", "Where is a mug?"},
                         {"choices", {{"label", {"A", "B"}}, {"text", {"shelf", "sea"}}}},
                         {"answerKey", "B"}};
  EXPECT_EQ(row_of(commonsense).choices, (Texts{"shelf", "sea"}));
  EXPECT_EQ(row_of(commonsense).answer, 1);
  const Json arc{{"question",
                  {{"stem", "Which?"},
                   {"choices",
                    {{{"text", "ice"}, {"label", "1"}},
                     {{"text", "fire"}, {"label", "2"}},
                     {{"text", "wind"}, {"label", "3"}}}}}},
                 {"answerKey", "2"}};
  EXPECT_EQ(row_of(arc).question, "Which?");
  EXPECT_EQ(row_of(arc).answer, 1);  // the label, not a number
  const Json swag{{"sent1", "A man stands."},
                  {"sent2", "He"},
                  {"ending0", "sits."},
                  {"ending1", "flies."},
                  {"ending2", "sleeps."},
                  {"ending3", "sings."},
                  {"label", 3},
                  {"startphrase", "both"},
                  {"gold-source", "gold"}};
  EXPECT_EQ(row_of(swag).context, "A man stands.");
  EXPECT_EQ(row_of(swag).question, "He");
  EXPECT_EQ(row_of(swag).choices.size(), 4u);
  EXPECT_EQ(row_of(swag).answer, 3);
  const Json race{{"article", "A long text."},
                  {"question", "Why?"},
                  {"options", {"a", "b", "c", "d"}},
                  {"answer", "C"}};
  EXPECT_EQ(row_of(race).answer, 2);
  const Json copa{{"premise", "It rained."},
                  {"question", "effect"},
                  {"choice1", "It was dry."},
                  {"choice2", "It was wet."},
                  {"label", 1}};
  EXPECT_EQ(row_of(copa).context, "It rained.");
  EXPECT_EQ(row_of(copa).answer, 1);
  const Json hellaswag{{"ctx", "A cat"}, {"endings", {"barks", "purrs"}}, {"label", "1"}};
  EXPECT_EQ(row_of({{"ctx", "A cat"}, {"endings", {"barks", "purrs"}}, {"label", "0"}}).answer, 0);
  EXPECT_EQ(row_of(hellaswag).answer, 1);
  const Json by_letter{
      {"question", "?"}, {"options", {{"A", "x"}, {"B", "y"}}}, {"answer_idx", "B"}};
  EXPECT_EQ(row_of(by_letter).answer, 1);
  const Json by_text{{"prompt", "?"}, {"choices", {"x", "y"}}, {"answer", "y"}};
  EXPECT_EQ(row_of(by_text).answer, 1);
  EXPECT_EQ(row_of(by_text).context, "");
}

TEST(Choices, TablesAndRowsOfFewerChoices) {
  const auto mmlu =
      rows_of("t.csv", "question,A,B,C,answer\n\"One, or two?\",1,2,3,B\nWho?,me,you,,A\n");
  ASSERT_EQ(mmlu.size(), 2u);
  EXPECT_EQ(mmlu[0].question, "One, or two?");
  EXPECT_EQ(mmlu[0].answer, 1);
  EXPECT_EQ(mmlu[1].choices, (Texts{"me", "you"}));
  const auto listed =
      rows_of("t.tsv", "question\tchoices\tanswer\nWho?\tme|you\tyou\nWhy?\t[\"a|b\", \"c\"]\t0\n");
  EXPECT_EQ(listed[0].answer, 1);
  EXPECT_EQ(listed[1].choices, (Texts{"a|b", "c"}));
  const auto named =
      rows_of("t.csv", "q,good,bad,right\nWho?,me,you,you\n",
              {{"question", {"q"}}, {"choice", {"good", "bad"}}, {"answer", {"right"}}});
  EXPECT_EQ(named[0].answer, 1);
}

TEST(Choices, NumbersInTextsCountAsTheFileDoes) {
  const std::string head = "sentence,option1,option2,answer\n";
  EXPECT_EQ(rows_of("w.csv", head + "The _ fell.,cup,cat,2\n")[0].answer, 1);
  EXPECT_EQ(rows_of("w.csv", head + "The _ fell.,cup,cat,1\n")[0].answer, 0);  // as option1 does
  const auto from_0 = rows_of("w.csv", head + "The _ fell.,cup,cat,1\nIt _ fell.,cup,cat,0\n");
  EXPECT_EQ(from_0[0].answer, 1);
  EXPECT_EQ(from_0[1].answer, 0);
}

TEST(Choices, WhatIsWrongIsSaid) {
  const auto refused = [&](const Json& json, const Texts& words) {
    expect_error(ErrorKind::BadData, words, [&] { row_of(json); });
  };
  refused({{"question", "?"}, {"choices", {"x", "y"}}, {"answer", 2}},
          {"one.jsonl:1", "'2'", "not among the 2 choices", "0 to 1"});
  refused({{"question", "?"}, {"choices", {"x", "y"}}, {"answer", "z"}}, {"'z'", "A to B"});
  refused({{"question", "?"},
           {"choices", {{"text", {"x", "y"}}, {"label", {"1", "2"}}}},
           {"answerKey", "3"}},
          {"'3'", "1, 2"});
  refused({{"question", "?"}, {"choices", {"x"}}, {"answer", 0}}, {"has 1 choice;", "2 to 100"});
  refused({{"question", "?"}, {"choices", {"x", " "}}, {"answer", 0}}, {"choice 2 is empty"});
  refused({{"question", "?"}, {"choices", {"x", "y"}}}, {"has no answer"});
  refused({{"question", "?"}, {"answer", 0}}, {"has no choice", "--columns choice="});
  refused({{"choices", {"x", "y"}}, {"answer", 0}}, {"has no question"});
  refused({{"question", " "}, {"choices", {"x", "y"}}, {"answer", 0}}, {"question is empty"});
}

ChoiceRow cats() {
  ChoiceRow row;
  row.context = "un una";
  row.question = "cat";
  row.choices = {"una", "un cat"};
  row.answer = 1;
  return row;
}

TEST(Choices, InputsShareWhatTheyBeginWith) {
  NEEDS_ICU();
  const auto tokeniser = std::make_shared<const WordPiece>(small_wordpiece());
  const ChoiceEncoder encoder{tokeniser, {.longest = 32}};
  const Example example = encoder.example(cats());
  const Axis& axis = example.axis("tokens");
  EXPECT_EQ(axis.labels,
            (Texts{"[CLS]", "un", "una", "[SEP]", "cat", "una", "[SEP]", "un", "cat", "[SEP]"}));
  EXPECT_EQ(axis.text, "un una\ncat\nuna\nun cat");
  EXPECT_EQ(axis.spans[4].begin, 7);   // the question
  EXPECT_EQ(axis.spans[5].begin, 11);  // the first choice
  EXPECT_EQ(axis.spans[8].begin, 18);  // the last word of the second
  EXPECT_EQ(example.axis("choices").labels, (Texts{"una", "un cat"}));
  const Batch batch = encoder.collate({&example, 1});
  const at::Tensor expected =
      at::tensor({0, 1, 2, 3, 4, 5, 6, -1, 0, 1, 2, 3, 4, 7, 8, 9}, at::kLong);
  EXPECT_TRUE(batch.at("frames").equal(expected.view({1, 2, 8})));
  EXPECT_EQ(example.tensors.at("segments")[3].item<int64_t>(), 0);
  EXPECT_EQ(example.tensors.at("segments")[4].item<int64_t>(), 1);

  const ChoiceEncoder narrow{tokeniser, {.longest = 8}};
  ChoiceRow longer = cats();
  longer.context = "un una un una cat";
  const Example cut = narrow.example(longer);
  ASSERT_EQ(cut.cuts.size(), 1u);
  EXPECT_EQ(cut.cuts[0].of - cut.cuts[0].read, 3);  // of the context: all inputs have as much of it
  EXPECT_LE(narrow.collate({&cut, 1}).at("frames").size(2), 8);
  const ChoiceEncoder strict{tokeniser, {.longest = 8, .too_long = "refuse"}};
  expect_error(ErrorKind::BadData, {"8 positions"}, [&] { strict.example(longer); });
}

TEST(Choices, BuiltInQuestionsComeBackFromFiles) {
  SyntheticChoicesOptions options;
  options.rows = 40, options.validation_rows = 5, options.test_rows = 5;
  const testing::TemporaryFolder folder;
  write_choices_data(folder / "data", options);
  const std::vector<ChoiceRow> read = read_choices(folder / "data" / "train.jsonl", {}).rows;
  size_t at = 0;
  std::set<size_t> counts;
  draw_choices(options).train.for_each([&](const ChoiceRow& row) {
    ASSERT_LT(at, read.size());
    EXPECT_EQ(row, read[at]);
    ASSERT_EQ(row.decisive_choice.size(), 1u);
    EXPECT_EQ(read[at].decisive_choice[0].begin, row.decisive_choice[0].begin);
    counts.insert(row.choices.size());
    ++at;
  });
  EXPECT_EQ(at, 40u);
  EXPECT_GT(counts.size(), 2u);  // rows differ in how many choices they have
}

}  // namespace
}  // namespace fovea::choices_test
