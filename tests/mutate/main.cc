// Damages every kind of JSON that the program reads and lets the program read it, in this process.
// Each mutant must be read, or be refused with a clear error, within a bound of time and memory.
// usage: fovea_mutate [MUTANTS] [--only TEXT] [--keep FOLDER]
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iostream>

#include "fovea/base/error.h"
#include "fovea/serving/http_error.h"
#include "fovea/tensor/parallel.h"
#include "fovea/tensor/torch.h"
#include "tests/mutate/mutator.h"
#include "tests/mutate/subjects.h"
#include "tests/support/temporary_folder.h"

namespace fovea::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
constexpr double kSeconds = kSanitized ? 60 : 10;
constexpr double kMegabytes = kSanitized ? 4096 : 1024;  // that one mutant may need

char current[4096];  // what is read now, for the end by a signal

void report_signal(int number) {
  const char* what = number == SIGALRM ? "HANGS: " : "ENDS BY A SIGNAL: ";
  (void)!::write(STDERR_FILENO, what, std::strlen(what));
  (void)!::write(STDERR_FILENO, current, std::strlen(current));
  (void)!::write(STDERR_FILENO, "\n", 1);
  ::_exit(3);
}

/// Also for a stack that has run out, which needs another one to say so.
void watch_signals() {
  static char stack[1 << 16];
  stack_t other{};
  other.ss_sp = stack;
  other.ss_size = sizeof stack;
  ::sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_handler = report_signal;
  action.sa_flags = SA_ONSTACK;
  ::sigaction(SIGALRM, &action, nullptr);
  if (kSanitized) return;  // the sanitizers say more
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
    ::sigaction(number, &action, nullptr);
}

/// Megabytes of this process: "VmRSS" now, "VmHWM" at most since forget_peak().
double memory(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key + ":")) return std::stod(line.substr(key.size() + 1)) / 1024;
  return 0;
}
void forget_peak() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

struct Outcome {
  std::string problem;  // empty: all is well
  bool refused = false;
  double seconds = 0, megabytes = 0;
};

/// What is wrong with an error's message.
std::string problem_in(const std::string& message) {
  if (message.find("json.exception") != std::string::npos) return "an error of the JSON library";
  if (message.empty()) return "no message";
  if (valid_utf8_prefix(message) != message.size()) return "a message that is not UTF-8";
  return "";
}

Outcome try_to_read(const Subject& subject, const std::string& text) {
  Outcome outcome;
  std::string message;
  const double before = memory("VmRSS");
  forget_peak();
  const auto begin = std::chrono::steady_clock::now();
  ::alarm(unsigned(10 * kSeconds));
  try {
    subject.read(text);
  } catch (const Error& error) {
    outcome.refused = true;
    message = error.what();
    outcome.problem =
        error.kind() == ErrorKind::Internal ? "an internal error" : problem_in(message);
  } catch (const serving::HttpError& error) {
    outcome.refused = true;
    message = error.what();
    outcome.problem = problem_in(message);
  } catch (const std::exception& error) {
    message = error.what();
    outcome.problem = concat("an exception that is no Error (", typeid(error).name(), ")");
  }
  ::alarm(0);
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  outcome.megabytes = memory("VmHWM") - before;
  if (outcome.problem.empty() && outcome.seconds > kSeconds)
    outcome.problem = concat(format_number(outcome.seconds, 3), " seconds");
  if (outcome.problem.empty() && outcome.megabytes > kMegabytes)
    outcome.problem = concat(format_number(outcome.megabytes, 4), " MB");
  if (!outcome.problem.empty() && !message.empty())
    outcome.problem += concat(": ", shorten_bytes(message.substr(0, message.find('\n')), 400));
  return outcome;
}

struct Totals {
  int64_t mutants = 0, refused = 0, findings = 0;
  double slowest = 0, largest = 0;
};

void examine_mutants(const Subject& subject, uint64_t mutants, const std::filesystem::path& keep,
                     Totals& all) {
  Totals own;
  const auto report = [&](const std::string& which, const std::string& text,
                          const std::string& problem) {
    ++own.findings;
    std::string name = concat(subject.name, "-", which);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '/' || c == ' ' || c == ':'; }, '_');
    if (!keep.empty()) std::ofstream(keep / name, std::ios::binary) << text;
    std::cout << "FOUND  " << subject.name << ", " << which << ": " << problem << "\n";
  };
  const auto announce = [&](const std::string& which) {
    const std::string name = concat(subject.name, ", ", which);
    std::memcpy(current, name.c_str(), std::min(name.size() + 1, sizeof current - 1));
  };
  announce("the original");
  if (const Outcome outcome = try_to_read(subject, subject.text);
      outcome.refused || !outcome.problem.empty())
    report("the original", subject.text, concat("is refused; ", outcome.problem));
  for (uint64_t number = 0; number < mutants; ++number) {
    const std::string text = mutant_of(subject.text, number), which = concat("mutant ", number);
    announce(which);
    const Outcome outcome = try_to_read(subject, text);
    if (!outcome.problem.empty()) report(which, text, outcome.problem);
    ++own.mutants;
    own.refused += outcome.refused;
    own.slowest = std::max(own.slowest, outcome.seconds);
    own.largest = std::max(own.largest, outcome.megabytes);
  }
  try_to_read(subject, subject.text);  // the file is whole again, for the next subject
  std::cout << subject.name << ": " << own.mutants << " mutants, " << own.refused << " refused, "
            << own.findings << " findings; at most " << format_number(own.slowest * 1000, 3)
            << " ms, " << format_number(own.largest, 3) << " MB" << std::endl;
  all.mutants += own.mutants;
  all.refused += own.refused;
  all.findings += own.findings;
  all.slowest = std::max(all.slowest, own.slowest);
  all.largest = std::max(all.largest, own.largest);
}

int run(int argc, char** argv) {
  uint64_t mutants = 300;
  std::string only, keep;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    int64_t number = 0;
    if ((argument == "--only" || argument == "--keep") && i + 1 < argc) {
      (argument == "--only" ? only : keep) = argv[++i];
    } else if (parse_integer(argument, number) && number > 0) {
      mutants = uint64_t(number);
    } else {
      std::cerr << "usage: fovea_mutate [MUTANTS] [--only TEXT] [--keep FOLDER]\n";
      return 2;
    }
  }
  if (!keep.empty()) std::filesystem::create_directories(keep);
  const TemporaryFolder folder;
  const std::vector<Subject> subjects = make_subjects(folder.path(), only);
  watch_signals();
  if (!kSanitized) {  // what asks for more fails at once, and does not bring the machine down
    const rlimit limit{rlim_t{24} << 30, rlim_t{24} << 30};
    ::setrlimit(RLIMIT_AS, &limit);
  }
  Totals all;
  for (const Subject& subject : subjects) examine_mutants(subject, mutants, keep, all);
  std::cout << subjects.size() << " kinds of JSON, " << all.mutants << " mutants, " << all.refused
            << " refused, " << all.findings << " findings; at most "
            << format_number(all.slowest * 1000, 3) << " ms and " << format_number(all.largest, 3)
            << " MB for one" << std::endl;
  return all.findings > 0 || subjects.empty() ? 1 : 0;
}

}  // namespace
}  // namespace fovea::testing

int main(int argc, char** argv) {
  try {
    return fovea::testing::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 2;
  }
}
