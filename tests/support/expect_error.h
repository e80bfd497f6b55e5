// Expects a fovea::Error of a kind whose message holds every one of some words.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "fovea/base/error.h"

namespace fovea::testing {

inline void expect_error(ErrorKind kind, const std::vector<std::string>& words,
                         const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "no error was thrown, expected one of kind " << name_of(kind);
  } catch (const Error& error) {
    EXPECT_STREQ(name_of(error.kind()), name_of(kind)) << error.what();
    for (const std::string& word : words)
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
          << "'" << word << "' is not in: " << error.what();
  } catch (const std::exception& other) {
    ADD_FAILURE() << "something else than an Error was thrown: " << other.what();
  }
}

inline void expect_error(ErrorKind kind, const char* word, const std::function<void()>& action) {
  expect_error(kind, std::vector<std::string>{word}, action);
}

}  // namespace fovea::testing
