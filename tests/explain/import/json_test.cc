#include "fovea/explain/import/json.h"

#include <gtest/gtest.h>
#include <random>

#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"

namespace fovea::json_test {
namespace {

using testing::expect_error;
using Texts = std::vector<std::string>;

ImportedWeights read(const std::string& text) {
  return weights_from_json(parse_weights(text, "w.json"), "w.json");
}

void expect_refused(const std::string& text, const std::string& says) {
  expect_error(ErrorKind::BadData, {"w.json", says}, [&] { read(text); });
}

TEST(ImportJson, NestedListsOfOneToFiveDimensions) {
  std::string text = "[0.5, -1e-3, 2]";
  std::vector<int64_t> shape{3};
  for (int dimensions = 1; dimensions <= 5; ++dimensions) {
    const ImportedWeights weights = read(text);
    ASSERT_EQ(weights.tensors.size(), 1u);
    EXPECT_EQ(weights.tensors.begin()->first, "attention");
    const at::Tensor& tensor = weights.tensors.begin()->second;
    EXPECT_EQ(tensor.sizes(), at::IntArrayRef(shape));
    EXPECT_EQ(tensor.reshape({-1})[1].item<double>(), -1e-3);
    EXPECT_EQ(tensor.reshape({-1})[-1].item<double>(), 2);
    text = "[" + text + ", " + text + "]";
    shape.insert(shape.begin(), 2);
  }
}

TEST(ImportJson, ObjectsNameTheirTensorsAndMayHoldLabels) {
  const ImportedWeights weights = read(
      R"({"a": [1, 0], "b.0": [[true, false]], "tokens": ["x", "y"], "text": "xy",
          "offsets": [[0, 1], [1, 2]]})");
  EXPECT_EQ(weights.tensors.size(), 2u);
  EXPECT_TRUE(torch::equal(weights.tensors.at("b.0"), torch::tensor({{1.0, 0.0}}, at::kDouble)));
  EXPECT_EQ(weights.labels.common.keys.labels, (Texts{"x", "y"}));
  EXPECT_EQ(weights.labels.common.keys.spans.size(), 2u);
  const ImportedWeights numbers = read(R"({"keys": [[1, 2]], "text": [3]})");
  EXPECT_EQ(numbers.tensors.size(), 2u) << "numbers are weights, whatever their name";
  EXPECT_TRUE(numbers.labels.empty());
}

TEST(ImportJson, ListsOfNotebookViewers) {
  const std::string entry =
      R"({"name": "Encoder", "attn": [[[[1, 0]]], [[[0, 1]]]], "left_text": ["q"],
          "right_text": ["a", "b"]})";
  const std::string unnamed = R"({"name": null, "attn": [[[0.5, 0.5]]]})";
  for (const std::string& text :
       {"[" + entry + "," + unnamed + "," + unnamed + "]",
        R"({"attention": [)" + entry + "," + unnamed + "," + unnamed +
            R"(], "default_filter": "0", "layer": null, "include_layers": [0, 1]})"}) {
    const ImportedWeights weights = read(text);
    ASSERT_EQ(weights.tensors.size(), 3u);
    EXPECT_EQ(weights.tensors.at("Encoder").sizes(), (at::IntArrayRef{2, 1, 1, 1, 2}));
    EXPECT_EQ(weights.labels.tensors.at("Encoder").queries.labels, Texts{"q"});
    EXPECT_EQ(weights.labels.tensors.at("Encoder").keys.labels, (Texts{"a", "b"}));
    EXPECT_EQ(weights.tensors.count("attention"), 1u);
    EXPECT_EQ(weights.tensors.count("attention #2"), 1u);
    EXPECT_EQ(weights.labels.tensors.size(), 1u);
  }
  EXPECT_EQ(read(entry).tensors.count("Encoder"), 1u);
  const Explanation explanation = import_weights(read(entry).tensors, read(entry).labels);
  ASSERT_EQ(explanation.maps.size(), 2u);
  EXPECT_EQ(explanation.maps[1].layer, 2);
  EXPECT_EQ(explanation.maps[1].query_labels, Texts{"q"});
}

