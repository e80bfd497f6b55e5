#include "fovea/data/ratings/load.h"

#include <ATen/ATen.h>

#include "tests/data/testing.h"

namespace fovea::ratings::load_test {
namespace {

RatingsDataOptions small() {
  RatingsDataOptions options;
  options.generator.users = 20;
  options.generator.items = 8;
  options.generator.ratings_each = 5;
  options.minimum_count = 1;
  return options;
}

Splits load_text(const std::string& text, RatingCoding& coding,
                 const RatingsDataOptions& options = small(),
                 ReviewReading reading = ReviewReading::Reviews, bool whole = false) {
  const TemporaryFolder folder;
  DataSource source;
  source.path = folder.write("rows.csv", text);
  source.whole = whole;
  return load_ratings(source, options, reading, coding, 3);
}

const std::string kRows =
    "user,item,rating,text,time\na,1,5,good,1\na,2,4,fine one,2\na,3,1,bad,3\na,4,2,weak,4\n"
    "b,1,3,,1\nb,2,5,good,2\n";

TEST(RatingsData, WrittenDataIsReadBack) {
  const TemporaryFolder folder;
  write_ratings_data(folder.path(), small());
  DataSource source;
  source.path = folder.path();
  for (const ReviewReading reading :
       {ReviewReading::Nothing, ReviewReading::Reviews, ReviewReading::Document}) {
    RatingCoding drawn_coding, read_coding;
    const Splits drawn = load_ratings({}, small(), reading, drawn_coding, 0);
    const Splits read = load_ratings(source, small(), reading, read_coding, 0);
    EXPECT_EQ(read_coding.mean, drawn_coding.mean);
    for (const auto part : {&Splits::train, &Splits::validation, &Splits::test}) {
      ASSERT_EQ((read.*part)->size(), (drawn.*part)->size());
      for (int64_t row = 0; row < (read.*part)->size(); ++row) {
        const Example one = (read.*part)->example(row), other = (drawn.*part)->example(row);
        for (const auto& [name, tensor] : other.tensors)
          EXPECT_TRUE(one.tensors.at(name).equal(tensor)) << name;
        ASSERT_EQ(one.truth.size(), other.truth.size());
        for (const auto& [name, truth] : other.truth)
          EXPECT_TRUE(one.truth.at(name).equal(truth)) << name;
      }
    }
  }
}

TEST(RatingsData, OneFileIsSplitByTimeOrAtRandom) {
  RatingCoding coding;
  const Splits by_time = load_text(kRows, coding);
  EXPECT_EQ(by_time.test->size(), 1);
  EXPECT_EQ(by_time.test->input(0)["item"], "4");
  EXPECT_EQ(by_time.validation->size(), 1);
  EXPECT_TRUE(has_note(by_time.notes, "split by time"));
  RatingsDataOptions at_random = small();
  at_random.split = "random";
  at_random.test_fraction = at_random.validation_fraction = 0.34;
  RatingCoding other;
  const Splits drawn = load_text(kRows, other, at_random);
  EXPECT_EQ(drawn.test->size(), 2);
  EXPECT_TRUE(has_note(drawn.notes, "at random with seed 3"));
  RatingCoding again;
  EXPECT_TRUE(has_note(load_text("user,item,rating,text\na,1,5,x\na,2,3,y\nb,1,2,z\n", again).notes,
                       "at random"))
      << "there are no times";
}

TEST(RatingsData, TheScaleIsFoundOrGiven) {
  RatingCoding coding;
  load_text(kRows, coding);
  EXPECT_EQ(coding.lowest, 1);
  EXPECT_EQ(coding.highest, 5);
  expect_error(ErrorKind::BadData, {"rows.csv:3", "rating 6", "scale 1 to 5"}, [&] {
    load_text("user,item,rating,text\na,1,5,x\na,2,6,y\n", coding, small(), ReviewReading::Reviews,
              true);
  });
  RatingsDataOptions options = small();
  options.lowest = 2;
  options.highest = 5;
  RatingCoding fresh;
  expect_error(ErrorKind::BadData, {"rows.csv:4", "rating 1", "data.lowest"},
               [&] { load_text(kRows, fresh, options); });
  options.lowest = 7;
  RatingCoding other;
  expect_error(ErrorKind::InvalidArgument, {"data.lowest=7"},
               [&] { load_text(kRows, other, options); });
}

TEST(RatingsData, RepeatedOpinionsAndEmptyTextsAreNoted) {
  RatingCoding coding;
  const Splits splits = load_text(kRows + "a,1,1,other,9\n", coding);
  EXPECT_TRUE(has_note(splits.notes, "1 further reviews of the same user on the same item"));
  EXPECT_TRUE(has_note(splits.notes, "1 training reviews have no text"));
}

TEST(RatingsData, WhatIsCutAndWhoIsUnknownIsNoted) {
  RatingsDataOptions options = small();
  options.words = 1;
  RatingCoding coding;
  EXPECT_TRUE(has_note(load_text(kRows, coding, options).notes, "data.words=1"));
  const Splits other = load_text("user,item,rating,text\nz,1,5,x\na,9,4,x\n", coding, options,
                                 ReviewReading::Reviews, true);
  EXPECT_EQ(other.train, nullptr);
  EXPECT_EQ(other.test->size(), 2);
  EXPECT_TRUE(has_note(other.notes, "1 of 2 test rows have a user without training reviews"));
  EXPECT_TRUE(has_note(other.notes, "1 of 2 test rows have an item without training reviews"));
  EXPECT_TRUE(has_note(other.notes, "the biases alone answer"));
}

TEST(RatingsData, CodingsAreStored) {
  RatingCoding coding;
  load_text(kRows, coding);
  const RatingCoding again = RatingCoding::from_json(
      coding.to_json(), ReviewStore::from_tensors(coding.store->to_tensors(), "x"), "x");
  EXPECT_EQ(again.mean, coding.mean);
  EXPECT_EQ(again.vocabulary->size(), coding.vocabulary->size());
  for (int64_t i = 0; i < coding.store->size(); ++i)
    EXPECT_EQ(again.store->review(i).words, coding.store->review(i).words);
  EXPECT_THROW(RatingCoding::from_json({{"lowest", 1}}, {}, "x"), Error);
  Json upside_down = coding.to_json();
  upside_down["lowest"] = 9;
  EXPECT_THROW(RatingCoding::from_json(upside_down, {}, "x"), Error);
}

TEST(RatingsData, OneWordAndAHundredThousandWords) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "word ";
  for (const ReviewReading reading : {ReviewReading::Reviews, ReviewReading::Document}) {
    RatingCoding coding;
    const Splits splits =
        load_text("user,item,rating,text\na,1,5," + text + "\na,2,3,one\nb,1,2,x\nb,2,1,y\n",
                  coding, small(), reading);
    ASSERT_NE(splits.train, nullptr);
    EXPECT_LE(splits.train->length(0), 200);
  }
}

}  // namespace
}  // namespace fovea::ratings::load_test
