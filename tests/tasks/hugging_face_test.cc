// Hugging Face folders of BERT: read in every number format, refused with all that does not fit,
// written and read back bit for bit.
#include "fovea/tasks/hugging_face.h"

#include <gtest/gtest.h>
#include "fovea/models/bert_names.h"
#include "fovea/tasks/pipeline.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea::hugging_face_test {
namespace {

using testing::expect_error;

const std::vector<std::string> kPieces = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the",
                                          "cat",   "sat",   "##s",   "on",    "mat",    "."};

/// Random, of a type that the format has.
at::Tensor drawn(const std::string& name, const std::vector<int64_t>& shape, at::ScalarType type) {
  return Random(7).split(name).normal_tensor(shape, 0, 0.3, at::kFloat).to(type);
}

class HuggingFace : public ::testing::Test {
 protected:
  void SetUp() override {
    options.layers = 2, options.hidden = 8, options.heads = 2, options.feed_forward = 12;
    options.maximum_length = 16;
    config = {{"architectures", {"BertModel"}}, {"model_type", "bert"},
              {"hidden_act", "gelu"},           {"hidden_size", 8},
              {"num_hidden_layers", 2},         {"num_attention_heads", 2},
              {"intermediate_size", 12},        {"max_position_embeddings", 16},
              {"type_vocab_size", 2},           {"layer_norm_eps", 1e-12},
              {"vocab_size", kPieces.size()}};
    draw(at::kFloat);
  }

  void draw(at::ScalarType type) {
    const auto names = encoder_names(options, int64_t(kPieces.size()));
    for (const auto& [name, shape] : shapes_of(names)) weights[name] = drawn(name, shape, type);
  }

  void add_heads() {
    for (const auto& names :
         {masked_head_names(options, int64_t(kPieces.size())), next_head_names(8)})
      for (const auto& [name, shape] : shapes_of(names))
        weights[name] = drawn(name, shape, at::kFloat);
  }

  const std::filesystem::path& write(const std::string& file = "model.safetensors") {
    folder.write("config.json", config.dump());
    folder.write("vocab.txt", join(kPieces, "\n") + "\n");
    write_safetensors(folder / file, weights, {{"format", "pt"}});
    return folder.path();
  }

  testing::TemporaryFolder folder;
  BertOptions options;
  Json config;
  WeightMap weights;
};

TEST_F(HuggingFace, ReadsEveryNumberFormatUnderAnyName) {
  for (const at::ScalarType type : {at::kFloat, at::kHalf, at::kBFloat16}) {
    draw(type);
    write("model.some.safetensors");
    const PretrainedBert bert = read_hugging_face(folder.path());
    EXPECT_EQ(bert.options.hidden, 8);
    EXPECT_EQ(bert.tokeniser->size(), int64_t(kPieces.size()));
    const at::Tensor table = bert.encoder.at("tokens.weight");
    EXPECT_EQ(table.scalar_type(), at::kFloat);
    EXPECT_TRUE(table.equal(weights["embeddings.word_embeddings.weight"].to(at::kFloat)));
    EXPECT_TRUE(bert.heads.empty());
    EXPECT_TRUE(bert.notes.empty());
  }
}

TEST_F(HuggingFace, OldNamesAndPrefixMeanTheSame) {
  const PretrainedBert plain = read_hugging_face(write());
  WeightMap old;
  for (const auto& [name, tensor] : weights) {
    std::string renamed = "bert." + name;
    const size_t at = renamed.find("LayerNorm.");
    if (at != std::string::npos)
      renamed = renamed.substr(0, at + 10) + (name.ends_with("weight") ? "gamma" : "beta");
    old[renamed] = tensor;
  }
  old["bert.embeddings.position_ids"] = at::arange(16).unsqueeze(0);
  weights = old;
  const PretrainedBert bert = read_hugging_face(write());
  ASSERT_EQ(bert.encoder.size(), plain.encoder.size());
  for (const auto& [name, tensor] : plain.encoder)
    EXPECT_TRUE(tensor.equal(bert.encoder.at(name))) << name;
  EXPECT_TRUE(bert.notes.empty());
}

