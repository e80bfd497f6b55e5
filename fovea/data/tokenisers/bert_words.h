// A text as BERT reads it (Devlin et al. 2019), one word after the other:
//   clean_text        U+0000, U+FFFD and control characters go, any white space is a blank
//   split_ideographs  a CJK ideograph is a word of its own
//   strip_accents     normal form D without its non-spacing marks
//   lowercase         letter by letter
// Words end at white space; a punctuation mark is a word of its own, and every ASCII sign that is
// neither letter nor digit counts as one. Each byte of a word knows where in the original text it
// came from, in code points. For tokenisers/wordpiece.cc and its learner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/tokenisers/wordpiece.h"

namespace fovea {

class BertWords {
 public:
  /// `text` is valid UTF-8 and outlives this object; its first code point is number `position`.
  BertWords(std::string_view text, const WordPieceOptions& options, int64_t position = 0);

  /// Goes to the next word; false after the last.
  bool next();

  const std::string& word() const { return word_; }  // never empty after next()
  int64_t letters() const { return letters_; }       // its code points
  int64_t position() const { return position_; }     // code points read so far
  /// Where the bytes [begin, end) of the word stood. Marks that were taken off belong to the letter
  /// before them; letters that were one letter before all stand where it stood.
  Span span(size_t begin, size_t end) const { return {begins_[begin], ends_[end - 1]}; }

 private:
  enum class AsciiSort : uint8_t { Letter, White, Dropped, Punctuation };

  AsciiSort sort_of_ascii(unsigned char byte) const;
  bool take_ascii(unsigned char byte);
  bool take_pending();
  void decode();
  void clean(char32_t code);
  void append(char32_t code);

  std::string_view text_;
  bool clean_text_, split_ideographs_, strip_accents_, lowercase_;
  size_t at_ = 0;  // bytes read
  int64_t position_ = 0;

  std::string word_;
  std::vector<int64_t> begins_, ends_;  // of each byte of the word
  int64_t letters_ = 0;

  // One character that is not ASCII, cleaned: the code points still to be taken.
  std::u32string pending_, decomposed_;
  size_t pending_at_ = 0;
  bool ideograph_ = false;
};

}  // namespace fovea
