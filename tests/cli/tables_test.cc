// Tables of inputs: a header is one when it holds the columns that the run needs, whatever else it
// holds, and there are as many answers as rows.
#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/base/file.h"
#include "tests/cli/program.h"
#include "tests/support/temporary_folder.h"

namespace fovea::tables_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

class Tables : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = std::make_unique<TemporaryFolder>();
    std::string purchases = "colour,size,buys\n", reviews = "user,item,rating\n",
                visits = "patient,time,codes,label\n", series = "day,a,b\n", texts = "label,text\n",
                dates = "source\ttarget\n", contexts = "context,p,q,y\n";
    for (int i = 0; i < 60; ++i) {
      purchases += concat(i % 2 ? "red" : "blue", ",", i % 3 ? "small" : "large", ",",
                          i % 2 ? "yes" : "no", "\n");
      reviews += concat("u", i % 6, ",i", i % 10, ",", 1 + i % 5, "\n");
      visits += concat("p", i / 2, ",", i % 2, ",", i % 4 < 2 ? "x y" : "z", ",",
                       i % 4 < 2 ? "no" : "yes", "\n");
      series += concat("d", i, ",", i % 7, ",", i % 5, "\n");
      texts += concat(i % 2 ? "good" : "bad", ",", i % 2 ? "a fine film" : "a dull film", "\n");
      dates += concat(i % 28 + 1, " May\t05-", i % 28 + 1, "\n");
      contexts += concat(i % 2 ? "first" : "second", ",", i % 7, ",", i % 5, ",",
                         i % 2 ? i % 7 : i % 5, "\n");
    }
    train("features", purchases, {"--target", "buys", "--set", "model.name=attention"});
    train("ratings", reviews, {"--set", "model.name=mean"});
    train("visits", visits, {"--set", "model.name=logistic", "--set", "data.minimum_count=1"});
    train("forecast", series,
          {"--columns", "input=a,input=b,target=a,time=day", "--set", "data.window=6", "--set",
           "data.horizon=2", "--set", "model.name=seq2seq", "--set", "model.hidden=8"});
    train("documents", texts,
          {"--set", "model.name=han", "--set", "model.hidden=8", "--set", "model.embedding=8"});
    train("dates", dates, {"--set", "model.hidden=8", "--set", "model.embedding=4"}, ".tsv");
    train("context", contexts, {});
    ASSERT_EQ(fovea({"train", "graph", "--set", "data.nodes=300", "--set", "data.train_each=10",
                     "--set", "data.validation_nodes=50", "--set", "data.test_nodes=50", "--epochs",
                     "1", "--quiet", "--out", run("graph")})
                  .status,
              0);
  }
  static void TearDownTestSuite() { folder.reset(); }

  static void train(const std::string& task, const std::string& content,
                    const std::vector<std::string>& more, const std::string& ending = ".csv") {
    std::vector<std::string> arguments{"train", task,      file(task + ending, content),
                                       "--out", run(task), "--epochs",
                                       "1",     "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = fovea(arguments);
    ASSERT_EQ(outcome.status, 0) << task << ": " << outcome.err;
  }
  static std::string file(const std::string& name, const std::string& content) {
    const std::string path = (folder->path() / name).string();
    write_file(path, content);
    return path;
  }
  static std::string run(const std::string& task) { return (folder->path() / task).string(); }
  static Outcome ask(const std::string& task, const std::string& name, const std::string& content) {
    return fovea({"predict", run(task), "--input", file(name, content)});
  }
  static int64_t lines(const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  }
  static int64_t times(const std::string& text, const std::string& part) {
    int64_t count = 0;
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
    return count;
  }
  static void expect_refused(const Outcome& outcome, const std::vector<std::string>& parts) {
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(lines(outcome.err), 1) << outcome.err;
    for (const std::string& part : parts)
      EXPECT_EQ(times(outcome.err, part) > 0, true) << part << " not in: " << outcome.err;
  }
  inline static std::unique_ptr<TemporaryFolder> folder;
};

constexpr const char* kRows = "red,small\nblue,large\nred,large\nblue,small\n";

