#include "fovea/data/documents/load.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "fovea/base/file.h"
#include "tests/data/same_splits.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea::documents::load_test {
namespace {

using testing::expect_error;
using testing::TemporaryFolder;

#ifdef FOVEA_WITH_ICU

DocumentsDataOptions small() {
  DocumentsDataOptions options;
  options.texts.rows = 60;
  options.texts.validation_rows = options.texts.test_rows = 10;
  options.documents.rows = 60;
  options.documents.validation_rows = options.documents.test_rows = 10;
  return options;
}

const LabelledDataset& documents(const std::shared_ptr<Dataset>& rows) {
  return dynamic_cast<const LabelledDataset&>(*rows);
}

TEST(DocumentsData, WrittenDataIsReadBack) {
  for (const TextsAs as : {TextsAs::Pieces, TextsAs::Sentences}) {
    const bool pieces = as == TextsAs::Pieces;
    const TemporaryFolder folder;
    write_documents_data(folder.path(), small(), as);
    DocumentCoding drawn_coding, read_coding;
    const Splits drawn = load_documents({}, small(), as, drawn_coding, 0);
    const DataSource source{folder.path(), {}};
    const Splits read = load_documents(source, small(), as, read_coding, 0);
    EXPECT_EQ(read_coding.classes, (std::vector<std::string>{"blame", "praise"}));
    if (pieces)
      EXPECT_EQ(read_coding.tokeniser->to_json(), drawn_coding.tokeniser->to_json());
    else
      EXPECT_EQ(read_coding.words->to_json(), drawn_coding.words->to_json());
    expect_same_splits(drawn, read);
    EXPECT_TRUE(read.train->example(0).truth.contains(pieces ? "attention" : "words"));
  }
}

Splits load_text(const std::string& text, DocumentCoding& coding, DocumentsDataOptions options = {},
                 const std::string& name = "rows.tsv", TextsAs as = TextsAs::Pieces) {
  static const TemporaryFolder folder;
  write_file(folder.path() / name, text);
  const DataSource source{folder.path() / name, {}};
  return load_documents(source, options, as, coding, 3);
}

std::string lines(const std::vector<std::string>& labels, int copies = 4) {
  std::string text = "label\ttext\n";
  for (int i = 0; i < copies; ++i)
    for (const std::string& label : labels) text += label + "\tthis is text " + label + "\n";
  return text;
}

TEST(DocumentsData, ClassesAreOrderedAsNumbersWhereTheyAre) {
  DocumentCoding coding;
  const Splits splits = load_text(lines({"10", "9", "-1", "zero"}), coding);
  EXPECT_EQ(coding.classes, (std::vector<std::string>{"-1", "9", "10", "zero"}));
  EXPECT_FALSE(coding.pairs);
  EXPECT_GT(splits.validation->size(), 0);
  const DocumentCoding again = DocumentCoding::from_json(coding.to_json(), "documents.json");
  EXPECT_EQ(again.classes, coding.classes);
  EXPECT_THROW(DocumentCoding::from_json({{"classes", {"a"}}, {"pairs", false}}, "x"), Error);
  EXPECT_THROW(DocumentCoding::from_json({{"classes", 3}}, "x"), Error);
}

TEST(DocumentsData, AClassOfOnePartAloneIsNoted) {
  DocumentCoding coding;
  const Splits splits =
      load_text("label,text,split\na,x,train\nb,y,train\na,z,train\nb,u,val\nc,v,test\n", coding,
                {}, "split.csv");
  EXPECT_EQ(coding.classes.size(), 3u);
  EXPECT_NE(join(splits.notes).find("no training text has the label 'c'"), std::string::npos);
}

TEST(DocumentsData, ASecondTextMakesPairs) {
  DocumentCoding coding;
  const Splits splits =
      load_text("text,second,label\na,b,1\nc,,0\nd,e,1\nf,g,0\n", coding, {}, "pairs.csv");
  EXPECT_TRUE(coding.pairs);
  EXPECT_TRUE(splits.train->input(0).contains("second"));
}

TEST(DocumentsData, RefusesWhatCannotBeLearned) {
  expect_error(ErrorKind::BadData, "two classes", [] {
    DocumentCoding coding;
    load_text(lines({"same"}), coding);
  });
  expect_error(ErrorKind::BadData, {"'new'", "yes"}, [] {
    DocumentCoding coding;
    coding.classes = {"no", "yes"};
    load_text(lines({"yes", "new"}), coding);
  });
  expect_error(ErrorKind::BadData, "--columns label", [] {
    std::vector<std::string> labels;
    for (int i = 0; i < 1500; ++i) labels.push_back(std::to_string(i));
    DocumentCoding coding;
    load_text(lines(labels), coding);
  });
}

TEST(DocumentsData, NotesSayWhatWasCut) {
  DocumentsDataOptions options;
  options.packing.longest = 4;
  DocumentCoding coding;
  const Splits splits = load_text(lines({"a", "b"}), coding, options);
  bool said = false;
  for (const std::string& note : splits.notes)
    said = said || note.find("were cut to 4 tokens") != std::string::npos;
  EXPECT_TRUE(said);
}

TEST(DocumentsData, SentencesAreCutCountedAndKnowWhatPeopleMarked) {
  DocumentsDataOptions options;
  options.sentences.minimum_count = 1;
  options.sentences.maximum_sentences = 1;
  options.sentences.maximum_words = 2;
  options.validation_fraction = 0;
  DocumentCoding coding;
  const Splits splits =
      load_text(R"({"sentences": [["very", "dull", "film"]], "rationale": [[0, 1, 0]], "label": 0})"
                "\n"
                R"({"sentences": [["fine"]], "label": 1})",
                coding, options, "rows.jsonl", TextsAs::Sentences);
  EXPECT_EQ(coding.classes, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(coding.words->size(), Vocabulary::kSpecial + 3);
  const std::string notes = join(splits.notes);
  EXPECT_NE(notes.find("1 of 2 training texts were cut to 1 sentences and lost 1 words"),
            std::string::npos)
      << notes;
  EXPECT_NE(notes.find("1 sentences of the training texts have more than 2 words"),
            std::string::npos);
  EXPECT_TRUE(documents(splits.train).has_truth());
  EXPECT_EQ(splits.train->example(0).truth.at("words").sum().item<int64_t>(), 1);
  EXPECT_TRUE(splits.train->example(1).truth.empty());
}

TEST(DocumentsData, SentencesAreNotForPairs) {
  expect_error(ErrorKind::BadData, {"pairs", "model.name=bert"}, [] {
    DocumentCoding coding;
    load_text("text,second,label\na,b,1\nd,e,0\nf,g,1\nh,i,0\nj,k,1\nl,m,0\n", coding, {},
              "pairs.csv", TextsAs::Sentences);
  });
}

#endif

}  // namespace
}  // namespace fovea::documents::load_test
