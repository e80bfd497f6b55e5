// Tables as strangers have them: other columns, other spellings, other formats. Nothing is silently
// wrong: it is read as it was meant, or said, or refused with what to do.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "fovea/base/file.h"
#include "tests/cli/program.h"
#include "tests/support/temporary_folder.h"

namespace fovea::strangers_tables_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

class StrangersTables : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared = std::make_unique<TemporaryFolder>();
    std::string rows = "customer_id,age,city,plan,active,since,left\n";
    for (int i = 0; i < 120; ++i)
      rows += concat(1000 + i, ",", 20 + i % 50, ",", i % 3 ? "Bern" : "Basel", ",",
                     i % 2 ? "Basic" : "Premium", ",", i % 4 ? "TRUE" : "FALSE", ",2021-0",
                     1 + i % 9, "-15,", i % 2 ? "yes" : "no", "\n");
    write_file(shared->path() / "people.csv", rows);
    trained = fovea({"train", "features", (shared->path() / "people.csv").string(), "--target",
                     "left", "--out", run(), "--epochs", "1", "--set", "model.name=linear"});
    ASSERT_EQ(trained.status, 0) << trained.err;
  }
  static void TearDownTestSuite() { shared.reset(); }

  static std::string run() { return (shared->path() / "run").string(); }
  static Outcome ask(const std::string& name, const std::string& content) {
    return fovea({"predict", run(), "--input", file(name, content)});
  }
  static std::string file(const std::string& name, const std::string& content) {
    write_file(shared->path() / name, content);
    return (shared->path() / name).string();
  }
  static Outcome train(const std::string& data, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{
        "train",       "features", data, "--out", (shared->path() / "other").string(),
        "--overwrite", "--epochs", "1",  "--set", "model.name=linear"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return fovea(arguments);
  }
  static int64_t lines(const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  }
  static bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  static double ridge_error(const Outcome& trained) {
    return trained.json()["evaluation"]["baselines"]["ridge regression"]["mae"];
  }
  static void expect_refused(const Outcome& outcome, const std::vector<std::string>& parts) {
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.out, "");
    for (const std::string& part : parts)
      EXPECT_TRUE(holds(outcome.err, part)) << part << " not in: " << outcome.err;
  }
  inline static std::unique_ptr<TemporaryFolder> shared;
  inline static Outcome trained;
};

constexpr const char* kHeader = "age,city,plan,active,since\n";
constexpr const char* kRows = "30,Bern,Basic,TRUE,2021-03-15\n40,Basel,Premium,FALSE,2021-04-15\n";

TEST_F(StrangersTables, TrainingSaysWhatItUnderstood) {
  EXPECT_TRUE(holds(trained.err, "left out: 'customer_id'")) << trained.err;
  EXPECT_TRUE(holds(trained.err, "data.keep=customer_id")) << trained.err;
  EXPECT_TRUE(holds(trained.err, "5 columns: 1 numbers, 3 categories, 1 dates")) << trained.err;
}

TEST_F(StrangersTables, AColumnMoreIsIgnoredWhereverItStands) {
  const Outcome plain = ask("plain.csv", std::string(kHeader) + kRows);
  ASSERT_EQ(plain.status, 0) << plain.err;
  EXPECT_EQ(plain.err, "");
  ASSERT_EQ(lines(plain.out), 2);
  const std::vector<std::pair<std::string, std::string>> more = {
      {"first.csv",
       "order,age,city,plan,active,since\n1,30,Bern,Basic,TRUE,2021-03-15\n"
       "2,40,Basel,Premium,FALSE,2021-04-15\n"},
      {"middle.csv",
       "age,city,note,plan,active,since\n30,Bern,,Basic,TRUE,2021-03-15\n"
       "40,Basel,\"a, b\",Premium,FALSE,2021-04-15\n"},
      {"last.csv",
       "since,active,plan,city,age,left,split,zip\n2021-03-15,TRUE,Basic,Bern,30,,test,1\n"
       "2021-04-15,FALSE,Premium,Basel,40,,test,2\n"},
      {"pandas.csv",
       ",age,city,plan,active,since\n0,30,Bern,Basic,TRUE,2021-03-15\n"
       "1,40,Basel,Premium,FALSE,2021-04-15\n"}};
  for (const auto& [name, content] : more) {
    const Outcome outcome = ask(name, content);
    EXPECT_EQ(outcome.status, 0) << name << outcome.err;
    EXPECT_EQ(outcome.out, plain.out) << name;
    EXPECT_EQ(lines(outcome.err), 1) << name << outcome.err;
    EXPECT_TRUE(holds(outcome.err, "ignored")) << outcome.err;
  }
  EXPECT_EQ(ask("rows.csv", kRows).out, plain.out) << "no header";
  EXPECT_EQ(
      ask("all.csv", "1,30,Bern,Basic,TRUE,2021-03-15,no\n2,40,Basel,Premium,FALSE,2021-04-15,no\n")
          .out,
      plain.out)
      << "all columns of the training file";
}

