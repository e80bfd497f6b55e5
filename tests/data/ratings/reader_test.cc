#include "fovea/data/ratings/reader.h"

#include "tests/data/testing.h"

namespace fovea::ratings::reader_test {
namespace {

using Texts = std::vector<std::string>;

FileRows<Review> read(const std::string& name, const std::string& content, const Roles& roles = {},
                      bool needs_text = true) {
  const TemporaryFolder folder;
  ReviewsOptions options;
  options.roles = roles;
  options.needs_text = needs_text;
  return read_reviews(folder.write(name, content), options);
}

void refused(ErrorKind kind, const Texts& words, const std::string& name,
             const std::string& content, const Roles& roles = {}) {
  expect_error(kind, words, [&] { read(name, content, roles); });
}

TEST(Reviews, TablesAndJsonLinesSayTheSame) {
  const auto csv =
      read("a.csv", "user,item,rating,text,time\nann,tent, 4.5 ,\"light, \"\"quick\"\"\",17\n");
  const auto tsv = read(
      "a.tsv", "id\trating\titem\tuser\ttext\ttime\n9\t4.5\ttent\tann\tlight, \"quick\"\t17\n");
  const auto lines = read("a.jsonl",
                          "{\"user\": \"ann\", \"item\": \"tent\", \"rating\": 4.5, \"text\": "
                          "\"light, \\\"quick\\\"\", \"time\": 17}\n");
  for (const auto* rows : {&csv, &tsv, &lines}) {
    ASSERT_EQ(rows->rows.size(), 1u);
    const Review& review = rows->rows[0];
    EXPECT_EQ(review.user, "ann");
    EXPECT_EQ(review.item, "tent");
    EXPECT_EQ(review.rating, 4.5);
    EXPECT_EQ(review.text, "light, \"quick\"");
    EXPECT_EQ(review.time, 17);
    EXPECT_TRUE(rows->splits.empty());
  }
  EXPECT_NE(lines.rows[0].place.find("a.jsonl:1"), std::string::npos);
}

TEST(Reviews, RolesNameOtherColumns) {
  const auto rows = read("a.jsonl",
                         "{\"reviewerID\": 7, \"asin\": \"B1\", \"overall\": 5.0, \"reviewText\": "
                         "\"fine\", \"unixReviewTime\": 1353024000}\n",
                         {{"user", {"reviewerID"}},
                          {"item", {"asin"}},
                          {"rating", {"overall"}},
                          {"text", {"reviewText"}},
                          {"time", {"unixReviewTime"}}});
  EXPECT_EQ(rows.rows[0].user, "7");
  EXPECT_EQ(rows.rows[0].time, 1353024000);
  refused(ErrorKind::NotFound, {"'overal'", "did you mean 'overall'"}, "a.csv",
          "user,item,overall,text\na,b,1,c\n", {{"rating", {"overal"}}});
  refused(ErrorKind::NotFound, {"no column 'rating'", "--columns rating=NAME"}, "a.csv",
          "user,item,text\na,b,c\n");
  refused(ErrorKind::BadData, {"a.jsonl:1", "no 'item'", "--columns item="}, "a.jsonl",
          "{\"user\": \"a\", \"rating\": 1, \"text\": \"\"}\n");
}

TEST(Reviews, DatesAreTimesToo) {
  const auto rows = read("a.csv",
                         "user,item,rating,text,time\na,1,1,x,2014-05-03\na,2,1,x,2014-05-03 "
                         "17:20:05\na,3,1,x,2014-05-03T17:21\na,4,1,x,\n");
  EXPECT_LT(*rows.rows[0].time, *rows.rows[1].time);
  EXPECT_LT(*rows.rows[1].time, *rows.rows[2].time);
  EXPECT_FALSE(rows.rows[3].time.has_value());
  refused(ErrorKind::BadData, {"a.csv:2", "'last week'", "neither a number nor a date"}, "a.csv",
          "user,item,rating,text,time\na,1,1,x,last week\n");
}

TEST(Reviews, WhatCannotBeUsedIsLeftOutAndCounted) {
  const auto rows =
      read("a.csv", "user,item,rating,text\na,1,5,\n,1,5,x\na, ,5,x\na,2,,x\nb,2,,x\nb,3,1,y\n");
  ASSERT_EQ(rows.rows.size(), 2u);
  EXPECT_EQ(rows.rows[0].text, "") << "a rating without words is one";
  EXPECT_TRUE(has_note(rows.notes, "1 rows without a user"));
  EXPECT_TRUE(has_note(rows.notes, "1 rows without an item"));
  EXPECT_TRUE(has_note(rows.notes, "2 rows without a rating"));
  refused(ErrorKind::BadData, {"a.csv", "no review"}, "a.csv", "user,item,rating,text\na,1,,x\n");
}

TEST(Reviews, RatingsThatAreNoNumbers) {
  for (const std::string cell : {"five", "nan", "inf", "4/5"})
    refused(ErrorKind::BadData, {"a.csv:3", "'" + cell + "'", "no number"}, "a.csv",
            "user,item,rating,text\na,1,5,x\na,2," + cell + ",x\n");
  refused(ErrorKind::BadData, {"a.jsonl:1", "'rating' is array"}, "a.jsonl",
          "{\"user\": 1, \"item\": 2, \"rating\": [5], \"text\": \"x\"}\n");
  refused(ErrorKind::BadData, {"a.jsonl:1", "'text' is number"}, "a.jsonl",
          "{\"user\": 1, \"item\": 2, \"rating\": 5, \"text\": 1}\n");
  refused(ErrorKind::BadData, {"a.jsonl:2", "not valid JSON"}, "a.jsonl",
          "{\"user\": 1, \"item\": 2, \"rating\": 5, \"text\": \"\"}\n{\"user\": 1, \n");
}

TEST(Reviews, TextsMayBeMissingWhereNobodyReads) {
  EXPECT_EQ(read("a.csv", "user,item,rating\na,1,5\n", {}, false).rows.size(), 1u);
  refused(ErrorKind::NotFound, {"no column 'text'"}, "a.csv", "user,item,rating\na,1,5\n");
}

const std::string kSplit =
    "user,item,rating,text,split\na,1,5,x,train\na,2,4,x,dev\na,3,3,x,test\nb,1,2,x,train\n";

TEST(Reviews, ASplitColumnDecidesUnlessItIsNotAskedFor) {
  const TemporaryFolder folder;
  const auto path = folder.write("a.csv", kSplit);
  const SplitRows<Review> parts = open_reviews({path, {}}, {}, {});
  EXPECT_TRUE(parts.given);
  EXPECT_EQ(parts.train.size(), 2);
  EXPECT_EQ(parts.validation.size(), 1);
  EXPECT_EQ(parts.test.size(), 1);
  ReviewsOptions without;
  without.reads_split = false;
  const SplitRows<Review> all = open_reviews({path, {}}, {}, without);
  EXPECT_FALSE(all.given);
  EXPECT_EQ(all.train.size(), 4);
}

TEST(Reviews, AFolderHasSplitsOrOneFileCalledReviews) {
  const TemporaryFolder one, parts;
  one.write("reviews.csv", kSplit);
  one.write("README.md", "nothing");
  EXPECT_EQ(open_reviews({one.path(), {}}, {}, {}).train.size(), 2);
  one.write("reviews.tsv", "user\titem\trating\ttext\na\t1\t5\tx\n");
  expect_error(ErrorKind::BadData, {"reviews.csv", "reviews.tsv", "remove one"}, [&] {
    open_reviews({one.path(), {}}, {}, {});
  });
  parts.write("train.csv", "user,item,rating,text\na,1,5,x\na,2,5,x\nb,1,5,x\nb,2,5,x\nc,1,5,x\n");
  parts.write("test.csv", "user,item,rating,text\na,3,5,x\n");
  const SplitRows<Review> read = open_reviews({parts.path(), {}}, {}, {});
  EXPECT_TRUE(read.given);
  EXPECT_EQ(read.train.size() + read.validation.size(), 5);
  EXPECT_EQ(read.validation.size(), 1) << "held out";
  ReviewsOptions by_time;
  by_time.reads_split = false;
  expect_error(ErrorKind::InvalidArgument, {"data.split"}, [&] {
    open_reviews({parts.path(), {}}, {}, by_time);
  });
  const TemporaryFolder nothing;
  expect_error(ErrorKind::NotFound, {"no train file"}, [&] {
    open_reviews({nothing.path(), {}}, {}, {});
  });
}

TEST(Reviews, DamagedCopies) {
  const TemporaryFolder folder;
  const std::string lines =
      "{\"user\": \"é\", \"item\": 2, \"rating\": 5, \"text\": \"x\"}\n"
      "{\"user\": 1, \"item\": 2, \"rating\": \"4\", \"text\": \"yz\"}\n";
  for (size_t at = 0; at < lines.size(); at += 3)
    for (const char byte : {'\0', '\n', '"', '\xFF', '{', '\\'}) {
      std::string changed = lines;
      changed[at] = byte;
      try {
        for (const Review& review : read_reviews(folder.write("a.jsonl", changed), {}).rows)
          EXPECT_FALSE(review.user.empty());
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::BadData) << error.what();
        EXPECT_NE(std::string(error.what()).find("a.jsonl"), std::string::npos) << error.what();
      }
    }
}

}  // namespace
}  // namespace fovea::ratings::reader_test
