// What a user gives to tasks on texts: a text as it is, or {"text": …}, perhaps with a "second"
// one.
#pragma once

#include <optional>
#include <string>

namespace fovea {

struct TextInput {
  std::string text;
  std::optional<std::string> second;
};

/// BadData for another object.
TextInput read_text_input(const std::string& line);

}  // namespace fovea