TEST_F(StrangersTables, NamesInAnotherCaseInOneRow) {
  const Outcome plain = fovea(
      {"predict", run(),
       R"({"age": 30, "city": "Bern", "plan": "Basic", "active": true, "since": "2021-03-15"})"});
  ASSERT_EQ(plain.status, 0) << plain.err;
  const std::string upper =
      R"({"AGE": 30, "City": "Bern", "plan": "Basic", "Active": true, "since": "2021-03-15"})";
  const Outcome other = fovea({"predict", run(), upper});
  EXPECT_EQ(other.out, plain.out) << other.err;
  EXPECT_EQ(other.err, "");
  EXPECT_EQ(fovea({"explain", run(), upper, "--quiet"}).status, 0);
  expect_refused(
      fovea({"predict", run(),
             R"({"Age": 30, "AGE": 3, "city": "Bern", "plan": "Basic", "active": true})"}),
      {"unknown column 'AGE'"});
}

TEST_F(StrangersTables, AKeyInAnyCase) {
  const std::string out = (shared->path() / "keyed.csv").string();
  const auto keyed = [&](const std::string& header, const std::string& key) {
    const Outcome outcome = fovea({"predict", run(), "--input",
                                   file("keys.csv", header + "1,30,Bern,Basic,TRUE,2021-03-15\n"),
                                   "--key", key, "--out", out});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_FALSE(holds(outcome.err, "ignored")) << outcome.err;
    return read_file(out);
  };
  // The file's own name, which the run knows otherwise; and the run's, which the file has
  // otherwise.
  for (const char* key : {"Customer_ID", "customer_id"})
    EXPECT_TRUE(
        holds(keyed("Customer_ID,age,city,plan,active,since\n", key), concat(key, ",prediction")))
        << key;
  EXPECT_TRUE(holds(keyed("nr,age,CITY,plan,active,since\n", "CITY,NR"), "CITY,NR,prediction"));
  const Outcome row = fovea(
      {"predict", run(),
       R"({"NR": 7, "age": 3, "city": "Bern", "plan": "Basic", "active": true, "since": "2021-03-15"})",
       "--key", "nr", "--out", out});
  EXPECT_EQ(row.status, 0) << row.err;
  EXPECT_TRUE(holds(read_file(out), "nr,prediction")) << read_file(out);
}

TEST_F(StrangersTables, ATargetInARowMustBeOne) {
  std::string rows = "plan;n;y\n";
  for (int i = 0; i < 60; ++i)
    rows += concat(i % 2 ? "a" : "b", ";", i % 7, ",5;", i % 3 ? "yes" : "no", "\n");
  ASSERT_EQ(train(file("semi.csv", rows)).status, 0);
  const std::string other = (shared->path() / "other").string();
  for (const char* row : {"a,3,5", "a;3,5;maybe"})
    expect_refused(fovea({"predict", other, row}), {"'y'", "yes", "'plan', 'n', 'y'"});
  for (const char* row : {"a;3,5", "a;3,5;yes", "a;3,5;"})
    EXPECT_EQ(fovea({"predict", other, row}).status, 0) << row;
}

TEST_F(StrangersTables, AHeaderAboveNumbersThatLacksAllColumns) {
  std::string rows = "height,width,y\n";
  for (int i = 0; i < 40; ++i) rows += concat(i % 7, ",", i % 5, ",", i % 2, "\n");
  ASSERT_EQ(train(file("sizes.csv", rows)).status, 0);
  expect_refused(fovea({"predict", (shared->path() / "other").string(),
                        file("renamed.csv", "Höhe,Breite\n1,2\n3,4\n")}),
                 {"renamed.csv:1", "header", "'height', 'width'"});
}

TEST_F(StrangersTables, AHeaderThatLacksAColumnIsRefused) {
  expect_refused(ask("less.csv", "age,city,plan,since\n30,Bern,Basic,2021-03-15\n"),
                 {"less.csv:1", "'active'"});
  expect_refused(ask("renamed.csv", "age,town,plan,active,since\n30,Bern,Basic,TRUE,2021-03-15\n"),
                 {"renamed.csv:1", "'city'"});
  expect_refused(ask("near.csv", "age,citty,plan,active,since\n30,Bern,Basic,TRUE,2021-03-15\n"),
                 {"'city'", "did you mean 'citty'"});
  expect_refused(ask("only.csv", kHeader), {"only.csv", "no rows"});
  expect_refused(
      ask("twice.csv", "age,age,city,plan,active,since\n3,3,Bern,Basic,TRUE,2021-03-15\n"),
      {"'age'"});
  expect_refused(ask("few.csv", "30,Bern\n"), {"few.csv:1", "2 cells"});
  expect_refused(ask("many.csv", "1,2,3,4,5,6,7,8,9\n"), {"many.csv:1", "9 cells"});
  expect_refused(ask("other.csv", std::string("a,b,c,d,e\n") + kRows), {"other.csv:1"});
}

