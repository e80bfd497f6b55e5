// The program and its commands; fovea/program.h is what others see of it.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace fovea::cli {

/// Without what is set once per process, for tests.
int run_program(int argc, const char* const* argv);

/// The commands, in the order of the help: each is a file, whose add_NAME() adds it to the program.
#define FOVEA_COMMANDS(row)                                                                       \
  row(tasks) row(scores) row(data) row(prepare) row(train) row(evaluate) row(predict)             \
      row(generate) row(explain) row(embeddings) row(adversary) row(compare) row(tune) row(heads) \
          row(prune) row(serve) row(board) row(export) row(tokenise) row(doctor) row(completion)

#define FOVEA_DECLARE(name) void add_##name(CLI::App& program);
FOVEA_COMMANDS(FOVEA_DECLARE)
#undef FOVEA_DECLARE

}  // namespace fovea::cli
