#include "fovea/data/documents/targets.h"

#include "fovea/data/load.h"
#include "tests/data/testing.h"

namespace fovea::targets_test {
namespace {

using Texts = std::vector<std::string>;

/// Rows with these cells as labels, in a column called `column`.
SplitRows<LabelledText> rows_of(const Texts& cells, const std::string& column = "labels") {
  const TemporaryFolder folder;
  std::string content = "text\t" + column + "\n";
  for (const std::string& cell : cells) content += "a text\t" + cell + "\n";
  SplitRows<LabelledText> rows;
  rows.train = read_labelled_text(folder.write("a.tsv", content), {}).rows;
  return rows;
}

struct Decided {
  DocumentTarget target;
  SplitRows<LabelledText> rows;
  Notes notes;
};

Decided decided(SplitRows<LabelledText> rows, const DocumentTargetOptions& options = {}) {
  Decided found{{}, std::move(rows), {}};
  found.target = decide_target(found.rows, options, found.notes);
  return found;
}

TEST(DocumentTargets, SeparatorsOfAColumnCalledLabels) {
  for (const std::string separator : {",", "|", ";", " ", ", "}) {
    const Decided found = decided(rows_of({"joy", "anger", "joy" + separator + "anger"}));
    EXPECT_EQ(found.target.kind, AnswerKind::Labels) << separator;
    EXPECT_EQ(found.rows.train[2].labels, (Texts{"anger", "joy"})) << separator;
    EXPECT_EQ(found.rows.train[0].labels, (Texts{"joy"}));
    ASSERT_EQ(found.notes.size(), 1u);
    EXPECT_NE(found.notes[0].find("several labels"), std::string::npos);
  }
}

TEST(DocumentTargets, BarsAndSemicolonsNeedOnePartTwice) {
  for (const std::string separator : {"|", ";"}) {
    const auto pair = [&](const std::string& one, const std::string& other) {
      return one + separator + other;
    };
    EXPECT_EQ(
        decided(rows_of({pair("fruit", "red"), pair("fruit", "yellow"), "sky", "car"})).target.kind,
        AnswerKind::Labels);
    EXPECT_EQ(decided(rows_of({pair("a", "b"), "c", "d"})).target.kind, AnswerKind::Class);
  }
  EXPECT_EQ(decided(rows_of({"fruit,red", "fruit,yellow", "sky", "car"})).target.kind,
            AnswerKind::Class);
}

TEST(DocumentTargets, WhatIsAClassStaysOne) {
  // Another column, a sentence, and two words of which none stands alone.
  EXPECT_EQ(decided(rows_of({"a", "b", "a,b"}, "label")).target.kind, AnswerKind::Class);
  const Decided sir = decided(rows_of({"yes, sir", "no", "yes, sir"}));
  EXPECT_EQ(sir.target.kind, AnswerKind::Class);
  ASSERT_EQ(sir.notes.size(), 1u);
  EXPECT_NE(sir.notes[0].find("data.label_separator"), std::string::npos);
  EXPECT_EQ(decided(rows_of({"very good", "very bad", "good", "bad"})).target.kind,
            AnswerKind::Class);
  EXPECT_EQ(decided(rows_of({"a", "b", "a,b"}), {{.label_separator = "none"}}).target.kind,
            AnswerKind::Class);
}

TEST(DocumentTargets, OptionsSayOtherwise) {
  const Decided given = decided(rows_of({"x", "a/b", "c"}, "label"), {{.label_separator = "/"}});
  EXPECT_EQ(given.target.kind, AnswerKind::Labels);
  EXPECT_EQ(given.rows.train[1].labels, (Texts{"a", "b"}));
  EXPECT_EQ(
      decided(rows_of({"a", "b,c"}, "label"), {{.target_kind = "labels"}}).rows.train[1].labels,
      (Texts{"b", "c"}));
  EXPECT_EQ(decided(rows_of({"0.5", "1", "2"}, "label"), {{.target_kind = "class"}}).target.kind,
            AnswerKind::Class);
  EXPECT_EQ(decided(rows_of({"1", "2", "3"}, "label"), {{.target_kind = "number"}}).target.mean, 2);
  expect_error(ErrorKind::BadData, {"'x'", "number"}, [] {
    decided(rows_of({"1", "x"}, "label"), {{.target_kind = "number"}});
  });
}

TEST(DocumentTargets, Numbers) {
  const Decided found = decided(rows_of({"0.5", "1.5", "4"}, "score"));
  EXPECT_EQ(found.target.kind, AnswerKind::Number);
  EXPECT_NEAR(found.target.mean, 2, 1e-12);
  EXPECT_NEAR(found.target.standardised(2), 0, 1e-12);
  EXPECT_EQ(decided(rows_of({"1", "2", "3"}, "label")).target.kind, AnswerKind::Class) << "stars";
  EXPECT_EQ(decided(rows_of({"1.0", "2.0", "3.0"}, "label")).target.kind, AnswerKind::Class);
  EXPECT_EQ(decided(rows_of({"0.5", "1"}, "label")).target.kind, AnswerKind::Class);
  expect_error(ErrorKind::BadData, {"nothing to learn"}, [] {
    decided(rows_of({"1.5", "1.5"}, "label"), {{.target_kind = "number"}});
  });
}

TEST(DocumentTargets, ListsColumnsAndFastText) {
  const TemporaryFolder folder;
  SplitRows<LabelledText> lists;
  lists.train = read_labelled_text(folder.write("a.jsonl",
                                                "{\"text\": \"x\", \"labels\": [\"b\", \"a\"]}\n"
                                                "{\"text\": \"y\", \"labels\": []}\n"),
                                   {})
                    .rows;
  ASSERT_EQ(lists.train.size(), 2u) << "no label of several is an answer";
  EXPECT_EQ(lists.train[0].labels, (Texts{"a", "b"}));
  EXPECT_EQ(decided(lists).target.kind, AnswerKind::Labels);

  LabelledTextOptions columns;
  columns.roles = {{"target", {"joy,anger"}}};
  const auto path = folder.write("a.csv", "text,joy,anger\nx,1,0\ny,0,0\nz,1,true\n");
  const auto rows = read_labelled_text(path, columns).rows;
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].labels, (Texts{"joy"}));
  EXPECT_TRUE(rows[1].labels.empty());
  EXPECT_EQ(rows[2].labels, (Texts{"anger", "joy"}));
  const auto wrong = folder.write("b.csv", "text,joy,anger\nx,1,maybe\n");
  expect_error(ErrorKind::BadData, {"b.csv:2", "anger", "maybe"},
               [&] { read_labelled_text(wrong, columns); });

