#include "fovea/data/captions/reader.h"

#include "tests/data/testing.h"

namespace fovea::captions::reader_test {
namespace {

using Texts = std::vector<std::string>;

FileRows<CaptionedImage> read(const TemporaryFolder& folder, const std::string& content,
                              MediaTableOptions options = {}) {
  return read_captions(folder.write("captions.tsv", content), options);
}

void refused(ErrorKind kind, const Texts& words, const std::string& content,
             const MediaTableOptions& options = {}) {
  const TemporaryFolder folder;
  expect_error(kind, words, [&] { read(folder, content, options); });
}

TEST(Captions, PathsBeginWhereTheTableLies) {
  const TemporaryFolder folder;
  const auto rows = read(folder, "image\tcaption\na/b.png\t a \"red\" fox \n");
  ASSERT_EQ(rows.rows.size(), 1u);
  EXPECT_EQ(rows.rows[0].image, folder.path() / "a/b.png");
  EXPECT_EQ(rows.rows[0].captions, Texts{"a \"red\" fox"});
  EXPECT_NE(rows.rows[0].place.find("captions.tsv:2"), std::string::npos);
  EXPECT_TRUE(rows.splits.empty());
}

TEST(Captions, RolesNameTheColumnsAndATemplateThePicture) {
  const TemporaryFolder folder;
  MediaTableOptions options;
  options.roles = {{"image", {"code"}}, {"caption", {"en", "de"}}, {"split", {"part"}}};
  options.files = "png/{}.png";
  const auto rows =
      read(folder, "code\ten\tde\tpart\n1F98A\tfox\tFuchs\ttrain\n2\tcat\t\tdev\n", options);
  ASSERT_EQ(rows.rows.size(), 2u);
  EXPECT_EQ(rows.rows[0].image, folder.path() / "png/1F98A.png");
  EXPECT_EQ(rows.rows[0].captions, (Texts{"fox", "Fuchs"}));
  EXPECT_EQ(rows.rows[1].captions, Texts{"cat"}) << "an empty cell is no caption";
  EXPECT_EQ(rows.splits, (std::vector<Split>{kTrain, kValidation}));
}

TEST(Captions, RowsOfOnePictureAreTogether) {
  const TemporaryFolder folder;
  const auto rows = read(folder, "image\tcaption\na\tx\nb\ty\na\tz\n\tlost\nc\t\n");
  ASSERT_EQ(rows.rows.size(), 2u);
  EXPECT_EQ(rows.rows[0].captions, (Texts{"x", "z"}));
  EXPECT_TRUE(has_note(rows.notes, "2 rows without picture or caption"));
}

TEST(Captions, BoxesAreReadBack) {
  const std::vector<CaptionBox> boxes{{2, 5, 0.1, 0.25, 0.5, 1}, {0, 1, 0, 0, 1, 0.125}};
  EXPECT_EQ(parse_boxes(format_boxes(boxes), 5, "a"), boxes);
  EXPECT_TRUE(parse_boxes("  ", 5, "a").empty());
  const TemporaryFolder folder;
  const auto rows = read(folder, "image\tcaption\tboxes\na\ta fox\t2-5:0,0,0.5,0.5\n");
  ASSERT_EQ(rows.rows[0].boxes.size(), 1u);
  EXPECT_EQ(rows.rows[0].boxes[0].right, 0.5);
}

TEST(Captions, WhatDoesNotFitIsNamedWithItsLine) {
  refused(ErrorKind::NotFound, {"no column 'caption'", "--columns caption=NAME", "image, title"},
          "image\ttitle\na\tb\n");
  refused(ErrorKind::NotFound, {"no column 'image'"}, "file\tcaption\na\tb\n");
  refused(ErrorKind::BadData, {"captions.tsv"}, "image\tcaption\n");
  refused(ErrorKind::BadData, {"captions.tsv:2", "cannot be read"},
          "image\tcaption\tboxes\na\tfox\t1:2\n");
  refused(ErrorKind::BadData, {"captions.tsv:2", "leaves the caption of 3 bytes"},
          "image\tcaption\tboxes\na\tfox\t1-4:0,0,1,1\n");
  refused(ErrorKind::BadData, {"captions.tsv:2", "leaves the picture"},
          "image\tcaption\tboxes\na\tfox\t1-2:0,0,1.5,1\n");
  refused(ErrorKind::BadData, {"captions.tsv:3", "only the first row"},
          "image\tcaption\tboxes\na\tfox\t\na\tfox\t0-1:0,0,1,1\n");
  refused(ErrorKind::BadData, {"captions.tsv:3", "another split"},
          "image\tcaption\tsplit\na\tfox\ttrain\na\tcat\ttest\n");
  MediaTableOptions named;
  named.roles = {{"split", {"split"}}};
  refused(ErrorKind::BadData, {"captions.tsv:2", "'perhaps'"},
          "image\tcaption\tsplit\na\tfox\tperhaps\n", named);
  MediaTableOptions without;
  without.files = "png/x.png";
  refused(ErrorKind::InvalidArgument, {"data.images", "{}"}, "image\tcaption\na\tb\n", without);
}

}  // namespace
}  // namespace fovea::captions::reader_test
