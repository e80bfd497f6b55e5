// The program as a function, so that tests can call it: exit status 0, 1 for an error, 2 for wrong
// usage.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace fovea::cli {

int run_program(int argc, const char* const* argv);

/// Each command adds itself to the program; its callback does the work.
void add_tasks(CLI::App& program);
void add_scores(CLI::App& program);
void add_data(CLI::App& program);
void add_prepare(CLI::App& program);
void add_train(CLI::App& program);
void add_evaluate(CLI::App& program);
void add_predict(CLI::App& program);
void add_explain(CLI::App& program);
void add_compare(CLI::App& program);
void add_heads(CLI::App& program);
void add_prune(CLI::App& program);
void add_doctor(CLI::App& program);
void add_serve(CLI::App& program);
void add_export(CLI::App& program);

}  // namespace fovea::cli
