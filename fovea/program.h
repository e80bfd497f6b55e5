// The command-line program as a function, for programs that add tasks, networks or score functions
// of their own (register_task, register_model, register_score) and want every command for them.
#pragma once

namespace fovea {

/// Exit status 0, 1 for an error, 2 for wrong usage.
int run_program(int argc, const char* const* argv);

}  // namespace fovea
