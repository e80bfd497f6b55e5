#include "fovea/explain/import/import.h"

#include <cmath>

#include "fovea/explain/record/json.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"
#include "tests/explain/import/samples.h"
#include "tests/explain/samples.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea::import_test {
namespace {

using testing::expect_error;
using testing::TemporaryFolder;

TEST(Import, OneRowIsAPredictionOverKeys) {
  const Explanation explanation = explain({{"weights", attention({3})}}, "age,income,rooms");
  ASSERT_EQ(explanation.maps.size(), 1u);
  const MapView& map = explanation.maps[0];
  EXPECT_EQ(map.query_axis, "");
  EXPECT_EQ(map.query_labels, std::vector<std::string>{"prediction"});
  EXPECT_EQ(map.key_labels, (std::vector<std::string>{"age", "income", "rooms"}));
  EXPECT_EQ(map.title, "weights");
  EXPECT_EQ(map.layer + map.head, 0);
  expect_weights(map, attention({1, 3}));
  EXPECT_TRUE(explanation.notes.empty());
}

TEST(Import, NumberedTensorsAreLayersOfOneFamily) {
  Tensors tensors;
  for (int64_t layer = 0; layer < 12; ++layer)
    tensors[concat("attentions.", layer)] = attention({1, 2, 3, 3}) * 0.5 + double(layer) / 100;
  const Explanation explanation = explain(tensors, "a,b,c");
  ASSERT_EQ(explanation.maps.size(), 26u) << "and rollout and flow";
  for (size_t i = 0; i < 24; ++i) {
    const MapView& map = explanation.maps[i];
    EXPECT_EQ(map.name, "attentions");
    EXPECT_EQ(map.layer, int64_t(i / 2 + 1));
    EXPECT_EQ(map.head, int64_t(i % 2 + 1));
    expect_weights(map, tensors[concat("attentions.", i / 2)][0][int64_t(i % 2)]);
  }
  EXPECT_EQ(explanation.maps[23].title, "attentions");
  ASSERT_EQ(explanation.axes.size(), 1u);
  EXPECT_EQ(explanation.axes[0].name, "tokens");
  EXPECT_EQ(explanation.axes[0].kind, "token");
}

TEST(Import, KindsAreSeenFromTheNumbers) {
  const auto kind = [](std::vector<double> row, at::ScalarType type = at::kDouble) {
    return explain({{"a", torch::tensor(row, at::kDouble).to(type).unsqueeze(0)}}).maps[0].kind;
  };
  EXPECT_EQ(kind({0.25, 0.75}), MapKind::Distribution);
  EXPECT_EQ(kind({0.25, 0.7509}), MapKind::Distribution);
  EXPECT_EQ(kind({0.25, 0.7511}), MapKind::Gate);
  EXPECT_EQ(kind({0.25, 0.7489}), MapKind::Partial);
  EXPECT_EQ(kind({0, 0}), MapKind::Partial);
  EXPECT_EQ(kind({0.9, 0.9}), MapKind::Gate);
  EXPECT_EQ(kind({1.5, 0}), MapKind::Free);
  EXPECT_EQ(kind({-0.1, 1.1}), MapKind::Free);
  EXPECT_EQ(kind({1, 0}, at::kBool), MapKind::Distribution);
  const double nan = std::nan("");
  EXPECT_EQ(kind({nan, 0.3}), MapKind::Distribution);  // no whole row says otherwise
  EXPECT_EQ(kind({nan, 1.3}), MapKind::Free);
}

TEST(Import, HalfPrecisionIsStillADistributionWithANote) {
  const at::Tensor weights = attention({4, 64, 64});
  for (const auto& [type, name] : {std::pair{at::kHalf, "float16"}, {at::kBFloat16, "bfloat16"}}) {
    const Explanation explanation = explain({{"a", weights.to(type)}}, "", kHeads);
    for (const MapView& map : explanation.maps) EXPECT_EQ(map.kind, MapKind::Distribution) << name;
    EXPECT_TRUE(has_note(explanation, concat("'a' was saved as ", name)));
  }
  EXPECT_TRUE(explain({{"a", weights.to(at::kFloat)}}, "", kHeads).notes.empty());
}

TEST(Import, NotesTellOfGapsAndOfHeadsThatDiffer) {
  at::Tensor weights = attention({3, 2, 2});
  weights[0][0][0] = std::nan("");
  weights[1][1][1] = std::numeric_limits<double>::infinity();
  weights[2].fill_(0.1);
  const Explanation explanation = explain({{"a", weights}}, "", kHeads);
  EXPECT_TRUE(std::isnan(explanation.maps[0].weights[0]));
  EXPECT_TRUE(std::isnan(explanation.maps[1].weights[3]));
  EXPECT_TRUE(has_note(explanation, "'a' has 2 weights that are not finite"));
  EXPECT_TRUE(
      has_note(explanation, "3 maps of 'a' are of several kinds: 2 distribution, 1 partial"));
}

TEST(Import, TensorsLayersAndHeadsCanBeChosen) {
  const Tensors tensors{{"attentions.0", attention({3, 2, 2})},
                        {"attentions.1", attention({3, 2, 2})},
                        {"hidden", attention({7})}};
  ImportOptions options = kHeads;
  options.tensors = {"attentions"};
  options.layers = {2};
  options.heads = {1, 3};
  const Explanation explanation = explain(tensors, "", options);
  ASSERT_EQ(explanation.maps.size(), 2u);
  EXPECT_EQ(explanation.maps[1].title, "attentions");
  options.tensors = {"attentions.0"};
  options.layers = {};
  EXPECT_EQ(explain(tensors, "", options).maps.size(), 2u);
  options.heads = {4};
  expect_error(ErrorKind::InvalidArgument, "no such layers or heads",
               [&] { explain(tensors, "", options); });
  options.tensors = {"atentions"};
  expect_error(ErrorKind::NotFound, {"did you mean 'attentions'?", "hidden"},
               [&] { explain(tensors, "", options); });
}

TEST(Import, TooMuchIsRefusedBeforeItIsCopied) {
  const at::Tensor one = torch::ones({1, 1, 1});
  expect_error(ErrorKind::InvalidArgument,
               {"[1, 200, 1024, 1024]", "more than 134,217,728 weights"}, [&] {
                 explain({{"a", one.expand({1, 200, 1024, 1024})}}, "", {});
               });
  expect_error(ErrorKind::InvalidArgument, "more than 16,384 maps", [&] {
    explain({{"a", one.expand({20000, 1, 1})}}, "", kHeads);
  });
}

TEST(Import, FilesOfEverySort) {
  const TemporaryFolder folder;
  const at::Tensor weights = attention({1, 2, 3, 3});
  const NpzReader reader = [&](const std::filesystem::path& path) -> Tensors {
    return {{path.stem().string(), weights}};
  };
  write_safetensors(folder / "bert.safetensors", {{"attentions.0", weights.to(at::kBFloat16)}},
                    {{"labels", R"({"tokens": ["a", "b", "c"], "text": "abc"})"}});
  const Explanation bert = import_file(folder / "bert.safetensors", "", {}, reader);
  EXPECT_EQ(bert.title, "bert");
  EXPECT_EQ(bert.input, "abc");
  EXPECT_EQ(bert.maps.at(1).key_labels, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(import_file(folder / "bert.safetensors", "x,y,z", {}, reader).maps.at(0).key_labels[0],
            "x");
  for (const char* name : {"w.npz", "w.npy", "W.NPZ"})
    expect_weights(import_file(folder / name, "", {}, reader).maps.at(1), weights[0][1]);
  folder.write("w.json", R"({"layer_1": [[0.5, 0.5], [0, 1]], "tokens": ["a", "b"]})");
  const Explanation json = import_file(folder / "w.json", "", {}, reader);
  EXPECT_EQ(json.maps.at(0).weights, (std::vector<double>{0.5, 0.5, 0, 1}));
  EXPECT_EQ(json.maps.at(0).query_labels, (std::vector<std::string>{"a", "b"}));
}

TEST(Import, AnExplanationIsReadAsWhatItIs) {
  const TemporaryFolder folder;
  write_explanation(folder / "x.json", sample_features());
  const Explanation back = import_file(folder / "x.json", "", {}, nullptr);
  EXPECT_EQ(back.title, sample_features().title);
  EXPECT_EQ(back.maps.at(0).key_labels, sample_features().maps[0].key_labels);
  expect_error(ErrorKind::InvalidArgument, {"x.json", "labels of its own"},
               [&] { import_file(folder / "x.json", "a,b", {}, nullptr); });
  ImportOptions options;
  options.layers = {3};
  expect_error(ErrorKind::InvalidArgument, "no map is left",
               [&] { import_file(folder / "x.json", "", options, nullptr); });
}

TEST(Import, FilesThatCannotBeReadSayWhy) {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& name) { import_file(folder / name, "", {}, nullptr); };
  folder.write("model.pt", "x");
  expect_error(ErrorKind::Unsupported, {"model.pt", ".safetensors", "pickle"},
               [&] { read("model.pt"); });
  expect_error(ErrorKind::Unsupported, "w.npz", [&] { read("w.npz"); });
  expect_error(ErrorKind::NotFound, "none.json", [&] { read("none.json"); });
  expect_error(ErrorKind::NotFound, "none.safetensors", [&] { read("none.safetensors"); });
  folder.write("six.json", R"({"a": [[[[[[1]]]]]]})");
  expect_error(ErrorKind::BadData, {"six.json: a", "more than 5"}, [&] { read("six.json"); });
  write_safetensors(folder / "s.safetensors", {{"s", torch::tensor(1.0)}});
  expect_error(ErrorKind::BadData, {"s.safetensors: tensor 's' has shape []"},
               [&] { read("s.safetensors"); });
}

}  // namespace
}  // namespace fovea::import_test
