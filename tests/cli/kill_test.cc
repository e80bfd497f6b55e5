// A training killed at random moments, resumed, and killed again ends with the same bytes as one
// that was left alone. Also Ctrl-C.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "fovea/core/file.h"
#include "fovea/core/random.h"
#include "fovea/core/safetensors.h"
#include "tests/cli/program.h"
#include "tests/support/temporary_folder.h"

namespace fovea {
namespace {

using testing::fovea;
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

std::vector<std::string> arguments(const std::string& out, int64_t epochs) {
  return {"train",    "features",
          "--out",    out,
          "--set",    "data.rows=30000",
          "--epochs", std::to_string(epochs),
          "--set",    "training.checkpoint_seconds=0",
          "--set",    "training.schedule=cosine",
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

}  // namespace
}  // namespace fovea
