#include "fovea/data/load.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <thread>

#include "fovea/data/documents/load.h"
#include "fovea/data/formats/text_lines.h"
#include "fovea/data/language/load.h"
#include "fovea/data/pairs/load.h"
#include "fovea/data/tables/load.h"
#include "fovea/data/tags/load.h"
#include "tests/data/same_splits.h"
#include "tests/data/testing.h"

namespace fovea::load_test {
namespace {

/// A row that counts how many of its kind there are.
struct CountedRow {
  static inline int64_t alive = 0, most = 0;
  std::string text, label;
  CountedRow(std::string own, std::string name) : text(std::move(own)), label(std::move(name)) {
    begin();
  }
  CountedRow() { begin(); }
  CountedRow(const CountedRow& other) : text(other.text), label(other.label) { begin(); }
  CountedRow(CountedRow&& other) noexcept
      : text(std::move(other.text)), label(std::move(other.label)) {
    begin();
  }
  CountedRow& operator=(const CountedRow&) = default;
  CountedRow& operator=(CountedRow&&) = default;
  ~CountedRow() { --alive; }
  static void begin() { most = std::max(most, ++alive); }
};

/// "split<TAB>label<TAB>text" lines; a split of - is none.
FileRows<CountedRow> read_counted(const std::filesystem::path& path,
                                  const RowSink<CountedRow>& sink) {
  TextLines lines(path, int64_t{1} << 30);
  FileRows<CountedRow> file{sink};
  for (std::string_view line; lines.next(line);) {
    const std::vector<std::string> cells = split(line, '\t');
    std::optional<Split> own;
    if (cells[0] != "-") own = split_in_cell(cells[0], lines.place());
    file.add({cells[2], cells[1]}, own);
  }
  file.hash = lines.hash();
  file.notes = {"read"};
  return file;
}

Reader<CountedRow> counted_reader() {
  return {{".txt"}, read_counted, "rows"};
}

std::string counted_lines(int rows, bool splits) {
  std::string text;
  const char* names[] = {"train", "train", "val", "train", "test"};
  for (int i = 0; i < rows; ++i)
    text += concat(splits ? names[i % 5] : "-", "\t", i % 3, "\ttext ", i, "\n");
  return text;
}

std::vector<std::string> texts_of(const Rows<CountedRow>& rows) {
  std::vector<std::string> texts;
  rows.for_each([&](const CountedRow& row) { texts.push_back(row.text + " " + row.label); });
  return texts;
}

void expect_same(const SplitRows<CountedRow>& one, const SplitRows<CountedRow>& other) {
  EXPECT_EQ(one.hash, other.hash);
  EXPECT_EQ(one.notes, other.notes);
  EXPECT_EQ(one.given, other.given);
  for (int split = 0; split < kSplitCount; ++split) {
    EXPECT_EQ(one[split].size(), other[split].size());
    EXPECT_EQ(texts_of(one[split]), texts_of(other[split]));
  }
}

DataSource streamed(const std::filesystem::path& path) {
  DataSource source{path, {}, false};
  source.kept_bytes = 0;
  return source;
}

TEST(Load, OfALongFileFewRowsAreAliveAtOnce) {
  const TemporaryFolder folder;
  const auto path = folder.write("rows.txt", counted_lines(20000, false));
  CountedRow::alive = CountedRow::most = 0;
  SplitRows<CountedRow> rows = read_splits(streamed(path), {"t", 0.2, 1}, counted_reader());
  EXPECT_LE(CountedRow::most, 8) << "to count and to hold out";
  rows.transform([](CountedRow& row) { row.text += "!"; });
  int64_t seen = 0;
  const auto fit = [&](const SplitRows<CountedRow>& all, Notes&) {
    all.for_each([&](const CountedRow& row, Split) { seen += row.text.ends_with("!"); });
  };
  std::vector<std::string> encoded;
  encode_splits(rows, fit, [&](Rows<CountedRow> own, Split, Notes&) {
    own.take_each([&](CountedRow&& row) { encoded.push_back(row.text); });
    return std::shared_ptr<Dataset>();
  });
  EXPECT_EQ(seen, 20000);
  EXPECT_EQ(encoded.size(), 20000u);
  EXPECT_LE(CountedRow::most, int64_t(Rows<CountedRow>::kTogether) + 8) << "a block";
  EXPECT_EQ(CountedRow::alive, 0);
}

TEST(Load, ReadAgainOrKeptRowsAreTheSame) {
  const TemporaryFolder folder;
  for (const bool splits : {false, true}) {
    const auto path = folder.write("rows.txt", counted_lines(500, splits));
    for (const int64_t folds : {0, 4}) {
      DataSource again = streamed(path), kept{path, {}, false};
      again.folds = kept.folds = folds;
      again.fold = kept.fold = folds / 2;
      const SplitOptions options{"t", 0.3, 7};
      expect_same(read_splits(again, options, counted_reader()),
                  read_splits(kept, options, counted_reader()));
      Reader<CountedRow> grouped = counted_reader();
      grouped.group = {"text", [](const CountedRow& row) { return row.text.substr(0, 7); }};
      expect_same(read_splits(again, options, grouped), read_splits(kept, options, grouped));
    }
  }
  std::filesystem::remove(folder / "rows.txt");
  folder.write("train.txt", counted_lines(50, false));
  folder.write("test.txt", counted_lines(20, false));
  const SplitOptions options{"t", 0.3, 7};
  expect_same(read_splits(streamed(folder.path()), options, counted_reader()),
              read_splits({folder.path(), {}, false}, options, counted_reader()));
}

TEST(Load, RowsOfAPipeAreKept) {
  const TemporaryFolder folder;
  const auto path = folder / "pipe.txt";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(path) << counted_lines(300, true); });
  const SplitRows<CountedRow> piped = read_splits(streamed(path), {"t", 0.3, 7}, counted_reader());
  writer.join();
  const auto file = folder.write("file.txt", counted_lines(300, true));
  expect_same(piped, read_splits(streamed(file), {"t", 0.3, 7}, counted_reader()));
}

