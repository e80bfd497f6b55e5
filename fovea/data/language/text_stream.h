// Tokens that come one after the other, as text: what each of them adds to what is written. A
// character whose bytes are spread over several tokens is held back until it is whole.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/tokenisers/hugging_face/tokeniser.h"

namespace fovea {

class TextStream {
 public:
  /// After the tokens `before`, whose text is written already.
  TextStream(const HuggingFaceTokeniser& tokeniser, std::span<const int64_t> before);

  /// What can be written now; empty where a character is not whole yet. Special tokens have no
  /// text.
  std::string add(int64_t token);
  /// What was held back: bytes that never became a character.
  std::string finish();

 private:
  std::string decode(size_t end) const;

  const HuggingFaceTokeniser& tokeniser_;
  std::vector<int64_t> tokens_;  // the end of `before`, then what was added
  size_t from_ = 0;              // decoding begins here: what stands before decides about blanks
  size_t written_ = 0;           // the text of these is written
};

/// The text of `tokens` behind `before`.
std::string continued_text(const HuggingFaceTokeniser& tokeniser, std::span<const int64_t> before,
                           std::span<const int64_t> tokens);

/// A token for people: its text, where it has one; line ends as "\n".
std::string token_label(const HuggingFaceTokeniser& tokeniser, int64_t token);

}  // namespace fovea
