// Texts, pictures and sounds as people have them, through the program.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "fovea/base/file.h"
#include "fovea/data/formats/read_image.h"
#include "tests/cli/program_test.h"

namespace fovea::strangers_files_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

namespace fs = std::filesystem;

class StrangersFiles : public testing::ProgramTest {
 protected:
  Outcome train(const std::string& task, const std::string& data,
                const std::vector<std::string>& more = {}) {
    fs::remove_all(folder / "run");
    std::vector<std::string> arguments{"train", task, data, "--epochs", "1", "--out", path("run")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fovea(arguments);
  }
  /// A training that says this on the way.
  void expect_learns(const Outcome& outcome, const std::vector<std::string>& notes) {
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    for (const std::string& note : notes)
      EXPECT_NE(outcome.err.find(note), std::string::npos) << note << " not in: " << outcome.err;
  }
  void expect_refused(const Outcome& outcome, const std::vector<std::string>& parts) {
    EXPECT_EQ(outcome.status, 1) << outcome.err;
    for (const std::string& part : parts)
      EXPECT_NE(outcome.err.find(part), std::string::npos) << part << " not in: " << outcome.err;
    EXPECT_FALSE(fs::exists(folder / "run"));
  }
};

std::string repeated(const std::string& lines, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += lines;
  return text;
}

TEST_F(StrangersFiles, TextsWithLabels) {
  const std::vector<std::string> han{"--set", "model.name=han", "--set", "data.minimum_count=1"};
  const auto documents = [&](const std::string& data) { return train("documents", data, han); };
  const std::string classes = "2 classes: bad (";
  expect_learns(documents(file("a.txt", repeated("__label__good a fine film\n"
                                                 "__label__bad a dull film\n",
                                                 10))),
                {classes});
  expect_learns(documents(file("b.txt", repeated("__label__a __label__b both of them\n"
                                                 "__label__a one alone\n",
                                                 10))),
                {"2 labels, 1.5 a text: a ("});
  expect_learns(
      documents(file("c.txt", repeated("a fine film\tgood\nanother dull film\tbad\n", 10))),
      {classes});
  expect_refused(documents(file("d.txt", "a text without a label\n")), {"d.txt:1", "tab"});
  expect_learns(documents(file("a.json", "[" +
                                             repeated("{\"text\": \"fine\", \"label\": \"good\"},\n"
                                                      "{\"text\": \"dull\", \"label\": \"bad\"},",
                                                      10) +
                                             "{\"text\": \"fine\", \"label\": \"good\"}]")),
                {classes});
  expect_learns(documents(file("lines.json", repeated("{\"text\": \"fine\", \"label\": \"good\"}\n"
                                                      "{\"text\": \"dull\", \"label\": \"bad\"}\n",
                                                      10))),
                {classes});
  expect_learns(
      documents(
          file("a.csv", "review,sentiment\n" +
                            repeated("\"fine,\nreally\",good\n\"so \"\"dull\"\"\",bad\n", 10))),
      {"the text is the column 'review'", "the label is the column 'sentiment'"});
  for (int i = 0; i < 10; ++i) {
    file(concat("folder/good/", i, ".txt"), "a fine film");
    file(concat("folder/bad/", i, ".txt"), "a dull caf\xE9");
    file(concat("splits/train/good/", i, ".txt"), "a fine film");
    file(concat("splits/train/bad/", i, ".txt"), "a dull film");
    file(concat("splits/test/bad/", i, ".txt"), "a dull film");
  }
  expect_learns(documents(path("folder")), {classes, "10 files are not UTF-8"});
  expect_learns(documents(path("splits")), {classes});
}

TEST_F(StrangersFiles, SentencePairs) {
  const std::vector<std::string> german{"--direction", "de-en"};
  const std::string rows = repeated(
      "{\"translation\": {\"de\": \"ein Hund\", \"en\": \"a dog\"}}\n"
      "{\"translation\": {\"de\": \"eine Katze\", \"en\": \"a cat\"}}\n",
      6);
  expect_learns(train("translate", file("a.jsonl", rows), german), {});
  expect_refused(train("translate", path("a.jsonl")), {"a.jsonl:1", "--direction de-en or en-de"});
  expect_learns(
      train("translate", file("a.csv", "source,target\n" +
                                           repeated("\"ein, Hund\",a dog\neine Katze,a cat\n", 6))),
      {});
  expect_refused(train("translate", file("b.csv", "german,english\nein Hund,a dog\n")),
                 {"--columns source=NAME", "'german'"});
}

TEST_F(StrangersFiles, TagsOfEveryScheme) {
  const std::string conll =
      "-DOCSTART- -X- O O\n\n" + repeated(
                                     "Anna NNP I-NP I-PER\nsleeps VBZ I-VP O\n\n"
                                     "Bonn NNP I-NP S-LOC\nis VBZ I-VP O\n\n",
                                     6);
  expect_learns(train("tag", file("a.conll", conll)), {"rewritten as IOB2"});
  const std::string numbered = repeated(
      "# text = Anna sleeps\n1\tAnna\tNNP\tB-PER\n2\tsleeps\tVBZ\tO\n\n"
      "1\tBonn\tNNP\tB-LOC\n2\tis\tVBZ\tO\n\n",
      6);
  expect_learns(train("tag", file("a.conllu", numbered)),
                {"column 1 counts the tokens, so the token is column 2", "14 letters"});
  const Outcome tagged =
      fovea({"predict", path("run"), file("tagged.tsv", "Anna\tB-PER\nis\tO\n")});
  EXPECT_EQ(tagged.status, 1) << tagged.out;
  EXPECT_NE(tagged.err.find("tagged.tsv:1: input: a token and its tag"), std::string::npos)
      << tagged.err;
  const Outcome slip = fovea({"predict", path("run"), "senteces.txt"});
  EXPECT_EQ(slip.status, 1) << slip.out;
  EXPECT_NE(slip.err.find("senteces.txt: no such file"), std::string::npos) << slip.err;
  fs::remove_all(folder / "run");
  expect_refused(train("tag", file("a.jsonl", "{\"tokens\": [\"Anna\"], \"tags\": [\"O\"]}\n")),
                 {"a.jsonl:1", "JSON", "jq "});
  expect_refused(train("tag", file("a.csv", "Sentence #,Word,POS,Tag\n1,Anna,NNP,B-PER\n")),
                 {"a.csv:1", "commas", "a token and its tag on each line"});
}

TEST_F(StrangersFiles, PicturesOfAnySizeAndColour) {
  if (!can_read_images()) GTEST_SKIP() << "this build reads no pictures";
  for (int i = 0; i < 12; ++i) {
    Image picture = make_image(20 + 7 * i, 90 - 5 * i, i % 3 == 0 ? 1 : 3, uint8_t(20 * i));
    if (i == 7) picture.at(0, 0, 0) = 255;
    file(concat("pictures/", i % 2 ? "cat/" : "dog/", i, ".png"), encode_png(picture));
    file(concat("labels/", i, ".png"), encode_png(picture));
  }
  file("pictures/cat/a.gif", "GIF89a");
  file("pictures/dog/b.webp", "RIFF");
  expect_learns(train("images", path("pictures")),
                {"several sizes become 32 x 32", "in colour",
                 "2 pictures in other formats are left out, first ", "a.gif"});
  const Outcome answer = fovea({"predict", path("run"), path("pictures/cat/1.png")});
  EXPECT_EQ(answer.status, 0) << answer.err;
  const std::string first = path("pictures/cat/1.png"), second = path("pictures/dog/2.png");
  const Outcome answers = fovea({"predict", path("run"), first, second, "--out", path("p.csv")});
  EXPECT_EQ(answers.status, 0) << answers.err;
  const std::string written = read_file(folder / "p.csv");
  EXPECT_EQ(written.substr(0, written.find(',')), "file") << written;
  EXPECT_NE(written.find("\n" + first + ","), std::string::npos) << written;
  EXPECT_NE(written.find("\n" + second + ","), std::string::npos) << written;
  const Outcome all = fovea({"predict", path("run"), path("pictures/cat")});
  EXPECT_NE(all.err.find("cat: is a folder"), std::string::npos) << all.err;
  const Outcome believed =
      fovea({"explain", path("run"), path("pictures/cat/1.png"), "--faithfulness", "--json"});
  ASSERT_EQ(believed.status, 0) << believed.err;
  EXPECT_NE(believed.out.find("comprehensiveness"), std::string::npos);

  file("pictures/cat/broken.png", "no picture");
  expect_refused(train("images", path("pictures")),
                 {"broken.png", "1 of 13 files", "max_bad_share"});
  const std::vector<std::string> some{"--set", "data.max_bad_share=.1"};
  expect_learns(train("images", path("pictures"), some),
                {"1 of 13 files cannot be read", "broken.png"});
  std::vector<std::string> strict = some;
  strict[1] = "data.view=plain";
  strict.push_back("--strict");
  expect_refused(train("images", path("pictures"), strict), {"broken.png"});

  std::string table = "file,class\n";
  for (int i = 0; i < 12; ++i) table += concat(i, ".png,", i % 2 ? "cat" : "dog", "\n");
  expect_learns(train("images", file("labels/labels.csv", table)), {"2 classes"});
  expect_refused(train("images", file("labels/other.csv", "file,kind\n0.png,cat\n")),
                 {"--columns label=NAME", "kind"});
  EXPECT_EQ(fovea({"train", "features", "--strict"}).status, 1);
}

/// Short reviews, good or bad, under a header.
std::string short_reviews(const std::string& header) {
  return header +
         repeated("a great film,good\na dull film,bad\na great cast,good\na dull end,bad\n", 10);
}

/// Runs on texts, asked about files as people have them.
class StrangersTexts : public StrangersFiles {
 protected:
  void SetUp() override {
#ifndef FOVEA_WITH_ICU
    GTEST_SKIP() << "needs ICU";
#endif
  }
  void train_documents() {
    const Outcome outcome = train("documents", file("reviews.csv", short_reviews("text,label\n")));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
  }
  void train_pairs() {
    const std::string rows =
        "Deutsch,English\n" + repeated("ein Hund,a dog\neine Katze,a cat\n", 10);
    const Outcome outcome =
        train("translate", file("pairs.csv", rows),
              {"--columns", "source=Deutsch", "--columns", "target=English", "--set",
               "data.tokens=words", "--set", "model.hidden=8", "--set", "model.embedding=8"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
  }
  Outcome ask(const std::string& name, const std::string& content) {
    return fovea({"predict", path("run"), file(name, content)});
  }
  static int64_t lines(const Outcome& outcome) {
    return std::count(outcome.out.begin(), outcome.out.end(), '\n');
  }
  static void expect_says(const Outcome& outcome, const std::vector<std::string>& parts) {
    EXPECT_EQ(outcome.status, 1) << outcome.out;
    EXPECT_EQ(outcome.out, "");
    for (const std::string& part : parts)
      EXPECT_NE(outcome.err.find(part), std::string::npos) << part << " not in: " << outcome.err;
  }
};

TEST_F(StrangersTexts, ATableWithoutTheTextIsNoListOfLines) {
  train_documents();
  const std::string other = "id,comment\n1,a great film\n2,\"dull, boring\"\n";
  expect_says(ask("other.csv", other), {"other.csv:1", "'text'", "'id', 'comment'", ".txt"});
  expect_says(ask("one.csv", "comment\na great film\ndull\n"), {"one.csv:1", "'comment'", ".txt"});
  expect_says(ask("one.tsv", "comment\na great film\ndull\n"), {"one.tsv:1", "'comment'"});
  expect_says(fovea({"explain", path("run"), "--input", path("other.csv")}),
              {"other.csv:1", "'text'"});
  EXPECT_EQ(lines(ask("lines.txt", other)), 3) << "any line of a text file is a text";
  const Outcome table = ask("table.csv", "id,text\n1,a great film\n2,\"dull, boring\"\n");
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_EQ(lines(table), 2);
}

TEST_F(StrangersTexts, ATableWithoutTheSourceIsNoListOfLines) {
  train_pairs();
  expect_says(ask("new.csv", "nr;German\n0;ein Hund\n1;eine Katze\n"),
              {"new.csv:1", "'Deutsch'", "'nr', 'German'", ".txt"});
  EXPECT_EQ(lines(ask("new.txt", "ein Hund, eine Katze\neine Katze\n")), 2);
}

TEST_F(StrangersTexts, AListOfObjectsIsAnInputForEach) {
  train_documents();
  const std::string list = R"([{"text": "a great film", "label": ["good"]},
    {"text": "dull"}])";
  const Outcome answers = ask("list.json", list);
  EXPECT_EQ(answers.status, 0) << answers.err;
  EXPECT_EQ(lines(answers), 2);
  EXPECT_EQ(fovea({"predict", path("run"), list}).out, answers.out);
  EXPECT_EQ(ask("piped", list).out, answers.out) << "whatever the file is called";
  EXPECT_EQ(
      ask("under.json", "{\"data\":\n[{\"text\": \"a great film\"}, {\"text\": \"dull\"}]}").out,
      answers.out);
  expect_says(ask("bad.json", R"([{"text": "dull"}, {"comment": "dull"}])"),
              {"bad.json: row 2", "'comment'"});
  expect_says(ask("cut.json", R"([{"text": "dull"},)"), {"cut.json"});
  EXPECT_EQ(lines(ask("notes.txt", "[1] a great film\n[2] dull\n")), 2);
  ASSERT_EQ(
      fovea({"predict", path("run"), path("list.json"), "--out", path("a.csv"), "--key", "text"})
          .status,
      0);
  EXPECT_NE(read_file(folder / "a.csv").find("\ndull,"), std::string::npos);
}

TEST_F(StrangersTexts, AListOfSourcesIsAnInputForEach) {
  train_pairs();
  const Outcome answers =
      ask("list.json", R"([{"source": "ein Hund"}, {"Deutsch": "eine Katze"}])");
  EXPECT_EQ(answers.status, 0) << answers.err;
  EXPECT_EQ(lines(answers), 2);
}

TEST_F(StrangersTexts, NamesInAnotherCase) {
  train_documents();
  const Outcome text = fovea({"predict", path("run"), R"({"text": "a great film"})"});
  EXPECT_EQ(fovea({"predict", path("run"), R"({"Text": "a great film"})"}).out, text.out);
  expect_says(fovea({"predict", path("run"), R"({"Text": "a", "TEXT": "b"})"}),
              {"'Text', 'TEXT'", "\"text\""});
  const std::string upper = short_reviews("Text,LABEL\n");
  const Outcome judged = fovea({"evaluate", path("run"), file("upper.csv", upper)});
  EXPECT_EQ(judged.status, 0) << judged.err;
  expect_learns(train("documents", file("upper.csv", upper)), {"'LABEL' as 'label'"});
  EXPECT_EQ(lines(ask("new.csv", "TEXT\na great film\n")), 1);
  std::string rows;
  for (int i = 0; i < 20; ++i)
    rows += concat("{\"Text\": \"a ", i % 2 ? "great" : "dull", " film\", \"Label\": \"",
                   i % 2 ? "good" : "bad", "\"}\n");
  expect_learns(train("documents", file("rows.jsonl", rows)), {"2 classes"});
  const std::string review = short_reviews("Review,Sentiment\n");
  expect_learns(train("documents", file("review.csv", review)),
                {"the text is the column 'Review'"});

  train_pairs();
  const std::string lower = "deutsch,english\nein Hund,a dog\neine Katze,a cat\n";
  const Outcome measured = fovea({"evaluate", path("run"), file("lower.csv", lower)});
  EXPECT_EQ(measured.status, 0) << measured.err;
  const Outcome lines_of =
      fovea({"evaluate", path("run"),
             file("lower.jsonl", "{\"deutsch\": \"ein Hund\", \"ENGLISH\": \"a dog\"}\n")});
  EXPECT_EQ(lines_of.status, 0) << lines_of.err;
  const Outcome one = fovea({"predict", path("run"), R"({"deutsch": "ein Hund"})"});
  EXPECT_EQ(one.out, fovea({"predict", path("run"), "ein Hund"}).out) << one.err;
  expect_says(fovea({"predict", path("run"), R"({"German": "ein Hund"})"}),
              {"'German'", "\"source\""});
}

TEST_F(StrangersTexts, KeysThatNobodyReadsAreNamedOnce) {
  train_documents();
  const Outcome outcome =
      ask("new.jsonl", "{\"text\": \"dull\", \"id\": 3}\n{\"text\": \"great\", \"id\": 4}\n");
  EXPECT_EQ(lines(outcome), 2);
  EXPECT_NE(outcome.err.find("2 of 2 rows: 'id': this run does not know it; it is ignored"),
            std::string::npos)
      << outcome.err;
  const Outcome known = ask("known.jsonl", "{\"text\": \"dull\", \"label\": \"bad\"}\n");
  EXPECT_EQ(known.err, "");
}

TEST_F(StrangersFiles, VisitsWithNamesInAnotherCase) {
  std::string rows = "Patient,Codes,Label\n";
  for (int i = 0; i < 40; ++i) rows += concat("p", i, ",", i % 2 ? "A B" : "C D", ",", i % 2, "\n");
  expect_learns(train("visits", file("visits.csv", rows)), {"'Patient' as 'patient'"});
  EXPECT_EQ(fovea({"evaluate", path("run"), path("visits.csv")}).status, 0);
}

TEST_F(StrangersFiles, OneBrokenSoundIsLeftOut) {
  ASSERT_EQ(fovea({"data", "speech", "--set", "data.rows=30", "--set", "data.validation_rows=2",
                   "--set", "data.test_rows=2", "--out", path("speech")})
                .status,
            0);
  file("speech/train/3.wav", "no sound");
  expect_learns(train("speech", path("speech")),
                {"1 of 34 files cannot be read and are left out", "3.wav"});
  expect_refused(train("speech", path("speech"), {"--strict"}), {"train.tsv:4", "3.wav"});
}

}  // namespace
}  // namespace fovea::strangers_files_test
