#include "fovea/data/pairs/load.h"

#include <ATen/ops/equal.h>

#include "fovea/data/pairs/prepared.h"
#include "fovea/data/pairs/synthetic_phrases.h"
#include "tests/data/blank_tokeniser.h"
#include "tests/data/testing.h"
#include "tests/data/tokenisers/samples.h"

namespace fovea::pairs::load_test {
namespace {

using Texts = std::vector<std::string>;

PairTokenisers blanks() {
  return blank_tokenisers({"a", "b", "c"}, {"x", "y", "z"});
}

const PairDataset& pairs_of(const std::shared_ptr<Dataset>& data) {
  return dynamic_cast<const PairDataset&>(*data);
}

Texts sources_of(const std::shared_ptr<Dataset>& data) {
  Texts texts;
  for (int64_t row = 0; row < data->size(); ++row) texts.push_back(pairs_of(data).source_text(row));
  return texts;
}

/// Tokenisers that need no library.
Splits load(const DataSource& source, const PairsOptions& options = {}, uint64_t seed = 1) {
  PairTokenisers tokenisers = blanks();
  return load_pairs(source, options, tokenisers, seed);
}

PairsOptions with(const std::string& assignment) {
  PairsOptions options;
  OptionList list;
  options.describe(list);
  list.set_assignment(assignment);
  return options;
}

TEST(PairsData, AFolderOfTsvFiles) {
  const TemporaryFolder folder;
  folder.write("train.de-en.tsv", "a\tx\nb\ty\n\n");
  folder.write("val.de-en.tsv", "c\tz\n");
  folder.write("test.de-en.tsv", "a b\tx y\n");
  folder.write("test_multiref.de-en.tsv", "a b\tx y\tx\tz\n");
  const DataSource source{folder.path(), {}, false};
  const Splits splits = load(source);
  EXPECT_EQ(sources_of(splits.train), (Texts{"a", "b"}));
  EXPECT_EQ(sources_of(splits.validation), (Texts{"c"}));
  EXPECT_EQ(sources_of(splits.test), (Texts{"a b"}));
  EXPECT_EQ(pairs_of(splits.test).references(0).size(), 1u);
  EXPECT_TRUE(has_note(splits.notes, "train.de-en.tsv: 1 empty lines"));
  EXPECT_TRUE(has_note(splits.notes, "source: words, 7 symbols; target: words, 7 symbols"));
  const Splits several = load(source, with("test=test_multiref"));
  EXPECT_EQ(pairs_of(several.test).references(0), (Texts{"x y", "x", "z"}));
  EXPECT_EQ(sources_of(load(source, with("swap=yes")).train), (Texts{"x", "y"}));
  expect_error(ErrorKind::InvalidArgument, {"train.de-en.tsv", "swap=yes"},
               [&] { load(source, with("direction=de-en")); });
  EXPECT_NE(several.hash, splits.hash);
  EXPECT_EQ(load(source).hash, splits.hash);
  folder.write("dataset.json", R"({"format":"fovea-dataset","version":1,"task":"translate"})");
  EXPECT_NE(load(source).hash, splits.hash);
  PairsOptions dates;
  dates.task = "dates";
  expect_error(ErrorKind::BadData, {"dataset.json", "\"translate\""}, [&] { load(source, dates); });
}

TEST(PairsData, ParallelFiles) {
  const TemporaryFolder folder;
  const auto german = folder.write("train.de", "a\nb\nc\n");
  const auto english = folder.write("train.en", "x\ny\nz\n");
  folder.write("val.de", "a b\n");
  folder.write("val.en", "x y\n");
  EXPECT_EQ(sources_of(load({folder.path(), {}, false}, with("direction=de-en")).validation),
            (Texts{"a b"}));
  EXPECT_EQ(sources_of(load({folder.path(), {}, false}, with("direction=en-de")).validation),
            (Texts{"x y"}));
  expect_error(ErrorKind::InvalidArgument, {"direction=de-en"}, [&] {
    load({folder.path(), {}, false});
  });
  const DataSource two{german, {}, false, english};
  const Splits splits = load(two, with("validation_fraction=0"));
  EXPECT_EQ(sources_of(splits.train), (Texts{"a", "b", "c"}));
  EXPECT_EQ(splits.validation, nullptr);
  EXPECT_EQ(sources_of(load({german, {}, true, english}).test), (Texts{"a", "b", "c"}));
  EXPECT_EQ(load(two, with("direction=de-en")).train->size(), 2);
  expect_error(ErrorKind::InvalidArgument, {"contradicts", "train.en"},
               [&] { load(two, with("direction=en-de")); });
  expect_error(ErrorKind::InvalidArgument, "swap", [&] { load(two, with("swap=yes")); });
  expect_error(ErrorKind::InvalidArgument, "is a folder", [&] {
    load({folder.path(), {}, false, english});
  });
}

TEST(PairsData, OneFile) {
  const TemporaryFolder folder;
  const auto split = folder.write(
      "s.tsv", "source\ttarget\tsplit\na\tx\ttrain\nb\ty\tval\nc\tz\ttest\nb c\ty\ttrain\n");
  const Splits splits = load({split, {}, false});
  EXPECT_EQ(sources_of(splits.train), (Texts{"a", "b c"}));
  EXPECT_EQ(sources_of(splits.validation), (Texts{"b"}));
  EXPECT_EQ(sources_of(splits.test), (Texts{"c"}));
  EXPECT_TRUE(has_note(splits.notes, "2 training, 1 validation, 1 test"));
  const auto plain = folder.write("p.tsv", "a\tx\nb\ty\n");
  EXPECT_EQ(sources_of(load({plain, {}, true}).test), (Texts{"a", "b"}));
  EXPECT_EQ(load({plain, {}, true}).train, nullptr);
  expect_error(ErrorKind::BadData, {"e.tsv", "no pair"}, [&] {
    load({folder.write("e.tsv", "\n\t\n"), {}, false});
  });
  expect_error(ErrorKind::NotFound, "nothing.tsv", [&] { load({"nothing.tsv", {}, false}); });
  expect_error(ErrorKind::InvalidArgument, {"'context'", "links"}, [&] {
    load({plain, {{"context", {"a"}}}, false});
  });
  expect_error(ErrorKind::InvalidArgument, "file or a folder", [] { load({}); });
  const auto only_test = folder.write("t.tsv", "source\ttarget\tsplit\na\tx\ttest\n");
  PairTokenisers none;
  expect_error(ErrorKind::BadData, {"t.tsv", "training split"}, [&] {
    load_pairs({only_test, {}, false}, {}, none, 1);
  });
  EXPECT_EQ(load({only_test, {}, false}).test->size(), 1);
}

TEST(PairsData, FoldersWithoutTrainingFiles) {
  const TemporaryFolder folder;
  folder.write("notes.txt", "");
  PairTokenisers none;
  expect_error(ErrorKind::NotFound, {"train.tsv", "direction"}, [&] {
    load_pairs({folder.path(), {}, false}, {}, none, 1);
  });
  expect_error(ErrorKind::NotFound, "test file", [&] { load({folder.path(), {}, false}); });
  folder.write("test.tsv", "a\tx\n");
  EXPECT_EQ(load({folder.path(), {}, false}).test->size(), 1);
  folder.write("train.tsv", "source\ttarget\tsplit\na\tx\ttest\n");
  expect_error(ErrorKind::BadData, {"train.tsv", "split column"}, [&] {
    load({folder.path(), {}, false});
  });
}

TEST(PairsData, HeldOutPairsShareNoSourceWithTraining) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 300; ++i) text += concat("a ", i % 100, "\tx ", i, "\n");
  const DataSource source{folder.write("p.tsv", text), {}, false};
  const Splits splits = load(source);
  EXPECT_EQ(splits.validation->size(), 30);
  EXPECT_EQ(splits.train->size(), 270);
  const Texts train = sources_of(splits.train);
  for (const std::string& held : sources_of(splits.validation))
    EXPECT_EQ(std::count(train.begin(), train.end(), held), 0) << held;
  EXPECT_TRUE(has_note(splits.notes, "validation: 30 of the 300 pairs, chosen with seed 1"));
  EXPECT_EQ(sources_of(load(source).validation), sources_of(splits.validation));
  EXPECT_NE(sources_of(load(source, {}, 2).validation), sources_of(splits.validation));
  const DataSource one{folder.write("o.tsv", "a\tx\na\ty\n"), {}, false};
  expect_error(ErrorKind::BadData, "1 different source", [&] { load(one); });
}