TEST_F(Tables, UnknownColumnsAreIgnoredAndNamedOnce) {
  const Outcome plain = ask("features", "plain.csv", std::string("colour,size\n") + kRows);
  ASSERT_EQ(plain.status, 0) << plain.err;
  EXPECT_EQ(lines(plain.out), 4);
  EXPECT_EQ(plain.err, "");
  const Outcome more =
      ask("features", "orders.csv",
          "order,colour,size\n1,red,small\n2,blue,large\n3,red,large\n4,blue,small\n");
  ASSERT_EQ(more.status, 0) << more.err;
  EXPECT_EQ(more.out, plain.out);
  EXPECT_EQ(lines(more.err), 1) << more.err;
  EXPECT_EQ(times(more.err, "'order'"), 1) << more.err;
  EXPECT_EQ(times(more.err, "orders.csv"), 1) << more.err;
}

TEST_F(Tables, OrderTargetAndFormOfTheFileMeanNothing) {
  const std::string plain = ask("features", "a.csv", std::string("colour,size\n") + kRows).out;
  const std::vector<std::pair<std::string, std::string>> same = {
      {"reordered.csv", "size,colour\nsmall,red\nlarge,blue\nlarge,red\nsmall,blue\n"},
      {"target.csv", "size,buys,colour\nsmall,no,red\nlarge,,blue\nlarge,?,red\nsmall,yes,blue\n"},
      {"tabs.tsv", "colour\tsize\nred\tsmall\nblue\tlarge\nred\tlarge\nblue\tsmall\n"},
      {"tabs.txt", "colour\tsize\nred\tsmall\nblue\tlarge\nred\tlarge\nblue\tsmall\n"},
      {"semicolons.csv", "colour;size\nred;small\nblue;large\nred;large\nblue;small\n"},
      {"mark.csv", std::string("\xEF\xBB\xBF") + "colour,size\n" + kRows},
      {"blank.csv", std::string("\n\ncolour,size\n\n") + kRows},
      {"crlf.csv", "colour,size\r\nred,small\r\nblue,large\r\nred,large\r\nblue,small\r\n"},
      {"spaces.csv", " colour , size \nred,small\nblue,large\nred,large\nblue,small\n"},
      {"quoted.csv", "\"colour\",\"size\"\n\"red\",small\nblue,large\nred,large\nblue,small"},
      {"headless.csv", kRows},
      {"headless.txt", std::string("\xEF\xBB\xBF") + kRows},
      {"three.csv", "red,small,no\nblue,large,\nred,large,yes\nblue,small,no\n"},
      {"mixed.txt",
       "red,small\n{\"colour\": \"blue\", \"size\": \"large\"}\n\nred,large\n"
       "\"blue\",small\n"}};
  for (const auto& [name, content] : same) {
    const Outcome outcome = ask("features", name, content);
    EXPECT_EQ(outcome.status, 0) << name << ": " << outcome.err;
    EXPECT_EQ(outcome.out, plain) << name;
    EXPECT_EQ(outcome.err, "") << name;
  }
}

TEST_F(Tables, QuotedLineEndsAreNoRows) {
  const Outcome header =
      ask("features", "notes.csv",
          "note,colour,size\n\"two\nlines\",red,small\n\"a \"\"b\"\"\n\n\nc\",blue,large\n");
  EXPECT_EQ(header.status, 0) << header.err;
  EXPECT_EQ(lines(header.out), 2);
  const Outcome name = ask("features", "name.csv", "\"a\nnote\",colour,size\nx,red,small\n");
  EXPECT_EQ(lines(name.out), 1) << name.err;
  const Outcome rows = ask("features", "rows.csv", "\"re\nd\",small\nblue,\"lar\nge\"\n");
  EXPECT_EQ(rows.status, 0) << rows.err;
  EXPECT_EQ(lines(rows.out), 2);
  expect_refused(ask("features", "after.csv", "\"re\nd\",small\nblue,large,no,1\n"),
                 {"after.csv:3"});
  expect_refused(ask("features", "open.csv", "red,small\n\"red,small\n"), {"open.csv:2", "closed"});
}

TEST_F(Tables, AHeaderThatLacksAColumnIsNoRow) {
  expect_refused(ask("features", "a.csv", "order,size\n1,small\n2,large\n"), {"a.csv", "'colour'"});
  expect_refused(ask("features", "b.csv", "color,size\nred,small\n"),
                 {"b.csv", "'colour'", "did you mean 'color'"});
  expect_refused(ask("features", "c.csv", "Colour,COLOUR,size\nred,red,small\n"),
                 {"c.csv", "'colour'", "did you mean 'Colour'"});
  expect_refused(ask("features", "e.csv", "colour,size\n"), {"e.csv", "no rows"});
  expect_refused(ask("features", "f.csv", "colour,size,size\nred,small,large\n"), {"'size'"});
  expect_refused(ask("features", "g.csv", "a,b,c,d\n1,2,3,4\n"), {"g.csv:1", "4 cells"});
  expect_refused(ask("features", "h.csv", "colour,size\rred,small\r"), {"h.csv", "CR alone"});
  expect_refused(ask("features", "i.csv", "colour,size\nred\n"), {"i.csv:2", "cells"});
}