TEST_F(HuggingFace, AllThatDoesNotFitIsNamedAtOnce) {
  weights.erase("encoder.layer.1.output.dense.bias");
  weights.erase("embeddings.token_type_embeddings.weight");
  weights["encoder.layer.2.output.dense.bias"] = at::zeros({8});
  weights["pooler.dense.weight"] = at::zeros({8, 9});
  weights["embeddings.LayerNorm.bias"] = at::full({8}, NAN);
  weights["somebody.else"] = at::zeros({3});
  write();
  expect_error(ErrorKind::BadData,
               {"missing: embeddings.token_type_embeddings.weight, "
                "encoder.layer.1.output.dense.bias",
                "unknown: encoder.layer.2.output.dense.bias", "not of this network: somebody.else",
                "of another shape: pooler.dense.weight [8, 9] instead of [8, 8]",
                "not usable: embeddings.LayerNorm.bias with NaN", "model.safetensors"},
               [&] { read_hugging_face(folder.path()); });
}

TEST_F(HuggingFace, OtherHeadsAreNotedNotRefused) {
  weights["classifier.weight"] = at::zeros({3, 8});
  weights["classifier.bias"] = at::zeros({3});
  const PretrainedBert bert = read_hugging_face(write());
  ASSERT_EQ(bert.notes.size(), 1u);
  EXPECT_NE(bert.notes[0].find("classifier.bias, classifier.weight"), std::string::npos);
}

TEST_F(HuggingFace, TheHeadsOfPretrainingAreRead) {
  add_heads();
  weights["cls.predictions.decoder.weight"] = weights["embeddings.word_embeddings.weight"];
  weights["cls.predictions.decoder.bias"] = weights["cls.predictions.bias"];
  const PretrainedBert bert = read_hugging_face(write());
  EXPECT_EQ(bert.heads.size(), 7u);
  EXPECT_TRUE(bert.heads.at("masked.bias").equal(weights["cls.predictions.bias"]));
  EXPECT_TRUE(bert.notes.empty());
  // A head that is not tied to the table is left out, and said so.
  weights["cls.predictions.decoder.weight"] = at::zeros({int64_t(kPieces.size()), 8});
  write();
  const PretrainedBert other = read_hugging_face(folder.path());
  EXPECT_EQ(other.heads.size(), 2u);
  EXPECT_NE(other.notes.at(0).find("matrix of its own"), std::string::npos);
}

TEST_F(HuggingFace, AMissingPoolerIsNoted) {
  weights.erase("pooler.dense.weight");
  weights.erase("pooler.dense.bias");
  const PretrainedBert bert = read_hugging_face(write());
  EXPECT_EQ(bert.encoder.count("pooler.weight"), 0u);
  EXPECT_NE(bert.notes.at(0).find("no pooler"), std::string::npos);
  Pipeline::load(folder.path());
}

TEST_F(HuggingFace, RowsThatBelongToNoPieceAreLeftOut) {
  config["vocab_size"] = 16;
  weights["embeddings.word_embeddings.weight"] = drawn("words", {16, 8}, at::kFloat);
  const PretrainedBert bert = read_hugging_face(write());
  EXPECT_EQ(bert.encoder.at("tokens.weight").size(0), int64_t(kPieces.size()));
  EXPECT_EQ(bert.heads.size(), 0u);
  EXPECT_NE(bert.notes.at(0).find("last 4 rows"), std::string::npos);
}

TEST_F(HuggingFace, OtherArchitecturesAreRefusedByName) {
  const auto refused = [&](const std::string& key, const Json& value,
                           const std::vector<std::string>& words) {
    const Json before = config;
    config[key] = value;
    write();
    expect_error(ErrorKind::Unsupported, words, [&] { read_hugging_face(folder.path()); });
    config = before;
  };
  refused("model_type", "roberta", {"model_type is roberta", "config.json"});
  refused("architectures", {"RobertaModel"}, {"RobertaModel"});
  refused("hidden_act", "gelu_new", {"hidden_act", "gelu_new"});
  refused("position_embedding_type", "relative_key", {"relative_key"});
  refused("is_decoder", true, {"is_decoder"});
}

TEST_F(HuggingFace, BadSizesAreRefusedBeforeAnythingIsMade) {
  const auto refused = [&](const std::string& key, const Json& value, ErrorKind kind) {
    const Json before = config;
    config[key] = value;
    write();
    expect_error(kind, "config.json", [&] { read_hugging_face(folder.path()); });
    config = before;
  };
  refused("hidden_size", "many", ErrorKind::BadData);
  refused("hidden_size", -8, ErrorKind::BadData);
  refused("num_attention_heads", 3, ErrorKind::BadData);
  refused("vocab_size", 5, ErrorKind::BadData);
  refused("layer_norm_eps", "small", ErrorKind::BadData);
  config["num_hidden_layers"] = 1'000'000'000;
  write();
  EXPECT_THROW(read_hugging_face(folder.path()), Error);
  config["num_hidden_layers"] = 2;
  config["hidden_size"] = int64_t{1} << 60;
  config["num_attention_heads"] = 1;
  write();
  EXPECT_THROW(read_hugging_face(folder.path()), Error);
}

