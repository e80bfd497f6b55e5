// The form in which words are counted and looked up: Unicode's normal form C, perhaps in lower
// case, letter by letter (so that a word's form does not depend on its neighbours).
#pragma once

#include <string>
#include <string_view>

namespace fovea {

/// `word` is valid UTF-8. Unsupported without ICU, unless it is ASCII.
std::string word_form(std::string_view word, bool lowercase);

}  // namespace fovea
