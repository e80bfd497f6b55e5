#include "fovea/tasks/outputs/word_overlap.h"

#include <algorithm>
#include <cctype>

#include "fovea/data/tokenisers/word_form.h"

namespace fovea {

std::set<std::string> different_words(const std::string& text) {
  std::set<std::string> words;
  std::string word;
  for (const char c : word_form(text, true) + " ") {
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x80 || std::isalnum(code) != 0) {
      word += c;
    } else if (!word.empty()) {
      words.insert(std::move(word));
      word.clear();
    }
  }
  return words;
}

double share_of_words(const std::string& text, const std::set<std::string>& known) {
  const std::set<std::string> own = different_words(text);
  const auto count = std::count_if(own.begin(), own.end(),
                                   [&](const std::string& word) { return known.contains(word); });
  return own.empty() ? 0 : double(count) / double(own.size());
}

}  // namespace fovea
