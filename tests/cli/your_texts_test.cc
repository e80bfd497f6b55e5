// A stranger's texts with the default command: what is trained, what stands beside its result.
#include <gtest/gtest.h>

#include "fovea/base/file.h"
#include "tests/cli/program_test.h"

namespace fovea::your_texts_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

class YourTexts : public testing::ProgramTest {
 protected:
  /// Trains with the defaults and these arguments; what it said is in `said`.
  void train(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "train");
    arguments.insert(arguments.end(), {"--out", path("run")});
    const Outcome outcome = fovea(arguments);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    said = outcome.out + outcome.err;
  }
  Json evaluated(const std::string& split) {
    const Outcome outcome = fovea({"evaluate", path("run"), "--split", split, "--json"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.json();
  }
  Json option(const std::string& group, const std::string& name) {
    return read_json_file(folder / "run" / "config.json")[group][name];
  }
  std::string said;
};

/// 300 short reviews; what they say is in one word, and once in eight against its label.
std::string reviews() {
  const std::vector<std::string> good{"fine", "superb", "charming"}, bad{"dull", "awful", "weak"};
  const std::vector<std::string> things{"film", "cast", "story", "score", "end"};
  std::string csv = "text,label\n";
  for (size_t i = 0; i < 300; ++i) {
    const bool is_good = i % 2 == 0, says_good = i % 8 == 1 ? !is_good : is_good;
    const std::string& word = (says_good ? good : bad)[i / 2 % 3];
    csv += concat("the ", things[i % 5], " was ", word, " and the ", things[(i / 3) % 5], " too,",
                  is_good ? "good" : "bad", "\n");
  }
  return csv;
}

#ifdef FOVEA_WITH_ICU

TEST_F(YourTexts, DocumentsAreReadAsWordsAndStandBesideTfIdf) {
  train({"documents", file("reviews.csv", reviews())});
  EXPECT_EQ(option("model", "name"), "words");
  EXPECT_NE(said.find("words and bigrams"), std::string::npos) << said;
  EXPECT_NE(said.find("TF-IDF logistic regression"), std::string::npos) << said;
  const Json judged = evaluated("validation");
  EXPECT_GE(judged["metrics"]["accuracy"].get<double>(), 0.8);
  EXPECT_TRUE(judged["baselines"].contains("TF-IDF logistic regression")) << judged;

  const Outcome answers = fovea({"predict", path("run"), "a superb end", "an awful end", "kwyx"});
  EXPECT_EQ(answers.status, 0) << answers.err;
  EXPECT_EQ(answers.out.substr(0, 4), "good") << answers.out;
  EXPECT_NE(answers.out.find("\nbad"), std::string::npos) << answers.out;
  const Json shown = fovea({"explain", path("run"), "a superb end", "--json"}).json();
  ASSERT_EQ(shown["maps"].size(), 2u);
  EXPECT_EQ(shown["maps"][0]["name"], "words");
  EXPECT_EQ(shown["maps"][1]["name"], "contributions");
}

/// Sentences about persons and places, tagged or plain. Behind "we saw" a name may be either.
std::string sentences(const std::vector<std::string>& persons,
                      const std::vector<std::string>& places, size_t count, bool tagged) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    const std::string &person = persons[i / 4 % persons.size()],
                      &place = places[i / 4 % places.size()];
    const std::vector<std::string> patterns[] = {{"then", "Mr", person, "came", "home"},
                                                 {"a", "street", "in", place, "was", "wet"},
                                                 {"we", "saw", person, "today"},
                                                 {"we", "saw", place, "today"}};
    for (const std::string& word : patterns[i % 4]) {
      const std::string tag = word == person ? "B-person" : word == place ? "B-place" : "O";
      text += tagged ? concat(word, "\t", tag, "\n") : word + " ";
    }
    text += "\n";
  }
  return text;
}

