// Low-rank adapters of language models: trained alone, written as PEFT writes them, opened, merged.
#include "fovea/tasks/language_adapter.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/models/language_names.h"
#include "fovea/tasks/generate.h"
#include "fovea/tasks/pipeline.h"
#include "fovea/tasks/train.h"
#include "fovea/training/checkpoint.h"
#include "tests/support/expect_error.h"
#include "tests/support/language_folders.h"

namespace fovea::language_adapter_test {
namespace {

using testing::expect_error;
using testing::gpt2_config;
using testing::llama_config;
namespace fs = std::filesystem;

const at::Tensor kPrompt = torch::tensor({5, 70, 9, 11, 200, 3}, at::kLong).unsqueeze(0);

/// [1, N, V]
at::Tensor logits_of(const Model& model) {
  torch::NoGradGuard no_gradients;
  const auto& language = dynamic_cast<const LanguageModel&>(model);
  return language.logits(language.states(kPrompt, nullptr, nullptr));
}

class LanguageAdapter : public testing::LanguageFolders {
 protected:
  fovea::Setup setup(const fs::path& from, const std::vector<std::string>& more = {}) {
    std::string text;
    for (int i = 0; i < 60; ++i) text += "to be or not to be, that is the question\n";
    fovea::Setup made("language");
    made.set_source(folder.write("book.txt", text).string(), {});
    made.set_from(from.string());
    for (const char* assignment :
         {"training.steps=30", "training.learning_rate=0.01", "training.batch_size=8",
          "data.window=16", "model.lora_rank=4", "model.dropout=0", "model.attention_dropout=0"})
      made.set(assignment);
    for (const std::string& assignment : more) made.set(assignment);
    return made;
  }
  Training train_into(const fs::path& out, fovea::Setup made, bool untrained = false) {
    RunFolder run(out);
    TrainRequest request;
    request.folder = &run;
    request.untrained = untrained;
    return train(made, request);
  }
  /// An adapter as PEFT would write it, with random numbers, beside `base`.
  fs::path write_peft(const std::string& name, const std::string& base, const WeightMap& tensors,
                      const Json& more = Json::object()) {
    const fs::path path = folder / name;
    fs::create_directories(path);
    Json config{{"peft_type", "LORA"},
                {"task_type", "CAUSAL_LM"},
                {"base_model_name_or_path", base},
                {"r", 2},
                {"lora_alpha", 6},
                {"lora_dropout", 0.05},
                {"bias", "none"},
                {"target_modules", ".*"}};
    config.update(more);
    write_file(path / "adapter_config.json", config.dump());
    write_safetensors(path / "adapter_model.safetensors", tensors, {{"format", "pt"}});
    return path;
  }
  static at::Tensor drawn(at::IntArrayRef shape, uint64_t seed) {
    return Random(seed).normal_tensor(shape, 0, 0.1, at::kFloat);
  }
};

TEST_F(LanguageAdapter, BeginsAsItsBaseExactly) {
  for (const auto& [name, config] :
       {std::pair{"gpt2", gpt2_config()}, std::pair{"llama-bf16", llama_config()}}) {
    SCOPED_TRACE(name);
    const fs::path base = write(name, config), run = folder / (std::string(name) + "-run");
    train_into(run, setup(base, {"model.lora_targets=all-linear", "model.lora_dropout=0.1"}),
               /*untrained=*/true);
    EXPECT_TRUE(
        logits_of(Pipeline::load(run).model()).equal(logits_of(Pipeline::load(base).model())));
  }
}

TEST_F(LanguageAdapter, IsTrainedAloneAndOpenedByWhatPeftReads) {
  for (const auto& [name, config] :
       {std::pair{"gpt2", gpt2_config()}, std::pair{"llama-bf16", llama_config()}}) {
    SCOPED_TRACE(name);
    const bool is_gpt2 = std::string(name) == "gpt2";
    const fs::path base = write(name, config), run = folder / (std::string(name) + "-run");
    const Training training = train_into(run, setup(base));
    EXPECT_LT(training.validation[0].value, training.result.epochs[0].loss);

    // The base is not in the run, and is as it was.
    const WeightMap start = read_language(base).weights;
    for (const auto& item : training.model->named_parameters()) {
      const auto found = start.find(item.key());
      EXPECT_TRUE(found == start.end() || item.value().equal(found->second)) << item.key();
    }
    for (const auto& [key, tensor] : read_safetensors(run / "model.safetensors").tensors)
      EXPECT_NE(key.find(".lora_"), std::string::npos) << key;
    const auto written = read_safetensors(run / "adapter_model.safetensors").tensors;
    EXPECT_EQ(written.size(), is_gpt2 ? 4u : 8u);
    const std::string first = is_gpt2 ? "base_model.model.transformer.h.0.attn.c_attn.lora_"
                                      : "base_model.model.model.layers.0.self_attn.v_proj.lora_";
    EXPECT_EQ(written.at(first + "A.weight").sizes(), at::IntArrayRef({4, 32}));
    EXPECT_EQ(written.at(first + "B.weight").sizes(), at::IntArrayRef({is_gpt2 ? 96 : 16, 4}));
    const Json described = read_json_file(run / "adapter_config.json");
    EXPECT_EQ(described["r"], 4);
    EXPECT_EQ(described["lora_alpha"], 8);
    EXPECT_EQ(described["fan_in_fan_out"], is_gpt2);
    EXPECT_EQ(described["base_model_name_or_path"], base.string());
    const std::vector<std::string> targets =
        is_gpt2 ? std::vector<std::string>{"c_attn"} : std::vector<std::string>{"q_proj", "v_proj"};
    EXPECT_EQ(described["target_modules"].get<std::vector<std::string>>(), targets);

    // What PEFT would read is enough.
    const fs::path alone = folder / (std::string(name) + "-alone");
    fs::create_directories(alone);
    for (const char* file : {"adapter_config.json", "adapter_model.safetensors"})
      fs::copy_file(run / file, alone / file);
    const Pipeline trained = Pipeline::load(run), opened = Pipeline::load(alone);
    EXPECT_TRUE(logits_of(trained.model()).equal(logits_of(opened.model())));
    EXPECT_FALSE(logits_of(trained.model()).allclose(logits_of(Pipeline::load(base).model())));
    EXPECT_GT(opened.explain(opened.parse("to be")).maps.size(), 1u);

    // Merged, and alone once more.
    const fs::path merged = folder / (std::string(name) + "-merged"),
                   again = folder / (std::string(name) + "-again");
    write_language(merged, read_language(run));
    EXPECT_TRUE(
        logits_of(Pipeline::load(merged).model()).allclose(logits_of(trained.model()), 1e-4, 1e-4));
    write_adapter(again, read_language(alone, {.merges = false}));
    EXPECT_TRUE(logits_of(Pipeline::load(again).model()).equal(logits_of(trained.model())));
    expect_error(ErrorKind::InvalidArgument, "no low-rank adapters",
                 [&] { write_adapter(folder / "none", read_language(base, {.merges = false})); });

    // Adapters on adapters begin as those.
    const fs::path second = folder / (std::string(name) + "-second");
    train_into(second, setup(alone), /*untrained=*/true);
    EXPECT_TRUE(
        logits_of(Pipeline::load(second).model()).allclose(logits_of(trained.model()), 1e-4, 1e-4));
  }
}

TEST_F(LanguageAdapter, GoesOnWhereItStopped) {
  const fs::path base = write("llama-bf16", llama_config()), run = folder / "run";
  train_into(folder / "straight", setup(base));
  train_into(run, setup(base, {"training.steps=15"}));
  RunFolder again(run);
  fovea::Setup longer = setup_of_run(again);
  longer.set("training.steps=30");
  longer.set("training.epochs=0");
  TrainRequest request;
  request.folder = &again;
  request.resume = true;
  train(longer, request);
  const auto wanted = read_safetensors(folder / "straight" / "last.safetensors").tensors;
  EXPECT_EQ(wanted.count("model.tokens.weight"), 0u) << "the base is not part of a checkpoint";
  for (const auto& [key, tensor] : read_safetensors(run / "last.safetensors").tensors)
    EXPECT_EQ(tensor.sizes(), wanted.at(key).sizes()) << key;
}

TEST_F(LanguageAdapter, CountsAsPeftCounts) {
  // W + (alpha / r) B A, of GPT-2's matrices, which lie the other way round in the file, its
  // transpose.
  write("gpt2", gpt2_config());
  NamedTensors changed = weights;
  WeightMap tensors;
  uint64_t seed = 1;
  for (const auto& [layer, in, out] : {std::tuple{"transformer.h.0.attn.c_attn", 32, 96},
                                       {"transformer.h.1.attn.c_proj", 32, 32},
                                       {"transformer.h.1.mlp.c_fc", 32, 128},
                                       {"transformer.h.0.mlp.c_proj", 128, 32}}) {
    const at::Tensor a = drawn({2, in}, ++seed), b = drawn({out, 2}, ++seed);
    tensors[concat("base_model.model.", layer, ".lora_A.weight")] = a;
    tensors[concat("base_model.model.", layer, ".lora_B.weight")] = b;
    at::Tensor& weight = changed[concat(layer, ".weight")];
    weight = weight + 3 * b.matmul(a).t();
  }
  const fs::path adapter = write_peft("gpt2-peft", "../gpt2", tensors);
  const fs::path whole = folder / "gpt2-whole";
  fs::copy(folder / "gpt2", whole);
  write_safetensors(whole / "model.safetensors", changed);
  EXPECT_TRUE(logits_of(Pipeline::load(adapter).model())
                  .allclose(logits_of(Pipeline::load(whole).model()), 1e-4, 1e-4));
  for (const auto& [key, tensor] : read_language(adapter).weights)
    EXPECT_TRUE(tensor.allclose(read_language(whole).weights.at(key), 1e-5, 1e-6)) << key;

  // Llama's do not, and its queries, keys and values are apart; alpha / sqrt(r) where asked for.
  write("llama-bf16", llama_config());
  changed = weights;
  tensors.clear();
  for (const auto& [layer, in, out] : {std::tuple{"model.layers.0.self_attn.k_proj", 32, 16},
                                       {"model.layers.1.mlp.up_proj", 32, 64}}) {
    const at::Tensor a = drawn({2, in}, ++seed), b = drawn({out, 2}, ++seed);
    tensors[concat("base_model.model.", layer, ".lora_A.weight")] = a;
    tensors[concat("base_model.model.", layer, ".lora_B.weight")] = b;
    at::Tensor& weight = changed[concat(layer, ".weight")];
    weight = weight.to(at::kFloat) + 6 / std::sqrt(2.0) * b.matmul(a);
  }
  const fs::path other =
      write_peft("llama-peft", (folder / "llama-bf16").string(), tensors,
                 {{"use_rslora", true}, {"target_modules", {"k_proj", "up_proj"}}});
  const fs::path plain = folder / "llama-whole";
  fs::copy(folder / "llama-bf16", plain);
  write_safetensors(plain / "model.safetensors", changed);
  EXPECT_TRUE(logits_of(Pipeline::load(other).model())
                  .allclose(logits_of(Pipeline::load(plain).model()), 1e-4, 1e-4));
}

TEST_F(LanguageAdapter, WhatCannotBeOpenedIsSaid) {
  const fs::path base = write("gpt2", gpt2_config());
  const std::string layer = "base_model.model.transformer.h.0.attn.c_attn.lora_";
  const WeightMap good{{layer + "A.weight", drawn({2, 32}, 1)},
                       {layer + "B.weight", drawn({96, 2}, 2)}};
  const auto refuse = [&](ErrorKind kind, std::vector<std::string> words, const std::string& base,
                          const WeightMap& tensors, const Json& more = Json::object()) {
    const fs::path path = write_peft("bad", base, tensors, more);
    for (const std::string& word : words)
      expect_error(kind, word.c_str(), [&] { Pipeline::load(path); });
  };
  EXPECT_NO_THROW(Pipeline::load(write_peft("good", base.string(), good)));
  refuse(ErrorKind::NotFound, {"base_model_name_or_path 'meta/llama'", "bad/meta/llama"},
         "meta/llama", good);
  refuse(ErrorKind::BadData, {"names the adapter itself"}, (folder / "bad").string(), good);
  refuse(ErrorKind::BadData, {"names the adapter itself"}, ".", good);
  write_peft("one", "../two", good);
  write_peft("two", "../one", good);
  expect_error(ErrorKind::BadData, "in a circle", [&] { Pipeline::load(folder / "one"); });
  expect_error(ErrorKind::BadData, "in a circle", [&] { read_language(folder / "two"); });
  refuse(ErrorKind::Unsupported, {"use_dora"}, base.string(), good, {{"use_dora", true}});
  refuse(ErrorKind::Unsupported, {"peft_type"}, base.string(), good, {{"peft_type", "IA3"}});
  refuse(ErrorKind::Unsupported, {"modules_to_save"}, base.string(), good,
         {{"modules_to_save", {"lm_head"}}});
  refuse(ErrorKind::BadData, {"missing: " + layer + "B.weight"}, base.string(),
         {{layer + "A.weight", drawn({2, 32}, 1)}});
  refuse(ErrorKind::BadData, {"of another shape: " + layer}, base.string(), good, {{"r", 3}});
  refuse(ErrorKind::BadData, {"holds no adapter"}, base.string(), {});
  refuse(ErrorKind::InvalidArgument, {"'q_proj'"}, base.string(), good,
         {{"target_modules", {"q_proj"}}});
  fs::remove(folder / "good" / "adapter_model.safetensors");
  expect_error(ErrorKind::NotFound, "is missing", [&] { Pipeline::load(folder / "good"); });

  // And what cannot be trained.
  expect_error(ErrorKind::InvalidArgument, "c_fc",
               [&] { train_into(folder / "x", setup(base, {"model.lora_targets=q_proj"})); });
  fovea::Setup without("language");
  without.set("model.lora_rank=2");
  without.set("data.rows=20");
  expect_error(ErrorKind::InvalidArgument, "--from",
               [&] { train_into(folder / "y", std::move(without)); });

  // A run whose base is gone, or another.
  train_into(folder / "run", setup(base), /*untrained=*/true);
  fs::rename(base, folder / "moved");
  expect_error(ErrorKind::NotFound, "base_model_name_or_path",
               [&] { Pipeline::load(folder / "run"); });
  Json described = read_json_file(folder / "run" / "adapter_config.json");
  described["base_model_name_or_path"] = "../moved";
  write_file(folder / "run" / "adapter_config.json", described.dump());
  EXPECT_NO_THROW(Pipeline::load(folder / "run"));
}

}  // namespace
}  // namespace fovea::language_adapter_test
