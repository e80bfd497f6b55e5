// No byte of a name or an input moves the cursor of a terminal; a pipe gets answers as they are.
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fovea/base/file.h"
#include "tests/cli/program.h"
#include "tests/support/temporary_folder.h"

namespace fovea::terminal_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

const std::string kEscape = "\x1b[2J";  // clears a screen
const std::string kCommand =
    "\xC2\x9B"
    "31m";  // CSI as one code point

/// The real program on a terminal: all that it showed there.
std::string on_terminal(const std::vector<std::string>& arguments) {
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    ::setenv("NO_COLOR", "1", 1);
    std::vector<char*> argv{const_cast<char*>("fovea")};
    for (const std::string& argument : arguments)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    ::execv(FOVEA_PROGRAM, argv.data());
    ::_exit(127);
  }
  std::string shown;
  char bytes[4096];
  for (ssize_t count; (count = ::read(terminal, bytes, sizeof bytes)) > 0;)
    shown.append(bytes, size_t(count));
  ::close(terminal);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << shown;
  return shown;
}

class OnTerminal : public ::testing::Test {
 protected:
  /// A table whose columns, categories and classes all hold commands.
  static void SetUpTestSuite() {
    folder = std::make_unique<TemporaryFolder>();
    std::string table = concat("col", kEscape, ",", kCommand, "size,y\n");
    for (int i = 0; i < 60; ++i)
      table += concat(i % 2 ? "red" + kEscape : "blue", ",", i % 3, ",",
                      i % 2 ? "yes" + kEscape : "no" + kCommand, "\n");
    write_file(path("t.csv"), table);
    trained = fovea({"train", "features", path("t.csv"), "--out", run(), "--epochs", "1", "--set",
                     "model.name=attention"});
    ASSERT_EQ(trained.status, 0) << trained.err;
  }
  static void TearDownTestSuite() { folder.reset(); }
  static std::string path(const std::string& name) { return (folder->path() / name).string(); }
  static std::string run() { return path("run"); }
  static void expect_clean(const std::string& text) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(text.find("\xC2\x9B"), std::string::npos) << text;
  }
  inline static std::unique_ptr<TemporaryFolder> folder;
  inline static Outcome trained;
};

TEST_F(OnTerminal, MessagesShowWhatTheyName) {
  expect_clean(trained.err);
  for (const Outcome& outcome :
       {fovea({"predict", run(), "--input", path("gone" + kEscape + ".csv")}),
        fovea({"predict", path("gone" + kEscape), "1"}), fovea({"predict", run(), kEscape}),
        fovea({"predict", run(), concat("{\"", "a\\u001b[2J", "\": 1}")}),
        fovea({"train", "features", path("t.csv"), "--target", kCommand}),
        fovea({"train", "features", "--set", "data." + kEscape + "=1"}),
        fovea({"predict", run(), "--" + kEscape})}) {
    EXPECT_NE(outcome.status, 0);
    expect_clean(outcome.err);
    EXPECT_NE(outcome.err.find("\\x"), std::string::npos) << outcome.err;
  }
  write_file(path("more.csv"),
             concat("col", kEscape, ",", kCommand, "size,new", kEscape, "\nred,1,x\n"));
  const Outcome noted = fovea({"predict", run(), "--input", path("more.csv")});
  EXPECT_EQ(noted.status, 0) << noted.err;
  expect_clean(noted.err);
  EXPECT_NE(noted.err.find("'new\\x1b[2J'"), std::string::npos) << noted.err;
}

TEST_F(OnTerminal, DrawingsShowWhatTheyName) {
  const Outcome overview = fovea({"explain", run()});
  ASSERT_EQ(overview.status, 0) << overview.err;
  expect_clean(overview.out);
  EXPECT_NE(overview.out.find("col\\x1b[2J"), std::string::npos) << overview.out;
  const Outcome row = fovea({"explain", run(), "red" + kEscape + ",1"});
  ASSERT_EQ(row.status, 0) << row.err;
  expect_clean(row.out);
}

TEST_F(OnTerminal, AnswersAreExactInAPipeAndSafeOnATerminal) {
  const std::string row = "red" + kEscape + ",1";
  const Outcome piped = fovea({"predict", run(), row});
  ASSERT_EQ(piped.status, 0) << piped.err;
  const auto holds_class = [](const std::string& text) {
    return text == "yes" + kEscape || text == "no" + kCommand;
  };
  EXPECT_TRUE(holds_class(piped.out.substr(0, piped.out.find('\t')))) << piped.out;
  const std::string shown = on_terminal({"predict", run(), row});
  expect_clean(shown);
  EXPECT_TRUE(shown.starts_with("yes\\x1b[2J\t") || shown.starts_with("no\\x9b31m\t")) << shown;
  const Outcome json = fovea({"predict", run(), row, "--json"});
  EXPECT_TRUE(holds_class(json.json()[0]["class"].get<std::string>())) << json.out;
}

}  // namespace
}  // namespace fovea::terminal_test
