#include "fovea/data/formats/csv.h"

#include <chrono>

#include "fovea/data/formats/table.h"
#include "tests/data/testing.h"

namespace fovea::csv_test {
namespace {

std::vector<std::string> row_of(const CsvTable& table, int64_t row) {
  std::vector<std::string> cells;
  for (int64_t column = 0; column < table.columns(); ++column)
    cells.emplace_back(table.cell(row, column));
  return cells;
}

using Cells = std::vector<std::string>;

TEST(Csv, ReadsQuotesCommasAndLineEndsInCells) {
  const TemporaryFolder folder;
  const CsvTable table = read_csv(folder.write("a.csv",
                                               "name , b,c\r\n"
                                               "\"one, \"\"two\"\"\",,3\r\n"
                                               "\"line\nbreak\",\"\",x y\r\n"
                                               "5\" pipe,2, padded "));
  EXPECT_EQ(table.names, (Cells{"name", "b", "c"}));
  ASSERT_EQ(table.rows(), 3);
  EXPECT_EQ(row_of(table, 0), (Cells{"one, \"two\"", "", "3"}));
  EXPECT_EQ(row_of(table, 1), (Cells{"line\nbreak", "", "x y"}));
  EXPECT_EQ(row_of(table, 2), (Cells{"5\" pipe", "2", " padded "}));
  EXPECT_EQ(table.place(2), (folder.path() / "a.csv").string() + ":5");
}

TEST(Csv, SkipsTheByteOrderMarkAndEmptyLines) {
  const TemporaryFolder folder;
  const CsvTable table = read_csv(folder.write("a.csv", "\xEF\xBB\xBF\n\na,b\n\r\n1,2\n\n3,\n\n"));
  EXPECT_EQ(table.names, (Cells{"a", "b"}));
  ASSERT_EQ(table.rows(), 2);
  EXPECT_EQ(row_of(table, 1), (Cells{"3", ""}));
  EXPECT_EQ(table.place(0), (folder.path() / "a.csv").string() + ":5");
}

TEST(Csv, DelimiterByNameOrByHeader) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_csv(fixture("semicolons.csv")).delimiter, ';');
  EXPECT_EQ(row_of(read_csv(fixture("semicolons.csv")), 1), (Cells{"x;y", "-2e3", "b"}));
  EXPECT_EQ(row_of(read_csv(folder.write("a.tsv", "a,b\tc\n1,2\t3\n")), 0), (Cells{"1,2", "3"}));
  EXPECT_EQ(row_of(read_csv(folder.write("a.txt", "a\tb\n1,2\t3\n")), 0), (Cells{"1,2", "3"}));
  EXPECT_EQ(row_of(read_csv(folder.write("b.csv", "\"a;b;c\",d\n1,2\n")), 0), (Cells{"1", "2"}));
  EXPECT_EQ(read_csv(folder.write("one.csv", "only\n1\n2\n")).columns(), 1);
  CsvOptions options;
  options.delimiter = '|';
  EXPECT_EQ(row_of(read_csv(folder.write("c.csv", "a|b\n1,1|2\n"), options), 0),
            (Cells{"1,1", "2"}));
}

TEST(Csv, QuotesCanBeOrdinaryCharacters) {
  const TemporaryFolder folder;
  CsvOptions options;
  options.quotes = false;
  EXPECT_EQ(row_of(read_csv(folder.write("a.tsv", "a\tb\n\"x\t\"y\"\n"), options), 0),
            (Cells{"\"x", "\"y\""}));
}

TEST(Csv, GzipEqualsPlain) {
#ifndef FOVEA_WITH_ZLIB
  GTEST_SKIP() << "built without zlib";
#endif
  const CsvTable packed = read_csv(fixture("people.csv.gz"));
  const CsvTable plain = read_csv(fixture("people.csv"));
  ASSERT_EQ(packed.rows(), plain.rows());
  for (int64_t row = 0; row < plain.rows(); ++row)
    EXPECT_EQ(row_of(packed, row), row_of(plain, row));
  EXPECT_EQ(plain.hash, hash_of_file(fixture("people.csv")));
  EXPECT_EQ(packed.hash, hash_of_file(fixture("people.csv.gz")));

  const TemporaryFolder folder;  // two members one after the other are one file
  const std::string bytes = read_file(fixture("people.csv.gz"));
  expect_error(ErrorKind::BadData, {"damaged gzip"},
               [&] { read_csv(fixture("truncated.csv.gz")); });
  expect_error(ErrorKind::BadData, {"damaged gzip"}, [&] { read_csv(fixture("corrupt.csv.gz")); });
  const CsvTable twice = read_csv(folder.write("twice.csv.gz", bytes + bytes));
  EXPECT_EQ(twice.rows(), 2 * plain.rows() + 1);
}

