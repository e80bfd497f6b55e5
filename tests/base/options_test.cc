#include "fovea/base/options.h"

#include <cmath>
#include <limits>

#include "tests/support/expect_error.h"

namespace fovea::options_test {
namespace {

using testing::expect_error;

using Integers = std::vector<int64_t>;
using Texts = std::vector<std::string>;

struct ModelOptions {
  int64_t layers = 2;
  double dropout = 0.1;
  std::string cell = "gru";
  bool bias = true;
  Integers hidden{64, 32};
  Texts columns{"age", "height"};
  Texts parts{"word"};
  double scale = 1;

  void describe(OptionList& list) {
    list.add("layers", layers, "number of stacked layers").at_least(1).at_most(64);
    list.add("dropout", dropout, "share of units dropped").at_least(0).below(1);
    list.add("cell", cell, "recurrent cell").choices({"rnn", "gru", "lstm"});
    list.add("bias", bias, "add a bias");
    list.add("hidden", hidden, "widths").at_least(1);
    list.add("columns", columns, "columns to use");
    list.add("parts", parts, "units shown").choices({"word", "sentence"});
    list.add("scale", scale, "any number above zero").above(0);
  }
};

struct TrainingOptions {
  int64_t seed = 0;
  double rate = 0.001;
  void describe(OptionList& list) {
    list.add("seed", seed, "random seed");
    list.add("rate", rate, "learning rate").above(0).at_most(10);
  }
};

/// A program's options, as the command line builds them.
struct Program {
  ModelOptions model;
  TrainingOptions training;
  std::string note;
  OptionList list;
  Program() {
    list.group("model", model);
    list.group("training", training);
    list.add("note", note, "free text");
  }
};

TEST(Options, SetFromText) {
  Program p;
  p.list.set("model.layers", " 6 ");
  p.list.set_assignment("model.dropout=0.5");
  p.list.set_assignment("model.cell=lstm");
  p.list.set_assignment("training.seed=-3");
  p.list.set_assignment("note=a=b, c");
  EXPECT_EQ(p.model.layers, 6);
  EXPECT_EQ(p.model.dropout, 0.5);
  EXPECT_EQ(p.model.cell, "lstm");
  EXPECT_EQ(p.training.seed, -3);
  EXPECT_EQ(p.note, "a=b, c") << "only the first = counts";
  p.list.set_assignment("note=");
  EXPECT_EQ(p.note, "");
}

TEST(Options, AssignmentsNeedAKeyAndAnEqualsSign) {
  Program p;
  for (const char* bad : {"model.layers", "", "=5"})
    expect_error(ErrorKind::InvalidArgument, {"key=value"}, [&] { p.list.set_assignment(bad); });
}

TEST(Options, UnknownKeysNameTheNearest) {
  Program p;
  expect_error(ErrorKind::InvalidArgument, {"'model.layer'", "did you mean 'model.layers'"},
               [&] { p.list.set("model.layer", "1"); });
  expect_error(ErrorKind::InvalidArgument, {"did you mean 'training.rate'"},
               [&] { p.list.set_assignment("rate=1"); });
  expect_error(ErrorKind::InvalidArgument, {"fovea tasks"},
               [&] { p.list.set("quite.unlike.any", "1"); });
  expect_error(ErrorKind::InvalidArgument, {"run.json", "did you mean 'model.layers'"}, [&] {
    p.list.merge(Json{{"modle", {{"layers", 3}}}}, "run.json");
  });
}

TEST(Options, BoolWords) {
  Program p;
  for (const char* yes : {"true", "yes", "on", "1", " true "}) {
    p.model.bias = false;
    p.list.set("model.bias", yes);
    EXPECT_TRUE(p.model.bias) << yes;
  }
  for (const char* no : {"false", "no", "off", "0"}) {
    p.model.bias = true;
    p.list.set("model.bias", no);
    EXPECT_FALSE(p.model.bias) << no;
  }
}

TEST(Options, BadValuesAreRefusedAndTheOldOnesKept) {
  Program p;
  const std::string before = p.list.to_json().dump();
  const std::pair<const char*, const char*> bad[] = {
      {"model.layers", "0"},    {"model.layers", "65"},    {"model.layers", "1.5"},
      {"model.layers", "six"},  {"model.layers", ""},      {"model.layers", "99999999999999999999"},
      {"model.dropout", "1"},   {"model.dropout", "-0.1"}, {"model.dropout", "nan"},
      {"model.dropout", "inf"}, {"model.scale", "0"},      {"model.scale", "inf"},
      {"model.scale", "nan"},   {"training.rate", "0"},    {"training.rate", "10.001"},
      {"model.cell", "gro"},    {"model.cell", ""},        {"model.bias", "maybe"},
      {"model.bias", ""},       {"model.hidden", "64,x"},  {"model.hidden", "64,,32"},
      {"model.hidden", "8,0"},  {"model.hidden", "[8"},    {"model.parts", "word,letter"}};
  for (const auto& [key, text] : bad) {
    expect_error(ErrorKind::InvalidArgument, {key, "expected"},
                 [&p, key = key, text = text] { p.list.set(key, text); });
    EXPECT_EQ(p.list.to_json().dump(), before) << key << "=" << text;
  }
}

TEST(Options, RefusalsSayWhatIsAllowedAndWhatItMeans) {
  Program p;
  expect_error(ErrorKind::InvalidArgument,
               {"found '0'", "integer", ">= 1, <= 64", "number of stacked layers"},
               [&] { p.list.set("model.layers", "0"); });
  expect_error(ErrorKind::InvalidArgument, {"rnn, gru, lstm", "did you mean 'gru'?"},
               [&] { p.list.set("model.cell", "gro"); });
}

TEST(Options, RangesAreOpenOrClosed) {
  Program p;
  for (const char* edge : {"1", "64"}) EXPECT_NO_THROW(p.list.set("model.layers", edge)) << edge;
  EXPECT_NO_THROW(p.list.set("model.dropout", "0"));
  EXPECT_NO_THROW(p.list.set("training.rate", "10"));
  EXPECT_NO_THROW(p.list.set("model.scale", "1e-300"));
  EXPECT_EQ(p.list.find("model.layers").limits(), ">= 1, <= 64");
  EXPECT_EQ(p.list.find("model.dropout").limits(), ">= 0, < 1");
  EXPECT_EQ(p.list.find("model.scale").limits(), "> 0");
  EXPECT_EQ(p.list.find("note").limits(), "");
}

TEST(Options, ListsInEveryNotation) {
  Program p;
  for (const char* text : {"1,2,3", "[1,2,3]", " [ 1 , 2 , 3 ] "}) {
    p.model.hidden = {};
    p.list.set("model.hidden", text);
    EXPECT_EQ(p.model.hidden, (Integers{1, 2, 3})) << text;
  }
  p.list.set("model.hidden", "7");
  EXPECT_EQ(p.model.hidden, Integers{7});
  for (const char* none : {"", "[]", " [ ] "}) {
    p.model.hidden = {1};
    p.list.set("model.hidden", none);
    EXPECT_EQ(p.model.hidden, Integers{}) << none;
  }
  p.list.set("model.columns", "a, b c ,d");
  EXPECT_EQ(p.model.columns, (Texts{"a", "b c", "d"}));
}

TEST(Options, MergeTakesNestedAndDottedKeysAndLeavesTheRest) {
  Program p;
  p.list.merge(parse_json(R"({
    "model": {"layers": 3, "dropout": 0, "cell": "rnn", "bias": false, "hidden": [5], "columns": ["x, y", " z"]},
    "training.rate": 1e-2,
    "note": 7
  })",
                          "c.json"),
               "c.json");
  EXPECT_EQ(p.model.layers, 3);
  EXPECT_EQ(p.model.dropout, 0);
  EXPECT_EQ(p.model.cell, "rnn");
  EXPECT_FALSE(p.model.bias);
  EXPECT_EQ(p.model.hidden, Integers{5});
  EXPECT_EQ(p.model.columns, (Texts{"x, y", " z"})) << "a comma inside an item is part of it";
  EXPECT_EQ(p.training.rate, 0.01);
  EXPECT_EQ(p.training.seed, 0);
  EXPECT_EQ(p.note, "7");
  p.list.merge(Json{{"model", {{"layers", 4.0}, {"hidden", Json::array()}}}}, "c.json");
  EXPECT_EQ(p.model.layers, 4) << "4.0 is a whole number";
  EXPECT_EQ(p.model.hidden, Integers{});
}