TEST(PairsData, LimitsApplyToTrainingPairsOnly) {
  const std::vector<TextPair> pairs{{"a b c", {"x"}, {}},
                                    {"a", {"x"}, {}},
                                    {"a", {"x x x x"}, {}},
                                    {"a b", {"x y z"}, {}},
                                    {"\u00A0 ", {"x"}, {}}};
  PairTokenisers tokenisers = blanks();
  PairsOptions options;
  options.maximum_length = 3;
  options.maximum_ratio = 1.5;
  Splits splits = tokenise_splits({pairs, pairs, pairs}, options, tokenisers);
  EXPECT_EQ(sources_of(splits.train), (Texts{"a", "a b", "\u00A0 "}));
  EXPECT_EQ(splits.validation->size(), 5);
  EXPECT_EQ(splits.test->size(), 5);
  EXPECT_TRUE(has_note(splits.notes, "1 with more than 3 tokens"));
  EXPECT_TRUE(has_note(splits.notes, "1 with one side more than 1.5 times"));
  options.minimum_length = 2;
  splits = tokenise_splits({pairs, {}, {}}, options, tokenisers);
  EXPECT_EQ(sources_of(splits.train), (Texts{"a b"}));
  EXPECT_TRUE(has_note(splits.notes, "3 with fewer than 2"));
  EXPECT_EQ(splits.validation, nullptr);
  options.minimum_length = 9;
  expect_error(ErrorKind::BadData, {"no training pair is left", "4 with fewer than 9"}, [&] {
    tokenise_splits({pairs, {}, {}}, options, tokenisers);
  });
}

