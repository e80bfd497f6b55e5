// Language models as Hugging Face's folders have them: opened as runs, fine-tuned, written and read
// back, refused with all that does not fit.
#include "fovea/tasks/language_folder.h"

#include <gtest/gtest.h>

#include "fovea/models/language_names.h"
#include "fovea/tasks/generate.h"
#include "fovea/tasks/pipeline.h"
#include "fovea/tasks/train.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/language_folders.h"

namespace fovea::language_folder_test {
namespace {

using testing::expect_error;
using testing::gpt2_config;
using testing::kVocabulary;
using testing::llama_config;

class LanguageFolder : public testing::LanguageFolders {};

TEST_F(LanguageFolder, OpensAsARun) {
  for (const auto& [name, config] :
       {std::pair{"gpt2", gpt2_config()}, std::pair{"llama-bf16", llama_config()}}) {
    SCOPED_TRACE(name);
    const std::filesystem::path path = write(name, config);
    // The last tokens of the network are none of the tokeniser, and it would never write them.
    const PretrainedLanguage read = read_language(path);
    EXPECT_EQ(read.vocabulary, kVocabulary);
    LanguageModel model(read.options, {.maximum_length = 12}, {kVocabulary, read.ends[0]});
    take_weights(model, read);
    const at::Tensor& ids = expected.at("expected.0.ids");
    const auto made = model
                          .predict({{{"tokens", ids.unsqueeze(0)},
                                     {"tokens.keep", at::ones({1, ids.size(0)}, at::kBool)}},
                                    1})
                          .outputs[0][0]
                          .tokens;
    EXPECT_TRUE(
        at::cat({ids, torch::tensor(made, at::kLong)}).equal(expected.at("expected.0.greedy")));
    const Pipeline pipeline = Pipeline::load(path);
    EXPECT_EQ(pipeline.task_name(), "language");
    const Decoded text =
        TextGenerator(pipeline).generate(pipeline.parse("to be"), {{.maximum_length = 80}, {}}, {});
    EXPECT_FALSE(text.tokens.empty());
    for (const int64_t token : text.tokens) EXPECT_LT(token, tokeniser->size());
    EXPECT_GT(pipeline.explain(pipeline.parse("to be")).maps.size(), 1u);
  }
}

TEST_F(LanguageFolder, IsFineTunedAndWrittenBack) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "to be or not to be, that is the question\n";
  const std::string book = folder.write("book.txt", text).string();
  for (const auto& [name, config] :
       {std::pair{"gpt2", gpt2_config()}, std::pair{"llama-bf16", llama_config()}}) {
    SCOPED_TRACE(name);
    const std::filesystem::path start = write(name, config);
    fovea::Setup setup("language");
    setup.set_source(book, {});
    setup.set_from(start.string());
    for (const char* assignment : {"training.steps=30", "training.learning_rate=0.003",
                                   "training.batch_size=8", "data.window=16"})
      setup.set(assignment);
    RunFolder run(folder / (std::string(name) + "-run"));
    TrainRequest request;
    request.folder = &run;
    const Training training = train(setup, request);
    EXPECT_LT(training.validation[0].value, training.result.epochs[0].loss);
    EXPECT_EQ(training.model->device(), at::kCPU);

    const PretrainedLanguage tuned = read_language(run.path());
    EXPECT_EQ(tuned.options.maximum_length, 64);
    EXPECT_EQ(tuned.ends, read_language(start).ends);
    const std::filesystem::path out = folder / (std::string(name) + "-out");
    write_language(out, tuned);
    const PretrainedLanguage again = read_language(out);
    ASSERT_EQ(again.weights.size(), tuned.weights.size());
    for (const auto& [key, tensor] : tuned.weights)
      EXPECT_TRUE(again.weights.at(key).equal(tensor)) << key;
    const Pipeline before = Pipeline::load(run.path()), after = Pipeline::load(out);
    const GenerateOptions options{{.maximum_length = 20}, {}};
    EXPECT_EQ(TextGenerator(before).generate(before.parse("to be"), options, {}).text,
              TextGenerator(after).generate(after.parse("to be"), options, {}).text);
  }
}

TEST_F(LanguageFolder, NetworksWithoutBiasesAreWrittenWithZeros) {
  fovea::Setup setup("language");
  for (const char* assignment : {"data.rows=30", "data.validation_rows=4", "data.test_rows=0",
                                 "model.hidden=8", "model.heads=2", "model.layers=1",
                                 "model.bias=no", "model.maximum_length=16", "training.steps=2"})
    setup.set(assignment);
  RunFolder run(folder / "run");
  TrainRequest request;
  request.folder = &run;
  train(setup, request);
  write_language(folder / "out", read_language(run.path()));
  const auto written = read_safetensors(folder / "out" / "model.safetensors").tensors;
  EXPECT_FALSE(written.at("transformer.h.0.attn.c_attn.bias").any().item<bool>());
  const Pipeline before = Pipeline::load(run.path()), after = Pipeline::load(folder / "out");
  EXPECT_EQ(
      TextGenerator(before).generate(before.parse("a1 "), {{.maximum_length = 9}, {}}, {}).text,
      TextGenerator(after).generate(after.parse("a1 "), {{.maximum_length = 9}, {}}, {}).text);
}

TEST_F(LanguageFolder, KeepsTheRolesOfItsTokens) {
  Json config = llama_config();
  config["bos_token_id"] = 1;
  config["eos_token_id"] = {2, 5};
  config["pad_token_id"] = 3;
  write_language(folder / "copy", read_language(write("llama-bf16", config)));
  const Json own = read_json_file(folder / "copy" / "config.json");
  EXPECT_EQ(own["bos_token_id"], 1);
  EXPECT_EQ(own["eos_token_id"], Json({2, 5}));
  EXPECT_EQ(own["pad_token_id"], 3);
  const Json tokens = read_json_file(folder / "copy" / "tokenizer_config.json");
  EXPECT_EQ(tokens["bos_token"], tokeniser->token(1));
  EXPECT_EQ(tokens["eos_token"], tokeniser->token(2));
  EXPECT_EQ(tokens["pad_token"], tokeniser->token(3));
}

TEST_F(LanguageFolder, AnotherOutputThanTheEmbeddingIsNoted) {
  const std::filesystem::path path = write("gpt2", gpt2_config());
  weights["lm_head.weight"] = weights.at("transformer.wte.weight").clone();
  write_safetensors(path / "model.safetensors", weights);
  EXPECT_TRUE(read_language(path).notes.empty());
  weights["lm_head.weight"] += 1;
  write_safetensors(path / "model.safetensors", weights);
  ASSERT_EQ(read_language(path).notes.size(), 1u);
  EXPECT_NE(read_language(path).notes[0].find("lm_head.weight"), std::string::npos);
}

TEST_F(LanguageFolder, SizesHaveTheUsualNamesToo) {
  Json config = gpt2_config();
  for (const auto& [own, usual] :
       std::map<std::string, std::string>{{"n_layer", "num_hidden_layers"},
                                          {"n_embd", "hidden_size"},
                                          {"n_head", "num_attention_heads"},
                                          {"n_positions", "max_position_embeddings"}}) {
    const Json size = config[own];
    config.erase(own);
    config[usual] = size;
  }
  EXPECT_EQ(read_language(write("gpt2", config)).options.hidden, 32);
}

TEST_F(LanguageFolder, WhatDoesNotFitIsSaidAtOnce) {
  const std::filesystem::path path = write("gpt2", gpt2_config());
  weights["transformer.h.0.ln_1.weight"] = at::ones({31});
  weights["more"] = at::ones({1});
  weights.erase("transformer.ln_f.bias");
  write_safetensors(path / "model.safetensors", weights);
  expect_error(ErrorKind::BadData, {"transformer.h.0.ln_1.weight", "more", "transformer.ln_f.bias"},
               [&] { read_language(path); });
  const auto refuse = [&](const std::string& key, const Json& value, ErrorKind kind,
                          const std::string& words) {
    Json config = llama_config();
    config[key] = value;
    const std::filesystem::path changed = write("llama-bf16", config);
    expect_error(kind, words.c_str(), [&] { read_language(changed); });
  };
  refuse("rope_parameters", {{"rope_type", "yarn"}}, ErrorKind::Unsupported, "yarn");
  refuse("hidden_act", "tanh", ErrorKind::Unsupported, "tanh");
  refuse("vocab_size", 200, ErrorKind::BadData, "but the tokeniser has");
  refuse("eos_token_id", 5000, ErrorKind::BadData, "eos_token_id");
  refuse("num_key_value_heads", 3, ErrorKind::BadData, "heads of keys");
  refuse("num_hidden_layers", 8388608, ErrorKind::BadData, "layers");
  refuse("rms_norm_eps", -1, ErrorKind::BadData, "epsilon");
  refuse("attention_dropout", 5, ErrorKind::BadData, "attention_dropout");
  refuse("rope_parameters", {{"rope_theta", 0}}, ErrorKind::BadData, "rotary_base");
  refuse("rope_parameters", {{"rope_type", "linear"}}, ErrorKind::BadData, "factor is missing");
  for (const int factor : {0, -2})
    refuse("rope_parameters", {{"rope_type", "linear"}, {"factor", factor}}, ErrorKind::BadData,
           "rotary_factor");
  Json narrow = gpt2_config();
  narrow["n_head"] = 3;
  const std::filesystem::path uneven = write("gpt2", narrow);
  expect_error(ErrorKind::BadData, {"32", "3 heads", "n_head"}, [&] { read_language(uneven); });
  fovea::Setup setup("language");
  setup.set("model.layers=3");
  setup.set_from(write("gpt2", gpt2_config()).string());
  expect_error(ErrorKind::InvalidArgument, "model.layers=3",
               [&] { setup.task().load_pretrained(setup.common().from); });
}

}  // namespace
}  // namespace fovea::language_folder_test
