#include "fovea/data/tokenisers/hugging_face/aligned_text.h"

#include <algorithm>

#include "fovea/data/tokenisers/kinds.h"

namespace fovea::hugging_face {

AlignedText::AlignedText(std::string_view part, size_t origin)
    : text(part), origin(uint32_t(origin)) {
  places.resize(text.size());
  for (size_t at = 0, end = 0; at < text.size();) {
    const ByteRange place{uint32_t(origin + at),
                          uint32_t(origin + (end = at + code_point_size(text[at])))};
    for (; at < end; ++at) places[at] = place;
  }
}

bool AlignedText::is_ascii() const {
  return std::all_of(text.begin(), text.end(),
                     [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
}

void AlignedText::assign(const AlignedText& other, size_t begin, size_t end) {
  text.assign(other.text, begin, end - begin);
  places.assign(other.places.begin() + int64_t(begin), other.places.begin() + int64_t(end));
  origin = places.empty() ? other.origin : places.front().begin;
}

void AlignedText::append(const AlignedText& other) {
  text += other.text;
  places.insert(places.end(), other.places.begin(), other.places.end());
}

void Rewriter::put(char32_t code, ByteRange place) {
  append_code_point(code, fresh_.text);
  while (fresh_.places.size() < fresh_.text.size()) fresh_.places.push_back(place);
}

void Rewriter::keep(size_t bytes) {
  fresh_.text.append(old_.text, at_, bytes);
  const auto first = old_.places.begin() + int64_t(at_);
  fresh_.places.insert(fresh_.places.end(), first, first + int64_t(bytes));
  at_ += bytes;
}

void Rewriter::replace(char32_t code) {
  if (at_end()) return insert(code);
  put(code, old_.places[at_]);
  at_ += code_point_size(old_.text[at_]);
}

void Rewriter::insert(char32_t code) {
  put(code, at_ == 0 ? ByteRange{old_.origin, old_.origin} : old_.places[at_ - 1]);
}

void Rewriter::insert(std::string_view added) {
  for (size_t at = 0; at < added.size();) insert(next_code_point(added, at));
}

void Rewriter::skip(size_t characters) {
  for (; characters > 0 && !at_end(); --characters) at_ += code_point_size(old_.text[at_]);
}

void Rewriter::finish() {
  keep(old_.text.size() - at_);
  std::swap(old_, fresh_);
}

void prepend(AlignedText& text, std::string_view added) {
  if (text.text.empty()) return;
  text.text.insert(0, added);
  text.places.insert(text.places.begin(), added.size(), ByteRange(text.places.front()));
}

namespace {

/// A character of a normal form. `change` is 1 where it was added, else 0, or -n where it stands
/// for n characters more than itself.
struct FormCharacter {
  char32_t code;
  int change;
  uint8_t combining;
};

std::vector<FormCharacter> decomposed_characters(std::string_view text, bool compatible) {
  std::vector<FormCharacter> characters;
  characters.reserve(text.size());
  size_t pending = 0;  // where the marks begin that may still change places
  const auto sort_marks = [&] {
    if (pending + 1 >= characters.size()) return;
    std::stable_sort(characters.begin() + int64_t(pending), characters.end(),
                     [](const auto& a, const auto& b) { return a.combining < b.combining; });
  };
  std::u32string parts;
  for (size_t at = 0; at < text.size();) {
    const char32_t code = next_code_point(text, at);
    parts.clear();
    if (code < 0x80)
      parts.push_back(code);
    else if (compatible)
      append_compatibility_decomposed(code, parts);
    else
      append_decomposed(code, parts);
    for (size_t i = 0; i < parts.size(); ++i) {
      const uint8_t combining = parts[i] < 0x80 ? 0 : combining_class(parts[i]);
      if (combining == 0) {
        sort_marks();
        pending = characters.size() + 1;
      }
      characters.push_back({parts[i], i > 0 ? 1 : 0, combining});
    }
  }
  sort_marks();
  return characters;
}

/// Unicode Standard Annex 15: a character joins the last starter unless one of the same or a higher
/// class stands between them.
std::vector<FormCharacter> composed_characters(const std::vector<FormCharacter>& characters) {
  std::vector<FormCharacter> written;
  written.reserve(characters.size());
  size_t starter = SIZE_MAX;
  for (const FormCharacter& next : characters) {
    if (starter != SIZE_MAX) {
      const bool adjacent = starter + 1 == written.size();
      const bool blocked = !adjacent && written.back().combining >= next.combining;
      constexpr char32_t kFirstMark = 0x300;  // nothing below it joins what stands before
      const char32_t joined =
          blocked || next.code < kFirstMark ? 0 : composed(written[starter].code, next.code);
      if (joined != 0) {
        written[starter].code = joined;
        written[starter].change += next.change - 1;
        continue;
      }
    }
    if (next.combining == 0) starter = written.size();
    written.push_back(next);
  }
  return written;
}

}  // namespace

void to_normal_form(AlignedText& text, bool compatible, bool compose) {
  if (text.is_ascii()) return;
  std::vector<FormCharacter> characters = decomposed_characters(text.text, compatible);
  if (compose) characters = composed_characters(characters);
  Rewriter writer(text);
  for (const FormCharacter& character : characters) {
    if (character.change > 0) {
      writer.insert(character.code);
    } else {
      writer.replace(character.code);
      writer.skip(size_t(-character.change));
    }
  }
  writer.skip(SIZE_MAX);  // what the last change did not name
  writer.finish();
}

}  // namespace fovea::hugging_face