/// Learning cuts words with ICU, which a build may lack.
#define RUN_OR_SKIP(...)                                             \
  try {                                                              \
    __VA_ARGS__;                                                     \
  } catch (const Error& error) {                                     \
    ASSERT_EQ(error.kind(), ErrorKind::Unsupported) << error.what(); \
    ASSERT_FALSE(testing::is_promised("words")) << error.what();     \
    GTEST_SKIP() << "built without ICU";                             \
  }

TEST(PairsData, TokenisersAreLearnedFromTrainingPairs) {
  const SplitRows<TextPair> texts{
      {{"a b", {"x x"}, {}}, {"a a", {"y"}, {}}}, {{"q", {"q"}, {}}}, {}};
  PairsOptions options;
  options.tokens = "words";
  PairTokenisers tokenisers;
  RUN_OR_SKIP(tokenise_splits(texts, options, tokenisers));
  EXPECT_EQ(tokenisers.source->vocabulary().size(), 6);
  EXPECT_EQ(tokenisers.source->vocabulary().token(4), "\u2581a");
  EXPECT_EQ(tokenisers.target->kind(), "words");
  PairTokenisers shared;
  options.shared_vocabulary = true;
  const Splits splits = tokenise_splits(texts, options, shared);
  EXPECT_EQ(shared.source, shared.target);
  EXPECT_EQ(shared.source->vocabulary().size(), 4 + 4);
  EXPECT_TRUE(has_note(splits.notes, "both sides: words, 8 symbols"));
  PairTokenisers different;
  options.target_tokens = "characters";
  expect_error(ErrorKind::InvalidArgument, {"shared_vocabulary", "characters"},
               [&] { tokenise_splits(texts, options, different); });
  options.shared_vocabulary = false;
  options.minimum_count = 2;
  tokenise_splits(texts, options, different);
  EXPECT_EQ(different.source->vocabulary().size(), 4 + 1);
  EXPECT_EQ(different.target->kind(), "characters");
}

