// `fovea export` with a BERT: a folder for Hugging Face's libraries, and that folder as ONNX.
#include <gtest/gtest.h>
#include <filesystem>

#include "fovea/base/file.h"
#include "fovea/tasks/pretrained.h"
#include "fovea/tensor/torch.h"
#include "tests/cli/program_test.h"

namespace fovea::export_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

class Export : public testing::TextProgramTest {
 protected:
  /// A tiny BERT that has seen a few stories.
  std::string pretrained() {
    std::vector<std::string> arguments{"train", "pretrain", "--quiet", "--out", path("run")};
    for (const char* assignment :
         {"data.rows=40", "data.validation_rows=8", "data.test_rows=4", "data.longest=48",
          "model.hidden=16", "model.layers=2", "model.heads=2", "model.maximum_length=64",
          "training.epochs=1", "training.warmup_steps=2"})
      arguments.insert(arguments.end(), {"--set", assignment});
    const Outcome trained = fovea(arguments);
    EXPECT_EQ(trained.status, 0) << trained.err;
    return path("run");
  }

  void expect_refused(const std::vector<std::string>& arguments, const std::string& words) {
    const Outcome outcome = fovea(arguments);
    EXPECT_NE(outcome.status, 0) << outcome.out;
    EXPECT_EQ(outcome.err.rfind("error: ", 0), 0u) << outcome.err;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << words << " not in: " << outcome.err;
  }
};

TEST_F(Export, AWrittenFolderIsReadBackBitForBit) {
  const std::string run = pretrained(), first = path("first"), second = path("second");
  const Outcome exported = fovea({"export", run, "--hugging-face", first});
  ASSERT_EQ(exported.status, 0) << exported.err;
  EXPECT_EQ(exported.out, first + "\n");
  const PretrainedBert ours = read_pretrained(run), theirs = read_pretrained(first);
  for (const auto& [wanted, found] :
       {std::pair{&ours.encoder, &theirs.encoder}, std::pair{&ours.heads, &theirs.heads}}) {
    ASSERT_EQ(found->size(), wanted->size());
    for (const auto& [name, tensor] : *wanted) EXPECT_TRUE(found->at(name).equal(tensor)) << name;
  }
  const std::vector<std::string> texts{"The cat sat on the mat.", "A [MASK] was here.", "--json"};
  const auto answer = [&](const std::string& from) {
    std::vector<std::string> arguments{"predict", from};
    arguments.insert(arguments.end(), texts.begin(), texts.end());
    return fovea(arguments);
  };
  EXPECT_EQ(answer(first).json(), answer(run).json());

  ASSERT_EQ(fovea({"export", first, "--hugging-face", second}).status, 0);
  for (const auto& entry : std::filesystem::directory_iterator(first)) {
    const std::string name = entry.path().filename().string();
    EXPECT_EQ(read_file(folder / "second" / name), read_file(entry.path())) << name;
  }
}

TEST_F(Export, OneFormAtATimeAndOnlyOfABert) {
  const std::string run = pretrained();
  expect_refused({"export", run}, "--onnx FILE.onnx or --hugging-face FOLDER");
  expect_refused({"export", run, "--onnx", path("a.onnx"), "--hugging-face", path("a")},
                 "either --onnx");
  expect_refused({"export", run, "--hugging-face", path("a"), "--attention"}, "--attention");
  ASSERT_EQ(fovea({"train", "features", "--quiet", "--out", path("features"), "--epochs", "1",
                   "--set", "data.rows=100"})
                .status,
            0);
  expect_refused({"export", path("features"), "--hugging-face", path("a")}, "no BERT encoder");
  EXPECT_FALSE(std::filesystem::exists(path("a")));
  expect_refused({"export", run, "--hugging-face", run}, "config.json already");
}

#ifdef FOVEA_WITH_ONNX

TEST_F(Export, AHuggingFaceFolderBecomesOnnx) {
  ASSERT_EQ(fovea({"export", pretrained(), "--hugging-face", path("bert")}).status, 0);
  const Outcome outcome =
      fovea({"export", path("bert"), "--onnx", path("bert.onnx"), "--attention"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, path("bert.onnx") + "\n");
  const std::string bytes = read_file(path("bert.onnx"));
  for (const char* words : {"pretrain", "tokenizer.json", "fovea.window", "embedding",
                            "masked_log_probabilities", "attention_2"})
    EXPECT_NE(bytes.find(words), std::string::npos) << words;
}

TEST_F(Export, TwoFilesThatBelongTogetherSaySo) {
  ASSERT_EQ(fovea({"train", "dates", "--quiet", "--out", path("dates"), "--epochs", "0", "--set",
                   "data.rows=100"})
                .status,
            0);
  const std::vector<std::string> plain{"export", path("dates"), "--onnx", path("m.onnx")};
  const auto said_by = [&](const char* part) {
    const std::string bytes = read_file(path(concat("m-", part, ".onnx")));
    const size_t at = bytes.find("fnv1a64:", bytes.find("fovea.export"));
    return at == std::string::npos ? "" : bytes.substr(at, 24);
  };
  ASSERT_EQ(fovea(plain).status, 0);
  const std::string first = said_by("encoder");
  EXPECT_EQ(first.size(), 24u);
  EXPECT_EQ(said_by("decoder"), first);
  std::vector<std::string> other = plain;
  other.push_back("--attention");
  ASSERT_EQ(fovea(other).status, 0);
  EXPECT_NE(said_by("encoder"), first);
  EXPECT_EQ(said_by("decoder"), said_by("encoder"));
  // Where one cannot be written, both stay.
  std::filesystem::rename(path("m-decoder.onnx"), path("elsewhere"));
  std::filesystem::create_symlink(path("elsewhere"), path("m-decoder.onnx"));
  const std::string before = said_by("encoder");
  expect_refused(plain, "a link");
  EXPECT_EQ(said_by("encoder"), before);
  EXPECT_EQ(said_by("decoder"), before);
}

#endif

}  // namespace
}  // namespace fovea::export_test