TEST(Load, AFileThatChangesIsAnError) {
  const TemporaryFolder folder;
  const auto path = folder.write("rows.txt", counted_lines(300, false));
  const SplitRows<CountedRow> rows = read_splits(streamed(path), {"t", 0, 7}, counted_reader());
  folder.write("rows.txt", counted_lines(301, false));
  expect_error(ErrorKind::BadData, {"rows.txt", "changed while it was read"},
               [&] { texts_of(rows.train); });
  folder.write("rows.txt", counted_lines(300, false) + "train\t1\tlast\n");
  expect_error(ErrorKind::BadData, {"rows.txt", "some rows have a split and others have none"},
               [&] {
                 read_splits(streamed(path), {"t", 0, 7}, counted_reader());
               });
}

/// Data sets of a small file, whose rows are kept, and of the same file read again.
template <class Load>
void expect_same_data(const std::filesystem::path& path, const Load& load) {
  const Splits kept = load(DataSource{path, {}, false}), again = load(streamed(path));
  EXPECT_EQ(kept.hash, again.hash);
  EXPECT_EQ(kept.notes, again.notes);
  expect_same_splits(kept, again);
}

TEST(Load, LabelsAreTheSameWhetherRowsAreKeptOrReadAgain) {
  const TemporaryFolder folder;
  std::string labels = "labels\ttext\n", classes = labels, numbers = "score\ttext\n", lists, one;
  for (int i = 0; i < 60; ++i) {
    const std::string text = concat("a ", i % 2 ? "fine" : "dull", " film of ", i % 7, "\n");
    const char* name = i % 2 ? "good" : "bad";
    labels += concat(i % 9 == 0 ? "" : i % 3 ? name : "good|long", "\t", text);
    classes += concat(i % 9 == 0 ? "" : name, "\t", text);
    numbers += concat(i % 5, ".5\t", text);
    lists += concat("__label__", name, i == 59 ? " __label__long " : " ", text);
    one += concat("__label__", name, " ", text);
  }
  const std::pair<const char*, std::string> files[] = {{"labels.tsv", labels},
                                                       {"classes.tsv", classes},
                                                       {"numbers.tsv", numbers},
                                                       {"lists.txt", lists},
                                                       {"one.txt", one}};
  const AnswerKind kinds[] = {AnswerKind::Labels, AnswerKind::Class, AnswerKind::Number,
                              AnswerKind::Labels, AnswerKind::Class};
  for (size_t i = 0; i < std::size(files); ++i)
    for (const TextsAs as : {TextsAs::Pieces, TextsAs::Sentences, TextsAs::Bag}) {
      SCOPED_TRACE(files[i].first);
      expect_same_data(folder.write(files[i].first, files[i].second),
                       [&](const DataSource& source) {
                         DocumentCoding coding;
                         Splits splits = load_documents(source, {}, as, coding, 3);
                         EXPECT_EQ(coding.target.kind, kinds[i]);
                         return splits;
                       });
    }
}

