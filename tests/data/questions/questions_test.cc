// Questions about texts: files, windows, and where in them the answer stands.
#include <gtest/gtest.h>

#include "fovea/base/json.h"
#include "fovea/data/questions/load.h"
#include "tests/data/wordpiece_samples.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea::questions_test {
namespace {

using testing::expect_error;

Json squad(const Json& questions, const std::string& text = "Zoë lives in Rome.") {
  return {{"version", "v2.0"},
          {"data", {{{"title", "x"}, {"paragraphs", {{{"context", text}, {"qas", questions}}}}}}}};
}

TEST(Questions, SquadIsReadInBothVersions) {
  const testing::TemporaryFolder folder;
  const Json first{
      {"id", "1"}, {"question", "Where?"}, {"answers", {{{"text", "Rome"}, {"answer_start", 13}}}}};
  const Json second{{"id", "2"},
                    {"question", "Why?"},
                    {"is_impossible", true},
                    {"answers", Json::array()},
                    {"plausible_answers", {{{"text", "Zoë"}, {"answer_start", 0}}}}};
  const auto path = folder.write("dev.json", squad(Json::array({first, second})).dump());
  const FileRows<QuestionRow> file = read_questions(path);
  ASSERT_EQ(file.rows.size(), 2u);
  EXPECT_EQ(file.rows[0].text, "Zoë lives in Rome.");
  EXPECT_EQ(file.rows[0].answers.at(0).start, 13);
  EXPECT_EQ(file.rows[1].id, "2");
  EXPECT_TRUE(file.rows[1].answers.empty());
}

TEST(Questions, LinesInThreeStyles) {
  const testing::TemporaryFolder folder;
  const auto path = folder.write(
      "q.jsonl",
      "{\"question\": \"Who?\", \"text\": \"Zoë came.\", \"answers\": [{\"text\": \"Zoë\", "
      "\"start\": 0}]}\n"
      "{\"question\": \"Who?\", \"context\": \"It was Zoë.\", \"answers\": {\"text\": [\"Zoë\"], "
      "\"answer_start\": [7]}}\n"
      "{\"question\": \"Who?\", \"context\": \"Nobody.\", \"answers\": []}\n");
  const FileRows<QuestionRow> file = read_questions(path);
  ASSERT_EQ(file.rows.size(), 3u);
  EXPECT_EQ(file.rows[1].answers.at(0).text, "Zoë");
  EXPECT_TRUE(file.rows[2].answers.empty());
}

TEST(Questions, WhatIsWrongIsSaid) {
  const testing::TemporaryFolder folder;
  const auto refused = [&](const std::string& name, const std::string& content,
                           const std::vector<std::string>& words) {
    expect_error(ErrorKind::BadData, words, [&] { read_questions(folder.write(name, content)); });
  };
  const Json off{{"question", "Where?"}, {"answers", {{{"text", "Rome"}, {"answer_start", 12}}}}};
  refused("a.json", squad(Json::array({off})).dump(),
          {"a.json", "data[0].paragraphs[0].qas[0].answers[0]", "code point 12", "' Rom'"});
  refused("b.jsonl", "{\"question\": \"Who?\", \"answers\": []}\n", {"b.jsonl:1", "text"});
  refused("c.jsonl", "{\"question\": \" \", \"text\": \"x\", \"answers\": []}\n",
          {"c.jsonl:1", "question"});
  refused("d.jsonl",
          "{\"question\": \"Who?\", \"text\": \"x\", \"answers\": [{\"text\": \"x\", \"start\": "
          "-1}]}\n",
          {"d.jsonl:1", "start"});
  refused("e.json", squad(Json::array()).dump(), {"e.json", "no question"});
}

QuestionRow cats() {
  QuestionRow row;
  row.question = "cat";
  row.text = "un una cat un una cat una un";
  row.answers = {{"una", 3}};
  return row;
}

TEST(Questions, WindowsKnowWhereTheAnswerIs) {
  NEEDS_ICU();
  const auto tokeniser = std::make_shared<const WordPiece>(small_wordpiece());
  const QuestionEncoder whole{tokeniser, {.longest = 32, .too_long = "windows", .overlap = 2}, 64};
  const Example one = whole.example(cats());
  EXPECT_EQ(one.tensors.at("starts").numel(), 1);
  EXPECT_EQ(one.tensors.at("starts").item<int64_t>(), one.tensors.at("ends").item<int64_t>());
  const int64_t place = one.tensors.at("starts").item<int64_t>();
  EXPECT_EQ(one.axis("tokens").labels.at(size_t(place)), "una");
  EXPECT_EQ(one.tensors.at("spans")[place][0].item<int64_t>(), 3);
  EXPECT_EQ(one.tensors.at("spans")[place][1].item<int64_t>(), 6);
  EXPECT_EQ(one.tensors.at("pieces")[0].item<int64_t>(), kNoAnswer);
  EXPECT_EQ(one.tensors.at("pieces")[1].item<int64_t>(), kOutside);
  EXPECT_EQ(one.tensors.at("pieces")[place].item<int64_t>(), 1);

  const QuestionEncoder narrow{tokeniser, {.longest = 8, .too_long = "windows", .overlap = 2}, 64};
  const Example several = narrow.example(cats());
  const at::Tensor &starts = several.tensors.at("starts"), &ends = several.tensors.at("ends");
  ASSERT_GT(starts.numel(), 1);
  EXPECT_EQ(starts.numel(), ends.numel());
  for (int64_t w = 0; w < starts.numel(); ++w) {
    EXPECT_EQ(several.tensors.at("pieces")[8 * w].item<int64_t>(), kNoAnswer);
    const int64_t start = starts[w].item<int64_t>();
    if (start > 0) {
      EXPECT_EQ(several.tensors.at("pieces")[8 * w + start].item<int64_t>(), 1);
    }
  }
  EXPECT_GT(starts[0].item<int64_t>(), 0);
  EXPECT_EQ(starts[starts.numel() - 1].item<int64_t>(), 0);  // the last one does not hold it
}

TEST(Questions, TheSyntheticOnesAreTrue) {
  SyntheticQuestionsOptions options;
  options.rows = 200, options.validation_rows = 20, options.test_rows = 20;
  const SplitRows<QuestionRow> rows = draw_questions(options);
  int64_t without = 0;
  rows.for_each([&](const QuestionRow& row, Split) {
    without += row.answers.empty();
    for (const RightAnswer& answer : row.answers)
      EXPECT_EQ(row.text.substr(size_t(answer.start), answer.text.size()), answer.text);
  });
  EXPECT_GT(without, 20);
  EXPECT_LT(without, 80);
  const testing::TemporaryFolder folder;
  write_questions_data(folder / "data", options);
  const FileRows<QuestionRow> read = read_questions(folder / "data" / "train.jsonl");
  ASSERT_EQ(int64_t(read.rows.size()), rows.train.size());
  EXPECT_EQ(read.rows[7].question, rows.train[7].question);
  EXPECT_EQ(read.rows[7].text, rows.train[7].text);
  EXPECT_EQ(read.rows[7].answers.size(), rows.train[7].answers.size());
}

}  // namespace
}  // namespace fovea::questions_test