TEST(ImportJson, NullAndWhatPythonWritesAreGaps) {
  const at::Tensor tensor =
      read(R"({"a \"NaN\" b": [NaN, -Infinity, Infinity, null, 1]})").tensors.at("a \"NaN\" b");
  EXPECT_TRUE(tensor.narrow(0, 0, 4).isnan().all().item<bool>());
  EXPECT_EQ(tensor[4].item<double>(), 1);
  EXPECT_EQ(read(R"({"NaN": [[1, NaN]], "x\\": [NaN]})").tensors.count("NaN"), 1u);
}

TEST(ImportJson, WhatIsWrongIsNamedByItsPlace) {
  expect_refused("[[1, 2], [3]]", "weights[1]: found 1 elements, expected 2");
  expect_refused("[[[1, 2], [3, 4]], [[5, 6]]]", "weights[1]: found 1 elements, expected 2");
  expect_refused("[[1, 2], 3]", "weights[1]: found number, expected a list of 2");
  expect_refused("[[1, 2], [3, [4]]]", "weights[1][1]: found array, expected a number");
  expect_refused(R"({"a": [1], "b": [[0.5, "x"]]})", "b[0][1]: found string, expected a number");
  expect_refused(R"({"a": {"b": [1]}})", "a: found object, expected 1 to 5 nested lists");
  expect_refused(R"({"a": [1], "words": ["x"]})", "words[0]: found string");
  expect_refused("7", "found number, expected 1 to 5");
  expect_refused("[]", "empty list");
  expect_refused("[[]]", "empty list");
  expect_refused("[[[[[[1]]]]]]", "more than 5 nested lists");
  expect_refused("[1, 2", "not valid JSON");
  expect_refused(R"([{"name": "x"}])", "[0]: the field \"attn\" is missing");
  expect_refused(R"([{"attn": [[1, 2], [3]]}])", "attn[1]: found 1 elements");
  expect_refused(R"([{"attn": [1], "left_text": [2]}])", "left_text[0]: found 2");
}

TEST(ImportJson, TooManyNumbersAreRefusedBeforeTheyAreParsed) {
  const std::string text(kJsonNumberLimit, ',');
  expect_error(ErrorKind::BadData, {"w.json", "67,108,864"},
               [&] { parse_weights(text, "w.json"); });
  EXPECT_NO_THROW(parse_weights("\"" + std::string(100, ',') + "\"", "w.json"));
}

TEST(ImportJson, DeepNestingIsRefused) {
  expect_refused("[[[[[[1]]]]]]", "more than 5");
  expect_refused(std::string(100'000, '[') + std::string(100'000, ']'), "more than 64 levels");
  expect_refused(std::string(100'000, '['), "not valid JSON");
}

TEST(ImportJson, ChangedBytesAreReadOrRefused) {
  const std::string whole =
      R"({"a.0": [[0.5, 0.5], [1, NaN]], "tokens": ["x", "y"], "text": "xy", "offsets": [[0, 1], [1, 2]]})";
  const std::string telling = "{}[],:\"0198-.eN\\ ";
  std::mt19937 engine(1);
  int counts[2] = {};
  for (int round = 0; round < 4000; ++round) {
    std::string text = whole;
    for (uint32_t change = 0; change <= engine() % 3; ++change)
      text[engine() % text.size()] =
          round % 2 ? telling[engine() % telling.size()] : static_cast<char>(engine());
    try {
      const ImportedWeights weights = read(text);
      import_weights(weights.tensors, weights.labels);
      ++counts[0];
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::Internal) << error.what();
      ++counts[1];
    }
  }
  EXPECT_GT(counts[0], 100);
  EXPECT_GT(counts[1], 1000);
}

}  // namespace
}  // namespace fovea::json_test
