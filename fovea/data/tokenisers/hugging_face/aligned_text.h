// A text that is rewritten while each of its bytes remembers which bytes of the original text it
// comes from. A character that was replaced keeps the place of the old one; a character that was
// added has the place of the one before it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/code_points.h"

namespace fovea::hugging_face {

struct ByteRange {
  uint32_t begin = 0, end = 0;
};

struct AlignedText {
  AlignedText() = default;
  /// `part` is valid UTF-8 and begins at byte `origin` of the original text.
  explicit AlignedText(std::string_view part, size_t origin = 0);

  bool is_ascii() const;
  /// Bytes [begin, end) of `other`; the memory of this text is used again.
  void assign(const AlignedText& other, size_t begin, size_t end);
  void append(const AlignedText& other);

  std::string text;
  std::vector<ByteRange> places;  // [bytes of text]
  uint32_t origin = 0;            // where the text began before anything was removed
};

/// Writes a text anew, from its first character to its last.
class Rewriter {
 public:
  explicit Rewriter(AlignedText& text) : old_(text) {
    fresh_.origin = text.origin;
    fresh_.text.reserve(text.text.size());
    fresh_.places.reserve(text.text.size());
  }

  bool at_end() const { return at_ >= old_.text.size(); }
  std::string_view rest() const { return std::string_view(old_.text).substr(at_); }
  bool is_empty() const { return fresh_.text.empty(); }  // nothing has been written yet

  void keep(size_t bytes);        // as they are
  void replace(char32_t code);    // the next character becomes this one
  void insert(char32_t code);     // beside the character before
  void insert(std::string_view);  // the same, for each of its characters
  void skip(size_t characters);   // they are removed
  /// The rest is kept, and the text becomes what was written.
  void finish();

 private:
  void put(char32_t code, ByteRange place);

  AlignedText& old_;
  AlignedText fresh_;
  size_t at_ = 0;
};

/// Puts `added` in front, at the place of the first character. An empty text stays empty.
void prepend(AlignedText& text, std::string_view added);

/// Unicode's normal forms: NFD, NFC, and with `compatible` NFKD, NFKC.
void to_normal_form(AlignedText& text, bool compatible, bool compose);

/// Whether test(code) is true for each character.
template <class Test>
bool all_characters(std::string_view text, const Test& test) {
  for (size_t at = 0; at < text.size();)
    if (!test(next_code_point(text, at))) return false;
  return true;
}

/// Characters for which keep(code) is false are removed.
template <class Keep>
void filter_characters(AlignedText& text, const Keep& keep) {
  if (all_characters(text.text, keep)) return;
  Rewriter writer(text);
  while (!writer.at_end()) {
    size_t size = 0;
    if (keep(next_code_point(writer.rest(), size)))
      writer.keep(size);
    else
      writer.skip(1);
  }
  writer.finish();
}

/// Each character becomes map(code).
template <class Map>
void map_characters(AlignedText& text, const Map& map) {
  if (all_characters(text.text, [&](char32_t code) { return map(code) == code; })) return;
  Rewriter writer(text);
  while (!writer.at_end()) {
    size_t size = 0;
    writer.replace(map(next_code_point(writer.rest(), size)));
  }
  writer.finish();
}

}  // namespace fovea::hugging_face
