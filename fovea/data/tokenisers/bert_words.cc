#include "fovea/data/tokenisers/bert_words.h"

#include "fovea/base/code_points.h"
#include "fovea/data/tokenisers/kinds.h"

namespace fovea {

namespace {

/// The blocks that BERT takes for ideographs: no kana, no Hangul.
bool is_ideograph(char32_t code) {
  struct Range {
    char32_t first, last;
  };
  constexpr Range kIdeographs[] = {{0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF},
                                   {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F}, {0x2B820, 0x2CEAF},
                                   {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};
  for (const Range& range : kIdeographs)
    if (code >= range.first && code <= range.last) return true;
  return false;
}

constexpr bool is_ascii_word(unsigned char byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
         (byte >= 'A' && byte <= 'Z');
}

constexpr char32_t kReplacement = 0xFFFD;
constexpr char32_t kNextLine = 0x85;  // white space, where the clean-up has not taken it away

}  // namespace

BertWords::BertWords(std::string_view text, const WordPieceOptions& options, int64_t position)
    : text_(text),
      clean_text_(options.clean_text),
      split_ideographs_(options.split_ideographs),
      strip_accents_(options.strip_accents.value_or(options.lowercase)),
      lowercase_(options.lowercase),
      position_(position) {}

BertWords::AsciiSort BertWords::sort_of_ascii(unsigned char byte) const {
  if (is_ascii_word(byte)) return AsciiSort::Letter;
  if (byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r') return AsciiSort::White;
  const bool control = byte < 0x20 || byte == 0x7F;
  if (!control) return AsciiSort::Punctuation;
  if (clean_text_) return AsciiSort::Dropped;
  return byte == '\v' || byte == '\f' ? AsciiSort::White : AsciiSort::Letter;
}

/// Takes one ASCII byte; true when the word has ended.
inline bool BertWords::take_ascii(unsigned char byte) {
  const AsciiSort sort = sort_of_ascii(byte);
  const bool punctuation = sort == AsciiSort::Punctuation;
  if (punctuation && !word_.empty()) return true;  // and is read again
  ++at_;
  ++position_;
  if (sort == AsciiSort::White) return !word_.empty();
  if (sort == AsciiSort::Dropped) return false;
  const bool capital = byte >= 'A' && byte <= 'Z';
  word_.push_back(char(lowercase_ && capital ? byte | 0x20 : byte));
  begins_.push_back(position_ - 1);
  ends_.push_back(position_);
  ++letters_;
  return punctuation;
}

/// Puts the next character, which is not ASCII, cleaned into pending_.
void BertWords::decode() {
  ++position_;
  clean(next_code_point(text_, at_));
}

void BertWords::clean(char32_t code) {
  pending_.clear();
  pending_at_ = 0;
  ideograph_ = split_ideographs_ && is_ideograph(code);
  const CodeSort sort = sort_of(code);
  if (clean_text_ && (code == kReplacement || sort == CodeSort::Control)) return;
  decomposed_.clear();
  if (strip_accents_) {
    append_decomposed(code, decomposed_);
    std::erase_if(decomposed_, [](char32_t part) { return sort_of(part) == CodeSort::Mark; });
    // A mark that is taken off lengthens the letter that it stood on.
    if (decomposed_.empty() && !ends_.empty() && ends_.back() == position_ - 1)
      ends_.back() = position_;
  } else {
    decomposed_.push_back(code);
  }
  for (const char32_t part : decomposed_) {
    if (lowercase_) {
      append_lower(part, pending_);
    } else {
      pending_.push_back(part);
    }
  }
}

void BertWords::append(char32_t code) {
  const size_t before = word_.size();
  append_code_point(code, word_);
  begins_.insert(begins_.end(), word_.size() - before, position_ - 1);
  ends_.insert(ends_.end(), word_.size() - before, position_);
  ++letters_;
}

/// Takes pending code points; true when the word has ended.
bool BertWords::take_pending() {
  while (pending_at_ < pending_.size()) {
    const char32_t code = pending_[pending_at_];
    const bool ascii_sign = code > 0x20 && code < 0x7F && !is_ascii_word((unsigned char)(code));
    const CodeSort sort = ascii_sign ? CodeSort::Punctuation : sort_of(code);
    const bool alone = ideograph_ || sort == CodeSort::Punctuation;
    if (alone && !word_.empty()) return true;
    ++pending_at_;
    if (sort == CodeSort::White || code == kNextLine) {
      if (!word_.empty()) return true;
      continue;
    }
    append(code);
    if (alone) return true;
  }
  return false;
}

bool BertWords::next() {
  word_.clear();
  begins_.clear();
  ends_.clear();
  letters_ = 0;
  if (take_pending()) return true;
  while (at_ < text_.size()) {
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (byte < 0x80) {
      if (take_ascii(byte)) return true;
    } else {
      decode();
      if (take_pending()) return true;
    }
  }
  return !word_.empty();
}

}  // namespace fovea
