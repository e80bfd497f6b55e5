// Kind words: Unicode's word boundaries, with ICU's dictionaries for scripts that write no blanks.
// The mark in front of a word says that white space stood there, so no blank needs a token and
// punctuation finds its place again.
#include "fovea/data/tokenisers/kinds.h"

namespace fovea {

namespace {

std::string without_mark(std::string_view word) {
  std::string plain(word);
  for (size_t at = plain.find(kBlankMark); at != std::string::npos; at = plain.find(kBlankMark, at))
    plain.replace(at, kBlankMark.size(), "_");
  return plain;
}

}  // namespace

std::vector<Token> cut_words(std::string_view text) {
  std::vector<Token> tokens;
  bool after_white = true;  // a text begins as if after white space
  for (const std::string_view segment : segments(text, Boundary::Word)) {
    // The narrow no-break space and a blank under an accent are white space inside a segment.
    for (size_t at = 0; at < segment.size();) {
      if (const size_t white = run_length(segment.substr(at), true); white > 0) {
        after_white = true;
        at += white;
        continue;
      }
      const std::string_view word = segment.substr(at, run_length(segment.substr(at), false));
      const auto begin = static_cast<size_t>(word.data() - text.data());
      tokens.push_back({0, std::string(after_white ? kBlankMark : "") + to_nfc(without_mark(word)),
                        begin, begin + word.size()});
      after_white = false;
      at += word.size();
    }
  }
  return tokens;
}

}  // namespace fovea
