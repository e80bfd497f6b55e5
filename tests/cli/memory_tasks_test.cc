// The five kinds of the task copy by the program: a few steps of training, then everything that a
// run is asked for.
#include <gtest/gtest.h>

#include "fovea/base/file.h"
#include "tests/cli/program.h"
#include "tests/support/temporary_folder.h"

namespace fovea::memory_tasks_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

struct Kind {
  std::string name, line, answer;  // an input, and what its answer is called
  std::vector<std::string> smaller;
};

const Kind kKinds[] = {
    {"copy", "011 100", "copy", {"data.longest=3", "data.bits=3", "data.test_lengths=3,4"}},
    {"repeat-copy",
     "011 100 x2",
     "copies",
     {"data.longest=2", "data.bits=3", "data.most_repeats=2", "data.test_lengths=2",
      "data.test_repeats=2,3"}},
    {"associative-recall",
     "011 | 100 | 111 ? 011",
     "item",
     {"data.longest=3", "data.bits=3", "data.item_length=1", "data.test_lengths=3,4"}},
    {"ngrams", "0110100", "guesses", {"data.longest=10", "data.order=2", "data.test_lengths=10"}},
    {"priority-sort",
     "011@0.5 100@-1 111@0.75",
     "sorted",
     {"data.longest=4", "data.bits=3", "data.highest=3", "data.test_lengths=4"}},
};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.name;
}

class MemoryTasks : public ::testing::TestWithParam<Kind> {
 protected:
  std::string path(const std::string& name) const { return (folder / name).string(); }
  std::vector<std::string> options(std::vector<std::string> arguments) const {
    std::vector<std::string> all = GetParam().smaller;
    all.insert(all.end(), {"data.kind=" + GetParam().name, "data.rows=24", "data.validation_rows=6",
                           "data.test_rows=3"});
    for (const std::string& one : all) arguments.insert(arguments.end(), {"--set", one});
    return arguments;
  }
  Outcome train(std::vector<std::string> arguments, const std::string& run) const {
    arguments = options(std::move(arguments));
    arguments.insert(arguments.end(), {"--epochs", "1", "--quiet", "--out", path(run), "--set",
                                       "model.hidden=8", "--threads", "1"});
    return fovea(arguments);
  }
  Outcome train_machine(const std::string& source = "") const {
    std::vector<std::string> arguments{"train", "copy"};
    if (!source.empty()) arguments.push_back(source);
    arguments.insert(arguments.end(), {"--set", "model.slots=8", "--set", "model.width=5"});
    return train(arguments, "run");
  }
  TemporaryFolder folder;
};

TEST_P(MemoryTasks, FromTrainingToPicture) {
  const Outcome trained = train_machine();
  ASSERT_EQ(trained.status, 0) << trained.err;
  const Outcome measured = fovea({"evaluate", path("run"), "--json"});
  ASSERT_EQ(measured.status, 0) << measured.err;
  const Json metrics = measured.json()["metrics"];
  EXPECT_GT(metrics["bits"].get<double>(), 0);
  const bool known = GetParam().name != "copy" && GetParam().name != "ngrams";
  EXPECT_EQ(metrics.contains("attention_truth"), known) << measured.out;
  const Outcome table = fovea({"evaluate", path("run")});
  EXPECT_EQ(table.out.find("optimal") != std::string::npos, GetParam().name == "ngrams")
      << table.out;
  const Outcome answer = fovea({"predict", path("run"), GetParam().line, "--json"});
  ASSERT_EQ(answer.status, 0) << answer.err;
  EXPECT_NE(answer.out.find("\"" + GetParam().answer + "\""), std::string::npos) << answer.out;
  const Outcome picture = fovea(
      {"explain", path("run"), GetParam().line, "--out", path("a.json"), "--out", path("a.html")});
  ASSERT_EQ(picture.status, 0) << picture.err;
  EXPECT_EQ(read_json_file(path("a.json"))["maps"].size(), 2u);
  const Outcome refused = fovea({"predict", path("run"), "one two"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(refused.err.find("error: input"), 0u) << refused.err;
}

TEST_P(MemoryTasks, WrittenDataAreReadAgain) {
  const Outcome written = fovea(options({"data", "copy", "--out", path("data")}));
  ASSERT_EQ(written.status, 0) << written.err;
  const Outcome trained = train_machine(path("data"));
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_EQ(fovea({"evaluate", path("run")}).status, 0);
  const Outcome lines = fovea({"predict", path("run"), "--input", path("data") + "/test.txt"});
  EXPECT_EQ(lines.status, 0) << lines.err;
}

TEST_P(MemoryTasks, AnLstmIsComparedWithIt) {
  const Outcome trained =
      train({"train", "copy", "--set", "model.name=lstm", "--set", "model.layers=1"}, "lstm");
  ASSERT_EQ(trained.status, 0) << trained.err;
  const Json metrics = fovea({"evaluate", path("lstm"), "--json"}).json()["metrics"];
  EXPECT_FALSE(metrics.contains("attention_truth")) << "it has no memory to look at";
}

INSTANTIATE_TEST_SUITE_P(Kinds, MemoryTasks, ::testing::ValuesIn(kKinds), [](const auto& info) {
  std::string name = info.param.name;
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace fovea::memory_tasks_test