TEST(PairsData, TheWrittenFolderGivesTheSamePairs) {
  PhrasesOptions generator;
  generator.rows = 200;
  generator.validation_rows = generator.test_rows = 20;
  PhrasesDraw draw = draw_phrases(generator);
  draw.test.keep()[0].references.push_back("\"Noch eine\" Übersetzung.");
  const SplitRows<TextPair> texts{draw.train, draw.validation, draw.test};
  const TemporaryFolder folder;
  write_pairs(folder.path(), texts, "translate", Json{{"seed", 1}});
  EXPECT_EQ(folder.names(), (Texts{"dataset.json", "test.tsv", "train.tsv", "val.tsv"}));
  PairTokenisers tokenisers = blanks();
  const Splits built_in = tokenise_splits(texts, {}, tokenisers);
  const Splits read = load({folder.path(), {}, false});
  for (const auto& [left, right] :
       {std::pair(built_in.train, read.train), std::pair(built_in.validation, read.validation),
        std::pair(built_in.test, read.test)}) {
    const NamedTensors& arrays = pairs_of(left).arrays();
    ASSERT_EQ(arrays.size(), pairs_of(right).arrays().size());
    for (const auto& [name, array] : arrays)
      EXPECT_TRUE(at::equal(array, pairs_of(right).arrays().at(name))) << name;
  }
  EXPECT_TRUE(pairs_of(read.train).has_truth());
  for (const char* bad : {"a\tb", "a\nb", " "}) {
    expect_error(ErrorKind::InvalidArgument, "train.tsv:2", [&] {
      write_pairs(folder.path(), {{{bad, {"x"}, {}}}, {}, {}}, "t");
    });
    expect_error(ErrorKind::InvalidArgument, "train.tsv:2", [&] {
      write_pairs(folder.path(), {{{"a", {bad}, {}}}, {}, {}}, "t");
    });
  }
}

TEST(PairsData, PreparedFilesBringTheirTokenisers) {
  const TemporaryFolder folder;
  PairTokenisers tokenisers = blanks();
  PairsOptions options = with("maximum_length=50");
  const SplitRows<TextPair> texts{{{"a b", {"x"}, {}}}, {{"b", {"y"}, {}}}, {}};
  OptionList list;
  options.describe(list);
  for (const char* name : {"p.safetensors", "prepared"}) {
    const auto path = folder / name;
    write_prepared(path, tokenise_splits(texts, options, tokenisers), tokenisers, "translate",
                   list.to_json());
    PairTokenisers none;
    const Splits splits = load_pairs({path, {}, false}, {}, none, 1);
    EXPECT_EQ(sources_of(splits.train), (Texts{"a b"}));
    EXPECT_EQ(none.target->vocabulary().size(), 7);
    EXPECT_EQ(splits.hash, hash_of_file(path));
    EXPECT_EQ(load({path, {}, false}).validation->size(), 1);
    PairTokenisers other = blank_tokenisers({"a"}, {"x"});
    expect_error(ErrorKind::BadData, "other symbols", [&] {
      load_pairs({path, {}, false}, {}, other, 1);
    });
    PairTokenisers fresh, again;
    for (const char* other_way : {"swap=yes", "direction=de-en", "test=test_b"})
      expect_error(ErrorKind::InvalidArgument, {"was prepared with", "prepare the data again"},
                   [&] {
                     load_pairs({path, {}, false}, with(other_way), fresh, 1);
                   });
    EXPECT_TRUE(has_note(load_pairs({path, {}, false}, with("maximum_length=60"), fresh, 1).notes,
                         "prepared with maximum_length=50"));
    EXPECT_FALSE(has_note(load_pairs({path, {}, false}, with("maximum_length=50"), again, 1).notes,
                          "prepared with"));
    PairsOptions dates;
    dates.task = "dates";
    expect_error(ErrorKind::BadData, {"'translate'", "'dates'"}, [&] {
      load_pairs({path, {}, false}, dates, fresh, 1);
    });
    expect_error(ErrorKind::InvalidArgument, "columns", [&] {
      load_pairs({path, {{"source", {"1"}}}, false}, {}, fresh, 1);
    });
  }
}

TEST(PairsData, OptionsAreDescribedOnce) {
  PairsOptions options;
  OptionList list;
  list.group("data", options);
  list.set("data.tokens", "bpe");
  list.set("data.target_tokens", "characters");
  list.set("data.shared_vocabulary", "yes");
  EXPECT_EQ(options.tokens, "bpe");
  EXPECT_TRUE(options.shared_vocabulary);
  expect_error(ErrorKind::InvalidArgument, "data.tokens", [&] { list.set("data.tokens", "same"); });
}

}  // namespace
}  // namespace fovea::pairs::load_test
