// SentencePiece's charsmap: a double array (Darts) of what is replaced, and the replacements, each
// ended by a zero byte. As Hugging Face reads it: a grapheme cluster of fewer than 6 bytes is
// looked up first, then its characters one by one, and the shortest entry that fits counts.
#include <cstring>

#include "fovea/base/base64.h"
#include "fovea/data/tokenisers/hugging_face/components.h"
#include "fovea/data/tokenisers/kinds.h"

namespace fovea::hugging_face {

namespace {

class CharsMap {
 public:
  explicit CharsMap(const Field& component) {
    const Field field = component.at("precompiled_charsmap");
    const std::string bytes = base64_decode(field.text(), field.place());
    uint32_t size = 0;
    if (bytes.size() >= sizeof(size)) std::memcpy(&size, bytes.data(), sizeof(size));
    require(size >= 4 && size % 4 == 0 && size <= bytes.size() - sizeof(size), ErrorKind::BadData,
            field.place(), ": is damaged; expected SentencePiece's table of replacements");
    units_.resize(size / 4);
    std::memcpy(units_.data(), bytes.data() + sizeof(size), size);
    replacements_ = bytes.substr(sizeof(size) + size);
  }

  /// What stands for `key`; none where it stays as it is.
  std::optional<std::string_view> find(std::string_view key) const {
    size_t node = offset(unit(0));
    for (const char letter : key) {
      const auto byte = static_cast<unsigned char>(letter);
      if (byte == 0) return {};
      node ^= byte;
      const uint32_t found = unit(node);
      if ((found & 0x800000FFu) != byte) return {};
      node ^= offset(found);
      constexpr uint32_t kHasLeaf = 1u << 8;
      if (found & kHasLeaf) return replacement(unit(node) & 0x7FFFFFFFu);
    }
    return {};
  }

 private:
  static size_t offset(uint32_t unit) { return size_t(unit >> 10) << ((unit & (1u << 9)) >> 6); }
  uint32_t unit(size_t node) const { return node < units_.size() ? units_[node] : 0; }
  std::optional<std::string_view> replacement(size_t at) const {
    if (at >= replacements_.size()) return {};
    const std::string_view rest = std::string_view(replacements_).substr(at);
    const std::string_view found = rest.substr(0, rest.find('\0'));
    if (valid_utf8_prefix(found) != found.size()) return {};
    return found;
  }

  std::vector<uint32_t> units_;
  std::string replacements_;
};

/// The next characters, `old`, become `fresh`.
void put_replacement(Rewriter& writer, std::string_view old, std::string_view fresh) {
  const int64_t before = count_code_points(old), after = count_code_points(fresh);
  int64_t written = 0;
  for (size_t at = 0; at < fresh.size(); ++written) {
    const char32_t code = next_code_point(fresh, at);
    if (written < before)
      writer.replace(code);
    else
      writer.insert(code);
  }
  // The reference forgets what it removes in front of the first character: all places behind it
  // are then that much too early. Equal offsets matter more here than right ones.
  if (after < before && !writer.is_empty()) writer.skip(size_t(before - after));
}

bool is_ascii_byte(char byte) {
  return static_cast<unsigned char>(byte) < 0x80;
}

/// The grapheme clusters of `text`. Between ASCII characters ICU need not be asked.
template <class Visit>
void each_grapheme(std::string_view text, const Visit& visit) {
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    const auto plain = [&] { return is_ascii_byte(text[end - 1]) && is_ascii_byte(text[end]); };
    while (end < text.size() && (!plain() || text.substr(end - 1, 2) == "\r\n")) ++end;
    const std::string_view stretch = text.substr(at, end - at);
    if (stretch.size() == 1)
      visit(stretch);
    else
      for (const std::string_view grapheme : segments(stretch, Boundary::Character))
        visit(grapheme);
    at = end;
  }
}

}  // namespace

Normaliser precompiled_normaliser(const Field& component) {
  const auto map = std::make_shared<const CharsMap>(component);
  return [map](AlignedText& text) {
    const std::string original = text.text;
    Rewriter writer(text);
    each_grapheme(original, [&](std::string_view grapheme) {
      constexpr size_t kLongest = 5;  // bytes that are looked up together
      if (grapheme.size() <= kLongest)
        if (const auto whole = map->find(grapheme))
          return put_replacement(writer, grapheme, *whole);
      for (size_t at = 0; at < grapheme.size();) {
        const std::string_view character = grapheme.substr(at, code_point_size(grapheme[at]));
        at += character.size();
        put_replacement(writer, character, map->find(character).value_or(character));
      }
    });
    writer.skip(SIZE_MAX);
    writer.finish();
  };
}

}  // namespace fovea::hugging_face
