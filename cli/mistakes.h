// What a user meant who mistyped a command or a flag: one line that names the nearest, or the
// option of the task that it stands for.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace fovea::cli {

/// "--target needs a value, …" where a flag stands in the place of a value; else "".
std::string missing_value(const CLI::App& program, const std::vector<std::string>& arguments);

/// `error` of the arguments (without the program's name), for people: one line without its end.
std::string explain_mistake(const CLI::App& program, const std::vector<std::string>& arguments,
                            const CLI::ParseError& error);

}  // namespace fovea::cli
