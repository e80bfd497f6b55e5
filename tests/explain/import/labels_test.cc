#include "fovea/explain/import/labels.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea::labels_test {
namespace {

using testing::expect_error;
using testing::TemporaryFolder;
using Texts = std::vector<std::string>;

TEST(ImportedLabels, FromTheCommandLine) {
  EXPECT_TRUE(read_labels("").empty());
  EXPECT_EQ(read_labels("the, cat,sat").common.keys.labels, (Texts{"the", "cat", "sat"}));
  EXPECT_EQ(read_labels("[CLS],Ġthe,##s,▁cat,[SEP]").common.keys.labels,
            (Texts{"[CLS]", "Ġthe", "##s", "▁cat", "[SEP]"}));
  EXPECT_EQ(read_labels(R"(["a", ",", " b"])").common.keys.labels, (Texts{"a", ",", " b"}));
  EXPECT_TRUE(read_labels("a,b").common.queries.empty());
  const ImportedLabels both = read_labels(R"({"queries": ["x"], "keys": ["a", "b"]})");
  EXPECT_EQ(both.common.queries.labels, Texts{"x"});
  EXPECT_EQ(both.common.keys.labels, (Texts{"a", "b"}));
  expect_error(ErrorKind::NotFound, {"tokens.txt", "no such file"},
               [&] { read_labels("tokens.txt"); });
  expect_error(ErrorKind::InvalidArgument, "UTF-8", [&] { read_labels("a,\xFF"); });
  EXPECT_EQ(read_labels(std::string(5000, 'x') + ",y").common.keys.labels.size(), 2u);
}

TEST(ImportedLabels, FromATextFile) {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& content) {
    return read_labels(folder.write("labels.txt", content).string()).common.keys.labels;
  };
  EXPECT_EQ(read("a\nb c\n"), (Texts{"a", "b c"}));
  EXPECT_EQ(read("\xEF\xBB\xBF[CLS]\r\nb,c\r\n\r\n"), (Texts{"[CLS]", "b,c", ""}));
  EXPECT_EQ(read("a\n\nb"), (Texts{"a", "", "b"}));
  EXPECT_EQ(read("\n"), (Texts{""}));
  EXPECT_EQ(read("[\"a\",\n\"b\"]"), (Texts{"a", "b"}));
  expect_error(ErrorKind::BadData, {"labels.txt", "empty"}, [&] { read(""); });
  expect_error(ErrorKind::BadData, {"labels.txt:2", "UTF-8"}, [&] { read("a\nb\xFF\nc"); });
}

TEST(ImportedLabels, FromTokenisers) {
  const TemporaryFolder folder;
  const auto path = folder.write("t.json", R"({"ids": [1, 2, 3, 4], "text": "größer!",
      "tokens": ["[CLS]", "größ", "##er", "!"], "offsets": [[0, 0], [0, 4], [4, 6], [6, 7]]})");
  const ImportedLabels labels = read_labels(path.string());
  const UnitLabels& units = labels.common.keys;
  EXPECT_EQ(units.labels, (Texts{"[CLS]", "größ", "##er", "!"}));
  EXPECT_EQ(labels.text, "größer!");
  EXPECT_EQ(units.text, "größer!");
  ASSERT_EQ(units.spans.size(), 4u);
  EXPECT_EQ(units.spans[0].begin, -1);
  EXPECT_EQ(units.spans[3].begin, 6);
  EXPECT_EQ(units.spans[3].end, 7);
  const auto mapping = labels_from_json(
      parse_json(R"({"tokens": ["a"], "text": "a", "offset_mapping": [null]})", "t"), "t");
  EXPECT_EQ(mapping.common.keys.spans.at(0).begin, -1);
  const auto no_text =
      labels_from_json(parse_json(R"({"tokens": ["a"], "offsets": [[0, 9]]})", "t"), "t");
  EXPECT_TRUE(no_text.common.keys.spans.empty());
}

TEST(ImportedLabels, EachSideAndEachTensorMayHaveItsOwn) {
  const ImportedLabels labels = labels_from_json(
      parse_json(R"({"queries": {"tokens": ["x"], "text": "x", "offsets": [[0, 1]]},
                     "keys": ["a", "b"], "text": "ab", "offsets": [[0, 1], [1, 2]],
                     "tensors": {"encoder": ["c"], "cross": {"queries": ["d"], "keys": ["e"]}}})",
                 "t"),
      "t");
  EXPECT_EQ(labels.common.queries.text, "x");
  EXPECT_EQ(labels.common.keys.text, "ab");
  EXPECT_EQ(labels.common.keys.spans.at(1).begin, 1);
  EXPECT_EQ(labels.tensors.at("encoder").keys.labels, Texts{"c"});
  EXPECT_EQ(labels.tensors.at("cross").queries.labels, Texts{"d"});
  const ImportedLabels only =
      labels_from_json(parse_json(R"({"tensors": {"a": ["b"]}})", "t"), "t");
  EXPECT_TRUE(only.common.empty());
  EXPECT_FALSE(only.empty());
}

TEST(ImportedLabels, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"7", "t: found 7, expected a list"},
      {"[1]", "[0]: found 1, expected a text"},
      {"[[\"a\"]]", "[0]: found array"},
      {"{}", "no labels found"},
      {R"({"words": ["a"]})", "no labels found"},
      {R"({"tokens": "a"})", "tokens: found \"a\""},
      {R"({"queries": {"x": 1}})", "queries: the field \"tokens\" is missing"},
      {R"({"tokens": ["a"], "text": 1})", "text: found 1"},
      {R"({"tokens": ["a"], "text": "a", "offsets": []})", "offsets: found 0 elements, expected 1"},
      {R"({"tokens": ["a"], "text": "ä", "offsets": [[0, 2]]})", "offsets[0][1]: found 2"},
      {R"({"tokens": ["a"], "text": "ab", "offsets": [[1, 0]]})", "offsets[0]: begins at 1"},
      {R"({"tokens": ["a"], "text": "a", "offsets": [[0, 1, 1]]})", "offsets[0]: found 3 elements"},
      {R"({"tensors": []})", "tensors: found array"},
      {R"({"tensors": {"x": [1]}})", "tensors.x[0]: found 1"}};
  for (const auto& [json, says] : cases)
    expect_error(ErrorKind::BadData, {"t: ", says},
                 [&] { labels_from_json(parse_json(json, "t"), "t"); });
}

}  // namespace
}  // namespace fovea::labels_test
