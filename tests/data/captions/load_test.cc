#include "fovea/data/captions/load.h"

#include "fovea/tensor/torch.h"
#include "tests/data/formats/png_file.h"
#include "tests/data/same_splits.h"
#include "tests/data/testing.h"

namespace fovea::captions::load_test {
namespace {

#ifdef FOVEA_WITH_ICU

CaptionsDataOptions small() {
  CaptionsDataOptions options;
  options.generator.rows = 12;
  options.generator.validation_rows = 4;
  options.generator.test_rows = 5;
  options.generator.objects = 3;
  options.image_size = 32;
  return options;
}

const CaptionDataset& captions(const std::shared_ptr<Dataset>& rows) {
  return dynamic_cast<const CaptionDataset&>(*rows);
}

Splits load(const DataSource& source, const CaptionsDataOptions& options, CaptionCoding& coding) {
  return load_captions(source, options, coding, {1, 4});
}

TEST(CaptionsData, BuiltInPicturesHaveTruth) {
  CaptionCoding coding;
  const Splits splits = load({}, small(), coding);
  const CaptionDataset& train = captions(splits.train);
  EXPECT_EQ(train.size(), 12);
  EXPECT_EQ(splits.validation->size(), 4);
  EXPECT_EQ(splits.test->size(), 5);
  ASSERT_TRUE(train.has_truth());
  for (int64_t row = 0; row < train.size(); ++row) {
    const at::Tensor truth = train.truth(row);  // [T + 1, 16]
    const auto ids = train.target_ids(row);
    ASSERT_EQ(truth.size(0), int64_t(ids.size()));
    for (size_t t = 0; t < ids.size(); ++t) {
      // "a red circle left of …": colours and shapes are somewhere, other words are nowhere.
      const std::string word = coding.tokeniser->vocabulary().token(ids[t]);
      const bool names = word != "▁a" && word != "▁an" && word != "▁left" && word != "▁right" &&
                         word != "▁of" && word != "▁above" && word != "▁below" && word != "</s>";
      EXPECT_EQ(truth[int64_t(t)].any().item<bool>(), names) << word;
    }
  }
}

TEST(CaptionsData, WrittenFilesGiveTheSameRows) {
  if (!can_read_images()) GTEST_SKIP() << "FOVEA_WITH_IMAGES=OFF: this build reads no pictures";
  const TemporaryFolder folder;
  CaptionCoding one, other;
  const Splits drawn = load({}, small(), one);
  write_captions_data(folder.path(), small());
  const DataSource source{folder.path(), {}};
  const Splits read = load(source, small(), other);
  expect_same_splits(drawn, read);
  EXPECT_EQ(one.longest, other.longest);
}

TEST(CaptionsData, PreparedGivesTheSameRows) {
  const TemporaryFolder folder;
  CaptionCoding one, other;
  const Splits drawn = load({}, small(), one);
  const auto path = folder / "a.safetensors";
  write_prepared_captions(path, drawn, small(), one);
  const DataSource source{path, {}};
  const Splits read = load(source, small(), other);
  expect_same_splits(drawn, read);
  EXPECT_EQ(one.longest, other.longest);
  EXPECT_EQ(read.notes, drawn.notes);
  CaptionsDataOptions larger = small();
  larger.image_size = 64;
  expect_error(ErrorKind::InvalidArgument, {"data.image_size=32", "64"},
               [&] { load(source, larger, other); });
  CaptionsDataOptions rarer = small();
  rarer.tokeniser.minimum_count = 3;
  EXPECT_EQ(load(source, rarer, other).notes.back(),
            "the data was prepared with minimum_count=1; other values given now have no effect");
}

TEST(CaptionsData, EveryCaptionIsATrainingRowAndEveryPictureATestRow) {
  if (!can_read_images()) GTEST_SKIP() << "FOVEA_WITH_IMAGES=OFF: this build reads no pictures";
  const TemporaryFolder folder;
  for (const char* name : {"a.png", "b.png", "c.png"})
    folder.write(name, encode_png(make_image(9, 20, 3, uint8_t(name[0]))));
  const DataSource source{
      folder.write("t.tsv",
                   "image\tcaption\tsplit\na.png\tone fox\ttrain\na.png\ta fox\ttrain\n"
                   "b.png\ta cat\tval\nc.png\ta dog\ttest\nc.png\tone dog\ttest\n"),
      {}};
  CaptionCoding coding;
  const Splits splits = load(source, small(), coding);
  EXPECT_EQ(splits.train->size(), 2);
  EXPECT_EQ(captions(splits.train).images().size(0), 1) << "one picture, not one for each caption";
  ASSERT_EQ(splits.test->size(), 1);
  EXPECT_EQ(captions(splits.test).references(0), (std::vector<std::string>{"a dog", "one dog"}));
  const std::vector<int64_t> both{1, 0};
  const Batch batch = splits.train->batch(both);
  EXPECT_EQ(batch.at("image").sizes(), (std::vector<int64_t>{2, 3, 32, 32}));
  EXPECT_EQ(batch.at("target").sizes(), (std::vector<int64_t>{2, 3}));
  EXPECT_TRUE(batch.at("target.keep").all().item<bool>());
  const Example example = splits.test->example(0);
  EXPECT_EQ(example.axis("cells").grid_rows, 4);
  ASSERT_EQ(example.media.size(), 1u);
  EXPECT_EQ(example.media[0].width, 32);
}

TEST(CaptionsData, APictureThatIsMissingIsNamedWithItsLine) {
  if (!can_read_images()) GTEST_SKIP() << "FOVEA_WITH_IMAGES=OFF: this build reads no pictures";
  const TemporaryFolder folder;
  folder.write("a.png", encode_png(make_image(4, 4, 3)));
  folder.write("b.png", encode_png(make_image(4, 4, 3)));
  folder.write("text.png", "no picture at all");
  std::string table = "image\tcaption\n";
  for (int line = 2; line < 4711; ++line) table += concat("a.png\tpicture ", line, "\n");
  DataSource source;
  CaptionCoding coding;
  source.path = folder.write("t.tsv", table + "gone.png\tlast\n");
  expect_error(ErrorKind::NotFound, {"t.tsv:4711", "gone.png", "no such file"},
               [&] { load(source, small(), coding); });
  source.path = folder.write("u.tsv", "image\tcaption\na.png\tx\ntext.png\ty\ngone.png\tz\n");
  expect_error(ErrorKind::BadData, {"u.tsv:3", "text.png", "is no picture"},
               [&] { load(source, small(), coding); });
  CaptionsDataOptions tiny = small();
  tiny.largest_image = 10;
  source.path = folder.write("v.tsv", "image\tcaption\na.png\tx\nb.png\ty\n");
  expect_error(ErrorKind::BadData, {"v.tsv:", "16 pixels", "data.largest_image"},
               [&] { load(source, tiny, coding); });
}

TEST(CaptionsData, AnimatedPicturesAreNoted) {
  if (!can_read_images()) GTEST_SKIP() << "FOVEA_WITH_IMAGES=OFF: this build reads no pictures";
  const TemporaryFolder folder;
  std::string png = encode_png(make_image(4, 4, 3));
  const size_t behind_head = 33;  // 8 bytes of signature, 25 of IHDR
  png.insert(behind_head, testing::png_chunk("acTL", std::string("\0\0\0\x02\0\0\0\0", 8)));
  folder.write("a.png", png);
  folder.write("b.png", encode_png(make_image(4, 4, 3)));
  const DataSource source{folder.write("t.tsv", "image\tcaption\na.png\tx\nb.png\ty\n"), {}};
  CaptionCoding coding;
  EXPECT_TRUE(has_note(load(source, small(), coding).notes, "1 pictures are animated"));
}

TEST(CaptionsData, DamagedPreparedFilesAreRefused) {
  const TemporaryFolder folder;
  CaptionCoding coding;
  const auto path = folder / "a.safetensors";
  write_prepared_captions(path, load({}, small(), coding), small(), coding);
  const std::string whole = read_file(path);
  DataSource source;
  source.path = folder.write("cut.safetensors", whole.substr(0, whole.size() / 2));
  CaptionCoding fresh;
  expect_error(ErrorKind::BadData, "cut.safetensors", [&] { load(source, small(), fresh); });
  std::string other = whole;
  other.replace(other.find("prepared-captions"), 8, "borrowed");
  source.path = folder.write("other.safetensors", other);
  expect_error(ErrorKind::BadData, "no prepared captions", [&] { load(source, small(), fresh); });
}

#endif

TEST(Captions, CellsOfABox) {
  const auto count = [](const std::vector<bool>& cells) {
    return std::count(cells.begin(), cells.end(), true);
  };
  const auto quarter = cells_of({0, 1, 0, 0, 0.5, 0.5}, 4);
  EXPECT_EQ(count(quarter), 4);
  EXPECT_TRUE(quarter[0] && quarter[1] && quarter[4] && quarter[5]);
  EXPECT_EQ(count(cells_of({0, 1, 0, 0, 1, 1}, 4)), 16);
  const auto tiny = cells_of({0, 1, 0.30, 0.55, 0.31, 0.56}, 4);
  EXPECT_EQ(count(tiny), 1) << "the cell that it covers most";
  EXPECT_TRUE(tiny[2 * 4 + 1]);
}

TEST(Captions, AnyPictureIsAnExample) {
  const Example wide = example_of(make_image(300, 900, 3, 5), {32, "stretch", 4});
  EXPECT_EQ(wide.tensors.at("image").sizes(), (std::vector<int64_t>{3, 32, 32}));
  if (!can_read_images()) return;
  EXPECT_EQ(wide.media.at(0).width, 640);
  EXPECT_EQ(wide.media.at(0).height, 213);
  const Example cropped = example_of(make_image(300, 900, 3, 5), {32, "crop", 4});
  EXPECT_EQ(cropped.media.at(0).width, 300);
  EXPECT_EQ(cropped.media.at(0).height, 300);
  EXPECT_EQ(cropped.cuts.at(0).read, 300 * 300);
  EXPECT_EQ(cropped.cuts.at(0).of, 300 * 900);
}

}  // namespace
}  // namespace fovea::captions::load_test