TEST(Csv, GzipThatIsNoneOrTooLarge) {
  const TemporaryFolder folder;
  expect_error(ErrorKind::BadData, {"a.csv.gz", "not a gzip file"},
               [&] { read_csv(folder.write("a.csv.gz", "a,b\n1,2\n")); });
  CsvOptions options;
  options.max_bytes = 10;
  expect_error(ErrorKind::BadData, {"more than 10 bytes"},
               [&] { read_csv(fixture("people.csv"), options); });
}

TEST(Csv, SelectKeepsCellsAndLines) {
  const CsvTable table = read_csv(fixture("people.csv"));
  const std::vector<int64_t> rows{6, 1};
  const CsvTable selected = table.select(rows);
  ASSERT_EQ(selected.rows(), 2);
  EXPECT_EQ(selected.cell(1, 0), "2");
  EXPECT_EQ(selected.place(0), fixture("people.csv").string() + ":8");
}

struct BadFile {
  const char* what;
  std::string content;
  std::vector<std::string> words;
};

TEST(Csv, BadFilesGiveOneClearError) {
  const TemporaryFolder folder;
  const std::vector<BadFile> files{
      {"empty", "", {"bad.csv:1", "is empty", "header"}},
      {"only line ends", "\n\r\n", {"is empty"}},
      {"header only", "a,b\n", {"a header but no rows"}},
      {"too few cells", "a,b,c\n1,2,3\n\n1,2\n", {"bad.csv:4", "2 cells", "header has 3"}},
      {"too many cells", "a,b\n1,2\n1,2,3\n", {"bad.csv:3", "3 cells", "header has 2", "quoted"}},
      {"neither", "a,b\n\xC3\xA9,1\ncaf\xe9,2\n", {"bad.csv:3", "0xE9", "offset 12", "iconv"}},
      {"no character", "a,b\nok,1\ncaf\x81,2\n", {"bad.csv:3", "0x81", "iconv"}},
      {"utf-16 cut short", std::string("\xFF\xFE") + "a", {"UTF-16", "cut short"}},
      {"a web page", "\n<!DOCTYPE html>\n<html>", {"bad.csv", "web page"}},
      {"zero byte", std::string("a,b\n1,\0\n", 8), {"bad.csv:2", "zero byte", "offset 6"}},
      {"open quote", "a,b\n1,2\n3,\"x\n5,6\n", {"bad.csv:3", "never closed"}},
      {"text after a quote", "a,b\n\"x\"y,2\n", {"bad.csv:2", "after a closing quote"}},
      {"same name twice", "a,b, a\n1,2,3\n", {"bad.csv:1", "columns 1 and 3", "'a'"}},
      {"old line ends", "a,b\r1,2\r", {"CR alone"}},
  };
  for (const BadFile& file : files) {
    SCOPED_TRACE(file.what);
    expect_error(ErrorKind::BadData, file.words,
                 [&] { read_csv(folder.write("bad.csv", file.content)); });
  }
}

TEST(Csv, WhatSpreadsheetsWrite) {
  const TemporaryFolder folder;
  const auto utf16 = [](std::string_view text, bool little) {
    std::string bytes = little ? "\xFF\xFE" : "\xFE\xFF";
    for (const char c : text) bytes += little ? std::string{c, '\0'} : std::string{'\0', c};
    return bytes;
  };
  const std::string euro = std::string("\xAC\x20", 2);  // U+20AC, little endian
  for (const std::string& content :
       {utf16("a;b\r\n1;x\r\n", true), utf16("a;b\r\n1;x\r\n", false),
        std::string("sep=;\r\na;b\r\n1;x\r\n"), std::string("\xEF\xBB\xBFsep=;\na;b\n1;x\n"),
        std::string("a|b\n1|x\n")}) {
    const CsvTable table = read_csv(folder.write("t.csv", content));
    EXPECT_EQ(table.names, (Cells{"a", "b"})) << content;
    ASSERT_EQ(table.rows(), 1) << content;
    EXPECT_EQ(row_of(table, 0), (Cells{"1", "x"})) << content;
    EXPECT_TRUE(table.notes.empty());
  }
  const CsvTable longer = read_csv(folder.write("t.csv", "a;b\n1;x;;\n;\n;;\n"));
  ASSERT_EQ(longer.rows(), 1);
  EXPECT_EQ(row_of(longer, 0), (Cells{"1", "x"}));
  ASSERT_EQ(longer.notes.size(), 1u);
  EXPECT_NE(longer.notes[0].find("empty"), std::string::npos) << longer.notes[0];
  const CsvTable money =
      read_csv(folder.write("t.csv", utf16("a;b\n1;", true) + euro + utf16("\n", true).substr(2)));
  EXPECT_EQ(money.cell(0, 1), "€");
  EXPECT_EQ(read_csv(folder.write("t.csv", "sep=;\na;b\n1;x\n")).place(0),
            (folder.path() / "t.csv").string() + ":3");
  const CsvTable western = read_csv(folder.write("t.csv", "a,b\nok,1\ncaf\xe9 \x80,2\n"));
  EXPECT_EQ(western.cell(1, 0), "café €");
  ASSERT_EQ(western.notes.size(), 1u);
  EXPECT_NE(western.notes[0].find("t.csv:3: byte 0xE9"), std::string::npos) << western.notes[0];
  EXPECT_NE(western.notes[0].find("Windows-1252"), std::string::npos);
  EXPECT_EQ(read_csv(fixture("latin1.csv")).notes.size(), 1u);
}

