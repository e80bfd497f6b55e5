#include "fovea/data/corpus/reader.h"

#include "fovea/data/tokenisers/sentences.h"
#include "tests/data/wordpiece_samples.h"

namespace fovea::corpus::reader_test {
namespace {

CorpusOptions options(const std::string& documents, const std::string& sentences) {
  CorpusOptions made;
  made.documents = documents;
  made.sentences = sentences;
  return made;
}

std::vector<Document> read(const std::string& name, const std::string& content,
                           const CorpusOptions& reading = {}) {
  const TemporaryFolder folder;
  std::vector<Document> documents;
  read_corpus(folder.write(name, content), reading,
              [&](Document document) { documents.push_back(std::move(document)); });
  return documents;
}

void refused(ErrorKind kind, const Texts& words, const std::string& name,
             const std::string& content, const CorpusOptions& reading = {}) {
  expect_error(kind, words, [&] { read(name, content, reading); });
}

TEST(Corpus, OneSentenceALineAndBlankLinesBetweenDocuments) {
  EXPECT_EQ(read("a.txt", "\uFEFF\nOne.\r\n Two. \n\n \n\nThree"),
            (std::vector<Document>{{"One.", "Two."}, {"Three"}}));
}

TEST(Corpus, OneDocumentALine) {
  EXPECT_EQ(read("a.txt", "One. Two.\n\nThree.\n", options("lines", "lines")),
            (std::vector<Document>{{"One. Two."}, {"Three."}}));
  NEEDS_ICU();
  EXPECT_EQ(read("a.txt", "One. Two.\nThree.\n", options("lines", "auto")),
            (std::vector<Document>{{"One.", "Two."}, {"Three."}}));
}

TEST(Corpus, LinesThatBreakInsideSentences) {
  NEEDS_ICU();
  EXPECT_EQ(
      read("a.txt", "The first\nsentence. The\nsecond.\n\nNext.", options("blank_lines", "cut")),
      (std::vector<Document>{{"The first sentence.", "The second."}, {"Next."}}));
}

TEST(Corpus, TheTextColumnOfATable) {
  NEEDS_ICU();
  CorpusOptions reading;
  reading.roles = {{"text", {"review"}}};
  EXPECT_EQ(read("a.csv", "review,stars\n\"One. Two\nlines.\",3\nThree.,\n", reading),
            (std::vector<Document>{{"One.", "Two lines."}, {"Three."}}));
  EXPECT_EQ(read("a.jsonl", "{\"text\": \"One.\\nTwo. Three.\"}\n", options("lines", "lines")),
            (std::vector<Document>{{"One.", "Two. Three."}}));
  refused(ErrorKind::NotFound, {"no column 'text'"}, "a.csv", "said,stars\na,b\n");
  refused(ErrorKind::InvalidArgument, {"a.txt", "no columns"}, "a.txt", "a\n", reading);
}

TEST(Corpus, WhatIsRefused) {
  for (const char* nothing : {"", "\n \n"})
    refused(ErrorKind::BadData, {"a.txt", "no text"}, "a.txt", nothing);
  refused(ErrorKind::BadData, {"a.txt:2", "0xE9", "UTF-8"}, "a.txt", "a\n\xE9\n");
  refused(ErrorKind::BadData, {"a.txt:1", "1,000,000"}, "a.txt", std::string(1000001, 'a'));
  refused(ErrorKind::BadData, {"a.txt.gz", "not a gzip"}, "a.txt.gz", "a\n");
  refused(ErrorKind::InvalidArgument, {"documents", "'pages'"}, "a.txt", "a\n",
          options("pages", "auto"));
  refused(ErrorKind::InvalidArgument, {"sentences", "'words'"}, "a.txt", "a\n",
          options("lines", "words"));
  CorpusOptions small;
  small.max_bytes = 3;
  refused(ErrorKind::BadData, {"more than 3 bytes"}, "a.txt", "abcd", small);
}

TEST(Corpus, FoldersAndHeldOutDocuments) {
  const TemporaryFolder folder;
  folder.write("train.txt", "a\n\nb\n\nc\n\nd\n\ne\n");
  SplitOptions split;
  split.fraction = 0.4;
  const auto cut = open_corpus({folder.path(), {}}, split, {});
  EXPECT_EQ(cut.train.size(), 3);
  EXPECT_EQ(cut.validation.size(), 2);
  folder.write("valid.txt", "v\n");
  const auto parts = open_corpus({folder.path(), {}}, split, {});
  EXPECT_EQ(parts.train.size(), 5);
  EXPECT_EQ(parts.validation.kept(), (std::vector<Document>{{"v"}}));
  expect_error(ErrorKind::InvalidArgument, {"'label'"}, [&] {
    open_corpus({folder.path(), {{"label", {"x"}}}}, split, {});
  });
}

TEST(Sentences, EndWhereUnicodeSaysAndNotAfterAbbreviations) {
  NEEDS_ICU();
  const auto cut_texts = [](const std::string& text) {
    const auto parts = cut_sentences(text);
    return Texts(parts.begin(), parts.end());
  };
  EXPECT_EQ(cut_texts("Mr. Smith left.  He said \"Hi!\" Why? 3.5 is it. "),
            (Texts{"Mr. Smith left.", "He said \"Hi!\"", "Why?", "3.5 is it."}));
  EXPECT_EQ(cut_texts("我喜欢。你呢？好"), (Texts{"我喜欢。", "你呢？", "好"}));
  EXPECT_EQ(cut_texts(""), Texts{});
  EXPECT_EQ(cut_texts(" \n "), Texts{});
  expect_error(ErrorKind::BadData, {"UTF-8"}, [&] { cut_texts("a\xFF"); });
}

}  // namespace
}  // namespace fovea::corpus::reader_test