  folder.write("train.txt", "__label__a __label__b both\n__label__a one\n");
  DataSource source;
  source.path = folder / "train.txt";
  SplitOptions all;
  all.fraction = 0;
  const auto fast = open_labelled_text(source, all, {});
  ASSERT_EQ(fast.train.size(), 2u);
  EXPECT_EQ(fast.train[0].labels, (Texts{"a", "b"}));
  EXPECT_EQ(fast.train[1].cell, LabelCell::List);
}

TEST(DocumentTargets, LaterRowsAreCutAsTheRunKnowsThem) {
  DocumentTarget target;
  target.kind = AnswerKind::Labels;
  SplitRows<LabelledText> rows = rows_of({"a|b", "a,c", "a and b", ""}, "label");
  rows.train.push_back({"x", "", ""});
  Notes notes;
  apply_target(target, {"a", "b", "c", "a and b"}, rows, notes);
  EXPECT_EQ(rows.train[0].labels, (Texts{"a", "b"}));
  EXPECT_EQ(rows.train[1].labels, (Texts{"a", "c"}));
  EXPECT_EQ(rows.train[2].labels, (Texts{"a and b"})) << "a label of its own";
  EXPECT_TRUE(rows.train.kept().back().labels.empty());
}

}  // namespace
}  // namespace fovea::targets_test