TEST(Options, MergeRefusesWrongTypesWithTheFileAndTheKey) {
  Program p;
  const std::string before = p.list.to_json().dump();
  const char* bad[] = {R"({"model": {"layers": 1.5}})",
                       R"({"model": {"layers": true}})",
                       R"({"model": {"layers": null}})",
                       R"({"model": {"layers": [3]}})",
                       R"({"model": {"bias": [true]}})",
                       R"({"model": {"cell": ["gru"]}})",
                       R"({"model": {"dropout": "much"}})",
                       R"({"model": {"hidden": [[1], 2]}})",
                       R"({"model": {"hidden": [1, null]}})",
                       R"({"model": {"columns": [["a"]]}})",
                       R"({"model": {"parts": ["word", "letter"]}})",
                       R"({"model": {"layers": 0}})",
                       R"({"note": null})"};
  for (const char* text : bad) {
    expect_error(ErrorKind::InvalidArgument, {"c.json", "option "},
                 [&] { p.list.merge(parse_json(text, "c.json"), "c.json"); });
    EXPECT_EQ(p.list.to_json().dump(), before) << text;
  }
  expect_error(ErrorKind::BadData, {"c.json", "array"},
               [&] { p.list.merge(Json::array(), "c.json"); });
}

TEST(Options, JsonRoundTripIsExact) {
  Program p;
  p.list.set("training.rate", "0.1");
  p.model.dropout = 1.0 / 3;
  p.model.scale = 5e-324;
  p.training.seed = std::numeric_limits<int64_t>::min();
  p.model.columns = {"a,b", "", " [x] ", "größe"};
  p.model.hidden = {};
  p.note = "line\nbreak \"quoted\"";
  Program q;
  q.list.merge(parse_json(p.list.to_json().dump(), "run.json"), "run.json");
  EXPECT_EQ(q.list.to_json().dump(), p.list.to_json().dump());
  EXPECT_EQ(q.model.dropout, p.model.dropout);
  EXPECT_EQ(q.model.scale, p.model.scale);
  EXPECT_EQ(q.model.columns, p.model.columns);
  EXPECT_EQ(q.note, p.note);
}

