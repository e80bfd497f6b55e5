// A training killed at random moments, resumed, and killed again ends with the same bytes as one
// that was left alone; what is written as a folder is there as a whole or not at all; nobody is
// left behind. Also Ctrl-C.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <map>

#include "fovea/base/file.h"
#include "fovea/tensor/random.h"
#include "fovea/tensor/safetensors.h"
#include "tests/cli/program.h"
#include "tests/support/temporary_folder.h"

namespace fovea::kill_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

/// Starts the real program.
pid_t start(const std::vector<std::string>& arguments) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  const int nothing = ::open("/dev/null", O_WRONLY);
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(nothing, STDERR_FILENO);
  std::vector<char*> argv{const_cast<char*>("fovea")};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execv(FOVEA_PROGRAM, argv.data());
  ::_exit(127);
}

/// Its exit status, or minus the signal that ended it.
int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// Hidden names of files and folders that were not finished.
std::vector<std::string> temporaries_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (is_temporary(entry.path())) names.push_back(entry.path().string());
  return names;
}

std::vector<std::string> arguments(const std::string& out, int64_t epochs) {
  return {"train",    "features",
          "--out",    out,
          "--set",    "data.rows=30000",
          "--epochs", std::to_string(epochs),
          "--set",    "training.checkpoint_seconds=0",
          "--set",    "training.schedule=cosine",
          "--set",    "model.name=tutorial",
          "--quiet"};
}

TEST(Kill, AtRandomMomentsChangesNothing) {
  TemporaryFolder folder;
  const std::string whole = (folder / "whole").string(), killed = (folder / "killed").string();
  constexpr int64_t kEpochs = 60;
  ASSERT_EQ(wait_for(start(arguments(whole, kEpochs))), 0);

  const Random random(2024);
  int kills = 0, status = -SIGKILL;
  for (uint64_t attempt = 0; status != 0; ++attempt) {
    ASSERT_LT(attempt, 60u) << "the training never ends";
    const bool begun = std::filesystem::exists(killed + "/last.safetensors");
    const pid_t child = begun ? start({"train", "features", "--out", killed, "--resume", "--quiet"})
                              : start(arguments(killed, kEpochs));
    // Starting takes about 0.5 s; most kills fall into the training that follows, some into the
    // start. Later attempts are given more time, so that a slow machine gets to the end as well.
    ::usleep(static_cast<useconds_t>((200 + 600 * random.uniform(attempt) + 60 * double(attempt)) *
                                     1000));
    if (::kill(child, SIGKILL) == 0) ++kills;
    status = wait_for(child);
    ASSERT_TRUE(status == 0 || status == -SIGKILL)
        << "attempt " << attempt << " ended with " << status;
  }
  EXPECT_GT(kills, 1);
  EXPECT_EQ(read_file(whole + "/model.safetensors"), read_file(killed + "/model.safetensors"));
  const auto expected = read_safetensors(whole + "/last.safetensors").tensors,
             found = read_safetensors(killed + "/last.safetensors").tensors;
  for (const auto& [name, tensor] : expected) EXPECT_TRUE(tensor.equal(found.at(name))) << name;
  EXPECT_EQ(fovea({"evaluate", whole, "--json"}).out, fovea({"evaluate", killed, "--json"}).out);
  EXPECT_EQ(fovea({"doctor", killed}).status, 0);
  EXPECT_EQ(temporaries_in(folder.path()), std::vector<std::string>{});
}

TEST(Kill, TheNoteIsOfTheWeightsThatWereWritten) {
  TemporaryFolder folder;
  const std::string out = (folder / "run").string();
  const pid_t child = start({"train", "features", "--out", out, "--set", "data.rows=2000", "--set",
                             "model.name=plain", "--set", "training.patience=0", "--epochs",
                             "100000", "--set", "training.checkpoint_seconds=1000", "--quiet"});
  const auto epochs = [&] {
    const std::filesystem::path metrics = out + "/metrics.jsonl";
    return std::filesystem::exists(metrics) ? std::ranges::count(read_file(metrics), '\n') : 0;
  };
  for (int i = 0; i < 6000 && epochs() < 3; ++i) ::usleep(10'000);
  ::kill(child, SIGKILL);
  ASSERT_EQ(wait_for(child), -SIGKILL);
  const std::string note = fovea({"evaluate", out, "--json"}).json()["unfinished"];
  EXPECT_NE(note.find("the answers are those of epoch 1;"), std::string::npos) << note;
  EXPECT_NE(note.find("of later epochs"), std::string::npos) << note;
}

/// Path below the folder, and content.
std::map<std::string, std::string> content_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files[entry.path().lexically_relative(folder).string()] = read_file(entry.path());
  return files;
}

TEST(Kill, DataIsThereAsAWholeOrNotAtAll) {
  TemporaryFolder folder;
  const std::string out = (folder / "data").string();
  const std::vector<std::string> write{
      "data",  "caption",          "--out", out,
      "--set", "data.rows=40",     "--set", "data.validation_rows=10",
      "--set", "data.test_rows=10"};
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(wait_for(start(write)), 0);
  const std::chrono::duration<double> whole_seconds = std::chrono::steady_clock::now() - begin;
  const auto whole = content_of(out);
  std::filesystem::remove_all(out);
  const Random random(7);
  int unfinished = 0;
  for (uint64_t attempt = 0; attempt < 25; ++attempt) {
    const pid_t child = start(write);
    ::usleep(static_cast<useconds_t>(1.1e6 * whole_seconds.count() * random.uniform(attempt)));
    ::kill(child, SIGKILL);
    wait_for(child);
    unfinished += int(temporaries_in(folder.path()).size() > 0);
    if (!std::filesystem::exists(out)) continue;
    EXPECT_EQ(content_of(out), whole) << attempt;
    std::filesystem::remove_all(out);
  }
  EXPECT_GT(unfinished, 0) << "no kill fell into the writing";
  ASSERT_EQ(wait_for(start(write)), 0);
  EXPECT_EQ(content_of(out), whole);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"data"}) << "earlier kills are cleared up";
}