TEST_F(StrangersTables, AHeaderWithOtherNamesIsNoRowOfCategories) {
  std::string rows = "colour,shape,y\n";
  for (int i = 0; i < 40; ++i)
    rows += concat(i % 2 ? "red" : "blue", ",", i % 3 ? "round" : "flat", ",", i % 2, "\n");
  ASSERT_EQ(train(file("shapes.csv", rows)).status, 0);
  const std::string other = (shared->path() / "other").string();
  expect_refused(fovea({"predict", other, "--input",
                        file("farben.csv", "farbe,form\nred,round\nblue,flat\n")}),
                 {"farben.csv:1", "'colour', 'shape'"});
}

TEST_F(StrangersTables, NamesInAnotherCaseAreTheSame) {
  const std::string rows =
      "31,Bern,Basic,TRUE,2021-03-15,yes\n55,Basel,Premium,FALSE,2021-04-15,no\n";
  const Outcome same = ask("same.csv", "age,city,plan,active,since,left\n" + rows);
  const Outcome other = ask("other.csv", "Age,CITY,plan,active,Since,Left\n" + rows);
  ASSERT_EQ(other.status, 0) << other.err;
  EXPECT_EQ(other.out, same.out);
  EXPECT_TRUE(holds(other.err, "differ only in their case")) << other.err;
  EXPECT_TRUE(holds(other.err, "'Age' as 'age'")) << other.err;
  const size_t said = other.err.find("differ only in their case");
  EXPECT_EQ(other.err.find("differ only in their case", said + 1), std::string::npos);
  EXPECT_FALSE(holds(same.err, "differ only")) << same.err;
  const Outcome measured =
      fovea({"evaluate", run(), file("measured.csv", "Age,CITY,plan,active,Since,Left\n" + rows)});
  ASSERT_EQ(measured.status, 0) << measured.err;
  EXPECT_TRUE(holds(measured.err, "'Left' as 'left'")) << measured.err;
  // Two columns that differ in their case alone: neither can be meant for the other.
  expect_refused(
      ask("both.csv", "Age,AGE,city,plan,active,since\n31,31,Bern,Basic,TRUE,2021-03-15\n"),
      {"'age'"});
}

TEST_F(StrangersTables, JsonMayHaveMoreKeys) {
  const std::string row =
      R"({"age": 30, "city": "Bern", "plan": "Basic", "active": true, "since": "2021-03-15"})";
  const Outcome plain = ask("plain.jsonl", row);
  ASSERT_EQ(plain.status, 0) << plain.err;
  EXPECT_EQ(plain.err, "");
  std::string more = row;
  more.insert(1, "\"order\": 5, ");
  const Outcome outcome = ask("more.jsonl", more);
  EXPECT_EQ(outcome.out, plain.out) << outcome.err;
  EXPECT_TRUE(holds(outcome.err, "'order'")) << outcome.err;
  EXPECT_EQ(ask("list.json", "[" + row + ",\n" + row + "]").out, plain.out + plain.out);
  expect_refused(ask("less.jsonl", R"({"age": 30, "city": "Bern"})"), {"less.jsonl:1", "'plan'"});
  expect_refused(ask("slip.jsonl", R"({"agee": 30})"), {"'agee'", "did you mean 'age'"});
}

TEST_F(StrangersTables, SpellingsOfCategoriesAndTruthValues) {
  const Outcome plain = ask("plain.csv", std::string(kHeader) + kRows);
  const Outcome other = ask("other.csv", std::string(kHeader) +
                                             "30,bern,BASIC,true,2021-03-15\n"
                                             "40, basel , premium,No,15.04.2021\n");
  EXPECT_EQ(other.status, 0) << other.err;
  EXPECT_EQ(other.out, plain.out);
  EXPECT_EQ(other.err, "");
}

