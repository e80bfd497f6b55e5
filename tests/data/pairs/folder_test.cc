#include "fovea/data/pairs/folder.h"

#include "tests/data/testing.h"

namespace fovea::folder_test {
namespace {

/// A folder of empty files: only names count here.
class Names {
 public:
  explicit Names(const std::vector<std::string>& names) {
    for (const std::string& name : names) folder_.write(name, "");
  }
  PairFolder find(const std::string& direction = "", const std::string& test = "") const {
    return find_pair_files(folder_.path(), {direction, test});
  }
  void refused(ErrorKind kind, const std::vector<std::string>& words,
               const std::string& direction = "", const std::string& test = "") const {
    expect_error(kind, words, [&] { find(direction, test); });
  }

 private:
  TemporaryFolder folder_;
};

std::string source(const PairFolder& folder, Split part) {
  return folder.splits[part] ? folder.splits[part]->source.filename().string() : "";
}

std::string target(const PairFolder& folder, Split part) {
  return folder.splits[part] ? folder.splits[part]->target.filename().string() : "";
}

TEST(PairFolder, TsvFilesWithALanguagePairInTheirNames) {
  const Names names({"README.md", "test.de-en.tsv.gz", "test_multiref.de-en.tsv.gz",
                     "train.de-en.tsv.gz", "val.de-en.tsv.gz", "_about.de-en.txt"});
  for (const char* direction : {"", "de-en", "en-de"}) {
    const PairFolder folder = names.find(direction);
    EXPECT_EQ(source(folder, kTrain), "train.de-en.tsv.gz");
    EXPECT_EQ(source(folder, kValidation), "val.de-en.tsv.gz");
    EXPECT_EQ(source(folder, kTest), "test.de-en.tsv.gz");
    EXPECT_EQ(target(folder, kTest), "");
    EXPECT_TRUE(folder.notes.empty());
  }
  EXPECT_EQ(source(names.find("", "test_multiref"), kTest), "test_multiref.de-en.tsv.gz");
  EXPECT_EQ(source(names.find("", "test_m"), kTest), "test_multiref.de-en.tsv.gz");
  EXPECT_EQ(source(names.find("", "test"), kTest), "test.de-en.tsv.gz");
  EXPECT_FALSE(names.find("fr-en").splits[kTrain]);
}

TEST(PairFolder, ParallelFilesNeedADirection) {
  const Names names({"train.de.gz", "train.en.gz", "val.de.gz", "val.en.gz", "README.md",
                     "test_2017_flickr.de.gz", "test_2017_flickr.en.gz", "test_2016_flickr.en.gz",
                     "test_2016_flickr.de.gz", "train.fr"});
  const PairFolder folder = names.find("en-de");
  EXPECT_EQ(source(folder, kTrain), "train.en.gz");
  EXPECT_EQ(target(folder, kTrain), "train.de.gz");
  EXPECT_EQ(target(folder, kValidation), "val.de.gz");
  EXPECT_EQ(source(folder, kTest), "test_2016_flickr.en.gz");
  EXPECT_TRUE(has_note(folder.notes, "test_2017_flickr"));
  EXPECT_EQ(source(names.find("de-en"), kTrain), "train.de.gz");
  EXPECT_EQ(target(names.find("de-en", "test_2017"), kTest), "test_2017_flickr.en.gz");
  names.refused(ErrorKind::InvalidArgument, {"train.de.gz", "train.en.gz", "direction=de-en"});
  names.refused(ErrorKind::NotFound, {"val.de.gz", "fr side"}, "de-fr");
  names.refused(ErrorKind::NotFound, {"'newstest'"}, "de-en", "newstest");
}

TEST(PairFolder, OtherSpellings) {
  const PairFolder words =
      Names({"training.src", "training.tgt", "dev.tab", "TEST.tsv", "testament.tsv"}).find();
  EXPECT_EQ(source(words, kTrain), "training.src");
  EXPECT_EQ(target(words, kTrain), "training.tgt");
  EXPECT_EQ(source(words, kValidation), "dev.tab");
  EXPECT_EQ(source(words, kTest), "TEST.tsv");
  EXPECT_FALSE(Names({"train.tsv", "testament.tsv", ".test.tsv"}).find().splits[kTest]);
  const PairFolder moses = Names({"train.de-en.de", "train.de-en.en"}).find("en-de");
  EXPECT_EQ(source(moses, kTrain), "train.de-en.en");
  EXPECT_EQ(source(Names({"train.tsv", "test2016.tsv"}).find(), kTest), "test2016.tsv");
  // A prefix cannot make a test part of the training files.
  EXPECT_EQ(source(Names({"train.tsv", "trial.tsv"}).find("", "tr"), kTest), "trial.tsv");
  EXPECT_FALSE(Names({}).find().splits[kTrain]);
}

TEST(PairFolder, TwoFilesForOnePart) {
  Names({"train.tsv", "train.tsv.gz"})
      .refused(ErrorKind::BadData, {"train.tsv and train.tsv.gz", "remove one"});
  Names({"val.tsv", "dev.tsv"}).refused(ErrorKind::BadData, {"dev.tsv and val.tsv"});
  Names({"train.en", "train.de", "train.tsv"}).refused(ErrorKind::BadData, {"both"}, "de-en");
  const Names languages({"train.de-en.tsv", "train.fr-en.tsv"});
  languages.refused(ErrorKind::BadData, {"train.de-en.tsv", "direction"});
  EXPECT_EQ(source(languages.find("en-fr"), kTrain), "train.fr-en.tsv");
  // Two files of a test part that is not the chosen one disturb nobody.
  EXPECT_EQ(source(Names({"test.tsv", "test_x.tsv", "test_x.tsv.gz"}).find(), kTest), "test.tsv");
}

}  // namespace
}  // namespace fovea::folder_test