/// Processes whose parent this is.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  std::ifstream list(concat("/proc/", parent, "/task/", parent, "/children"));
  for (pid_t child; list >> child;) children.push_back(child);
  return children;
}

/// Neither gone nor only waiting to be counted.
bool is_alive(pid_t process) {
  std::ifstream file(concat("/proc/", process, "/stat"));
  std::string line;
  if (!std::getline(file, line)) return false;
  const char state = line.at(line.rfind(')') + 2);
  return state != 'Z' && state != 'X';
}

TEST(Kill, CompareLeavesNoOrphans) {
  if (!std::filesystem::exists(concat("/proc/self/task/", ::getpid(), "/children")))
    GTEST_SKIP() << "needs /proc";
  TemporaryFolder folder;
  for (const int signal : {SIGKILL, SIGTERM, SIGINT}) {
    const pid_t parent = start({"compare", "features", "--vary", "model.name=attention,plain",
                                "--seeds", "2", "--jobs", "3", "--epochs", "100000000", "--quiet",
                                "--out", (folder / "out").string()});
    std::vector<pid_t> children;
    for (int i = 0; i < 3000 && children.size() < 3; ++i) {
      ::usleep(10'000);
      children = children_of(parent);
    }
    EXPECT_EQ(children.size(), 3u);
    ::usleep(300'000);  // in the middle of a training
    ::kill(parent, signal);
    EXPECT_EQ(wait_for(parent), signal == SIGKILL ? -SIGKILL : 128 + signal);
    for (int i = 0; i < 500; ++i) {
      if (std::none_of(children.begin(), children.end(), is_alive)) break;
      ::usleep(10'000);
    }
    for (const pid_t child : children) {
      EXPECT_FALSE(is_alive(child)) << "after signal " << signal;
      if (is_alive(child)) ::kill(child, SIGKILL);
    }
    EXPECT_EQ(std::filesystem::exists(folder / "out"), signal == SIGKILL) << "made, but empty";
    std::filesystem::remove_all(folder / "out");
  }
}

/// A file that is mapped into memory would end the program by SIGBUS.
TEST(Kill, APreparedFileMayBeCutShortWhileItIsTrainedOn) {
  TemporaryFolder folder;
  const std::string prepared = (folder / "dates.safetensors").string(),
                    out = (folder / "run").string();
  ASSERT_EQ(wait_for(start({"prepare", "dates", "--set", "data.rows=2000", "--out", prepared})), 0);
  const pid_t child =
      start({"train", "dates", prepared, "--out", out, "--epochs", "1000", "--quiet"});
  for (int i = 0; i < 6000 && !std::filesystem::exists(out + "/last.safetensors"); ++i)
    ::usleep(10'000);
  std::filesystem::resize_file(prepared, 1000);
  ::usleep(1'500'000);  // several batches, each of other rows
  ::kill(child, SIGTERM);
  EXPECT_EQ(wait_for(child), 128 + SIGTERM);
  const Outcome outcome = fovea({"train", "dates", "--out", out, "--resume", "--quiet"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("dates.safetensors"), std::string::npos) << outcome.err;
}

TEST(Kill, PoliteSignalsLeaveACheckpoint) {
  for (const int signal : {SIGINT, SIGTERM}) {
    TemporaryFolder folder;
    const std::string out = (folder / "run").string();
    const pid_t child = start(arguments(out, 1'000'000));
    while (!std::filesystem::exists(out + "/last.safetensors")) ::usleep(10'000);
    ::usleep(200'000);
    ::kill(child, signal);
    EXPECT_EQ(wait_for(child), 128 + signal);
    EXPECT_EQ(fovea({"evaluate", out}).status, 0);
    EXPECT_EQ(fovea({"doctor", out}).status, 0);
  }
}

TEST(Interrupt, WhileTheModelIsChosenLeavesNothing) {
  TemporaryFolder folder;
  const std::string out = (folder / "run").string();
  const pid_t child =
      start({"train", "features", "--out", out, "--set", "data.rows=3000", "--quiet"});
  for (int i = 0; i < 600 && !std::filesystem::exists(out + "/.lock"); ++i) ::usleep(10'000);
  ::usleep(300'000);
  ::kill(child, SIGINT);
  EXPECT_EQ(wait_for(child), 128 + SIGINT);
  EXPECT_FALSE(std::filesystem::exists(out)) << "no run of a model that was never chosen";
  EXPECT_NE(fovea({"train", "features", "--out", out, "--resume"}).err.find("no such run"),
            std::string::npos);
}

TEST(Interrupt, AComparisonEndsWithTheStatusOfItsSignal) {
  TemporaryFolder folder;
  const std::string out = (folder / "compared").string();
  const pid_t child = start({"compare", "features", "--vary", "model.name=plain,linear", "--seeds",
                             "500", "--out", out, "--quiet"});
  for (int i = 0; i < 600 && !std::filesystem::exists(out); ++i) ::usleep(100'000);
  ::usleep(1'000'000);
  ::kill(child, SIGINT);
  EXPECT_EQ(wait_for(child), 128 + SIGINT);
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace fovea::kill_test