TEST_F(StrangersTables, WhatTrainingNeverSawIsSaid) {
  const std::string content = std::string(kHeader) +
                              "900,Bonn,Basic,TRUE,2021-03-15\n40,Ulm,Basic,FALSE,2021-03-15\n"
                              "50,Bern,Basic,,2021-03-15\n";
  const Outcome outcome = ask("new.csv", content);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(lines(outcome.out), 3);
  for (const char* part :
       {"new.csv: 1 of 3 rows: column 'age' is '900'", "20 to 69", "2 of 3 rows: column 'city'",
        "'Bonn', 'Ulm'", "column 'active' is empty"})
    EXPECT_TRUE(holds(outcome.err, part)) << part << " not in " << outcome.err;
  const Json answers =
      fovea({"predict", run(), "--input", file("new.csv", content), "--json"}).json();
  EXPECT_EQ(answers[0]["notes"].size(), 2u) << answers;
  EXPECT_EQ(answers[1]["notes"].size(), 1u) << answers;
  EXPECT_FALSE(fovea({"predict", run(), "30,Bern,Basic,TRUE,2021-03-15", "--json"})
                   .json()[0]
                   .contains("notes"));
  EXPECT_TRUE(holds(fovea({"predict", run(), "30,Ulm,Basic,TRUE,2021-03-15"}).err, "'Ulm'"));
  const Json explained = fovea({"explain", run(), "30,Ulm,Basic,TRUE,2021-03-15", "--json"}).json();
  const Json& picture = explained.is_array() ? explained[0] : explained;
  EXPECT_TRUE(holds(picture["notes"].dump(), "'Ulm'")) << picture["notes"];
  const Outcome measured =
      fovea({"evaluate", run(),
             file("later.csv",
                  "age,city,plan,active,since,left\n30,Ulm,Basic,TRUE,2021-03-15,yes\n"
                  "30,Bern,Basic,TRUE,2021-03-15,NO\n")});
  EXPECT_EQ(measured.status, 0) << measured.err;
  EXPECT_TRUE(holds(measured.err, "later.csv: 1 of 2 rows: column 'city' is 'Ulm'"))
      << measured.err;
}

TEST_F(StrangersTables, TextWhereANumberOrADateIsDue) {
  expect_refused(ask("t.csv", std::string(kHeader) + kRows + "old,Bern,Basic,TRUE,2021-03-15\n"),
                 {"t.csv:4", "'age'", "'old'", "number"});
  expect_refused(ask("t.csv", std::string(kHeader) + "30,Bern,Basic,TRUE,soon\n"),
                 {"t.csv:2", "'since'", "'soon'", "date"});
  expect_refused(ask("t.csv", std::string(kHeader) + "30,Bern,Basic,TRUE,12/31/2021\n"),
                 {"t.csv:2", "'12/31/2021'", "day first", "2024-12-31"});
}

