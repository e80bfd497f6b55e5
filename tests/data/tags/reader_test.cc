#include "fovea/data/tags/reader.h"

#include "tests/data/testing.h"

namespace fovea::tags::reader_test {
namespace {

using Texts = std::vector<std::string>;

FileRows<TaggedSentence> read(const std::string& content, const TaggedTextOptions& options = {}) {
  const TemporaryFolder folder;
  return read_tagged_text(folder.write("t.tsv", content), options);
}

void refused(ErrorKind kind, const Texts& words, const std::string& content,
             const TaggedTextOptions& options = {}) {
  const TemporaryFolder folder;
  const auto path = folder.write("t.tsv", content);
  expect_error(kind, words, [&] { read_tagged_text(path, options); });
}

TaggedTextOptions with(const Roles& roles, const std::string& scheme = "entities") {
  TaggedTextOptions options;
  options.roles = roles;
  options.scheme = scheme;
  return options;
}

TEST(TaggedText, TokensTagsAndBlankLines) {
  const auto texts = read("\uFEFFThe\tO\r\ncat\tB-x\r\n\r\n \n\nShe said\tO\nhi\tO");
  ASSERT_EQ(texts.rows.size(), 2u);
  EXPECT_EQ(texts.rows[0].words, (Texts{"The", "cat"}));
  EXPECT_EQ(texts.rows[0].tags, (Texts{"O", "B-x"}));
  EXPECT_EQ(texts.rows[1].words, (Texts{"She said", "hi"}));  // a blank is text beside tabs
  EXPECT_TRUE(texts.notes.empty());
  EXPECT_TRUE(texts.splits.empty());
}

TEST(TaggedText, FourColumnsAsInConll2003) {
  const auto texts = read_tagged_text(fixture("tagged.conll"), {});
  ASSERT_EQ(texts.rows.size(), 3u);
  EXPECT_EQ(texts.rows[0].words.size(), 7u);
  EXPECT_EQ(texts.rows[0].tags, (Texts{"B-ORG", "O", "B-PER", "O", "O", "B-LOC", "O"}));
  EXPECT_EQ(texts.rows[1].tags, (Texts{"B-PER", "I-PER"}));
  // B- only between neighbours of one type (IOB1); a '#' inside a sentence is a token.
  EXPECT_EQ(texts.rows[2].words, (Texts{"BRUSSELS", "Lyon", "#", "1996-08-22"}));
  EXPECT_EQ(texts.rows[2].tags, (Texts{"B-LOC", "B-LOC", "O", "O"}));
  EXPECT_TRUE(has_note(texts.notes, "5 tags were rewritten as IOB2"));
  EXPECT_EQ(texts.hash, hash_of_file(fixture("tagged.conll")));
  const auto chunks = read_tagged_text(fixture("tagged.conll"), with({{"tag", {"3"}}}));
  EXPECT_EQ(chunks.rows[0].tags[0], "B-NP");
  EXPECT_EQ(chunks.rows[0].tags[1], "I-NP");
  const auto parts = read_tagged_text(fixture("tagged.conll"), with({{"tag", {"2"}}}, "plain"));
  EXPECT_EQ(parts.rows.back().tags.back(), "CD");
}

TEST(TaggedText, SchemesBecomeIob2) {
  const auto normalised = [](Texts tags) {
    normalise_tags(tags);
    return tags;
  };
  EXPECT_EQ(normalised({"I-a", "I-a", "B-a", "O", "I-b"}),
            (Texts{"B-a", "I-a", "B-a", "O", "B-b"}));
  EXPECT_EQ(normalised({"B-a", "I-a", "I-b", "I-b"}), (Texts{"B-a", "I-a", "B-b", "I-b"}));
  EXPECT_EQ(normalised({"S-a", "B-a", "I-a", "E-a", "E-a", "I-a"}),
            (Texts{"B-a", "B-a", "I-a", "I-a", "B-a", "B-a"}));
  EXPECT_EQ(normalised({"U-a", "B-a", "L-a", "L-a"}), (Texts{"B-a", "B-a", "I-a", "B-a"}));
  Texts kept{"B-a-b", "I-a-b", "O"};
  EXPECT_EQ(normalise_tags(kept), 0);
  expect_error(ErrorKind::BadData, {"tag 2", "'X'"}, [&] { normalised({"O", "X"}); });
}

TEST(TaggedText, ColumnsByNumber) {
  const auto texts = read("O x a\nB-n y b\n", with({{"token", {"3"}}, {"tag", {"1"}}}));
  EXPECT_EQ(texts.rows[0].words, (Texts{"a", "b"}));
  EXPECT_EQ(texts.rows[0].tags, (Texts{"O", "B-n"}));
  refused(ErrorKind::NotFound, {"t.tsv:1", "column 4", "'tag'"}, "a b O\n", with({{"tag", {"4"}}}));
  for (const char* bad : {"0", "-1", "ner"})
    refused(ErrorKind::InvalidArgument, {"'tag'", bad}, "a O\n", with({{"tag", {bad}}}));
  refused(ErrorKind::InvalidArgument, {"both column 2"}, "a O\n", with({{"token", {"2"}}}));
  refused(ErrorKind::InvalidArgument, {"one column"}, "a O\n", with({{"tag", {"1", "2"}}}));
}

TEST(TaggedText, Separators) {
  EXPECT_EQ(read("a   O\n\tb\t O \n").rows[0].words, (Texts{"a", "b"}));
  TaggedTextOptions options;
  options.separator = "blanks";
  EXPECT_EQ(read("a\tO\nb  O\n", options).rows[0].words, (Texts{"a", "b"}));
  options.separator = "tab";
  refused(ErrorKind::BadData, {"t.tsv:1", "one column", "tab"}, "a O\n", options);
  options.separator = "comma";
  refused(ErrorKind::InvalidArgument, {"'comma'", "blanks"}, "a O\n", options);
  options = {};
  options.scheme = "bio";
  refused(ErrorKind::InvalidArgument, {"'bio'", "entities"}, "a O\n", options);
}

TEST(TaggedText, CommentsOnlyWhereTheyCannotBeTokens) {
  const auto texts = read("# global\n#id 1\n# a\tO\nb\tO\n\n# text = b c d\nc\tO\n#\tO\n");
  ASSERT_EQ(texts.rows.size(), 2u);
  EXPECT_EQ(texts.rows[0].words, (Texts{"# a", "b"}));
  EXPECT_EQ(texts.rows[1].words, (Texts{"c", "#"}));
  refused(ErrorKind::BadData, {"t.tsv:2", "1 columns", "2"}, "a\tO\n#oops\n");
}

TEST(TaggedText, BrokenLinesAreNamed) {
  refused(ErrorKind::BadData, {"t.tsv:2", "has 1 columns", "have 2", "tabs"}, "a\tO\nb\n");
  refused(ErrorKind::BadData, {"t.tsv:3", "has 3 columns", "have 2"}, "a\tO\n\nb\tc\tO\n");
  refused(ErrorKind::BadData, {"t.tsv:2", "token", "empty"}, "a\tO\n\tO\n");
  refused(ErrorKind::BadData, {"t.tsv:2", "'NN'", "B-person", "--columns", "scheme=plain"},
          "a\tO\nb\tNN\n");
  for (const char* tag : {"B", "I-", "o", "X-a", "B_a"})
    refused(ErrorKind::BadData, {"t.tsv:1", tag}, std::string("a\t") + tag + "\n");
  refused(ErrorKind::BadData, {"t.tsv:1", "tag", "empty"}, "a\t\n", with({}, "plain"));
  refused(ErrorKind::BadData, {"t.tsv:1", "one column"}, "word\n");
  refused(ErrorKind::BadData, {"t.tsv:2", "0xE9", "UTF-8"}, "a\tO\n\xE9\tO\n");
  for (const char* nothing : {"", "\n\n", "# x\n", "-DOCSTART- -X- O\n"})
    refused(ErrorKind::BadData, {"t.tsv", "no sentence"}, nothing);
  expect_error(ErrorKind::NotFound, "none.tsv", [] { read_tagged_text("none.tsv", {}); });
}

TEST(TaggedText, CutOffAndDamagedCopies) {
  const TemporaryFolder folder;
  const std::string whole = read_file(fixture("tagged.conll"));
  const auto try_read = [&](const std::string& content) {
    try {
      for (const TaggedSentence& sentence :
           read_tagged_text(folder.write("t.conll", content), {}).rows) {
        EXPECT_EQ(sentence.words.size(), sentence.tags.size());
        EXPECT_FALSE(sentence.words.empty());
      }
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::BadData) << error.what();
      EXPECT_NE(std::string(error.what()).find("t.conll"), std::string::npos) << error.what();
    }
  };
  for (size_t size = 0; size < whole.size(); size += 3) try_read(whole.substr(0, size));
  for (size_t at = 0; at < whole.size(); at += 7)
    for (const char byte : {'\0', '\n', '\t', '\xFF', '#', '-'}) {
      std::string changed = whole;
      changed[at] = byte;
      try_read(changed);
    }
}

TEST(TaggedText, WhatIsWrittenReadsBack) {
  const std::vector<TaggedSentence> sentences{
      {{"a b", "#", "\"c"}, {"O", "B-x", "I-x"}}, {{"#"}, {"O"}}, {{"é"}, {"B-y"}}};
  const auto texts = read(format_tagged_text(sentences));
  ASSERT_EQ(texts.rows.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(texts.rows[i].words, sentences[i].words);
    EXPECT_EQ(texts.rows[i].tags, sentences[i].tags);
  }
  for (const char* word : {"", " ", "a\tb", "a\nb"})
    expect_error(ErrorKind::InvalidArgument, {"TSV"}, [&] {
      format_tagged_text(std::vector<TaggedSentence>{{{word}, {"O"}}});
    });
  expect_error(ErrorKind::InvalidArgument, {"1 words", "0 tags"}, [] {
    format_tagged_text(std::vector<TaggedSentence>{{{"a"}, {}}});
  });
}

TEST(TaggedText, FoldersAndHeldOutSentences) {
  const TemporaryFolder folder;
  std::string many;
  for (int i = 0; i < 20; ++i) many += "w" + std::to_string(i) + "\tO\n\n";
  folder.write("train.tsv", many);
  folder.write("dev.conll", "d O\n");
  folder.write("test.txt", "t O\n");
  folder.write("README.md", "not data");
  const auto parts = open_tagged_text({folder.path(), {}}, {}, {});
  EXPECT_EQ(parts.train.size(), 20);
  EXPECT_EQ(parts.validation[0].words, (Texts{"d"}));
  EXPECT_EQ(parts.test[0].words, (Texts{"t"}));
  SplitOptions split;
  split.fraction = 0.25;
  const auto cut = open_tagged_text({folder / "train.tsv", {}}, split, {});
  EXPECT_EQ(cut.train.size(), 15);
  EXPECT_EQ(cut.validation.size(), 5);
  EXPECT_TRUE(has_note(cut.notes, "5 of the 20 sentences"));
  EXPECT_EQ(open_tagged_text({folder / "train.tsv", {}, true}, {"", 0.2, 0, false}, {}).test.size(),
            20);
  folder.write("val.tsv", "d\tO\n");
  expect_error(ErrorKind::BadData, {"dev.conll", "val.tsv", "remove one"}, [&] {
    open_tagged_text({folder.path(), {}}, {}, {});
  });
  expect_error(ErrorKind::InvalidArgument, {"'tga'", "did you mean 'tag'"}, [&] {
    open_tagged_text({folder.path(), {{"tga", {"1"}}}}, {}, {});
  });
  const TemporaryFolder empty;
  expect_error(ErrorKind::NotFound, {"no train file", ".conll"}, [&] {
    open_tagged_text({empty.path(), {}}, {}, {});
  });
  expect_error(ErrorKind::NotFound, {"no such file"}, [&] {
    open_tagged_text({empty / "x", {}}, {}, {});
  });
}

}  // namespace
}  // namespace fovea::tags::reader_test
