// The tiny networks of tests/golden/hugging_face as folders that transformers would have written.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/tensor/safetensors.h"
#include "tests/support/temporary_folder.h"

namespace fovea::testing {

struct TinyNetwork {
  Json config;
  std::map<std::string, at::Tensor> weights, expected;  // "expected.0.logits" is "0.logits"
  std::string tokeniser;                                // folder of its tokenizer.json
  Json tokeniser_config{{"tokenizer_class", "TokenizersBackend"}, {"backend", "tokenizers"}};

  explicit TinyNetwork(const std::string& name)
      : tokeniser(name.starts_with("roberta") ? "roberta"
                  : name == "t5"              ? "t5"
                                              : "bert") {
    const auto file = read_safetensors(files() / (name + ".safetensors"));
    config = parse_json(file.metadata.at("config"), name);
    const std::string prefix = "expected.";
    for (const auto& [key, tensor] : file.tensors)
      if (key.starts_with(prefix))
        expected[key.substr(prefix.size())] = tensor;
      else
        weights[key] = tensor;
  }
  static std::filesystem::path files() {
    return std::filesystem::path(FOVEA_TEST_FILES) / "golden" / "hugging_face";
  }
  /// What tokenizers makes of some texts: text, pair, ids, offsets.
  Json texts() const { return read_json_file(files() / tokeniser / "expected.json"); }

  /// Everything but the weights.
  void write_rest(const std::filesystem::path& folder) const {
    std::filesystem::create_directories(folder);
    write_json_file(folder / "config.json", config);
    std::filesystem::copy_file(files() / tokeniser / "tokenizer.json", folder / "tokenizer.json",
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::remove(folder / "tokenizer_config.json");
    if (!tokeniser_config.is_null())
      write_json_file(folder / "tokenizer_config.json", tokeniser_config);
  }
  void write(const std::filesystem::path& folder) const {
    write_rest(folder);
    write_safetensors(folder / "model.safetensors", weights, {{"format", "pt"}});
  }
};

}  // namespace fovea::testing
