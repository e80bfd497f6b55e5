// The self-check of a run: are the files whole, do the weights load, are the maps what their kind
// promises, does the readable path say the same as the fast one?
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fovea {

struct Check {
  std::string name;
  std::string problem;  // "" when all is well
  std::string detail;   // what was measured
};

/// Never throws for a sick run: what is wrong is in the list. Later checks are left out when the
/// run cannot be loaded.
std::vector<Check> examine(const std::filesystem::path& run);

}  // namespace fovea
