// Folders of Hugging Face, whatever network they hold: where the weights are, what labels are
// called, which task a network belongs to.
#include "fovea/tasks/hugging_face_folder.h"

#include <gtest/gtest.h>
#include "fovea/tasks/architectures.h"
#include "fovea/tasks/catalogue.h"
#include "fovea/tensor/safetensors.h"
#include "fovea/tensor/torch.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea::hugging_face_folder_test {
namespace {

using testing::expect_error;
using Names = std::vector<std::string>;

class AnyFolder : public ::testing::Test {
 protected:
  HuggingFaceFolder folder(const Json& config = {{"model_type", "bert"}}) {
    files.write("config.json", config.dump());
    return HuggingFaceFolder(files.path());
  }
  void write_index(const Json& map) {
    files.write("model.safetensors.index.json",
                Json{{"metadata", {{"total_size", 24}}}, {"weight_map", map}}.dump());
  }
  /// a and b in two files.
  void write_shards() {
    write_safetensors(files / "model-00001-of-00002.safetensors", {{"a", at::ones({2})}});
    write_safetensors(files / "model-00002-of-00002.safetensors", {{"b", at::zeros({4})}});
    write_index(
        {{"a", "model-00001-of-00002.safetensors"}, {"b", "model-00002-of-00002.safetensors"}});
  }

  testing::TemporaryFolder files;
};

TEST_F(AnyFolder, ShardsAreOneNetwork) {
  write_shards();
  const WeightMap weights = folder().weights();
  ASSERT_EQ(weights.size(), 2u);
  EXPECT_TRUE(weights.at("a").equal(at::ones({2})));
  EXPECT_TRUE(weights.at("b").equal(at::zeros({4})));
}

TEST_F(AnyFolder, EveryMissingShardIsNamed) {
  write_shards();
  std::filesystem::remove(files / "model-00001-of-00002.safetensors");
  std::filesystem::remove(files / "model-00002-of-00002.safetensors");
  expect_error(ErrorKind::NotFound,
               {"index.json", "2 are missing", "model-00001-of-00002.safetensors",
                "model-00002-of-00002.safetensors"},
               [&] { folder().weights(); });
}

TEST_F(AnyFolder, AnIndexStaysInItsFolder) {
  write_shards();
  for (const char* outside :
       {"../model.safetensors", "/tmp/x.safetensors", "sub/x.safetensors", "..", ""}) {
    write_index({{"a", outside}});
    expect_error(ErrorKind::BadData, {"index.json", "outside of the folder"},
                 [&] { folder().weights(); });
  }
}

TEST_F(AnyFolder, AnIndexThatDoesNotFitItsFiles) {
  write_shards();
  write_index(
      {{"a", "model-00002-of-00002.safetensors"}, {"c", "model-00001-of-00002.safetensors"}});
  expect_error(ErrorKind::BadData, {"a is in model-00001", "c is in no file", "b of model-00002"},
               [&] { folder().weights(); });
  files.write("model.safetensors.index.json", "{}");
  expect_error(ErrorKind::BadData, "weight_map", [&] { folder().weights(); });
}

TEST_F(AnyFolder, SeveralFilesNeedAnIndex) {
  write_shards();
  std::filesystem::remove(files / "model.safetensors.index.json");
  expect_error(ErrorKind::NotFound, {"several files", "model-00001-of-00002", "index.json"},
               [&] { folder().weights(); });
}

TEST_F(AnyFolder, LabelsHaveNamesOrNumbers) {
  EXPECT_EQ(folder().labels(), (Names{"LABEL_0", "LABEL_1"}));
  EXPECT_EQ(folder({{"num_labels", 1}}).labels(), (Names{"LABEL_0"}));
  const Json named{{"id2label", {{"1", "good"}, {"0", "bad"}, {"2", "so so"}}}};
  EXPECT_EQ(folder(named).labels(), (Names{"bad", "good", "so so"}));
  expect_error(ErrorKind::BadData, {"id2label", "label 1 is missing"}, [&] {
    folder({{"id2label", {{"0", "a"}, {"2", "b"}}}}).labels();
  });
  expect_error(ErrorKind::BadData, {"id2label", "'x'"}, [&] {
    folder({{"id2label", {{"x", "a"}}}}).labels();
  });
  expect_error(ErrorKind::BadData, {"both called 'a'"}, [&] {
    folder({{"id2label", {{"0", "a"}, {"1", "a"}}}}).labels();
  });
}

TEST_F(AnyFolder, ManyLabelsAreRead) {
  constexpr int64_t kLabels = 12'000;
  Json config{{"model_type", "bert"}};
  for (int64_t i = 0; i < kLabels; ++i) config["id2label"][concat(i)] = concat("label ", i);
  EXPECT_EQ(int64_t(folder(config).labels().size()), kLabels);
  EXPECT_TRUE(is_hugging_face(files.path()));
}

TEST_F(AnyFolder, TypesInBothStyles) {
  EXPECT_EQ(folder({{"dtype", "bfloat16"}}).dtype(), "bfloat16");
  EXPECT_EQ(folder({{"torch_dtype", "float16"}}).dtype(), "float16");
  EXPECT_EQ(folder().dtype(), "");
}

TEST_F(AnyFolder, EveryArchitectureHasATaskAndAModel) {
  for (const Architecture& row : architecture_table()) {
    const Names models = make_task(row.task)->models();
    EXPECT_NE(std::find(models.begin(), models.end(), row.model), models.end()) << row.name;
    const Json config{{"model_type", row.model_type}, {"architectures", {row.name}}};
    EXPECT_EQ(find_architecture(folder(config)).name, row.name);
  }
}

TEST_F(AnyFolder, AnUnknownArchitectureIsNamed) {
  expect_error(ErrorKind::Unsupported, {"mamba", "MambaForCausalLM", "BertModel"}, [&] {
    find_architecture(folder({{"model_type", "mamba"}, {"architectures", {"MambaForCausalLM"}}}));
  });
  expect_error(ErrorKind::Unsupported, {"BertForMaskedLMs", "did you mean 'BertForMaskedLM'"}, [&] {
    find_architecture(folder({{"model_type", "bert"}, {"architectures", {"BertForMaskedLMs"}}}));
  });
  EXPECT_EQ(find_architecture(folder({{"model_type", "bert"}})).name, "BertModel");
}

}  // namespace
}  // namespace fovea::hugging_face_folder_test
