#include "fovea/data/traces/load.h"

#include <ATen/ATen.h>

#include "tests/data/same_splits.h"
#include "tests/data/testing.h"

namespace fovea::traces::load_test {
namespace {

/// The line that comes after a row.
int64_t next_line(const std::shared_ptr<Dataset>& rows, int64_t row) {
  return rows->batch({&row, 1}).at("next").item<int64_t>();
}

/// `count` accesses, line i after line i - 1.
std::string walk(int64_t count, int64_t first = 0) {
  std::string text;
  for (int64_t i = first; i < first + count; ++i)
    text += concat("L ", hexadecimal(to_address(i)), " 8 400\n");
  return text;
}

class TracesData : public ::testing::Test {
 protected:
  Splits load(const std::filesystem::path& path, const TraceUse& use = {}, bool whole = false) {
    DataSource source;
    source.path = path;
    source.whole = whole;
    return load_traces(source, options, use, known);
  }
  TracesDataOptions options;
  KnownTrace known;
  TemporaryFolder folder;
};

TEST_F(TracesData, IsCutInTimeOrder) {
  options.stride = 4;
  const Splits splits = load(folder.write("a.trace", walk(1000)));
  EXPECT_TRUE(has_note(splits.notes, "750 for training, 50 for validation, 200 for the test"));
  ASSERT_EQ(splits.test->size(), 200);
  EXPECT_EQ(next_line(splits.test, 0), 800) << "every access of the split is predicted";
  EXPECT_EQ(next_line(splits.test, 199), 999);
  EXPECT_EQ(next_line(splits.validation, 0), 750);
  EXPECT_EQ(next_line(splits.validation, 49), 799);
  EXPECT_EQ(next_line(splits.train, 0), 16) << "the first whole window";
  EXPECT_EQ(next_line(splits.train, 1), 20);
  const int64_t last = splits.train->size() - 1;
  EXPECT_LT(next_line(splits.train, last), 750) << "nothing of validation is trained on";
  EXPECT_GE(next_line(splits.train, last), 746);
  EXPECT_EQ(known.coding->page_numbers(), 1 + 12) << "pages of the training split, 750 / 64";
  EXPECT_EQ(splits.hash, load(folder / "a.trace").hash);
}

TEST_F(TracesData, WhatACacheAnswersIsNotSeen) {
  const auto path = folder.write("a.trace", "L 0 8 1\nL 8 8 1\nS 40 8 1\nL 0 8 1\nL 40 8 1\n");
  EXPECT_TRUE(has_note(load(path).notes, "5 accesses, of which a prefetcher sees 4"));
  known = {};
  options.filter.cache_lines = 0;
  EXPECT_TRUE(has_note(load(path).notes, "5 accesses, of which a prefetcher sees 5"));
  known = {};
  options.filter.cache_lines = 2;
  EXPECT_TRUE(has_note(load(path).notes, "5 accesses, of which a prefetcher sees 2"));
  known = {};
  options.filter = {"stores", 1};
  expect_error(ErrorKind::BadData, {"a.trace", "1 access", "at least 2"}, [&] { load(path); });
}

TEST_F(TracesData, AFolderOfSplits) {
  folder.write("train.trace", walk(100));
  folder.write("test.txt", walk(20, 100));
  const Splits splits = load(folder.path());
  EXPECT_EQ(next_line(splits.test, 0), 100);
  EXPECT_EQ(splits.test->size(), 20);
  EXPECT_EQ(splits.validation->size(), 5) << "of the training split";
  EXPECT_EQ(next_line(splits.validation, 0), 95);
  const auto describe = [&](const std::string& truth) {
    folder.write("dataset.json", concat(R"({"format": "fovea-dataset", "version": 1, )",
                                        R"("task": "prefetch", "truth": )", truth, "}"));
  };
  describe(R"({"causes": {"400": 1}})");
  EXPECT_TRUE(load(folder.path()).test->has_truth());
  for (const char* truth : {"[]", R"({"causes": {"xyz": 1}})", R"({"causes": {"400": 0}})"}) {
    describe(truth);
    expect_error(ErrorKind::BadData, {"dataset.json", "causes"}, [&] { load(folder.path()); });
  }
  TemporaryFolder empty;
  known = {};
  expect_error(ErrorKind::NotFound, "no train file", [&] { load(empty.path()); });
  expect_error(ErrorKind::NotFound, "no such file", [&] { load("/no/such/trace"); });
}

TEST_F(TracesData, TheBuiltInTraceSurvivesBeingWritten) {
  for (const char* pattern : {"pointer_chase", "matrix_walk", "hash_join"}) {
    options.generator.pattern = pattern;
    options.generator.accesses = 2000;
    options.generator.columns = 4;  // several numbers of a row share a line: some are not seen
    write_traces_data(folder.path(), options);
    known = {};
    const Splits built_in = load("");
    known = {};
    const Splits written = load(folder.path());
    SCOPED_TRACE(pattern);
    expect_same_splits(built_in, written);
  }
}

TEST_F(TracesData, CausesCountOnlyWhereNothingWasLeftOut) {
  EXPECT_TRUE(load("").test->has_truth());
  options.filter.cache_lines = 512;  // all lists are in there
  options.generator.accesses = 400;
  options.generator.nodes = 300;
  known = {};
  EXPECT_TRUE(load("").train->has_truth());
  options.generator.nodes = 80;
  known = {};
  EXPECT_FALSE(load("").train->has_truth());
}

TEST_F(TracesData, AnotherTraceIsReadWithTheSameVocabulary) {
  load(folder.write("a.trace", walk(1000)));
  const auto coding = known.coding;
  const Splits other = load(folder.write("b.trace", walk(50, 100'000)), {}, /*whole=*/true);
  EXPECT_EQ(known.coding, coding);
  EXPECT_EQ(other.train, nullptr);
  EXPECT_EQ(other.validation, nullptr);
  ASSERT_EQ(other.test->size(), 49) << "nothing comes before the first";
  const std::vector<int64_t> row{48};
  EXPECT_EQ(other.test->batch(row).at("pages").sum().item<int64_t>(), 0) << "unknown pages";
}

TEST_F(TracesData, APrefetcherRunsOverTheWholeTrace) {
  TraceUse use;
  use.prefetcher = "last_successor";
  use.degree = 2;
  std::string text;
  for (int round = 0; round < 10; ++round) text += walk(10);
  const auto path = folder.write("a.trace", text);
  const Splits splits = load(path, use);
  const std::vector<int64_t> first{0};
  const Batch batch = splits.test->batch(first);  // access 79, line 9
  EXPECT_EQ(batch.at("candidates")[0][0].item<int64_t>(), 0);
  EXPECT_EQ(batch.at("candidates")[0][1].item<int64_t>(), 1);
  EXPECT_EQ(known.learned.at("successors").size(0), 10);
  // Another trace begins with what was learned.
  const Splits other = load(folder.write("b.trace", walk(5)), use, /*whole=*/true);
  EXPECT_EQ(other.test->batch(first).at("candidates")[0][0].item<int64_t>(), 1);
  // The same one begins with nothing.
  const Splits again = load(path, use);
  EXPECT_EQ(again.train->batch(first).at("candidates")[0][0].item<int64_t>(), 6);
  EXPECT_TRUE(again.test->batch(first).at("candidates").equal(batch.at("candidates")));
}

TEST_F(TracesData, AFrozenTableKeepsWhatTrainingTaughtIt) {
  TraceUse use;
  use.prefetcher = "last_successor";
  // Lines 1 and 2 in turn; in the test split 1 is followed by 3.
  std::string text;
  for (int i = 0; i < 50; ++i) text += "L 40 8 1\nL 80 8 1\n";
  for (int i = 0; i < 12; ++i) text += "L 40 8 1\nL c0 8 1\n";
  const auto path = folder.write("a.trace", text);
  const auto named_last = [&] {
    known = {};
    const Splits splits = load(path, use);
    const std::vector<int64_t> row{splits.test->size() - 1};  // after line 1
    return splits.test->batch(row).at("candidates").item<int64_t>();
  };
  EXPECT_EQ(named_last(), 3);
  use.frozen = true;
  EXPECT_EQ(named_last(), 2);
}

TEST_F(TracesData, BadTracesAreRefused) {
  expect_error(ErrorKind::BadData, {"cut.trace:3", "mid-line"},
               [&] { load(folder.write("cut.trace", "L 0 8 1\nL 40 8 1\nL 80")); });
  options.cut = "leave_out";
  EXPECT_TRUE(has_note(load(folder / "cut.trace").notes, "cut in mid-line"));
  known = {};
  for (const char* content : {"", "L 0 8 1\n", "L 0 8 1\nL 8 8 1\n"})
    expect_error(ErrorKind::BadData, {"short.trace", "at least 2"},
                 [&] { load(folder.write("short.trace", content)); });
  options.scratch = "/no/such/folder";
  expect_error(ErrorKind::Io, "data.scratch", [&] { load(folder / "cut.trace"); });
}

}  // namespace
}  // namespace fovea::traces::load_test
