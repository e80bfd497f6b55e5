// Folders of tiny language models, with the weights of tests/golden/hugging_face and a tokeniser
// that is trained on the spot.
#pragma once

#include <gtest/gtest.h>

#include "fovea/base/file.h"
#include "fovea/data/tokenisers/hugging_face/train.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"
#include "tests/support/temporary_folder.h"

namespace fovea::testing {

inline constexpr int64_t kVocabulary = 1200;  // of the golden networks; the tokeniser has fewer

inline Json gpt2_config() {
  return {{"architectures", {"GPT2LMHeadModel"}},
          {"model_type", "gpt2"},
          {"n_layer", 2},
          {"n_embd", 32},
          {"n_head", 4},
          {"n_inner", nullptr},
          {"n_positions", 64},
          {"activation_function", "gelu_new"},
          {"eos_token_id", 0},
          {"vocab_size", kVocabulary}};
}

inline Json llama_config() {
  return {{"architectures", {"LlamaForCausalLM"}},
          {"model_type", "llama"},
          {"num_hidden_layers", 2},
          {"hidden_size", 32},
          {"num_attention_heads", 4},
          {"num_key_value_heads", 2},
          {"head_dim", 8},
          {"intermediate_size", 64},
          {"max_position_embeddings", 64},
          {"hidden_act", "silu"},
          {"rope_parameters", {{"rope_theta", 10000.0}, {"rope_type", "default"}}},
          {"tie_word_embeddings", true},
          {"eos_token_id", {0, 7}},
          {"vocab_size", kVocabulary}};
}

class LanguageFolders : public ::testing::Test {
 protected:
  void SetUp() override {
#ifndef FOVEA_WITH_ICU
    GTEST_SKIP() << "needs ICU";
#endif
    TokeniserTraining training;
    training.size = 300;
    training.minimum_count = 1;
    tokeniser = std::make_shared<const HuggingFaceTokeniser>(train_tokeniser(
        training, std::vector<std::string>{"to be or not to be, that is the question"}));
  }
  /// The golden network called `name` as a folder.
  std::filesystem::path write(const std::string& name, const Json& config) {
    const std::filesystem::path path = folder / name;
    std::filesystem::create_directories(path);
    const std::string golden = std::string(FOVEA_TEST_FILES) + "/golden/hugging_face/" + name;
    weights.clear();
    for (const auto& [key, tensor] : read_safetensors(golden + ".safetensors").tensors)
      (key.starts_with("expected.") ? expected : weights)[key] = tensor;
    write_safetensors(path / "model.safetensors", weights, {{"format", "pt"}});
    write_file(path / "config.json", config.dump());
    tokeniser->save(path / "tokenizer.json");
    return path;
  }
  TemporaryFolder folder;
  std::shared_ptr<const HuggingFaceTokeniser> tokeniser;
  NamedTensors weights, expected;
};

}  // namespace fovea::testing