TEST(Csv, ColumnsWithoutANameGetOne) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_csv(folder.write("t.csv", ",a,b,\n0,1,2,\n")).names,
            (Cells{"Unnamed: 0", "a", "b", "Unnamed: 3"}));
}

TEST(Csv, TablesAsJson) {
  const TemporaryFolder folder;
  const std::string rows = R"({"a": 1, "b": "x"})"
                           "\n\n"
                           R"({"b": null, "a": 2.5, "c": true})"
                           "\n";
  const CsvTable lines = read_table(folder.write("t.jsonl", rows));
  EXPECT_EQ(lines.names, (Cells{"a", "b", "c"}));
  ASSERT_EQ(lines.rows(), 2);
  EXPECT_EQ(row_of(lines, 0), (Cells{"1", "x", ""}));
  EXPECT_EQ(row_of(lines, 1), (Cells{"2.5", "", "true"}));
  EXPECT_EQ(lines.place(1), (folder.path() / "t.jsonl").string() + ":3");
  const CsvTable list = read_table(folder.write("t.json", R"([{"a": 1, "b": "x"}, {"a": 2}])"));
  EXPECT_EQ(row_of(list, 1), (Cells{"2", ""}));
  expect_error(ErrorKind::BadData, {"t.jsonl:2", "'a'", "list"},
               [&] { read_table(folder.write("t.jsonl", "{\"a\": 1}\n{\"a\": [1]}\n")); });
  expect_error(ErrorKind::BadData, {"t.jsonl:1", "object"},
               [&] { read_table(folder.write("t.jsonl", "3\n")); });
  expect_error(ErrorKind::BadData, {"t.json", "no rows"},
               [&] { read_table(folder.write("t.json", "[]")); });
}

TEST(Csv, NoSuchFileAndFolder) {
  const TemporaryFolder folder;
  expect_error(ErrorKind::NotFound, {"none.csv"}, [&] { read_csv(folder.path() / "none.csv"); });
  expect_error(ErrorKind::InvalidArgument, {"folder"}, [&] { read_csv(folder.path()); });
}

TEST(Csv, AMillionColumnsAreRefused) {
  const TemporaryFolder folder;
  std::string header = "c0";
  for (int i = 1; i < 1000000; ++i) header += ",c" + std::to_string(i);
  expect_error(ErrorKind::BadData, {"wide.csv:1", "65,536"},
               [&] { read_csv(folder.write("wide.csv", header + "\n")); });
}

TEST(Csv, ColumnByName) {
  const CsvTable table = read_csv(fixture("people.csv"));
  EXPECT_EQ(table.column("age"), 1);
  EXPECT_EQ(table.find("agee"), -1);
  expect_error(ErrorKind::NotFound, {"'incom'", "did you mean 'income'", "workclass"},
               [&] { table.column("incom"); });
}

TEST(Csv, OneLine) {
  EXPECT_EQ(parse_csv_line("1,\"a,b\",,x\r\n", ','), (Cells{"1", "a,b", "", "x"}));
  EXPECT_EQ(parse_csv_line("1\t", '\t'), (Cells{"1", ""}));
  EXPECT_EQ(parse_csv_line("", ','), (Cells{""}));
  expect_error(ErrorKind::BadData, {"input row", "never closed"},
               [] { parse_csv_line("1,\"2", ','); });
  expect_error(ErrorKind::BadData, {"more than one line"}, [] { parse_csv_line("1\n2", ','); });
}

