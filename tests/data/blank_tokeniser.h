// A tokeniser that cuts at blanks and needs no library. It calls itself "words", so that a prepared
// file can store it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fovea/data/pairs/load.h"

namespace fovea {

class BlankTokeniser : public Tokeniser {
 public:
  explicit BlankTokeniser(const std::vector<std::string>& words)
      : Tokeniser("words", Vocabulary(words)) {}

  std::vector<Token> encode(std::string_view text) const override {
    std::vector<Token> tokens;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find(' ', at), text.size());
      const std::string word(text.substr(at, end - at));
      if (!word.empty()) tokens.push_back({vocabulary_.id(word), word, at, end});
      at = end + 1;
    }
    return tokens;
  }
};

inline PairTokenisers blank_tokenisers(const std::vector<std::string>& source,
                                       const std::vector<std::string>& target) {
  return {std::make_shared<BlankTokeniser>(source), std::make_shared<BlankTokeniser>(target)};
}

}  // namespace fovea