TEST(Options, HelpAndDocsNameEveryOption) {
  Program p;
  const std::string help = p.list.help_text(), docs = p.list.markdown();
  EXPECT_EQ(p.list.options().size(), 11u);
  for (const Option& option : p.list.options())
    for (const std::string& text : {help, docs}) {
      EXPECT_NE(text.find(option.key()), std::string::npos) << option.key();
      EXPECT_NE(text.find(option.help()), std::string::npos) << option.key();
      EXPECT_NE(text.find(option.limits()), std::string::npos) << option.key();
    }
  EXPECT_NE(docs.find("| `model.hidden` | list of integers | `[64,32]` | >= 1 | widths |"),
            std::string::npos)
      << docs;
  EXPECT_NE(help.find("\"\""), std::string::npos) << "an empty text is shown as such";
}

TEST(Options, TypesHaveNames) {
  Program p;
  const std::pair<const char*, const char*> types[] = {{"model.layers", "integer"},
                                                       {"model.dropout", "number"},
                                                       {"model.cell", "text"},
                                                       {"model.bias", "yes/no"},
                                                       {"model.hidden", "list of integers"},
                                                       {"model.columns", "list of texts"}};
  for (const auto& [key, type] : types) EXPECT_EQ(p.list.find(key).type(), type);
}

}  // namespace
}  // namespace fovea::options_test
