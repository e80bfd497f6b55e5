// Folders of language models and of pictures as runs, through the program.
#include <gtest/gtest.h>

#include "fovea/data/formats/read_image.h"
#include "tests/cli/program_test.h"
#include "tests/support/language_folders.h"

namespace fovea {
namespace {

using testing::fovea;
using testing::gpt2_config;
using testing::llama_config;
using testing::Outcome;

class LanguageFolderAsRun : public testing::LanguageFolders {
 protected:
  std::string network(const std::string& name, const Json& config) {
    return write(name, config).string();
  }
  std::string book() const {
    std::string text;
    for (int i = 0; i < 40; ++i) text += "to be or not to be, that is the question\n";
    return folder.write("book.txt", text).string();
  }
  static void set(const std::string& run, const char* file, const char* key, const Json& value) {
    Json json = read_json_file(std::filesystem::path(run) / file);
    json[key] = value;
    write_json_file(std::filesystem::path(run) / file, json);
  }
};

TEST_F(LanguageFolderAsRun, ReadsWholeTextsWhateverItsTokeniserCuts) {
  const std::string run = network("gpt2", gpt2_config()), data = book();
  const std::vector<std::string> evaluate{"evaluate", run, data, "--json"};
  const std::vector<std::string> predict{"predict", run, "to be or not to be, that is", "--json"};
  const Json whole = fovea(evaluate).json()["metrics"];
  const std::string answer = fovea(predict).out;
  set(run, "tokenizer.json", "truncation",
      {{"direction", "Right"}, {"max_length", 4}, {"strategy", "LongestFirst"}, {"stride", 0}});
  set(run, "tokenizer.json", "padding",
      {{"strategy", {{"Fixed", 8}}},
       {"direction", "Left"},
       {"pad_to_multiple_of", nullptr},
       {"pad_id", 0},
       {"pad_type_id", 0},
       {"pad_token", "<unk>"}});
  const Outcome measured = fovea(evaluate);
  ASSERT_EQ(measured.status, 0) << measured.err;
  EXPECT_EQ(measured.json()["metrics"], whole);
  EXPECT_EQ(fovea(predict).out, answer);
}

TEST_F(LanguageFolderAsRun, IsHealthy) {
  for (const auto& [name, config] :
       {std::pair{"gpt2", gpt2_config()}, std::pair{"llama-bf16", llama_config()}}) {
    Json small = config;
    const Outcome health = fovea({"doctor", network(name, small)});
    EXPECT_EQ(health.status, 0) << health.out << health.err;
  }
}

TEST_F(LanguageFolderAsRun, PicturesAreHealthyToo) {
  if (!can_read_images()) GTEST_SKIP() << "this build reads no pictures";
  const std::string vit = std::string(FOVEA_TEST_FILES) + "/golden/hugging_face/vit";
  const Outcome health = fovea({"doctor", vit});
  EXPECT_EQ(health.status, 0) << health.out << health.err;
}

TEST_F(LanguageFolderAsRun, AdaptersTakeTheTokeniserOfTheirBase) {
  const std::string base = network("gpt2", gpt2_config());
  const std::filesystem::path adapter = folder / "adapter";
  std::filesystem::create_directories(adapter);
  write_json_file(adapter / "adapter_config.json", {{"peft_type", "LORA"},
                                                    {"base_model_name_or_path", base},
                                                    {"r", 2},
                                                    {"lora_alpha", 4},
                                                    {"target_modules", {"c_attn"}}});
  write_safetensors(adapter / "adapter_model.safetensors", {}, {{"format", "pt"}});
  const auto generate = [&](const std::string& run) {
    return fovea({"generate", run, "to be", "--tokens", "5", "--temperature", "0"});
  };
  const Outcome written = generate(adapter.string());
  EXPECT_EQ(written.status, 0) << written.err;
  EXPECT_EQ(written.out, generate(base).out);
  const Outcome heads = fovea({"heads", adapter.string(), book(), "--rows", "1", "--no-zeroing"});
  EXPECT_EQ(heads.status, 0) << heads.err;
}

TEST_F(LanguageFolderAsRun, IsMeasuredOnNoTextOfOurs) {
  const std::string run = network("gpt2", gpt2_config());
  const std::string vit = std::string(FOVEA_TEST_FILES) + "/golden/hugging_face/vit";
  const std::vector<std::vector<std::string>> commands{{"evaluate", run},
                                                       {"heads", run},
                                                       {"explain", run, "--faithfulness"},
                                                       {"evaluate", vit},
                                                       {"heads", vit}};
  for (const std::vector<std::string>& command : commands) {
    const Outcome outcome = fovea(command);
    EXPECT_EQ(outcome.status, 1) << command[0] << outcome.out;
    EXPECT_NE(outcome.err.find("has no data of its own"), std::string::npos) << outcome.err;
  }
}

TEST_F(LanguageFolderAsRun, AWindowOfOneIsRefused) {
  Json config = llama_config();
  config["model_type"] = "mistral";
  config["architectures"] = {"MistralForCausalLM"};
  config["sliding_window"] = 1;
  const Outcome outcome = fovea({"predict", network("llama-bf16", config), "to be"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("a window of 1"), std::string::npos) << outcome.err;
}

TEST_F(LanguageFolderAsRun, LinksInACircleAreOneLine) {
  std::filesystem::create_symlink(folder / "loop", folder / "loop");
  const Outcome outcome = fovea({"predict", (folder / "loop").string(), "to be"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err.find("filesystem error"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("loop"), std::string::npos) << outcome.err;
}

TEST_F(LanguageFolderAsRun, WhatIsNoFolderOfANetworkIsSaid) {
  const std::string run = network("gpt2", gpt2_config());
  write_file(std::filesystem::path(run) / "model.safetensors",
             "version https://git-lfs.github.com/spec/v1\noid sha256:" + std::string(64, 'a') +
                 "\nsize 548105171\n");
  const Outcome pointer = fovea({"predict", run, "to be"});
  EXPECT_EQ(pointer.status, 1);
  EXPECT_NE(pointer.err.find("Git LFS pointer"), std::string::npos) << pointer.err;
  EXPECT_NE(pointer.err.find("git lfs pull"), std::string::npos) << pointer.err;
  for (const char* config : {"{\"vocab_size\": 8}", "[]"}) {
    write_file(std::filesystem::path(run) / "config.json", config);
    const Outcome none = fovea({"predict", run, "to be"});
    EXPECT_EQ(none.status, 1);
    EXPECT_NE(none.err.find("model_type"), std::string::npos) << none.err;
    EXPECT_NE(none.err.find("format_version"), std::string::npos) << none.err;
  }
}

}  // namespace
}  // namespace fovea