TEST_F(StrangersTables, MoneyIsANumberAlsoAsATarget) {
  std::string rows = "Fläche;Ort;Preis\n";
  for (int i = 0; i < 60; ++i)
    rows += concat(50 + i, ",5;", i % 2 ? "Bern" : "Basel", ";", 1 + i % 7, ".", 100 + 11 * i,
                   ",50 €\n");
  const Outcome outcome = train(file("flats.csv", rows), {"--target", "Preis"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(holds(outcome.err, "target 'Preis': a number, mean ")) << outcome.err;
  EXPECT_TRUE(holds(outcome.err, "'50,5' is read as 50.5") || holds(outcome.err, "is read as 5"))
      << outcome.err;
  const std::string other = (shared->path() / "other").string();
  const Outcome comma = fovea({"predict", other, "60,5;Bern", "--json"});
  ASSERT_EQ(comma.status, 0) << comma.err;
  EXPECT_GT(comma.json()[0]["value"], 1000);
  const Outcome plain = fovea({"predict", other, R"({"Fläche": 60.5, "Ort": "Bern"})", "--json"});
  EXPECT_EQ(plain.json()[0]["value"], comma.json()[0]["value"]) << "a JSON number is a plain one";
  EXPECT_EQ(plain.err, "");
}

TEST_F(StrangersTables, SkewedNumbersAreLearnedAsLogarithmsAndAnsweredInTheirUnit) {
  std::string rows = "size,price\n";
  for (int i = 0; i < 300; ++i) {
    const int size = i * 7 % 20 + i * 11 % 23 + i * 13 % 29;
    rows += concat(size, ",$", int64_t(10 * std::exp(0.12 * size)), "\n");
  }
  const std::string data = file("prices.csv", rows);
  const auto train_on = [&](const std::string& transform) {
    return fovea({"train", "features", data, "--target", "price", "--out",
                  (shared->path() / "prices").string(), "--overwrite", "--set", "model.name=linear",
                  "--set", "data.target_transform=" + transform, "--json"});
  };
  const Outcome usual = train_on("auto"), plain = train_on("none"), ranks = train_on("quantile");
  for (const Outcome* outcome : {&usual, &plain, &ranks})
    ASSERT_EQ(outcome->status, 0) << outcome->err;
  EXPECT_TRUE(holds(usual.err, "its logarithm is learned")) << usual.err;
  EXPECT_FALSE(holds(plain.err, "is learned")) << plain.err;
  // The logarithm is linear in the size; r2, of dollars, shows it.
  EXPECT_GT(usual.json()["metrics"]["r2"].get<double>(), 0.999);
  EXPECT_LT(plain.json()["metrics"]["r2"].get<double>(), 0.9);
  EXPECT_GT(ranks.json()["metrics"]["r2"].get<double>(),
            plain.json()["metrics"]["r2"].get<double>());
  // The ridge baseline learns dollars, whatever the network learns.
  for (const Outcome* outcome : {&usual, &ranks})
    EXPECT_NEAR(ridge_error(*outcome), ridge_error(plain), 2);
  ASSERT_EQ(train_on("log").status, 0);
  const std::string folder = (shared->path() / "prices").string();
  const Outcome answer = fovea({"predict", folder, "30", "--json"});
  ASSERT_EQ(answer.status, 0) << answer.err;
  EXPECT_NEAR(answer.json()[0]["value"].get<double>(), 10 * std::exp(3.6), 5) << answer.out;
  const Outcome explained = fovea({"explain", folder, "30"});
  EXPECT_TRUE(explained.status == 0 || holds(explained.err, "no attention")) << explained.err;
  const Outcome measured = fovea({"evaluate", folder, data, "--json"});
  ASSERT_EQ(measured.status, 0) << measured.err;
  EXPECT_GT(measured.json()["metrics"]["r2"].get<double>(), 0.999);
  expect_refused(fovea({"evaluate", folder, file("below.csv", "size,price\n3,-5\n4,7\n")}),
                 {"below.csv:2", "no logarithm", "target_transform=quantile"});
  expect_refused(fovea({"train", "features", file("debts.csv", "a,y\n1,-5\n2,1.5\n3,2.5\n4,8.5\n"),
                        "--target", "y", "--set", "data.target_transform=log", "--set",
                        "data.target_kind=number", "--out", (shared->path() / "no").string()}),
                 {"below 0", "target_transform=quantile"});
}

TEST_F(StrangersTables, WhatSpreadsheetsWrite) {
  std::string plain = "x;name;y\r\n";
  for (int i = 0; i < 40; ++i)
    plain += concat(i, ",25;", i % 2 ? "caf\xE9" : "bar", ";", i % 2, "\r\n");
  const Outcome western = train(file("western.csv", "sep=;\r\n" + plain));
  ASSERT_EQ(western.status, 0) << western.err;
  EXPECT_TRUE(holds(western.err, "Windows-1252")) << western.err;
  EXPECT_TRUE(holds(western.err, "2 columns: 1 numbers, 1 categories")) << western.err;
  std::string wide = "\xFF\xFE";
  for (const char c : plain) wide += {c, '\0'};
  expect_refused(train(file("bare_wide.csv", wide.substr(2))), {"zero byte", "UTF-16LE"});
  EXPECT_EQ(train(file("wide.csv", wide)).status, 0);
  const Outcome asked = fovea({"predict", (shared->path() / "other").string(), "--input",
                               file("ask.csv", "x;name\r\n1,25;caf\xE9\r\n;\r\n")});
  EXPECT_EQ(asked.status, 0) << asked.err;
  EXPECT_EQ(lines(asked.out), 1);
  EXPECT_TRUE(holds(asked.err, "ask.csv: 1 row at its end is empty and left out")) << asked.err;
}

TEST_F(StrangersTables, PointsPartThousandsWhereCommasAreDecimal) {
  std::string rows = "Breite;Stück;Preis\n";
  for (int i = 0; i < 60; ++i)
    rows += concat(10 + i, ",5;", i % 3 ? "1." : "", 200 + i, ";", 1 + i % 5, ".", 100 + i, "\n");
  const Outcome outcome = train(file("stock.csv", rows), {"--target", "Preis"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(holds(outcome.err, "since the file has decimal commas")) << outcome.err;
  EXPECT_TRUE(holds(outcome.err, "target 'Preis': a number, mean 3")) << outcome.err;
  const std::string other = (shared->path() / "other").string();
  const Outcome far = fovea({"predict", other, "20,5;1.234;"});
  EXPECT_EQ(far.err, "") << "1.234 is within 200 and 1259";
  EXPECT_TRUE(holds(fovea({"predict", other, "20,5;9.000;"}).err, "out of the training range"));
}

TEST_F(StrangersTables, AColumnWithoutANameHasOneInEveryFile) {
  std::string rows = "a,,y,\n";
  for (int i = 0; i < 60; ++i) rows += concat(i % 9, ",", i % 3, ",", i % 2, ",\n");
  const std::string data = file("unnamed.csv", rows);
  ASSERT_EQ(train(data, {"--target", "y"}).status, 0);
  const std::string other = (shared->path() / "other").string();
  const Outcome asked = fovea({"predict", other, "--input", data});
  ASSERT_EQ(asked.status, 0) << asked.err;
  EXPECT_EQ(lines(asked.out), 60);
  const Outcome bare = fovea({"predict", other, "--input", file("bare.csv", ",2\n3,1\n")});
  EXPECT_EQ(lines(bare.out), 2) << "an empty cell of a row is a missing value: " << bare.err;
}

TEST_F(StrangersTables, AHeaderThatIsMissingOrStandsBelow) {
  std::string rows;
  for (int i = 0; i < 30; ++i) rows += concat(i % 7 + 3, ",", i % 5 + 0.5, ",", i % 2, "\n");
  const std::string missing = "is it missing?";
  expect_refused(train(file("bare.csv", rows), {"--target", "y"}), {"bare.csv", "'y'", missing});
  expect_refused(fovea({"evaluate", run(), file("bare.csv", rows)}), {"bare.csv"});
  expect_refused(train(file("same.csv", "3,3,0\n" + rows)), {"same.csv:1", missing});
  expect_refused(train(file("title.csv", "Sales of 2024,,\na,b,y\n" + rows), {"--target", "y"}),
                 {"title.csv", "remove what stands above it"});
  expect_refused(train(file("remark.csv", "# Sales of 2024\na,b,y\n" + rows)),
                 {"remark.csv:2", "'# Sales of 2024'"});
  expect_refused(train(file("blanks.csv", "a b y\n1 2 0\n3 4 1\n"), {"--target", "y"}),
                 {"not by blanks"});
}

TEST_F(StrangersTables, AMeasurementNeedsTheTarget) {
  expect_refused(fovea({"evaluate", run(), file("new.csv", std::string(kHeader) + kRows)}),
                 {"new.csv", "'left', the target", "fovea predict"});
}

TEST_F(StrangersTables, ClassesOfFewRows) {
  std::string rows = "a,b,kind\n";
  for (int i = 0; i < 60; ++i)
    rows += concat(i % 9, ",", i % 4, ",", i == 5 ? "rare" : i % 2 ? "red" : "Red", "\n");
  for (const char* seed : {"0", "1", "2", "3", "4", "5"}) {
    const Outcome outcome =
        train(file("rare.csv", rows), {"--target", "kind", "--set", concat("seed=", seed)});
    EXPECT_EQ(outcome.status, 0) << seed << outcome.err;
    EXPECT_TRUE(holds(outcome.err, "3 classes Red, rare, red")) << outcome.err;
    EXPECT_TRUE(holds(outcome.err, "'Red' and 'red' differ only in case")) << outcome.err;
  }
  std::string names = "a,b,name\n";
  for (int i = 0; i < 60; ++i) names += concat(i % 9, ",", i % 4, ",n", i, "\n");
  expect_refused(train(file("names.csv", names), {"--target", "name"}),
                 {"names.csv", "'name'", "different values", "rather than a class"});
  expect_refused(train(file("two.csv", "a,y\n1,yes\n2,no\n")), {"two.csv", "1 training row"});
  expect_refused(train(file("one.csv", "a,y\n1,yes\n")), {"one.csv", "1 training row"});
}

TEST_F(StrangersTables, AddressesAreNoTextAndFailedFormulasNoNumber) {
  std::string rows = "mail,sum,size,y\n";
  for (int i = 0; i < 60; ++i)
    rows += concat("anna.", i, "@bern.ch,", i % 9 ? concat(i * 7 % 50) : "#DIV/0!", ",", i % 4, ",",
                   i % 2, "\n");
  const Outcome outcome = train(file("sums.csv", rows));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(holds(outcome.err, "left out: 'mail'")) << outcome.err;
  EXPECT_TRUE(holds(outcome.err, "2 columns: 2 numbers")) << outcome.err;
  EXPECT_TRUE(holds(outcome.err, "missing values get an input of their own: sum")) << outcome.err;
}

TEST_F(StrangersTables, WhatNobodyExpects) {
  const auto rows = [](const std::string& header, const auto& row) {
    std::string content = header + "\n";
    for (int i = 0; i < 60; ++i) content += row(i);
    return content;
  };
  struct Case {
    const char* name;
    std::string content;
  };
  const std::vector<Case> read = {
      {"ends.csv",
       rows("a,b,y\r",
            [](int i) { return concat(i % 9, ",", i % 4, ",", i % 2, i % 3 ? "\n" : "\r\n"); })},
      {"lines.csv",
       rows("a,b,y", [](int i) { return concat(i % 9, ",\"x\ny", i % 4, "\",", i % 2, "\n"); })},
      {"emoji.csv", rows("😀,b,y", [](int i) { return concat("🎉,", i % 4, ",", i % 2, "\n"); })},
      {"arabic.csv",
       rows("الاسم,y", [](int i) { return concat(i % 3 ? "علي," : "محمد,", i % 2, "\n"); })},
      {"long.csv", rows("a,b,y",
                        [](int i) {
                          return concat(std::string(i % 2 ? 100'000 : 1, 'x'), ",", i % 4, ",",
                                        i % 2, "\n");
                        })},
      {"gaps.csv", rows("a,,y", [](int i) { return concat(i % 9, ",,", i % 2, "\n"); })},
      {"bar.csv", rows("a|b|y", [](int i) { return concat(i % 9, "|", i % 4, "|", i % 2, "\n"); })},
      {"list.json", rows("[",
                         [](int i) {
                           return concat(i ? "," : "", "{\"a\": ", i % 9, ", \"y\": ", i % 2,
                                         "}\n");
                         }) +
                        "]"},
      {"blank.csv", "\n\n" + rows("a,y", [](int i) { return concat(i % 9, ",", i % 2, "\n\n"); })}};
  for (const Case& one : read) {
    const Outcome outcome = train(file(one.name, one.content));
    EXPECT_EQ(outcome.status, 0) << one.name << ": " << outcome.err;
  }
  expect_refused(train(file("twice.csv", "a,a,y\n1,2,0\n")), {"twice.csv:1", "'a'"});
  expect_refused(train(file("zero.csv", std::string("a,y\n1,0\n\0,1\n", 11))), {"zero.csv:3"});
  expect_refused(train(file("mac.csv", "a,y\r1,0\r2,1\r")), {"mac.csv", "CR", "tr "});
  expect_refused(train(file("open.csv", "a,y\n1,0\n\"2,1\n3,0\n")), {"open.csv:3", "quote"});
  expect_refused(train(file("plain.csv.gz", "a,y\n1,0\n")), {"plain.csv.gz", "gzip"});
  expect_refused(train(file("columns.json", R"({"a": [1, 2], "y": [0, 1]})")),
                 {"columns.json:1", "orient='records'"});
  expect_refused(train(file("pretty.jsonl", "{\n\"a\": 1\n}\n")),
                 {"pretty.jsonl:1", "an object on each line"});
}

TEST_F(StrangersTables, RowsAsJsonLines) {
  std::string rows;
  for (int i = 0; i < 40; ++i)
    rows += concat("{\"x\": ", i, ", \"ok\": ", i % 2 ? "true" : "false", ", \"y\": \"",
                   i % 2 ? "a" : "b", "\"}\n");
  const Outcome outcome = train(file("rows.jsonl", rows));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const std::string other = (shared->path() / "other").string();
  EXPECT_EQ(fovea({"evaluate", other, file("rows2.jsonl", rows)}).status, 0);
  EXPECT_EQ(lines(fovea({"predict", other, "--input", file("rows3.jsonl", rows)}).out), 40);
}

/// 200 rows: a number of two digits behind the point, a date, a target that follows from them.
std::string rows_with_slips(const std::function<void(int, std::array<std::string, 3>&)>& slip) {
  std::string rows = "size,since,price\n";
  for (int i = 0; i < 200; ++i) {
    const int size = i * 37 % 101;
    std::array<std::string, 3> cells{
        concat(size, ".25"), concat("2021-0", 1 + i % 9, "-", 10 + i % 18), concat(3 * size, ".5")};
    slip(i, cells);
    rows += concat(cells[0], ",", cells[1], ",", cells[2], "\n");
  }
  return rows;
}

TEST_F(StrangersTables, SlipsAreMissingWhicheverSplitTheyFallInto) {
  const std::vector<std::string> words = {"unknown", "someday", "sold"};
  for (size_t column = 0; column < words.size(); ++column) {
    const std::string data = file("slips.csv", rows_with_slips([&](int i, auto& cells) {
                                    if (i == 70) cells[column] = words[column];
                                  }));
    for (const char* seed : {"0", "1", "2", "3", "4", "5", "6", "7"}) {
      const Outcome outcome = train(data, {"--target", "price", "--set", concat("seed=", seed)});
      ASSERT_EQ(outcome.status, 0) << seed << outcome.err;
      EXPECT_TRUE(holds(outcome.err, concat("'", words[column], "' (first at ", data,
                                            ":72, 1 such cell) is taken as missing")))
          << outcome.err;
      EXPECT_TRUE(holds(outcome.err, "2 columns: 1 numbers, 0 categories, 1 dates"));
      EXPECT_TRUE(holds(outcome.err, "target 'price': a number"));
    }
  }
  const std::string folds = file("slip.csv", rows_with_slips([](int i, auto& cells) {
                                   if (i == 70) cells[0] = "unknown";
                                 }));
  const Outcome outcome = train(folds, {"--target", "price", "--folds", "3"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST_F(StrangersTables, OneWordForWhatIsMissingMayStandInManyRows) {
  const Outcome outcome = train(
      file("many.csv", rows_with_slips([](int i, auto& cells) {
             if (i % 4 == 0) cells[0] = "not measured";
             cells[1] = i % 3 == 0 ? "on request" : concat("\"$", 1 + i % 90, ",", 100 + i, "\"");
           })),
      {"--target", "price"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(holds(outcome.err, "2 columns: 2 numbers, 0 categories")) << outcome.err;
  EXPECT_TRUE(holds(outcome.err, "'not measured' (first at ")) << outcome.err;
  const std::string codes = "code,y\n";
  std::string rows = codes;
  for (int i = 0; i < 100; ++i) rows += concat(i % 4 ? concat(i % 4) : "N", ",", i % 2, "\n");
  EXPECT_TRUE(holds(train(file("codes.csv", rows)).err, "0 numbers, 1 categories"));
}

TEST_F(StrangersTables, TruthValuesOfManySpellingsAreTwoClasses) {
  const auto rows = [](const std::vector<std::string>& yes, const std::vector<std::string>& no) {
    std::string content = "a,b,y\n";
    for (int i = 0; i < 90; ++i)
      content +=
          concat(i % 9, ",", i % 4, ",", (i % 2 ? yes : no)[size_t(i / 2) % yes.size()], "\n");
    return content;
  };
  const Outcome cases =
      train(file("true.csv", rows({"TRUE", "true", "True"}, {"FALSE", "false", "False"})));
  ASSERT_EQ(cases.status, 0) << cases.err;
  EXPECT_TRUE(holds(cases.err, "two classes FALSE, TRUE (") ||
              holds(cases.err, "two classes False, True (") ||
              holds(cases.err, "two classes false, true ("))
      << cases.err;
  EXPECT_TRUE(holds(cases.err, "are read as truth values, two classes")) << cases.err;
  const Outcome measured =
      fovea({"evaluate", (shared->path() / "other").string(),
             file("later.csv", rows({"yes", "1", "TRUE"}, {"no", "0", "FALSE"})), "--json"});
  EXPECT_EQ(measured.status, 0) << measured.err;
  EXPECT_TRUE(holds(train(file("mix.csv", rows({"yes", "1", "TRUE"}, {"no", "0", "FALSE"}))).err,
                    "two classes "));
  EXPECT_TRUE(holds(train(file("codes.csv", rows({"t", "y", "n"}, {"f", "n", "f"}))).err,
                    "4 classes f, n, t, y"));
}

TEST_F(StrangersTables, UnitsAndSignsBesideNumbers) {
  std::string rows = "height,cake,phone,y\n";
  for (int i = 0; i < 60; ++i)
    rows += concat("1.", 50 + i % 40, "m,", 1 + i % 7, "½,+41 79 ", 100 + i, " ", 10 + i, ",",
                   i % 2, "\n");
  const Outcome outcome = train(file("units.csv", rows));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(holds(outcome.err, "column 'height': '1.")) << outcome.err;
  EXPECT_FALSE(holds(outcome.err, "'cake'")) << "five and a half is not five: " << outcome.err;
  EXPECT_TRUE(holds(outcome.err, "left out: 'phone'")) << outcome.err;
  EXPECT_TRUE(holds(outcome.err, "2 columns: 1 numbers, 1 categories;")) << outcome.err;
}

TEST_F(StrangersTables, OtherFormatsAreAnsweredWithWhatToDo) {
  const std::string excel = file("t.xlsx", std::string("PK\x03\x04....xl/workbook.xml", 22));
  const std::string parquet = file("t.parquet", std::string("PAR1\0\0", 6));
  expect_refused(train(excel), {"t.xlsx", "Excel", "read_excel", "t.csv"});
  expect_refused(train(parquet), {"t.parquet", "Parquet", "read_parquet", "t.csv"});
  expect_refused(fovea({"predict", run(), "--input", excel}), {"Excel", "read_excel"});
  expect_refused(fovea({"evaluate", run(), parquet}), {"Parquet"});
}

}  // namespace
}  // namespace fovea::strangers_tables_test
