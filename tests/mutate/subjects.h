// Every kind of JSON that the program reads, each with the code that reads it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace fovea::testing {

struct Subject {
  std::string name;                              // "features run: assets/columns.json"
  std::string text;                              // as it should be
  std::function<void(const std::string&)> read;  // throws what the program would
};

/// Trains and writes what is needed in `folder`; some seconds. Only those whose name contains
/// `only`.
std::vector<Subject> make_subjects(const std::filesystem::path& folder, const std::string& only);

}  // namespace fovea::testing