TEST(Load, RowsThatGoAreLeftOutWheneverTheyAreRead) {
  const TemporaryFolder folder;
  const auto path = folder.write("rows.txt", counted_lines(300, false));
  SplitRows<CountedRow> again = read_splits(streamed(path), {"t", 0.3, 7}, counted_reader());
  SplitRows<CountedRow> kept =
      read_splits(DataSource{path, {}, false}, {"t", 0.3, 7}, counted_reader());
  const auto goes = [](const CountedRow& row) { return row.label == "1"; };
  int64_t gone = 0;
  for (int split = 0; split < kSplitCount; ++split) {
    const int64_t own = again[split].erase_if(goes);
    EXPECT_EQ(own, kept[split].erase_if(goes));
    gone += own;
  }
  EXPECT_EQ(gone, 100);
  expect_same(again, kept);
}

TEST(Load, DataSetsAreTheSameWhetherRowsAreKeptOrReadAgain) {
  const TemporaryFolder folder;
  std::string texts = "label\ttext\n", pairs, tags, table = "x,city,when,y\n";
  for (int i = 0; i < 60; ++i) {
    texts += concat(i % 2 ? "good" : "bad", "\ta ", i % 2 ? "fine" : "dull", " film of ", i, "\n");
    pairs += concat("word ", i % 40, "\ttarget ", i % 40, "\n");
    tags += concat("in\tO\nUlm", i, "\tB-place\n\n");
    table += concat(i * 37 % 11, ".5,", i % 3 ? "Ulm" : "Bonn", ",2024-01-", 1 + i % 28, ",",
                    i % 9 == 0 ? ""
                    : i % 2    ? "yes"
                               : "no",
                    "\n");
  }
  expect_same_data(folder.write("texts.tsv", texts), [](const DataSource& source) {
    DocumentCoding coding;
    return load_documents(source, {}, TextsAs::Pieces, coding, 3);
  });
  expect_same_data(folder.write("pairs.tsv", pairs), [](const DataSource& source) {
    PairsOptions options;
    options.tokens = "characters";
    options.validation_fraction = 0.3;
    PairTokenisers tokenisers;
    return load_pairs(source, options, tokenisers, 3);
  });
  expect_same_data(folder.write("tags.tsv", tags), [](const DataSource& source) {
    TagCoding coding;
    return load_tagging(source, {}, {.seed = 3}, coding);
  });
  expect_same_data(folder.write("table.csv", table), [](const DataSource& source) {
    TableEncoder encoder;
    return load_features(source, {}, encoder, 3);
  });
  expect_same_data(folder.write("text.txt", texts + texts), [](const DataSource& source) {
    LanguageCoding coding;
    LanguageDataOptions options;
    options.window = 8;
    return load_language(source, options, 64, coding);
  });
}

}  // namespace
}  // namespace fovea::load_test
