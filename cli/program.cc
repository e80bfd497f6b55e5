#include "cli/program.h"

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif
#include <torch/version.h>

#include <algorithm>
#include <climits>
#include <filesystem>
#include <iostream>

#include "cli/interrupt.h"
#include "cli/mistakes.h"
#include "cli/output.h"
#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/kernels/instruction_set.h"
#include "fovea/program.h"
#include "fovea/tasks/version.h"
#include "fovea/tensor/blas.h"

namespace fovea::cli {

namespace {

constexpr size_t kLongestMessage = 8000;  // bytes; an error may repeat what it found in a file

/// `fovea help train` is `fovea train --help`.
std::vector<std::string> given_arguments(int argc, const char* const* argv) {
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  if (!arguments.empty() && arguments[0] == "help") {
    arguments.erase(arguments.begin());
    arguments.resize(std::min<size_t>(arguments.size(), 1));
    arguments.push_back("--help");
  }
  return arguments;
}

/// CLI11 takes an argument [a, b] for two and [] for none. A zero byte at its end, which no
/// argument can have of itself, hides that it is in brackets; each option takes it off again.
std::vector<std::string> kept_whole(std::vector<std::string> arguments) {
  for (std::string& argument : arguments)
    if (argument.starts_with('[')) argument += '\0';
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  return arguments;
}

void take_as_given(CLI::App& program) {
  const auto given = [](std::string argument) {
    if (argument.ends_with('\0')) argument.pop_back();
    return argument;
  };
  for (CLI::App* command : program.get_subcommands({}))
    for (CLI::Option* option : command->get_options()) option->transform(given);
}

/// The tensors of a step come and go by the megabyte. Memory that goes back to the system each time
/// is cleared and mapped again, which can cost more than the arithmetic; so it is kept.
void keep_freed_memory() {
#ifdef M_TRIM_THRESHOLD  // glibc
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, 64 << 20);
#endif
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  CLI::App program{"Attention networks: train one on your own files, see where it looks, ship it.",
                   "fovea"};
  program.set_version_flag("--version",
                           concat("fovea ", version(), " (LibTorch ", TORCH_VERSION, ", ",
                                  kernels::name_of(kernels::instruction_set()), ")"));
  program.require_subcommand(1);
  program.footer(
      "Try:  fovea train dates --out runs/dates && fovea explain runs/dates \"Saturday 9 May "
      "2018\"");
#define FOVEA_ROW(name) add_##name(program);
  FOVEA_COMMANDS(FOVEA_ROW)
#undef FOVEA_ROW
  take_as_given(program);
  const std::vector<std::string> arguments = given_arguments(argc, argv);
  if (const std::string mistake = missing_value(program, arguments); !mistake.empty()) {
    tell("error: " + mistake);
    return 2;
  }
  try {
    program.parse(kept_whole(arguments));
    std::cout << std::flush;
    if (std::cout.good()) return interrupted_status();
    std::cerr << "error: standard output cannot be written\n";
    return 1;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
    tell(concat("error: ", explain_mistake(program, arguments, error)));
    return 2;
  } catch (const Failed&) {
    return 1;
  } catch (const Error& error) {
    tell(concat("error: ", shorten_bytes(error.what(), kLongestMessage)));
  } catch (const nlohmann::json::exception& error) {
    tell(concat("error: JSON does not have the expected form (", describe(error), ")"));
  } catch (const std::bad_alloc&) {
    std::cerr << "error: out of memory; try a smaller training.batch_size or less data\n";
  } catch (const std::filesystem::filesystem_error& error) {
    tell(concat("error: ", error.path1().string(), ": cannot be looked at (",
                error.code().message(), "); name a file or folder that can be read"));
  } catch (const std::exception& error) {
    // LibTorch appends a stack trace; its first line says it all.
    const std::string what = error.what();
    tell("error: " + what.substr(0, what.find('\n')));
  }
  return was_interrupted() ? interrupted_status() : 1;
}

}  // namespace fovea::cli

int fovea::run_program(int argc, const char* const* argv) {
  cli::keep_freed_memory();
  use_fast_blas();
  return cli::run_program(argc, argv);
}