TEST_F(Tables, AHeaderAmongArgumentsIsNoRow) {
  expect_refused(fovea({"predict", run("features"), "colour,size"}), {"header"});
  expect_refused(fovea({"predict", run("ratings"), "user,item"}), {"header"});
  EXPECT_EQ(fovea({"predict", run("features"), "red,small"}).status, 0);
}

TEST_F(Tables, StandardInputIsReadLikeAFile) {
  std::istringstream content("order,colour,size\n1,red,small\n2,blue,large\n");
  std::streambuf* const before = std::cin.rdbuf(content.rdbuf());
  const Outcome outcome = fovea({"predict", run("features"), "--input", "-"});
  std::cin.rdbuf(before);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(lines(outcome.out), 2);
  EXPECT_EQ(times(outcome.err, "standard input: "), 1) << outcome.err;
}

TEST_F(Tables, ExplainReadsThemTheSameWay) {
  const Outcome outcome =
      fovea({"explain", run("features"), "--input",
             file("explain.csv", "order,size,colour\n1,small,red\n2,large,blue\n"), "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.json().size(), 2u);
  EXPECT_EQ(times(outcome.err, "'order'"), 1) << outcome.err;
}

TEST_F(Tables, EvaluateNamesUnknownColumnsOnce) {
  const Outcome outcome =
      fovea({"evaluate", run("features"),
             file("later.csv", "order,size,colour,buys\n1,small,red,yes\n2,large,blue,no\n")});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(times(outcome.err, "'order'"), 1) << outcome.err;
  expect_refused(
      fovea({"evaluate", run("features"), file("l.csv", "color,size,buys\nred,small,no\n")}),
      {"colour", "color"});
}

TEST_F(Tables, Ratings) {
  const std::string plain = ask("ratings", "pairs.txt", "u1,i1\nu2,i2\n").out;
  EXPECT_EQ(lines(plain), 2);
  const Outcome named = ask("ratings", "pairs.csv", "user,item\nu1,i1\nu2,i2\n");
  EXPECT_EQ(named.out, plain) << named.err;
  const Outcome more = ask("ratings", "more.csv", "when,item,user,rating\n1,i1,u1,3\n2,i2,u2,\n");
  EXPECT_EQ(more.out, plain) << more.err;
  EXPECT_EQ(times(more.err, "'when'"), 1) << more.err;
  expect_refused(ask("ratings", "less.csv", "user,article\nu1,i1\n"), {"less.csv", "'item'"});
  const Outcome other = ask("ratings", "case.csv", "User,Item\nu1,i1\nu2,i2\n");
  EXPECT_EQ(other.out, plain) << other.err;
  EXPECT_EQ(times(other.err, "'User' as 'user'"), 1) << other.err;
  expect_refused(ask("ratings", "gap.csv", "user,item\nu1,\n"), {"gap.csv:2", "item"});
}

TEST_F(Tables, Visits) {
  const Outcome outcome =
      ask("visits", "new.csv", "ward,codes,patient,time\nA,x,q,2\nB,z,p,1\nA,y,q,1\n");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(lines(outcome.out), 2) << "patients";
  EXPECT_EQ(times(outcome.err, "'ward'"), 1) << outcome.err;
  expect_refused(ask("visits", "less.csv", "patient,time\nq,1\n"), {"less.csv", "'codes'"});
  EXPECT_EQ(lines(ask("visits", "lines.txt", "x y; z\nz\n").out), 2);
  expect_refused(ask("visits", "bare.tsv", "q\t1\tx y\nq\t2\tz\n"), {"bare.tsv:1", "header"});
  const std::string unseen =
      "1 of 2 codes are unknown, too rare in training or never seen there: 'new'";
  const Outcome strange = ask("visits", "odd.csv", "patient,time,codes\nq,1,x new\n");
  EXPECT_EQ(times(strange.err, "odd.csv: " + unseen), 1) << strange.err;
  EXPECT_EQ(times(fovea({"predict", run("visits"), "x new"}).err, unseen), 1);
  const Outcome timeless =
      fovea({"predict", run("visits"), R"({"visits": [["x"], ["new", "z"]]})", "--json"});
  EXPECT_EQ(timeless.json()[0]["notes"].size(), 2u) << timeless.out;
}

TEST_F(Tables, Nodes) {
  const std::string plain = ask("graph", "nodes.txt", "n1\nn2\n").out;
  EXPECT_EQ(lines(plain), 2);
  EXPECT_EQ(ask("graph", "nodes.csv", "node\nn1\nn2\n").out, plain);
  const Outcome more = ask("graph", "more.csv", "when,node\n1,n1\n2,n2\n");
  EXPECT_EQ(more.out, plain) << more.err;
  EXPECT_EQ(times(more.err, "'when'"), 1) << more.err;
  expect_refused(ask("graph", "gone.csv", "node\nn1\nnobody\n"), {"gone.csv:3", "'nobody'"});
  expect_refused(fovea({"predict", run("graph"), R"({"features": [], "neighbors": ["n1"]})"}),
                 {"'neighbors'", "did you mean 'neighbours'?"});
}

TEST_F(Tables, Context) {
  const std::string plain = ask("context", "rows.txt", "first,1,2\nsecond,3,4\n").out;
  EXPECT_EQ(lines(plain), 2);
  const Outcome outcome =
      ask("context", "rows.csv", "q,note,p,context\n2,x,1,first\n4,y,3,second\n");
  EXPECT_EQ(outcome.out, plain) << outcome.err;
  EXPECT_EQ(times(outcome.err, "'note'"), 1) << outcome.err;
  expect_refused(ask("context", "less.csv", "context,p\nfirst,1\n"), {"less.csv", "'q'"});
}

TEST_F(Tables, Forecast) {
  const auto table = [](const std::string& header) {
    std::string content = header + "\n";
    for (int i = 0; i < 8; ++i) content += concat("d", i, ",", i % 5, ",", i, ",x\n");
    return content;
  };
  const Outcome outcome = ask("forecast", "steps.csv", table("day,b,a,note"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(lines(outcome.out), 1);
  EXPECT_EQ(times(outcome.err, "'note'"), 1) << outcome.err;
  expect_refused(ask("forecast", "less.csv", table("day,c,a,note")), {"less.csv", "'b'"});
  EXPECT_EQ(ask("forecast", "case.csv", table("day,B,a,note")).out, outcome.out);
}

TEST_F(Tables, Texts) {
  const std::string plain = ask("documents", "texts.txt", "a fine film\na dull film, really\n").out;
  EXPECT_EQ(lines(plain), 2);
  for (const auto& [name, content] : std::vector<std::pair<std::string, std::string>>{
           {"texts.csv", "text\na fine film\n\"a dull film, really\"\n"},
           {"label.csv", "label,text\ngood,a fine film\n,\"a dull film, really\"\n"},
           {"label.tsv", "text\tlabel\na fine film\tgood\na dull film, really\tbad\n"},
           {"label.txt", "text\tlabel\na fine film\tgood\na dull film, really\tbad\n"}}) {
    const Outcome outcome = ask("documents", name, content);
    EXPECT_EQ(outcome.out, plain) << name << outcome.err;
  }
  EXPECT_EQ(lines(ask("documents", "word.txt", "text\na fine film\n").out), 2) << "one is a text";
  EXPECT_EQ(lines(ask("documents", "said.txt", "text, he said\na fine film\n").out), 2);
  const Outcome unknown = ask("documents", "id.csv", "id,text\n1,a fine film\n");
  EXPECT_EQ(lines(unknown.out), 1);
  EXPECT_EQ(times(unknown.err, "'id'"), 1) << unknown.err;
  const Outcome other = ask("documents", "case.csv", "label,Text\ngood,a fine film\n");
  EXPECT_EQ(other.out, unknown.out);
  EXPECT_EQ(times(other.err, "'Text' as 'text'"), 1) << other.err;
}

TEST_F(Tables, Pairs) {
  const std::string plain = ask("dates", "dates.txt", "1 May\n2 May\n").out;
  EXPECT_EQ(lines(plain), 2);
  const Outcome outcome = ask("dates", "dates.tsv", "target\tsource\n05-1\t1 May\n05-2\t2 May\n");
  EXPECT_EQ(outcome.out, plain) << outcome.err;
}

}  // namespace
}  // namespace fovea::tables_test
