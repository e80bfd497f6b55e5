// Expects a fovea::Error of a kind whose message holds a text.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "fovea/core/error.h"

namespace fovea::testing {

template <class Action>
void expect_error(ErrorKind kind, const std::string& text, Action action) {
  try {
    action();
    ADD_FAILURE() << "expected an error with '" << text << "', nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(name_of(error.kind()), std::string(name_of(kind))) << error.what();
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos)
        << "the message was: " << error.what();
  }
}

}  // namespace fovea::testing