TEST(Csv, WhatIsQuotedReadsBack) {
  for (const char* cell : {"plain", "a,b", "say \"hi\"", "two\nlines", "\"", ""})
    EXPECT_EQ(parse_csv_line("x," + quote_csv_cell(cell), ','), (Cells{"x", cell})) << cell;
}

TEST(Csv, AMillionCellsReadFast) {
  const TemporaryFolder folder;
  std::string text = "a,b,c,d,e,f,g,h,i,j\n";
  for (int row = 0; row < 100000; ++row) {
    for (int column = 0; column < 10; ++column)
      text += "0." + std::to_string(1234567 + row * 10 + column) + ",";
    text.back() = '\n';
  }
  const auto path = folder.write("big.csv", text);
  const auto start = std::chrono::steady_clock::now();
  const CsvTable table = read_csv(path);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_EQ(table.rows(), 100000);
  EXPECT_EQ(table.cell(99999, 9), "0.2234566");
  RecordProperty("milliseconds", int(seconds * 1000));
  EXPECT_LT(seconds, 2.0);  // about 0.05 s on an idle machine; the bound leaves room for a loaded
                            // one and for sanitizers
}

/// More than two MiB, so that the file comes in pieces: quoted line ends, and two bytes a letter.
std::string long_table() {
  std::string text = "id,note,last\r\n";
  for (int i = 0; i < 60000; ++i)
    text += concat(i, ",\"é, ", std::string(size_t(i % 50), 'x'), "\n\"\"", i, "\"\"\",", i % 7,
                   i % 2 ? "\n" : "\r\n");
  return text;
}

TEST(CsvStream, PiecesAndBlocksAreTheWholeFile) {
  const TemporaryFolder folder;
  const auto path = folder.write("long.csv", long_table());
  const CsvTable whole = parse_csv(long_table(), path.string());
  ASSERT_EQ(whole.rows(), 60000);
  CsvStream stream(path);
  int64_t row = 0;
  for (CsvTable block; stream.next(block, 1000);)
    for (int64_t own = 0; own < block.rows(); ++own, ++row) {
      for (int64_t column = 0; column < 3; ++column)
        ASSERT_EQ(block.cell(own, column), whole.cell(row, column)) << row;
      ASSERT_EQ(block.place(own), whole.place(row));
    }
  EXPECT_EQ(row, whole.rows());
  EXPECT_EQ(stream.head().hash, hash_of_file(path));
}

TEST(CsvStream, SomeColumnsOfSomeRows) {
  const TemporaryFolder folder;
  CsvStream stream(folder.write("a.csv", "a,b,c\n1,2,3\n4,5,6\n,,\n7,8,9\n,,\n"));
  stream.keep_columns({2, 0});
  CsvTable table;
  ASSERT_TRUE(stream.next(table, 10, [](int64_t row) { return row != 1; }));
  EXPECT_EQ(table.names, (std::vector<std::string>{"c", "a"}));
  ASSERT_EQ(table.rows(), 3) << "the empty row between others is one, that at the end is none";
  EXPECT_EQ(table.cell(0, 0), "3");
  EXPECT_EQ(table.cell(1, table.column("a")), "");
  EXPECT_EQ(table.cell(2, table.column("a")), "7");
  EXPECT_EQ(table.place(2).substr(table.place(2).rfind(':')), ":5");
  ASSERT_EQ(stream.head().notes.size(), 1u);
  EXPECT_FALSE(stream.next(table, 10));
}

TEST(CsvStream, TheFirstLetterBeyondAsciiDecidesTheEncoding) {
  const TemporaryFolder folder;
  const std::string filler(size_t{3} << 20, 'x');
  const CsvTable western = read_csv(folder.write("w.csv", "a,b\n" + filler + ",\xE9\n\xE9,1\n"));
  EXPECT_EQ(western.cell(0, 1), "é");
  EXPECT_EQ(western.cell(1, 0), "é");
  EXPECT_EQ(western.notes.size(), 1u);
  expect_error(ErrorKind::BadData, {"u.csv:3", "0xE9", "not valid UTF-8"},
               [&] { read_csv(folder.write("u.csv", "a,b\né," + filler + "\n\xE9,1\n")); });
  expect_error(ErrorKind::BadData, {"n.csv:2", "0xE9", "not valid UTF-8"}, [&] {
    read_csv(folder.write("n.csv", "a,b\n\xE9," + filler + "\n\x81,1\n"));  // 0x81 is nothing
  });
}

}  // namespace
}  // namespace fovea::csv_test
