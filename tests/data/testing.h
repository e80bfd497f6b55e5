// Helpers of the data tests: fixtures and notes.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace fovea {

using testing::expect_error;
using testing::TemporaryFolder;

inline std::filesystem::path fixture(const std::string& name) {
  return std::filesystem::path(FOVEA_TEST_FILES) / "fixtures" / "data" / name;
}

/// True when one of the notes holds `words`.
inline bool has_note(const std::vector<std::string>& notes, const std::string& words) {
  for (const std::string& note : notes)
    if (note.find(words) != std::string::npos) return true;
  return false;
}

}  // namespace fovea
