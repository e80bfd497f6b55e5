// Every example of every help text works as it is written.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <sstream>

#include "tests/cli/program.h"
#include "tests/support/temporary_folder.h"

namespace fovea::examples_test {
namespace {

using testing::fovea;
using testing::Outcome;
using testing::TemporaryFolder;

std::vector<std::string> command_names() {
  CLI::App program;
#define FOVEA_ROW(name) cli::add_##name(program);
  FOVEA_COMMANDS(FOVEA_ROW)
#undef FOVEA_ROW
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

/// The lines "  fovea …" of a help text; those with && between them are several.
std::vector<std::string> examples_in(const std::string& help) {
  std::vector<std::string> examples;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("  fovea ")) examples.push_back(line.substr(2));
  return examples;
}

/// The words behind "fovea", as a shell would give them; quotes hold blanks.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  bool quoted = false, inside = false;
  for (const char c : command) {
    if (c == '"') quoted = !quoted;
    if (c == ' ' && !quoted) inside = false;
    if (c == '"' || (c == ' ' && !quoted)) continue;
    if (!inside) words.emplace_back();
    inside = true;
    words.back() += c;
  }
  words.erase(words.begin());
  return words;
}

std::vector<std::string> commands_of(const std::string& example) {
  std::vector<std::string> commands;
  size_t from = 0;
  for (size_t at = 0; (at = example.find(" && ", from)) != std::string::npos; from = at + 4)
    commands.push_back(example.substr(from, at - from));
  commands.push_back(example.substr(from));
  return commands;
}

/// The server at any port, which is asked to end once it has begun.
void expect_serves(std::vector<std::string> words) {
  for (size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == "--port") words.erase(words.begin() + long(i), words.begin() + long(i) + 2);
  words.insert(words.end(), {"--port", "0"});
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(pipe[1], STDERR_FILENO);
    ::dup2(pipe[1], STDOUT_FILENO);
    std::vector<char*> argv{const_cast<char*>("fovea")};
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execv(FOVEA_PROGRAM, argv.data());
    ::_exit(127);
  }
  ::close(pipe[1]);
  std::string said;
  for (char c = 0; said.find("http://") == std::string::npos && ::read(pipe[0], &c, 1) == 1;)
    said += c;
  EXPECT_NE(said.find("http://"), std::string::npos) << said;
  ::kill(child, SIGTERM);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << said;
  ::close(pipe[0]);
}

TEST(Examples, EveryHelpTextHasThreeThatWork) {
  TemporaryFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  for (const std::string& name : command_names()) {
    const std::vector<std::string> examples = examples_in(fovea({name, "--help"}).out);
    EXPECT_GE(examples.size(), 3u) << name;
    for (const std::string& example : examples)
      for (const std::string& command : commands_of(example)) {
        const std::vector<std::string> words = words_of(command);
        const bool is_board = words[0] == "board" && std::ranges::count(words, "--out") == 0;
        if (words[0] == "serve" || is_board) {
          expect_serves(words);
          continue;
        }
        const Outcome outcome = fovea(words);
        const bool missing = outcome.err.find("this build") != std::string::npos;  // a library
        EXPECT_TRUE(outcome.status == 0 || missing) << command << "\n" << outcome.err;
      }
  }
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace fovea::examples_test
