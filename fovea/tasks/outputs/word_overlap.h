// Which words two texts share, for baselines that answer by nothing else.
#pragma once

#include <set>
#include <string>

namespace fovea {

/// Letters and digits between all else, in small letters.
std::set<std::string> different_words(const std::string& text);

/// Which share of the text's different words is among the known ones; 0 of a text without words.
double share_of_words(const std::string& text, const std::set<std::string>& known);

}  // namespace fovea
