// The configs that are named after a paper, at a fraction of its size: each trains, is measured,
// answers, and leaves as ONNX where its model has an exporter.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "fovea/base/file.h"
#include "fovea/base/json.h"
#include "fovea/base/text.h"
#include "tests/cli/program.h"
#include "tests/support/temporary_folder.h"

namespace fovea::papers_test {
namespace {

namespace fs = std::filesystem;

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

struct Paper {
  std::string config, task;
  std::vector<std::string> smaller;  // options
};

const std::vector<std::string> kFewPairs{"data.rows=60", "data.validation_rows=8",
                                         "data.test_rows=8", "training.epochs=1"};

std::vector<std::string> with(std::vector<std::string> some, std::vector<std::string> more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

const Paper kPapers[] = {
    {"seq2seq-cho", "translate",
     with(kFewPairs,
          {"model.hidden=12", "model.embedding=8", "model.readout_size=6", "model.output_rank=4"})},
    {"seq2seq-sutskever", "translate",
     with(kFewPairs, {"model.hidden=8", "model.embedding=8", "decoding.beam=2"})},
    {"seq2seq-bahdanau", "translate",
     with(kFewPairs, {"model.hidden=8", "model.encoder_hidden=6", "model.embedding=8",
                      "model.readout_size=6", "model.score_hidden=6", "decoding.beam=2"})},
    {"seq2seq-luong", "translate",
     with(kFewPairs, {"model.hidden=8", "model.embedding=8", "decoding.beam=2"})},
    {"seq2seq-demonstration", "dates",
     with(kFewPairs,
          {"data.locales=en", "model.hidden=8", "model.encoder_hidden=6", "model.score_hidden=6"})},
    {"speech-chorowski",
     "speech",
     {"data.rows=12", "data.validation_rows=4", "data.test_rows=4", "data.bands=12",
      "data.sample_rate=8000", "model.encoder_hidden=6", "model.hidden=8", "model.embedding=6",
      "model.readout_size=4", "model.score_hidden=6", "model.score_kernel_width=11",
      "model.layers=1", "decoding.beam=2", "training.batch_size=4", "training.epochs=1"}},
    {"dattn-seo",
     "ratings",
     {"data.users=20", "data.items=8", "data.ratings_each=6", "data.document_words=40",
      "model.embedding=6", "model.local_filters=4", "model.global_filters=3", "model.hidden=8",
      "model.factors=4", "training.epochs=1"}},
    {"caption-xu",
     "caption",
     {"data.rows=12", "data.validation_rows=4", "data.test_rows=4", "data.image_size=32",
      "model.encoder=small", "model.channels=8,8", "model.encoder_layers=3",
      "model.freeze_encoder=no", "model.hidden=8", "model.embedding=6", "model.score_hidden=6",
      "training.epochs=1"}},
};

void PrintTo(const Paper& paper, std::ostream* out) {
  *out << paper.config;
}

class Papers : public ::testing::TestWithParam<Paper> {};

TEST_P(Papers, TrainIsMeasuredAnswersAndLeaves) {
#ifndef FOVEA_WITH_ICU
  if (GetParam().task == "dates" || GetParam().task == "caption") GTEST_SKIP() << "needs ICU";
#endif
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string();
  const fs::path config =
      fs::path(FOVEA_TEST_FILES) / ".." / "configs" / (GetParam().config + ".json");
  std::vector<std::string> arguments{"train",         GetParam().task, "--config",
                                     config.string(), "--out",         run,
                                     "--quiet",       "--threads",     "1"};
  for (const std::string& option : GetParam().smaller)
    arguments.insert(arguments.end(), {"--set", option});
  const Outcome trained = fovea(arguments);
  ASSERT_EQ(trained.status, 0) << trained.err;

  // What the file says is what was trained, but for the sizes above.
  const Json asked = read_json_file(config);
  const Json made = read_json_file(fs::path(run) / "config.json");
  for (const auto& [key, value] : asked["model"].items()) {
    const bool smaller = std::ranges::any_of(GetParam().smaller, [&](const std::string& option) {
      return option.starts_with("model." + key + "=");
    });
    if (smaller) continue;
    EXPECT_EQ(made["model"][key], value) << key;
  }
  const Outcome measured = fovea({"evaluate", run, "--json"});
  ASSERT_EQ(measured.status, 0) << measured.err;
  const bool aligns = GetParam().task == "translate" && asked["model"]["attention"] == "soft";
  EXPECT_EQ(measured.out.find("\"aer\"") != std::string::npos, aligns) << measured.out;
#ifdef FOVEA_WITH_ONNX
  const Outcome exported = fovea({"export", run, "--onnx", (folder / "model.onnx").string()});
  if (GetParam().task == "speech" || GetParam().task == "ratings") {
    EXPECT_NE(exported.status, 0);
    EXPECT_NE(exported.err.find("no ONNX form"), std::string::npos) << exported.err;
  } else {
    EXPECT_EQ(exported.status, 0) << exported.err;
  }
#endif
}

INSTANTIATE_TEST_SUITE_P(Configs, Papers, ::testing::ValuesIn(kPapers), [](const auto& info) {
  return info.param.config.substr(info.param.config.find('-') + 1);
});

/// Words that a person aligned, sure and possible, in Pharaoh's form.
TEST(Alignments, GoldLinksOfWordsGiveAnErrorRate) {
  const TemporaryFolder folder;
  std::string text = "source\ttarget\tlinks\tsplit\n";
  for (int i = 0; i < 48; ++i)
    text += concat("a", i % 5, " b", i % 3, " c\tx", i % 5, " y", i % 3, " z\t0-0 1-1 2?2\t",
                   i < 36   ? "train"
                   : i < 42 ? "val"
                            : "test",
                   "\n");
  write_file(folder / "pairs.tsv", text);
  const std::string run = (folder / "run").string();
  const Outcome trained = fovea({"train", "translate", (folder / "pairs.tsv").string(), "--out",
                                 run, "--quiet", "--epochs", "1", "--set", "data.tokens=words",
                                 "--set", "model.hidden=8", "--set", "model.embedding=6"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  const Outcome measured = fovea({"evaluate", run, "--json"});
  ASSERT_EQ(measured.status, 0) << measured.err;
  const Json metrics = measured.json()["metrics"];
  ASSERT_TRUE(metrics.contains("aer")) << measured.out;
  const double rate = metrics["aer"];
  EXPECT_GE(rate, 0);
  EXPECT_LE(rate, 1);
}

}  // namespace
}  // namespace fovea::papers_test
