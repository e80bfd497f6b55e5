#include "fovea/data/pairs/reader.h"

#include "tests/data/testing.h"

namespace fovea::pairs::reader_test {
namespace {

using Texts = std::vector<std::string>;

TextPairs read(const std::string& content, const TextPairsOptions& options = {}) {
  const TemporaryFolder folder;
  return read_tsv_pairs(folder.write("p.tsv", content), options);
}

void refused(ErrorKind kind, const Texts& words, const std::string& content,
             const TextPairsOptions& options = {}) {
  const TemporaryFolder folder;
  const auto path = folder.write("p.tsv", content);
  expect_error(kind, words, [&] { read_tsv_pairs(path, options); });
}

TextPairsOptions with_roles(const Roles& roles) {
  TextPairsOptions options;
  options.roles = roles;
  return options;
}

TextPairsOptions with(const std::string& direction, bool swap = false) {
  TextPairsOptions options;
  options.direction = direction;
  options.swap = swap;
  return options;
}

TEST(TextPairs, ColumnsAreSourceTargetAndFurtherReferences) {
  const TextPairs read_pairs = read("a b\tx\nc\ty\tz\t\tw\nd\tv");
  ASSERT_EQ(read_pairs.rows.size(), 3u);
  EXPECT_EQ(read_pairs.rows[0].source, "a b");
  EXPECT_EQ(read_pairs.rows[0].references, (Texts{"x"}));
  EXPECT_EQ(read_pairs.rows[1].references, (Texts{"y", "z", "w"}));
  EXPECT_EQ(read_pairs.rows[2].references, (Texts{"v"}));
  EXPECT_EQ(read_pairs.left_out, 0);
  EXPECT_TRUE(read_pairs.splits.empty());
}

TEST(TextPairs, EveryOtherCharacterIsText) {
  const std::string strange("a\0b\x01 \r c\x7f", 9);
  const TextPairs pairs =
      read("\uFEFF\"open\t'x\"\r\n" + strange + "\tשלום\r\ne\u0301\tn\u0303 \r\n");
  ASSERT_EQ(pairs.rows.size(), 3u);
  EXPECT_EQ(pairs.rows[0].source, "\"open");
  EXPECT_EQ(pairs.rows[0].references[0], "'x\"");
  EXPECT_EQ(pairs.rows[1].source, strange);
  EXPECT_EQ(pairs.rows[1].references[0], "שלום");
  EXPECT_EQ(pairs.rows[2].source, "e\u0301");
  EXPECT_EQ(pairs.rows[2].references[0], "n\u0303 ");
}

TEST(TextPairs, EmptyLinesAndSidesAreLeftOutAndCounted) {
  const TextPairs pairs = read("a\tx\n\n \t\n\tx\nb\t  \tz\nc\ty\n\r\n");
  ASSERT_EQ(pairs.rows.size(), 2u);
  EXPECT_EQ(pairs.rows[1].source, "c");
  EXPECT_EQ(pairs.left_out, 5);
  EXPECT_EQ(read("").rows.size(), 0u);
  EXPECT_EQ(read("\uFEFF").left_out, 0);
}

TEST(TextPairs, BadLinesAreNamed) {
  refused(ErrorKind::BadData, {"p.tsv:2", "one column"}, "a\tx\nonly\nb\ty\n");
  refused(ErrorKind::BadData, {"p.tsv:3", "byte 4", "0xE9", "UTF-8"}, "a\tx\n\nb\tz\xE9\n");
  refused(ErrorKind::BadData, {"p.tsv:1", "UTF-16"},
          std::string("\xFF\xFE"
                      "a\0\t\0x",
                      7));
  refused(ErrorKind::BadData, {"p.tsv:1", "0xED"}, "\xED\xA0\x80\tx\n");  // half a surrogate pair
  const std::string fits(999998, 'a');
  EXPECT_EQ(read(fits + "\tx\r\n").rows[0].source.size(), 999998u);
  refused(ErrorKind::BadData, {"p.tsv:2", "1,000,001", "1,000,000"}, "a\tx\n" + fits + "\txy\n");
  TextPairsOptions small;
  small.max_bytes = 3;
  refused(ErrorKind::BadData, {"p.tsv", "more than 3 bytes"}, "a\txy", small);
  expect_error(ErrorKind::NotFound, "nowhere.tsv", [] { read_tsv_pairs("nowhere.tsv", {}); });
}

TEST(TextPairs, AHeaderOfKnownNamesIsOne) {
  const TextPairs pairs = read(
      "split\ttarget\tlinks\tsource\ttarget\ntrain\txy\t0-1:1-2 1-2:0-1\tab\tz\n"
      "dev\tx\t\ta\t\nTest\ty\t\tb\t\ntest\t\t\tb\t\n");
  ASSERT_EQ(pairs.rows.size(), 3u);
  EXPECT_EQ(pairs.rows[0].source, "ab");
  EXPECT_EQ(pairs.rows[0].references, (Texts{"xy", "z"}));
  ASSERT_EQ(pairs.rows[0].links.size(), 2u);
  EXPECT_EQ(pairs.rows[0].links[1].target_begin, 1);
  EXPECT_EQ(pairs.rows[0].links[0].source_end, 2);
  EXPECT_EQ(pairs.rows[1].references, (Texts{"x"}));
  EXPECT_EQ(pairs.splits, (std::vector<Split>{kTrain, kValidation, kTest}));
  EXPECT_EQ(pairs.left_out, 1);
  // A capital letter is not exactly the name: a pair like any other.
  EXPECT_EQ(read("Source\tTarget\na\tx\n").rows.size(), 2u);
}

/// Pharaoh's format: words from 0 on, the source first; possible ones with ? or p.
TEST(TextPairs, LinksBetweenWords) {
  const TextPairs pairs =
      read("source\ttarget\tlinks\n  das  Haus ist\tthe house is\t0-0 1?1 2p1 2-2\n");
  const std::vector<Link>& links = pairs.rows.at(0).links;
  ASSERT_EQ(links.size(), 4u);
  EXPECT_EQ(format_links(links), "0-3:2-5 4-9?7-11 4-9?12-15 10-12:12-15");
  EXPECT_EQ(format_links(parse_links(format_links(links), pairs.rows[0], "again")),
            format_links(links));
}

TEST(TextPairs, BadHeadersAndCells) {
  refused(ErrorKind::BadData, {"p.tsv:1", "'score'", "--columns"},
          "source\ttarget\tscore\na\tx\t1\n");
  refused(ErrorKind::BadData, {"'source' twice"}, "source\ttarget\tsource\n");
  refused(ErrorKind::BadData, {"'links' twice"}, "source\ttarget\tlinks\tlinks\n");
  refused(ErrorKind::BadData, {"p.tsv:3", "3 columns", "header has 2"},
          "source\ttarget\na\tx\na\tx\ty\n");
  refused(ErrorKind::BadData, {"p.tsv:2", "2 columns", "header has 3"},
          "source\ttarget\tsplit\na\tx\n");
  refused(ErrorKind::BadData, {"p.tsv:2", "'trian'", "val"},
          "source\ttarget\tsplit\na\tx\ttrian\n");
  for (const char* link : {"0", "0-1:0", "0-1:0-1-2", "0+1", "0-1:0-1:", "0-1:0-x", "-1-1:0-1",
                           "0-1:0-1  0-1:0-1", "0:1-0:1", "99999999999999999999-1:0-1", " "})
    refused(ErrorKind::BadData, {"p.tsv:2", "form"},
            concat("source\ttarget\tlinks\na\tx\t", link, "\n"));
  for (const char* link : {"0-2:0-1", "0-1:0-2", "1-0:0-1", "0-1:1-0", "0-1", "1-0", "0?1"})
    refused(ErrorKind::BadData, {"p.tsv:2", "leaves"},
            concat("source\ttarget\tlinks\na\tx\t", link, "\n"));
}

TEST(TextPairs, ColumnsByNameOrNumber) {
  const std::string named = "id\tde\ten\n1\ta\tx\n2\tb\ty\n";
  const TextPairs pairs = read(named, with_roles({{"source", {"en"}}, {"target", {"de"}}}));
  ASSERT_EQ(pairs.rows.size(), 2u);
  EXPECT_EQ(pairs.rows[1].source, "y");
  EXPECT_EQ(pairs.rows[1].references, (Texts{"b"}));
  // Digits are a number even where a cell of the first line holds the same digits.
  const TextPairs numbered =
      read("2\ta\tx\n1\tb\ty\tz\n", with_roles({{"source", {"3"}}, {"target", {"2", "1"}}}));
  ASSERT_EQ(numbered.rows.size(), 2u);
  EXPECT_EQ(numbered.rows[0].source, "x");
  EXPECT_EQ(numbered.rows[0].references, (Texts{"a", "2"}));
  EXPECT_EQ(read("source\ttarget\na\tx\n", with_roles({{"source", {"2"}}, {"target", {"1"}}}))
                .rows[0]
                .source,
            "x");
  refused(ErrorKind::NotFound, {"p.tsv:1", "'fr'", "'de'"}, named,
          with_roles({{"source", {"fr"}}, {"target", {"de"}}}));
  for (const char* number : {"4", "0", "-1"})
    refused(ErrorKind::NotFound, {"no column", number}, named,
            with_roles({{"source", {number}}, {"target", {"2"}}}));
  refused(ErrorKind::BadData, {"p.tsv:2", "column 3"}, "a\tb\tc\na\tb\n",
          with_roles({{"source", {"1"}}, {"target", {"3"}}}));
  refused(ErrorKind::InvalidArgument, {"both sides"}, named, with_roles({{"source", {"de"}}}));
  refused(ErrorKind::InvalidArgument, {"one column"}, named,
          with_roles({{"source", {"de", "en"}}, {"target", {"id"}}}));
  TextPairsOptions swapped = with_roles({{"source", {"en"}}, {"target", {"de"}}});
  swapped.swap = true;
  refused(ErrorKind::InvalidArgument, {"leave swap out"}, named, swapped);
}

TEST(TextPairs, TheDirectionNeverGuessesAColumn) {
  refused(ErrorKind::InvalidArgument, {"p.tsv:1", "direction=de-en", "swap=yes", "source=2"},
          "Hi.\tHallo!\n", with("de-en"));
  refused(ErrorKind::InvalidArgument, {"direction=de-en"}, "source\ttarget\na\tx\n", with("de-en"));
  EXPECT_EQ(read("Hi.\tHallo!\n", with("de-en", true)).rows[0].source, "Hallo!");
  TextPairsOptions named = with_roles({{"source", {"2"}}, {"target", {"1"}}});
  named.direction = "de-en";
  EXPECT_EQ(read("Hi.\tHallo!\n", named).rows[0].source, "Hallo!");
  const std::string languages = "en\tde\nHi.\tHallo!\n";
  EXPECT_EQ(read(languages, with("de-en")).rows[0].source, "Hallo!");
  EXPECT_EQ(read(languages, with("en-de")).rows[0].source, "Hi.");
  refused(ErrorKind::InvalidArgument, {"leave swap out"}, languages, with("de-en", true));
  for (const char* bad : {"de", "de-", "-en", "de-en-fr", "en-en", "-"})
    refused(ErrorKind::InvalidArgument, {"direction", bad, "de-en"}, "a\tx\n", with(bad));
}

TEST(TextPairs, SwapExchangesSidesAndLinks) {
  const TextPairs pairs = read("source\ttarget\tlinks\nab\txyz\t1-3:0-1\n", with("", true));
  EXPECT_EQ(pairs.rows[0].source, "xyz");
  EXPECT_EQ(pairs.rows[0].references, (Texts{"ab"}));
  EXPECT_EQ(format_links(pairs.rows[0].links), "0-1:1-3");
  refused(ErrorKind::BadData, {"p.tsv:2", "3 columns", "swap"}, "a\tx\nb\ty\tz\n", with("", true));
  refused(ErrorKind::InvalidArgument, {"several targets"}, "source\ttarget\ttarget\na\tx\ty\n",
          with("", true));
  TextPair several{"a", {"x", "y"}, {}};
  expect_error(ErrorKind::InvalidArgument, "2 references", [&] { swap_sides(several); });
}

TEST(TextPairs, ParallelFiles) {
  const TemporaryFolder folder;
  const auto source = folder.write("t.de", "\uFEFFEins\tzwei\r\n\nDrei\nVier");
  const auto target = folder.write("t.en", "One\ttwo\nx\n  \nFour \"\n");
  const TextPairs pairs = read_parallel_pairs(source, target, {});
  ASSERT_EQ(pairs.rows.size(), 2u);
  EXPECT_EQ(pairs.rows[0].source, "Eins\tzwei");
  EXPECT_EQ(pairs.rows[0].references, (Texts{"One\ttwo"}));
  EXPECT_EQ(pairs.rows[1].references, (Texts{"Four \""}));
  EXPECT_EQ(pairs.left_out, 2);
  EXPECT_NE(pairs.hash, read_parallel_pairs(target, source, {}).hash);
  const auto longer = folder.write("l.en", "1\n2\n3\n4\n5");
  expect_error(ErrorKind::BadData, {"t.de has 4 lines", "l.en has 5"},
               [&] { read_parallel_pairs(source, longer, {}); });
  const auto latin = folder.write("x.en", "1\n2\n3\nGr\xFC\xDF\x65\n");
  expect_error(ErrorKind::BadData, {"x.en:4", "byte 3", "0xFC"},
               [&] { read_parallel_pairs(source, latin, {}); });
  expect_error(ErrorKind::InvalidArgument, {"swap", "direction"},
               [&] { read_parallel_pairs(source, target, with("", true)); });
  expect_error(ErrorKind::InvalidArgument, {"roles"}, [&] {
    read_parallel_pairs(source, target, with_roles({{"source", {"1"}}, {"target", {"2"}}}));
  });
  expect_error(ErrorKind::NotFound, "no.en",
               [&] { read_parallel_pairs(source, folder / "no.en", {}); });
}

}  // namespace
}  // namespace fovea::pairs::reader_test
