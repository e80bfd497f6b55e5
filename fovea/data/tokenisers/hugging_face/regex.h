// Regular expressions as tokenizer.json has them: written for Oniguruma, run by ICU. What the two
// read differently is translated: \s, \w and \h, ^ and $ at every line, {,n}, {n,m}+, braces that
// are plain characters.
#pragma once

#include <memory>
#include <string>

#include "fovea/data/tokenisers/hugging_face/pre_tokenised_text.h"

namespace fovea::hugging_face {

/// The pattern of an expression; safe in several threads. BadData, beginning with `where`, for one
/// that ICU cannot read. A build without ICU fails when a text is matched.
Pattern regex_pattern(const std::string& expression, const std::string& where);

/// `expression` in ICU's syntax, for tests.
std::string translate_regex(std::string_view expression, const std::string& where);

}  // namespace fovea::hugging_face
