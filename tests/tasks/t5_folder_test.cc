// T5 as Hugging Face's folders have it: what transformers computes with one, folders that differ in
// what folders differ in, fine-tuned, written and read back, refused with all that does not fit.
#include "fovea/tasks/t5_folder.h"

#include <gtest/gtest.h>

#include "fovea/models/t5_names.h"
#include "fovea/tasks/pipeline.h"
#include "fovea/tensor/to_vector.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/golden.h"
#include "tests/support/tiny_networks.h"
#include "tests/support/train_run.h"

namespace fovea::t5_folder_test {
namespace {

using namespace testing;
using at::Tensor;

class T5Folder : public ::testing::Test {
 protected:
  void SetUp() override {
#ifndef FOVEA_WITH_ICU
    GTEST_SKIP() << "needs ICU";
#endif
  }
  std::filesystem::path written() {
    std::filesystem::remove_all(folder / "net");
    network.write(folder / "net");
    return folder / "net";
  }
  Pipeline opened(const std::vector<std::string>& decoding = {"decoding.maximum_length=12"}) {
    return Pipeline::load(written(), "cpu", decoding);
  }
  std::string text_of(size_t input) const {
    return network.texts()[input].at("text");
  }

  TemporaryFolder folder;
  TinyNetwork network{"t5"};
};

/// What is written, as if it had been found.
Prediction prediction_of(std::vector<int64_t> tokens) {
  Prediction prediction;
  prediction.outputs = {{std::move(tokens), 0, ""}};
  return prediction;
}

std::vector<int64_t> found(const Pipeline& pipeline, const std::string& text) {
  const Example example = pipeline.parse(text);
  return pipeline.predict({&example, 1}).front().outputs.at(0).tokens;
}

TEST_F(T5Folder, ReadsAndWritesAsTransformersDoes) {
  const Pipeline pipeline = opened();
  EXPECT_EQ(pipeline.task_name(), "translate");
  EXPECT_TRUE(pipeline.notes().empty());
  for (size_t i = 0; i < 3; ++i) {
    SCOPED_TRACE(i);
    const Example example = pipeline.parse(text_of(i));
    const Tensor& ids = network.expected.at(concat(i, ".ids"));
    EXPECT_TRUE(example.tensors.at("source").equal(ids));
    const Json offsets = network.texts()[i].at("offsets");
    const Axis& axis = example.axis("source");
    const auto last = size_t(ids.numel()) - 1;
    for (size_t t = 0; t < last; ++t) {
      EXPECT_EQ(axis.spans[t].begin, offsets[t][0]) << t;
      EXPECT_EQ(axis.spans[t].end, offsets[t][1]) << t;
    }
    EXPECT_EQ(axis.labels[last], "</s>");
    EXPECT_EQ(axis.special, (std::vector<int64_t>{int64_t(last)}));

    const Prediction prediction = pipeline.predict({&example, 1}).front();
    auto greedy = to_vector<int64_t>(network.expected.at(concat(i, ".greedy")));
    greedy.erase(greedy.begin());  // what it begins with
    EXPECT_EQ(prediction.outputs[0].tokens, greedy);
  }
}

TEST_F(T5Folder, HasTransformersProbabilitiesAndAttention) {
  const Pipeline pipeline = opened();
  torch::NoGradGuard no_gradients;
  const auto begun = to_vector<int64_t>(network.expected.at("decoder_input_ids"));
  for (size_t i = 0; i < 3; ++i) {
    SCOPED_TRACE(i);
    const Tensor right = network.expected.at(concat(i, ".logits")).log_softmax(-1);  // [T, V]
    // Every symbol in turn is the last one; those before it are what the file begins with.
    const Example example = pipeline.parse(text_of(i));
    std::vector<Example> examples(999, example);
    std::vector<Prediction> predictions;
    for (int64_t symbol = 1; symbol < 1000; ++symbol) {
      std::vector<int64_t> tokens(begun.begin() + 1, begun.end());
      tokens.push_back(symbol);
      predictions.push_back(prediction_of(tokens));
    }
    Tap tap;
    const Tensor got = pipeline.replay_batch(examples, predictions, tap);  // [B, T]
    EXPECT_LT(largest_difference(got.select(1, -1), right[-1].slice(0, 1)), 1e-4);
    for (int64_t t = 0; t + 1 < int64_t(begun.size()); ++t)
      EXPECT_NEAR(got[0][t].item<double>(), right[t][begun[size_t(t) + 1]].item<double>(), 1e-4);

    const Json own = golden("t5").at("tiny");
    std::map<std::string, int64_t> layers;
    for (const AttentionMap& map : tap.maps()) {
      const int64_t layer = layers[map.name]++;
      const bool is_cross = map.name == "attention";
      if (!is_cross && i > 0) continue;
      const Tensor right_map = is_cross ? network.expected.at(concat(i, ".cross.", layer))
                                        : packed(own.at(map.name).at(size_t(layer)));
      EXPECT_LT(largest_difference(map.weights[0], right_map), 1e-4) << map.name;
    }
    EXPECT_EQ(layers,
              (std::map<std::string, int64_t>{{"attention", 2}, {"decoder", 2}, {"encoder", 2}}));
  }
}

TEST_F(T5Folder, RowsOfABatchAndBeamsGoTheirOwnWay) {
  const Pipeline pipeline =
      opened({"decoding.maximum_length=9", "decoding.method=beam", "decoding.beam=3"});
  std::vector<Example> examples;
  for (size_t i = 0; i < 3; ++i) examples.push_back(pipeline.parse(text_of(i)));
  const std::vector<Prediction> together = pipeline.predict(examples);
  for (size_t i = 0; i < 3; ++i) {
    const Decoded& one = together[i].outputs.at(0);
    EXPECT_EQ(one.tokens, found(pipeline, text_of(i)));
    Tap tap;
    torch::NoGradGuard no_gradients;
    const Prediction again = prediction_of(one.tokens);
    EXPECT_NEAR(pipeline.replay_batch({&examples[i], 1}, {&again, 1}, tap).sum().item<double>(),
                one.log_probability, 1e-4);
  }
}

TEST_F(T5Folder, IsExplainedWithItsTokens) {
  const Pipeline pipeline = opened({"decoding.maximum_length=4"});
  const Explanation explanation = pipeline.explain(pipeline.parse("A man eats."));
  std::set<std::string> maps, axes;
  for (const MapView& map : explanation.maps) maps.insert(map.name);
  for (const char* name : {"attention", "decoder", "encoder"}) EXPECT_EQ(maps.count(name), 1u);
  for (const Axis& axis : explanation.axes) {
    axes.insert(axis.name);
    if (axis.name == "written") {
      EXPECT_EQ(axis.labels.at(0), "<pad>");
    }
    if (axis.name == "source") {
      EXPECT_EQ(axis.labels.back(), "</s>");
    }
  }
  EXPECT_EQ(axes, (std::set<std::string>{"source", "target", "written"}));
}

/// Random weights for a changed config.
void redraw(TinyNetwork& network, const T5Options& options) {
  network.weights.clear();
  for (const auto& [name, shape] : shapes_of(t5_names(options.whole(), 1000)))
    network.weights[name] = Random(3).split(name).normal_tensor(shape, 0, 0.3, at::kFloat);
}

TinyNetwork gated_network() {
  TinyNetwork network("t5");
  T5Options o;
  o.hidden = 32, o.layers = 2, o.decoder_layers = 1, o.heads = 4, o.head_size = 6;
  o.feed_forward = 40, o.gated = true, o.tie_embeddings = false;
  redraw(network, o);
  network.config.update({{"num_decoder_layers", 1},
                         {"d_kv", 6},
                         {"d_ff", 40},
                         {"feed_forward_proj", "gated-gelu"},
                         {"tie_word_embeddings", false}});
  network.config.erase("scale_decoder_outputs");
  return network;
}

TEST_F(T5Folder, OfVersionOneOne) {
  network = gated_network();
  const PretrainedT5 read = read_t5(written());
  EXPECT_EQ(read.options.activation, "gelu-tanh");
  EXPECT_TRUE(read.options.gated);
  EXPECT_FALSE(read.options.tie_embeddings);
  EXPECT_FALSE(read.options.scales_output());
  EXPECT_TRUE(read.weights.at("output_weight").equal(network.weights.at("lm_head.weight")));
  EXPECT_EQ(read.weights.at("decoder.layers.0.linear1.weight").size(0), 80);
  const auto tokens = found(opened(), text_of(0));
  EXPECT_FALSE(tokens.empty());
  // transformers 5 says that it is tied, and keeps the matrix of its own.
  network.config["tie_word_embeddings"] = true;
  network.config["scale_decoder_outputs"] = false;
  EXPECT_FALSE(read_t5(written()).options.tie_embeddings);
  EXPECT_EQ(found(opened(), text_of(0)), tokens);
  // mT5 is the same under another name.
  network.config["architectures"] = {"MT5ForConditionalGeneration"};
  network.config["model_type"] = "mt5";
  for (const char* key : {"feed_forward_proj", "tie_word_embeddings", "scale_decoder_outputs"})
    network.config.erase(key);
  EXPECT_EQ(found(opened(), text_of(0)), tokens);
}

TEST_F(T5Folder, OfOlderFiles) {
  const auto tokens = found(opened(), text_of(1));
  const std::string unused =
      "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight";
  network.weights[unused] = at::ones({32, 4});
  network.weights["encoder.embed_tokens.weight"] = network.weights["shared.weight"].clone();
  network.weights["lm_head.weight"] = network.weights["shared.weight"].clone();
  for (const char* key : {"num_decoder_layers", "feed_forward_proj", "scale_decoder_outputs",
                          "relative_attention_max_distance", "decoder_start_token_id"})
    network.config.erase(key);
  EXPECT_EQ(found(opened(), text_of(1)), tokens);
  EXPECT_TRUE(read_t5(written()).options.tie_embeddings);
  network.weights.erase("shared.weight");
  EXPECT_EQ(found(opened(), text_of(1)), tokens);
  network.weights.erase("encoder.embed_tokens.weight");
  EXPECT_EQ(found(opened(), text_of(1)), tokens);
}

TEST_F(T5Folder, ComesBackAsItWasRead) {
  for (const TinyNetwork& one : {TinyNetwork("t5"), gated_network()}) {
    network = one;
    const std::filesystem::path out = folder / concat("copy", one.weights.size());
    write_t5(out, read_t5(written()));
    const auto again = read_safetensors(out / "model.safetensors").tensors;
    ASSERT_EQ(again.size(), network.weights.size());
    for (const auto& [name, tensor] : network.weights)
      EXPECT_TRUE(again.at(name).equal(tensor)) << name;
    const Json config = read_json_file(out / "config.json");
    for (const auto& [key, value] : config.items()) {
      if (key != "torch_dtype" && key != "scale_decoder_outputs") {
        EXPECT_EQ(value, network.config.at(key)) << key;
      }
    }
    const Pipeline before = opened(),
                   after = Pipeline::load(out, "cpu", {"decoding.maximum_length=12"});
    EXPECT_EQ(found(before, text_of(2)), found(after, text_of(2)));
    expect_error(ErrorKind::InvalidArgument, "config.json already",
                 [&] { write_t5(out, read_t5(folder / "net")); });
  }
}

TEST_F(T5Folder, IsFineTunedOnPairs) {
  std::string pairs = "source\ttarget\n";
  for (int i = 0; i < 40; ++i)
    pairs += i % 2 == 0 ? "A man eats.\tEin Mann\n" : "Two young males.\tZwei\n";
  // Of one file all pairs of a source would be held out together.
  std::filesystem::create_directories(folder / "pairs");
  for (const char* name : {"pairs/train.tsv", "pairs/val.tsv"}) folder.write(name, pairs);
  const std::string file = (folder / "pairs").string();
  const auto setup_from = [&](const std::filesystem::path& start) {
    fovea::Setup setup("translate");
    setup.set_source(file, {});
    setup.set_from(start.string());
    for (const char* assignment :
         {"training.steps=120", "training.learning_rate=0.03", "training.batch_size=8",
          "training.monitor=loss", "model.dropout=0"})
      setup.set(assignment);
    return setup;
  };
  train_run(setup_from(written()), folder / "run");
  const Pipeline tuned = Pipeline::load(folder / "run");
  const auto says = [](const Pipeline& pipeline, const char* text) {
    const Example example = pipeline.parse(text);
    return pipeline.task().answer(example, pipeline.predict({&example, 1}).front()).at("text");
  };
  EXPECT_EQ(says(tuned, "A man eats."), "Ein Mann");
  EXPECT_EQ(says(tuned, "Two young males."), "Zwei");
  write_t5(folder / "out", read_t5(folder / "run"));
  EXPECT_EQ(says(Pipeline::load(folder / "out"), "A man eats."), "Ein Mann");
  // A run goes on, too; and the folder that it was written as is evaluated.
  train_run(setup_from(folder / "run"), folder / "more");
  EXPECT_EQ(says(Pipeline::load(folder / "more"), "Two young males."), "Zwei");
  Pipeline pipeline = Pipeline::load(folder / "out");
  expect_error(ErrorKind::InvalidArgument, "has no data of its own",
               [&] { pipeline.load_data(""); });
  const Splits splits = pipeline.load_data(file);
  for (int split = 0; split < kSplitCount; ++split) {
    if (!splits[split]) continue;
    EXPECT_EQ(splits[split]->example(0).axis("source").labels.back(), "</s>");
    double exact = 0;
    for (const Metric& metric : pipeline.evaluate(*splits[split]).metrics)
      if (metric.name == "exact_match") exact = metric.value;
    EXPECT_EQ(exact, 1);
  }
}

TEST_F(T5Folder, WhatIsLearnedHereHasNoFolder) {
  train_run(setup_of("dates", {"model.name=t5", "model.hidden=8", "model.heads=2", "model.layers=1",
                               "data.rows=30", "data.validation_rows=4", "data.test_rows=4",
                               "training.steps=2"}),
            folder / "run");
  expect_error(ErrorKind::Unsupported, "no tokenizer.json",
               [&] { write_t5(folder / "out", read_t5(folder / "run")); });
}

TEST_F(T5Folder, WhatDoesNotFitIsSaidAtOnce) {
  const TinyNetwork whole = network;
  network.weights["encoder.block.1.layer.0.layer_norm.weight"] = at::ones({31});
  network.weights["encoder.block.2.layer.0.layer_norm.weight"] = at::ones({32});
  network.weights.erase("decoder.final_layer_norm.weight");
  network.weights["shared.weight"] = network.weights["shared.weight"].clone();
  network.weights["shared.weight"][3][4] = std::nan("");
  expect_error(
      ErrorKind::BadData,
      {"missing: decoder.final_layer_norm.weight",
       "unknown: encoder.block.2.layer.0.layer_norm.weight",
       "encoder.block.1.layer.0.layer_norm.weight [31] instead of [32]", "shared.weight with NaN"},
      [&] { read_t5(written()); });
  const auto refuse = [&](const std::string& key, const Json& value, ErrorKind kind,
                          const std::vector<std::string>& words) {
    network = whole;
    network.config[key] = value;
    SCOPED_TRACE(key);
    expect_error(kind, words, [&] { Pipeline::load(written()); });
  };
  refuse("feed_forward_proj", "gated-tanh", ErrorKind::Unsupported, {"gated-tanh", "gated-gelu"});
  refuse("feed_forward_proj", "gated-gelu", ErrorKind::BadData,
         {"wi_0.weight", "unknown: decoder.block.0.layer.2.DenseReluDense.wi.weight"});
  refuse("tie_word_embeddings", false, ErrorKind::BadData, {"missing: lm_head.weight"});
  refuse("vocab_size", 900, ErrorKind::BadData, {"but the tokeniser has 1000"});
  refuse("d_kv", 7, ErrorKind::BadData, {"SelfAttention.q.weight [32, 32] instead of [28, 32]"});
  refuse("num_heads", 0, ErrorKind::BadData, {"num_heads"});
  refuse("pad_token_id", 3, ErrorKind::Unsupported, {"pad_token_id is 3"});
  refuse("eos_token_id", {1, 2}, ErrorKind::Unsupported, {"eos_token_id has 2 tokens"});
  refuse("eos_token_id", 1000, ErrorKind::BadData, {"eos_token_id"});
  refuse("decoder_start_token_id", -1, ErrorKind::BadData, {"decoder_start_token_id"});
  refuse("relative_attention_max_distance", 16, ErrorKind::BadData, {"max_distance (16)"});
  refuse("is_decoder", true, ErrorKind::Unsupported, {"is_decoder"});
  refuse("model_type", "umt5", ErrorKind::Unsupported, {"umt5"});
  refuse("architectures", {"T5EncoderModel"}, ErrorKind::Unsupported,
         {"T5EncoderModel", "T5ForConditionalGeneration"});

  network = whole;
  fovea::Setup setup("translate");
  setup.set_from(written().string());
  setup.set("model.layers=5");
  expect_error(ErrorKind::InvalidArgument, {"model.layers=5", "(2 there)"},
               [&] { setup.task().load_pretrained(setup.common().from); });
}

}  // namespace
}  // namespace fovea::t5_folder_test
