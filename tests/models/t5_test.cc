// T5 of both versions: the contract of models that read and write sequences, and what PyTorch
// computes with the same weights.
#include "fovea/models/t5.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/models/t5_names.h"
#include "tests/models/contract.h"
#include "tests/models/sequence_contract.h"
#include "tests/support/golden.h"

namespace fovea::t5_test {
namespace {

using namespace testing;
using at::Tensor;

T5Options small_options() {
  T5Options o;
  o.hidden = 8, o.layers = 2, o.heads = 2, o.feed_forward = 12, o.dropout = 0;
  return o;
}

std::vector<SequenceCase> cases() {
  std::vector<SequenceCase> all;
  const auto add = [&](const std::string& name, auto change, bool shared = false) {
    T5Options o = small_options();
    change(o);
    SequenceCase contract{name, [o, shared](const SearchOptions& search) {
                            return std::make_shared<T5>(o, search, text_shape(shared));
                          }};
    contract.maps = {"encoder", "decoder", "attention"};
    contract.layers = size_t(o.layers + 2 * (o.decoder_layers > 0 ? o.decoder_layers : o.layers));
    contract.rate = 0.01;
    all.push_back(contract);
  };
  add("first", [](auto&) {});
  add(
      "shared", [](auto&) {}, true);
  add("gated",
      [](auto& o) { o.gated = true, o.activation = "gelu-tanh", o.tie_embeddings = false; });
  add("wide_heads", [](auto& o) { o.head_size = 6; });
  add("deep_encoder", [](auto& o) { o.layers = 3, o.decoder_layers = 1; });
  add("few_buckets", [](auto& o) { o.relative = {4, 3}; });
  add("unscaled", [](auto& o) { o.scale_output = "no"; });
  return all;
}

INSTANTIATE_TEST_SUITE_P(T5, SequenceContract, ::testing::ValuesIn(cases()), testing::name_of_case);

/// A network of the golden file, with its weights.
struct GoldenNetwork {
  explicit GoldenNetwork(const Json& one) {
    const Json& c = one.at("config");
    T5Options o;
    o.hidden = c.at("d_model"), o.head_size = c.at("d_kv"), o.feed_forward = c.at("d_ff");
    o.layers = c.at("num_layers"), o.decoder_layers = c.at("num_decoder_layers");
    o.heads = c.at("num_heads");
    o.relative = {c.at("relative_attention_num_buckets"), c.at("relative_attention_max_distance")};
    o.gated = c.at("feed_forward_proj") != "relu";
    o.activation = o.gated ? "gelu-tanh" : "relu";
    o.tie_embeddings = c.at("tie_word_embeddings");
    o.dropout = 0;
    const int64_t symbols = c.at("vocab_size");
    SequenceShape shape;
    shape.source_symbols = shape.target_symbols = symbols;
    shape.shared_vocabulary = true;
    shape.padding = shape.begin = 0, shape.end = 1;
    model = std::make_unique<T5>(o, SearchOptions(), shape);
    names = t5_names(model->options(), symbols);
    WeightMap theirs;
    for (const auto& [name, tensor] : one.at("weights").items()) theirs[name] = packed(tensor);
    const WeightMap ours = from_hugging_face(names, theirs);
    torch::NoGradGuard no_gradients;
    EXPECT_EQ(ours.size(), model->named_parameters().size());
    for (auto& item : model->named_parameters()) item.value().copy_(ours.at(item.key()));
    const Tensor source = tensor_of(one.at("source"), at::kLong),
                 target = tensor_of(one.at("target"), at::kLong);
    const Tensor lengths = tensor_of(one.at("lengths"), at::kLong);
    const Tensor keep = at::arange(source.size(1)).unsqueeze(0) < lengths.unsqueeze(1);
    rows = {{{"source", source},
             {"source.keep", keep},
             {"target", target},
             {"target.keep", target != 0}},
            source.size(0)};
  }
  std::unique_ptr<T5> model;
  std::vector<WeightNames> names;
  Batch rows;
};

TEST(T5, ComputesWhatPyTorchDoes) {
  for (const Json& one : golden("t5").at("cases")) {
    SCOPED_TRACE(one.at("config").dump());
    const GoldenNetwork network(one);
    Tap tap;
    const Tensor likelihood =
        network.model->replay(network.rows, predictions_of(network.rows.at("target")), &tap);
    EXPECT_LT(largest_difference(likelihood, packed(one.at("log_probabilities"))), 2e-5);
    const Tensor keep = network.rows.at("source.keep");  // [B, S]
    std::map<std::string, size_t> seen;
    for (const AttentionMap& map : tap.maps()) {
      Tensor right = packed(one.at("maps").at(map.name).at(seen[map.name]++));
      if (map.name == "encoder")  // padding looks nowhere here
        right = right * keep.unsqueeze(1).unsqueeze(-1);
      EXPECT_LT(largest_difference(map.weights, right), 2e-5) << map.name;
    }
    EXPECT_EQ(seen["encoder"], 2u);
    EXPECT_EQ(seen["decoder"] + seen["attention"], 2u);
  }
}

TEST(T5, LearnsWithPyTorchsGradients) {
  for (const Json& one : golden("t5").at("cases")) {
    const GoldenNetwork network(one);
    const Loss loss = network.model->loss(network.rows, {Random(1), 0});
    EXPECT_NEAR(loss.objective.item<double>(), one.at("loss").get<double>(), 1e-5);
    EXPECT_EQ(loss.units.item<int64_t>(), 17);
    loss.objective.backward();
    WeightMap ours;
    for (const auto& item : network.model->named_parameters())
      ours[item.key()] = item.value().grad();
    const WeightMap theirs = to_hugging_face(network.names, ours);
    ASSERT_EQ(theirs.size(), one.at("gradients").size());
    for (const auto& [name, right] : one.at("gradients").items())
      EXPECT_LT(largest_difference(theirs.at(name), packed(right)), 2e-5) << name;
  }
}

TEST(T5, FreshScoresAndLogitsAreOfOneSize) {
  T5Options o;
  o.hidden = 64, o.layers = 1, o.dropout = 0;
  SequenceShape shape = text_shape(true);
  T5 model(o, {}, shape);
  model.initialise(Random(1));
  const auto deviation = [&](const Tensor& x) { return x.std().item<double>(); };
  std::map<std::string, Tensor> own;
  for (const auto& item : model.named_parameters()) own[item.key()] = item.value().detach();
  EXPECT_NEAR(deviation(own.at("source_embedding.weight")), 1, 0.15);
  const Tensor projection = own.at("encoder.layers.0.self_attn.in_proj_weight");
  EXPECT_NEAR(deviation(projection.narrow(0, 0, 64)), 1 / std::sqrt(64.0 * 16), 0.003);
  EXPECT_NEAR(deviation(projection.narrow(0, 64, 128)), 1 / 8.0, 0.01);
  EXPECT_NEAR(deviation(own.at("encoder.layers.0.linear2.weight")), 1 / 16.0, 0.005);
  EXPECT_NEAR(deviation(own.at("decoder.relative.weight")), 1 / 8.0, 0.03);
  EXPECT_TRUE(own.at("decoder.norm.weight").eq(1).all().item<bool>());
}

TEST(T5, RefusesWhatCannotWork) {
  const auto make = [](auto change, SearchOptions search = {}) {
    T5Options options = small_options();
    change(options);
    T5 model(options, search, text_shape());
  };
  EXPECT_THROW(make([](auto& o) { o.heads = 3; }), Error);
  EXPECT_THROW(make([](auto& o) { o.relative = {32, 16}; }), Error);
  EXPECT_NO_THROW(make([](auto& o) { o.heads = 3, o.head_size = 2; }));
  SearchOptions coverage;
  coverage.coverage_penalty = 0.1;
  EXPECT_THROW(make([](auto&) {}, coverage), Error);
}

}  // namespace
}  // namespace fovea::t5_test
