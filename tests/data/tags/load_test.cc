#include "fovea/data/tags/load.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "fovea/base/file.h"
#include "tests/data/same_splits.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea::tags::load_test {
namespace {

using testing::expect_error;
using testing::TemporaryFolder;

TaggingDataOptions small() {
  TaggingDataOptions options;
  options.generator.rows = 60;
  options.generator.validation_rows = options.generator.test_rows = 10;
  options.packing.too_long = "windows";
  return options;
}

TEST(TaggingData, WrittenDataIsReadBack) {
  const TemporaryFolder folder;
  write_tagging_data(folder.path(), small());
  const DataSource source{folder.path(), {}};
#ifdef FOVEA_WITH_ICU
  const std::vector<bool> kinds = {false, true};
#else
  const std::vector<bool> kinds = {false};
#endif
  for (const bool pieces : kinds) {
    TagCoding drawn_coding, read_coding;
    const Splits drawn = load_tagging({}, small(), {.pieces = pieces}, drawn_coding);
    const Splits read = load_tagging(source, small(), {.pieces = pieces}, read_coding);
    EXPECT_EQ(read_coding.tags, drawn_coding.tags);
    EXPECT_EQ(read_coding.tags[0], "O");
    expect_same_splits(drawn, read);
  }
}

Splits load_text(const std::string& text, TagCoding& coding,
                 const TaggingDataOptions& options = small()) {
  static const TemporaryFolder folder;
  write_file(folder.path() / "rows.tsv", text);
  const DataSource source{folder.path() / "rows.tsv", {}};
  return load_tagging(source, options, {.seed = 3}, coding);
}

TEST(TaggingData, EveryTypeHasBothTags) {
  TagCoding coding;
  load_text("Ada\tB-person\nwas\tO\n\nin\tO\nParis\tB-place\n\nyes\tO\n\n", coding);
  EXPECT_EQ(coding.tags,
            (std::vector<std::string>{"O", "B-person", "I-person", "B-place", "I-place"}));
  const TagCoding again = TagCoding::from_json(coding.to_json(), "tags.json");
  EXPECT_EQ(again.tags, coding.tags);
  EXPECT_TRUE(again.entities);
  EXPECT_THROW(TagCoding::from_json({{"tags", Json::array()}, {"entities", true}}, "x"), Error);
  EXPECT_THROW(TagCoding::from_json({{"tags", 1}}, "x"), Error);
}

TEST(TaggingData, PlainTagsAreTakenAsTheyStand) {
  TaggingDataOptions options = small();
  options.scheme = "plain";
  TagCoding coding;
  load_text("dogs\tNOUN\nbark\tVERB\n\nI\tPRON\n\nno\tI-x\n\n", coding, options);
  EXPECT_FALSE(coding.entities);
  EXPECT_TRUE(std::is_sorted(coding.tags.begin(), coding.tags.end()));
}

TEST(TaggingData, ATagThatTheRunDoesNotKnowIsRefused) {
  TagCoding coding;
  coding.tags = {"O", "B-a", "I-a"};
  coding.words = std::make_shared<const WordEncoder>(Vocabulary(), Vocabulary());
  expect_error(ErrorKind::BadData, {"B-b", "B-a"},
               [&] { load_text("Ada\tB-b\n\nwas\tO\n\n", coding); });
}

}  // namespace
}  // namespace fovea::tags::load_test
