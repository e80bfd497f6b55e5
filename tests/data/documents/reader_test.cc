#include "fovea/data/documents/reader.h"

#include "tests/data/testing.h"

namespace fovea::documents::reader_test {
namespace {

using Texts = std::vector<std::string>;

FileRows<LabelledText> read(const std::string& name, const std::string& content,
                            const Roles& roles = {}, bool needs_label = true) {
  const TemporaryFolder folder;
  LabelledTextOptions options;
  options.roles = roles;
  options.needs_label = needs_label;
  return read_labelled_text(folder.write(name, content), options);
}

void refused(ErrorKind kind, const Texts& words, const std::string& name,
             const std::string& content, const Roles& roles = {}) {
  const TemporaryFolder folder;
  const auto path = folder.write(name, content);
  LabelledTextOptions options;
  options.roles = roles;
  expect_error(kind, words, [&] { read_labelled_text(path, options); });
}

TEST(LabelledText, Csv) {
  const auto rows =
      read("a.csv", "id,review,stars\n1,\"Two\nlines, \"\"quoted\"\"\", 5 \n2,plain,1\n",
           {{"text", {"review"}}, {"label", {"stars"}}});
  ASSERT_EQ(rows.rows.size(), 2u);
  EXPECT_EQ(rows.rows[0].text, "Two\nlines, \"quoted\"");
  EXPECT_EQ(rows.rows[0].label, "5");
  EXPECT_EQ(rows.rows[0].second, "");
  EXPECT_EQ(rows.rows[1].text, "plain");
  EXPECT_TRUE(rows.splits.empty());
}

TEST(LabelledText, QuotesAreTextInATsv) {
  const auto rows = read_labelled_text(fixture("reviews.tsv"), {});
  ASSERT_EQ(rows.rows.size(), 3u);
  EXPECT_EQ(rows.rows[1].text, "\"Odd\" quotes \"");
  LabelledTextOptions options;
  options.quotes = "yes";
  expect_error(ErrorKind::BadData, {"reviews.tsv:3", "closing quote"},
               [&] { read_labelled_text(fixture("reviews.tsv"), options); });
  options.quotes = "no";
  const TemporaryFolder folder;
  EXPECT_EQ(
      read_labelled_text(folder.write("a.csv", "text,label\n\"x\",y\n"), options).rows[0].text,
      "\"x\"");
  options.quotes = "perhaps";
  expect_error(ErrorKind::InvalidArgument, {"'perhaps'"},
               [&] { read_labelled_text(fixture("reviews.tsv"), options); });
}

TEST(LabelledText, GzipEqualsPlain) {
#ifndef FOVEA_WITH_ZLIB
  GTEST_SKIP() << "built without zlib";
#endif
  const auto packed = read_labelled_text(fixture("reviews.tsv.gz"), {});
  const auto plain = read_labelled_text(fixture("reviews.tsv"), {});
  ASSERT_EQ(packed.rows.size(), plain.rows.size());
  EXPECT_EQ(packed.rows[2].text, plain.rows[2].text);
  EXPECT_NE(packed.hash, plain.hash);
  const TemporaryFolder folder;
  const std::string bytes = read_file(fixture("reviews.tsv.gz"));
  for (size_t size = 2; size < bytes.size(); ++size)
    expect_error(ErrorKind::BadData, {"r.tsv.gz", "damaged gzip"},
                 [&] { read_labelled_text(folder.write("r.tsv.gz", bytes.substr(0, size)), {}); });
}

TEST(LabelledText, JsonLines) {
  const auto rows = read("a.jsonl",
                         "{\"text\": \"one \\u00e9\\n\", \"label\": 3, \"more\": [1]}\n\n"
                         "{\"label\": true, \"text\": \"two\", \"second\": \"2\"}\r\n"
                         "{\"text\": \"three\", \"label\": null}\n"
                         "{\"text\": \" \", \"label\": \"x\"}\n");
  ASSERT_EQ(rows.rows.size(), 2u);
  EXPECT_EQ(rows.rows[0].text, "one é\n");
  EXPECT_EQ(rows.rows[0].label, "3");
  EXPECT_EQ(rows.rows[1].label, "true");
  EXPECT_EQ(rows.rows[1].second, "2");
  EXPECT_TRUE(has_note(rows.notes, "1 rows without a text"));
  EXPECT_TRUE(has_note(rows.notes, "1 rows without a label"));
}

TEST(LabelledText, JsonLinesThatAreRefused) {
  refused(ErrorKind::BadData, {"a.jsonl:2", "not valid JSON"}, "a.jsonl",
          "{\"text\": \"a\", \"label\": 1}\n{\"text\": \"b\", \"lab\n");
  refused(ErrorKind::BadData, {"a.jsonl:1", "array", "object"}, "a.jsonl", "[1]\n");
  refused(ErrorKind::BadData, {"a.jsonl:1", "'text' is number", "a text"}, "a.jsonl",
          "{\"text\": 1, \"label\": 1}\n");
  refused(ErrorKind::BadData, {"a.jsonl:1", "'label' is object"}, "a.jsonl",
          "{\"text\": \"a\", \"label\": {}}\n");
  refused(ErrorKind::BadData, {"a.jsonl:1", "no 'text'", "did you mean 'tex'", "--columns text="},
          "a.jsonl", "{\"tex\": \"a\", \"label\": 1}\n");
  refused(ErrorKind::BadData, {"a.jsonl:2", "no 'label'"}, "a.jsonl",
          "{\"text\": \"a\", \"label\": 1}\n{\"text\": \"b\"}\n");
  refused(ErrorKind::BadData, {"a.jsonl", "no labelled text"}, "a.jsonl", "\n");
  refused(ErrorKind::BadData, {"a.jsonl:1", "not valid JSON"}, "a.jsonl", std::string(500000, '['));
  // Many keys take no longer than few.
  std::string wide = "{\"text\": \"a\", \"label\": 1";
  for (int i = 0; i < 60000; ++i) wide += ",\"k" + std::to_string(i) + "\":0";
  EXPECT_EQ(read("a.jsonl", wide + "}\n").rows.size(), 1u);
}

TEST(LabelledText, SentencesOfWordsWithWhatPeopleMarked) {
  const auto rows = read("a.jsonl", R"({"sentences": [["très", "dull", "."], ["avoid"]],)"
                                    R"( "rationale": [[0, 1, 0], [1]], "label": 0})"
                                    "\n"
                                    R"({"sentences": [["fine"]], "label": 1})"
                                    "\n"
                                    R"({"text": "plain", "sentences": 3, "label": 1})"
                                    "\n");
  ASSERT_EQ(rows.rows.size(), 3u);
  EXPECT_EQ(rows.rows[0].text, "très dull .\navoid\n");
  ASSERT_EQ(rows.rows[0].decisive.size(), 2u);
  EXPECT_EQ(rows.rows[0].decisive[0].begin, 5) << "in code points";
  EXPECT_EQ(rows.rows[0].decisive[0].end, 9);
  EXPECT_EQ(rows.rows[0].decisive[1].begin, 12);
  EXPECT_TRUE(rows.rows[1].decisive.empty());
  EXPECT_EQ(rows.rows[2].text, "plain") << "a text goes first";
  for (const char* row :
       {R"({"sentences": "a b", "label": 1})", R"({"sentences": [["a", 1]], "label": 1})",
        R"({"sentences": [["a"]], "rationale": [[1, 0]], "label": 1})",
        R"({"sentences": [["a"]], "rationale": [["x"]], "label": 1})",
        R"({"sentences": [["a"]], "rationale": [], "label": 1})",
        R"({"sentences": ["a"], "label": 1})"})
    refused(ErrorKind::BadData, {"a.jsonl:1", "\"sentences\" must be"}, "a.jsonl", row);
}

TEST(LabelledText, PairsOfTexts) {
  const std::string content = "premise,hypothesis,gold\na,b,yes\nc,,no\n";
  const auto rows = read("a.csv", content,
                         {{"text", {"premise"}}, {"second", {"hypothesis"}}, {"label", {"gold"}}});
  ASSERT_EQ(rows.rows.size(), 2u);
  EXPECT_EQ(rows.rows[0].second, "b");
  EXPECT_EQ(rows.rows[1].second, "");
  refused(ErrorKind::NotFound, {"'hypotesis'", "did you mean 'hypothesis'"}, "a.csv", content,
          {{"text", {"premise"}}, {"second", {"hypotesis"}}, {"label", {"gold"}}});
  refused(ErrorKind::BadData, {"a.jsonl:1", "no 'b'"}, "a.jsonl",
          "{\"text\": \"a\", \"label\": 1}\n", {{"second", {"b"}}});
}

TEST(LabelledText, ColumnsThatAreNotThere) {
  refused(ErrorKind::NotFound, {"no column 'text'", "--columns text=NAME", "said, label"}, "a.csv",
          "said,label\na,b\n");
  refused(ErrorKind::NotFound, {"no column 'text'"}, "a.csv", "review,comment,label\na,b,c\n");
  refused(ErrorKind::NotFound, {"no column 'label'", "--columns label=NAME"}, "a.csv",
          "text,stars\na,b\n");
  EXPECT_EQ(read("a.csv", "text,stars\na,b\n", {}, false).rows[0].label, "");
  EXPECT_EQ(read("a.jsonl", "{\"text\": \"a\"}\n", {}, false).rows.size(), 1u);
  refused(ErrorKind::BadData, {"a.csv:3", "cells"}, "a.csv", "text,label\na,b\nc\n");
}

TEST(LabelledText, ColumnsAreCalledOtherwiseElsewhere) {
  for (const char* header :
       {"review,sentiment", "\"review\",\"sentiment\"", "\uFEFFreview,class"}) {
    const auto rows = read("a.csv", concat(header, "\na,b\n"));
    ASSERT_EQ(rows.rows.size(), 1u);
    EXPECT_EQ(rows.rows[0].text, "a");
    EXPECT_EQ(rows.rows[0].label, "b");
    EXPECT_TRUE(has_note(rows.notes, "the text is the column 'review'"));
  }
  EXPECT_EQ(read("a.csv", "body,text,label\na,b,c\n").rows[0].text, "b");
  EXPECT_EQ(read("a.jsonl", "{\"sentence\": \"a\", \"label\": 1}\n").rows[0].text, "a");
}

TEST(LabelledText, ASplitColumnDecides) {
  const std::string content = "text,label,split\na,1,train\nb,0,Dev\nc,1,test\nd,0,train\n";
  const auto rows = read("a.csv", content);
  EXPECT_EQ(rows.splits, (std::vector<Split>{kTrain, kValidation, kTest, kTrain}));
  const TemporaryFolder folder;
  const auto parts = open_labelled_text({folder.write("a.csv", content), {}}, {}, {});
  EXPECT_EQ(parts.train.size(), 2);
  EXPECT_EQ(parts.validation[0].text, "b");
  EXPECT_EQ(parts.test[0].text, "c");
  EXPECT_TRUE(has_note(parts.notes, "2 training, 1 validation, 1 test"));
  // A column that is only called so is an ordinary one, unless it was named.
  EXPECT_TRUE(read("a.csv", "text,label,split\na,1,left\n").splits.empty());
  refused(ErrorKind::BadData, {"a.csv:2", "'left'"}, "a.csv", "text,label,split\na,1,left\n",
          {{"split", {"split"}}});
  const auto lines = read("a.jsonl",
                          "{\"text\":\"a\",\"label\":1,\"split\":\"train\"}\n"
                          "{\"text\":\"b\",\"label\":1,\"split\":\"test\"}\n");
  EXPECT_EQ(lines.splits, (std::vector<Split>{kTrain, kTest}));
  refused(ErrorKind::BadData, {"a.jsonl:2", "no 'split'"}, "a.jsonl",
          "{\"text\":\"a\",\"label\":1,\"split\":\"train\"}\n{\"text\":\"b\",\"label\":1}\n");
  folder.write("train.csv", content);
  expect_error(ErrorKind::BadData, {"train.csv", "split column", "training split"}, [&] {
    open_labelled_text({folder.path(), {}}, {}, {});
  });
}

TEST(LabelledText, Folders) {
  const TemporaryFolder folder;
  folder.write("train.tsv", "text\tlabel\na\t1\nb\t0\nc\t1\nd\t0\ne\t1\n");
  folder.write("test.jsonl", "{\"text\": \"t\", \"label\": 0}\n");
  const auto parts = open_labelled_text({folder.path(), {}}, {}, {});
  EXPECT_EQ(parts.train.size(), 4);
  EXPECT_EQ(parts.validation.size(), 1);
  EXPECT_EQ(parts.test[0].label, "0");
  const auto again = open_labelled_text({folder.path(), {}}, {}, {});
  EXPECT_EQ(again.validation[0].text, parts.validation[0].text);
  EXPECT_EQ(again.hash, parts.hash);
  folder.write("dataset.json", R"({"format": "fovea-dataset", "version": 1, "task": "documents"})");
  SplitOptions split;
  split.task = "documents";
  EXPECT_NE(open_labelled_text({folder.path(), {}}, split, {}).hash, parts.hash);
  split.task = "tag";
  expect_error(ErrorKind::BadData, {"dataset.json", "documents", "tag"}, [&] {
    open_labelled_text({folder.path(), {}}, split, {});
  });
}

TEST(LabelledText, DamagedCopies) {
  const TemporaryFolder folder;
  const std::string lines =
      "{\"text\": \"one é\", \"label\": 3}\n{\"text\": \"two\", \"label\": \"x\"}\n";
  for (size_t at = 0; at < lines.size(); at += 3)
    for (const char byte : {'\0', '\n', '"', '\xFF', '{', '\\'}) {
      std::string changed = lines;
      changed[at] = byte;
      try {
        for (const LabelledText& row :
             read_labelled_text(folder.write("a.jsonl", changed), {}).rows)
          EXPECT_FALSE(row.label.empty());
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::BadData) << error.what();
        EXPECT_NE(std::string(error.what()).find("a.jsonl"), std::string::npos) << error.what();
      }
    }
}

}  // namespace
}  // namespace fovea::documents::reader_test
