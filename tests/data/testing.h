// Helpers of the data tests: a folder that removes itself, and checks of an Error's kind and words.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "fovea/core/error.h"
#include "fovea/core/file.h"

namespace fovea {

/// A fresh folder, gone at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "fovea_data_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;  // no fsync: tests write many files
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline std::filesystem::path fixture(const std::string& name) {
  return std::filesystem::path(FOVEA_TEST_FILES) / "fixtures" / "data" / name;
}

/// `action` must throw an Error of that kind whose message holds every one of the words.
inline void expect_error(ErrorKind kind, const std::vector<std::string>& words,
                         const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_STREQ(name_of(error.kind()), name_of(kind)) << error.what();
    for (const std::string& word : words)
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
          << "'" << word << "' is not in: " << error.what();
    return;
  }
  ADD_FAILURE() << "no error was thrown, expected one of kind " << name_of(kind);
}

/// True when one of the notes holds `words`.
inline bool has_note(const std::vector<std::string>& notes, const std::string& words) {
  for (const std::string& note : notes)
    if (note.find(words) != std::string::npos) return true;
  return false;
}

}  // namespace fovea
