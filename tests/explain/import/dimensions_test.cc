#include "fovea/explain/import/dimensions.h"

#include "fovea/tensor/torch.h"
#include "tests/explain/import/samples.h"
#include "tests/support/expect_error.h"

namespace fovea::dimensions_test {
namespace {

using testing::expect_error;

TEST(ImportDimensions, EveryShapeGivesItsHeadsInOrder) {
  const at::Tensor five = attention({2, 2, 3, 4, 5});  // [L, B, H, Q, K]
  struct Case {
    std::string name;
    std::vector<std::string> dimensions;
    at::Tensor tensor;
    int64_t layers, heads;
  };
  const Case cases[] = {
      {"a", {}, five[0][0][0], 0, 0},
      {"a", {}, five[0][0][0].unsqueeze(0), 0, 0},
      {"a", {}, five[0].select(0, 0).unsqueeze(0), 0, 3},
      {"a", {}, five, 2, 3},
      {"a", {"heads", "queries", "keys"}, five[0][0], 0, 3},
      {"a", {"layers", "heads", "queries", "keys"}, five.select(1, 0), 2, 3},
      {"a", {"batch", "heads", "queries", "keys"}, five[0], 0, 3},
      {"layers", {"layers", "queries", "keys"}, five.select(1, 0).select(1, 0), 2, 0},
      {"a", {"batch", "queries", "keys"}, five[0].select(1, 0), 0, 0},
      {"a", {"keys", "queries", "heads"}, five[0][0].permute({2, 1, 0}), 0, 3},
      {"a", {"heads", "layers", "queries", "keys"}, five.select(1, 0).transpose(0, 1), 2, 3}};
  for (const Case& one : cases) {
    SCOPED_TRACE(concat(one.name, " ", join(one.dimensions), " ", one.tensor.sizes()));
    ImportOptions options;
    options.dimensions = one.dimensions;
    const Explanation explanation = explain({{one.name, one.tensor}}, "", options);
    const int64_t layers = std::max<int64_t>(one.layers, 1),
                  heads = std::max<int64_t>(one.heads, 1);
    ASSERT_EQ(int64_t(explanation.maps.size()), layers * heads);
    for (int64_t layer = 0; layer < layers; ++layer)
      for (int64_t head = 0; head < heads; ++head) {
        const MapView& map = explanation.maps[size_t(layer * heads + head)];
        EXPECT_EQ(map.name, one.name);
        EXPECT_EQ(map.layer, one.layers == 0 ? 0 : layer + 1);
        EXPECT_EQ(map.head, one.heads == 0 ? 0 : head + 1);
        expect_weights(map, five[layer][0][head]);
      }
  }
}

TEST(ImportDimensions, WhatCanBeReadInSeveralWaysIsAskedFor) {
  expect_error(ErrorKind::InvalidArgument,
               {"'a' of shape [3, 4, 5]",
                "--dimensions heads,queries,keys or --dimensions batch,queries,keys or "
                "--dimensions layers,queries,keys"},
               [&] {
                 explain({{"a", attention({3, 4, 5})}});
               });
  for (const char* name : {"a", "all_layers", "stacked", "attentions.0"})
    expect_error(ErrorKind::InvalidArgument,
                 {name, "[2, 3, 4, 5]",
                  "say which: --dimensions batch,heads,queries,keys or --dimensions "
                  "layers,heads,queries,keys"},
                 [&] {
                   explain({{name, attention({2, 3, 4, 5})}});
                 });
  // Layers that the names count are no dimension.
  EXPECT_EQ(explain({{"layer_3", attention({2, 3, 4, 5})}}).maps.size(), 3u);
  try {
    explain({{"attn.1", attention({3, 4, 5})}, {"attn.2", attention({3, 4, 5})}});
    ADD_FAILURE() << "heads or a batch?";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("layers"), std::string::npos) << error.what();
  }
  // An option for some tensors leaves the others as they are usually saved.
  ImportOptions options;
  options.dimensions = {"heads", "queries", "keys"};
  const Explanation both =
      explain({{"a", attention({3, 4, 5})}, {"b", attention({4, 5})}}, "", options);
  EXPECT_EQ(both.maps.size(), 4u);
}

TEST(ImportDimensions, ARowOfABatchIsChosenAndSaid) {
  const at::Tensor batch = attention({2, 3, 4, 4});
  const Tensors layers{{"attentions.0", batch}, {"attentions.1", batch}};
  EXPECT_TRUE(explain({{"a", attention({1, 3, 4, 4})}}).notes.empty());
  Explanation explanation = explain(layers);
  EXPECT_TRUE(has_note(explanation,
                       "'attentions.0' [2, 3, 4, 4] and 1 more like it: a batch of 2, "
                       "of which row 0 is shown"));
  EXPECT_EQ(explanation.notes.size(), 1u);
  ImportOptions options;
  options.batch = 1;
  explanation = explain(layers, "", options);
  EXPECT_TRUE(has_note(explanation, "row 1 is shown"));
  expect_weights(explanation.maps[1], batch[1][1]);
  options.batch = 2;
  expect_error(ErrorKind::InvalidArgument, {"'attentions.0'", "[2, 3, 4, 4]", "no row 2"},
               [&] { explain(layers, "", options); });
  expect_error(ErrorKind::InvalidArgument, "no tensor has a batch", [&] {
    explain({{"a", attention({2, 2})}}, "", options);
  });
}

TEST(ImportDimensions, WholeNumbersBesideWeightsAreLeftOutUnlessNamed) {
  const Tensors tensors{{"attentions", attention({2, 2})},
                        {"input_ids", torch::tensor({101, 102}, at::kLong)}};
  EXPECT_EQ(explain(tensors).maps.size(), 1u);
  EXPECT_TRUE(has_note(explain(tensors), "'input_ids' [2] is left out"));
  ImportOptions options;
  options.tensors = {"input_ids", "attentions"};
  EXPECT_EQ(explain(tensors, "", options).maps.size(), 2u);
  EXPECT_EQ(explain({{"mask", torch::tensor({1, 0}, at::kLong)}}).maps.size(), 1u);
}

TEST(ImportDimensions, WhatCannotBeAttentionIsRefusedWithItsShape) {
  expect_error(ErrorKind::BadData, "no tensors", [&] { explain({}); });
  expect_error(ErrorKind::BadData, {"'s'", "[]", "expected [keys]"}, [&] {
    explain({{"s", torch::tensor(1.0)}});
  });
  expect_error(ErrorKind::BadData,
               {"'six'", "[1, 1, 1, 1, 1, 1]", "[layers, batch, heads, queries, keys]"}, [&] {
                 explain({{"six", torch::ones({1, 1, 1, 1, 1, 1})}});
               });
  expect_error(ErrorKind::BadData, {"'none'", "[0, 3]", "no weights"}, [&] {
    explain({{"none", torch::ones({0, 3})}});
  });
  expect_error(ErrorKind::Unsupported, "'c'", [&] {
    explain({{"c", torch::ones({2, 2}, at::kComplexFloat)}});
  });
  ImportOptions options;
  const std::vector<std::string> wrong[] = {{"heads", "queries"},
                                            {"heads", "heads", "queries", "keys"},
                                            {"steps", "queries", "keys"},
                                            {"HQK"}};
  for (const std::vector<std::string>& dimensions : wrong) {
    options.dimensions = dimensions;
    expect_error(ErrorKind::InvalidArgument,
                 {join(dimensions, ","), "at most once", "layers,heads,queries,keys"}, [&] {
                   explain({{"a", attention({2, 2, 2})}}, "", options);
                 });
  }
  options.dimensions = {"layers", "heads", "queries", "keys"};
  expect_error(ErrorKind::InvalidArgument, {"are 4", "[2, 2, 2]"}, [&] {
    explain({{"a", attention({2, 2, 2})}}, "", options);
  });
  options = {};
  options.batch = -1;
  expect_error(ErrorKind::InvalidArgument, "count from 0", [&] {
    explain({{"a", attention({2, 2})}}, "", options);
  });
}

}  // namespace
}  // namespace fovea::dimensions_test