TEST_F(HuggingFace, HalfAFileIsRefused) {
  write();
  const std::filesystem::path path = folder / "model.safetensors";
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  expect_error(ErrorKind::BadData, "model.safetensors", [&] { read_hugging_face(folder.path()); });
}

TEST_F(HuggingFace, MissingFilesAreNamed) {
  write();
  std::filesystem::remove(folder / "model.safetensors");
  folder.write("pytorch_model.bin", "x");
  expect_error(ErrorKind::NotFound, {"no .safetensors", "pytorch_model.bin"},
               [&] { read_hugging_face(folder.path()); });
  write();
  std::filesystem::remove(folder / "vocab.txt");
  expect_error(ErrorKind::NotFound, "vocab.txt", [&] { read_hugging_face(folder.path()); });
}

TEST_F(HuggingFace, WhatIsWrittenLoadsBackBitForBit) {
  add_heads();
  const PretrainedBert bert = read_hugging_face(write());
  const std::filesystem::path copy = folder / "copy";
  write_hugging_face(copy, bert);
  EXPECT_TRUE(is_hugging_face(copy));
  const PretrainedBert again = read_hugging_face(copy);
  EXPECT_TRUE(again.notes.empty());
  for (const auto part : {&PretrainedBert::encoder, &PretrainedBert::heads}) {
    ASSERT_EQ((again.*part).size(), (bert.*part).size());
    for (const auto& [name, tensor] : bert.*part)
      EXPECT_TRUE(tensor.equal((again.*part).at(name))) << name;
  }
  EXPECT_EQ(again.tokeniser->to_json(), bert.tokeniser->to_json());
  EXPECT_EQ(again.options.epsilon, bert.options.epsilon);
  // The same names as there: the file holds what was read, under the names of BertForPreTraining.
  const auto written = read_safetensors(copy / "model.safetensors").tensors;
  EXPECT_EQ(written.size(), weights.size());
  for (const auto& [name, tensor] : weights)
    EXPECT_TRUE(tensor.equal(written.at(name.starts_with("cls.") ? name : "bert." + name))) << name;
  expect_error(ErrorKind::InvalidArgument, "config.json already",
               [&] { write_hugging_face(copy, bert); });
}

TEST_F(HuggingFace, AFolderIsARunOfPretrain) {
  const Pipeline pipeline = Pipeline::load(write());
  EXPECT_EQ(pipeline.task_name(), "pretrain");
#ifdef FOVEA_WITH_ICU
  const Example example = pipeline.parse("The cats sat");
  EXPECT_EQ(example.axis("tokens").labels,
            (std::vector<std::string>{"[CLS]", "the", "cat", "##s", "sat", "[SEP]"}));
  const Prediction prediction = pipeline.predict({&example, 1}).front();
  const Json answer = pipeline.task().answer(example, prediction);
  EXPECT_EQ(answer["embedding"].size(), 8u);
  EXPECT_FALSE(answer.contains("masks"));
  const Explanation explanation = pipeline.explain(example, Heads::All);
  EXPECT_FALSE(explanation.maps.empty());
#endif
}

TEST_F(HuggingFace, MasksAreFilledInWhereTheHeadIs) {
#ifndef FOVEA_WITH_ICU
  GTEST_SKIP() << "needs ICU";
#endif
  add_heads();
  const Pipeline pipeline = Pipeline::load(write());
  const Example example = pipeline.parse("the [MASK] sat on the [MASK] .");
  const Prediction prediction = pipeline.predict({&example, 1}).front();
  const Json answer = pipeline.task().answer(example, prediction);
  ASSERT_EQ(answer["masks"].size(), 2u);
  EXPECT_EQ(answer["masks"][0]["token"], 2);
  EXPECT_EQ(answer["masks"][1]["token"], 6);
  const Json& words = answer["masks"][0]["words"];
  ASSERT_EQ(words.size(), 5u);
  for (size_t i = 1; i < words.size(); ++i)
    EXPECT_GE(words[i - 1]["probability"].get<double>(), words[i]["probability"].get<double>());
}

}  // namespace
}  // namespace fovea::hugging_face_test