TEST_F(YourTexts, TextsWithoutTagsTellWhatAnUnseenNameIs) {
  const std::vector<std::string> seen{"ada", "rolf", "emma"}, there{"oslo", "bonn", "lima"};
  const std::string data = file("names.tsv", sentences(seen, there, 160, true));
  const std::string texts =
      file("texts.txt",
           sentences({"ada", "rolf", "emma", "zyx"}, {"oslo", "bonn", "lima", "qwv"}, 400, false));
  train({"tag", data, "--set", "data.texts=" + texts, "--set", "model.letters=none", "--set",
         "model.features=no", "--set", "model.hidden=16", "--epochs", "20"});
  EXPECT_NE(said.find("words of 1 file and the training sentences"), std::string::npos) << said;
  const Outcome answers = fovea({"predict", path("run"), "we saw zyx today", "we saw qwv today"});
  EXPECT_EQ(answers.out, "zyx (person)\nqwv (place)\n") << answers.err;
  std::filesystem::remove(texts);  // the run needs it no more
  EXPECT_GT(evaluated("validation")["metrics"]["f1"].get<double>(), 0.9);
  const Outcome shown = fovea({"explain", path("run"), "we saw zyx today", "--faithfulness"});
  EXPECT_EQ(shown.status, 0) << shown.err;
}

TEST_F(YourTexts, TextsThatAreNotThereAreNamed) {
  const std::string data = file("names.tsv", sentences({"ada"}, {"oslo"}, 40, true));
  const Outcome outcome = fovea(
      {"train", "tag", data, "--set", "data.texts=" + path("none.txt"), "--out", path("run")});
  EXPECT_NE(outcome.status, 0);
  EXPECT_NE(outcome.err.find("none.txt"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
}

TEST_F(YourTexts, APretrainedNetworkMakesDocumentsABert) {
  std::vector<std::string> pretrain{"train",   "pretrain", "--epochs",  "1",
                                    "--quiet", "--out",    path("bert")};
  for (const char* assignment : {"data.rows=40", "data.validation_rows=8", "data.longest=32",
                                 "model.hidden=16", "model.layers=1", "model.heads=2"})
    pretrain.insert(pretrain.end(), {"--set", assignment});
  ASSERT_EQ(fovea(pretrain).status, 0);
  train({"documents", file("reviews.csv", reviews()), "--from", path("bert"), "--epochs", "1",
         "--set", "data.longest=32"});
  EXPECT_EQ(option("model", "name"), "bert");
}

TEST_F(YourTexts, TranslationsStandBesideTheNearestSentence) {
  std::string train_pairs, test_pairs;
  for (int i = 0; i < 60; ++i) {
    const std::string source = concat("dog number ", i, " runs"),
                      target = concat("Der Hund Nummer ", i, " rennt .");
    train_pairs += concat(source, "\t", target, "\n");
    if (i % 3 == 0) test_pairs += concat("a ", source, "\t", target, "\n");
  }
  std::filesystem::create_directory(folder / "pairs");
  file("pairs/train.tsv", train_pairs);
  for (const char* name : {"pairs/val.tsv", "pairs/test.tsv"}) file(name, test_pairs);
  train({"translate", path("pairs"), "--set", "data.tokens=words", "--set", "model.hidden=8",
         "--set", "model.embedding=8", "--epochs", "1"});
  EXPECT_NE(said.find("nearest sentence"), std::string::npos) << said;
  const Json judged = evaluated("test");
  EXPECT_EQ(judged["main"]["metric"], "bleu");
  EXPECT_NEAR(judged["baselines"]["nearest sentence"]["bleu"].get<double>(), 100, 1e-6) << judged;
  const Outcome told = fovea({"evaluate", path("run"), "--split", "test"});
  EXPECT_NE((told.out + told.err).find("does not beat the baseline 'nearest sentence'"),
            std::string::npos)
      << told.out << told.err;
}

#endif

TEST_F(YourTexts, TaggersScoreNeighboursAndFeatures) {
  std::string sentences;
  for (int i = 0; i < 80; ++i)
    sentences += concat("Nurse O\nOka", i, "for B-person\nsaw O\nLin", i % 7, " B-person\n\n");
  train({"tag", file("names.conll", sentences), "--set", "model.hidden=8", "--set",
         "model.embedding=8", "--epochs", "12"});
  EXPECT_TRUE(option("model", "crf").get<bool>());
  EXPECT_TRUE(option("model", "features").get<bool>());
  EXPECT_GE(evaluated("validation")["metrics"]["f1"].get<double>(), 0.9) << "names never seen";
  const Outcome exported = fovea({"export", path("run"), "--onnx", path("tag.onnx")});
#ifdef FOVEA_WITH_ONNX
  EXPECT_EQ(exported.status, 0) << exported.err;
#endif
}

}  // namespace
}  // namespace fovea::your_texts_test
