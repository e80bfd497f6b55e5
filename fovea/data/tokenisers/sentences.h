// Where sentences end, by Unicode's rules (UAX 29) through ICU, which knows the usual English
// abbreviations: "Mr. Smith left." is one sentence.
#pragma once

#include <string_view>
#include <vector>

namespace fovea {

/// The sentences of `text`, without the white space around them; none is empty. BadData for invalid
/// UTF-8, Unsupported without ICU.
std::vector<std::string_view> cut_sentences(std::string_view text);

}  // namespace fovea
