// A test that calls the program on files in a folder of its own.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "fovea/base/file.h"
#include "tests/cli/program.h"
#include "tests/support/temporary_folder.h"

namespace fovea::testing {

class ProgramTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder / name).string(); }
  std::string file(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((folder / name).parent_path());
    write_file(folder / name, content);
    return path(name);
  }

  TemporaryFolder folder;
};

/// Of a task that reads texts.
class TextProgramTest : public ProgramTest {
 protected:
  void SetUp() override {
#ifndef FOVEA_WITH_ICU
    GTEST_SKIP() << "needs ICU";
#endif
  }
};

}  // namespace fovea::testing
