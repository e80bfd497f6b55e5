// The program, called in this process: what it printed and its exit status.
#pragma once

#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.h"
#include "fovea/base/json.h"
#include "fovea/base/text.h"

namespace fovea::testing {

struct Outcome {
  int status = 0;
  std::string out, err;
  Json json() const { return parse_json(out, "standard output"); }
};

inline Outcome fovea(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv{"fovea"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  std::ostringstream out, err;
  std::streambuf* const old_out = std::cout.rdbuf(out.rdbuf());
  std::streambuf* const old_err = std::cerr.rdbuf(err.rdbuf());
  Outcome outcome;
  outcome.status = cli::run_program(static_cast<int>(argv.size()), argv.data());
  std::cout.rdbuf(old_out);
  std::cerr.rdbuf(old_err);
  outcome.out = out.str();
  outcome.err = err.str();
  return outcome;
}

}  // namespace fovea::testing
