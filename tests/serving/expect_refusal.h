// Expects an HttpError of a status whose message holds a word.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "fovea/serving/http_error.h"

namespace fovea::testing {

inline void expect_refusal(int status, const std::string& word,
                           const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown, expected a " << status;
  } catch (const serving::HttpError& error) {
    EXPECT_EQ(error.status(), status) << error.what();
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
        << "'" << word << "' is not in: " << error.what();
  }
}

}  // namespace fovea::testing
