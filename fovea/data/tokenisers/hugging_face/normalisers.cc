// What becomes of a text before it is cut.
#include "fovea/data/tokenisers/hugging_face/components.h"
#include "fovea/data/tokenisers/hugging_face/regex.h"
#include "fovea/data/tokenisers/kinds.h"

namespace fovea::hugging_face {

Pattern read_pattern(const Field& pattern) {
  if (const auto content = pattern.find("String")) return string_pattern(content->text());
  const auto expression = pattern.find("Regex");
  pattern.expect(expression.has_value(), R"({"String": "…"} or {"Regex": "…"})");
  return regex_pattern(expression->text(), expression->place());
}

char32_t read_character(const Field& field) {
  const std::string text = field.text();
  size_t at = 0;
  const char32_t code = text.empty() ? 0 : next_code_point(text, at);
  field.expect(at > 0 && at == text.size(), "a text of one character");
  return code;
}

namespace {

void lowercase_text(AlignedText& text) {
  if (text.is_ascii()) {
    for (char& byte : text.text)
      if (byte >= 'A' && byte <= 'Z') byte = char(byte | 0x20);
    return;
  }
  Rewriter writer(text);
  std::u32string lower;
  while (!writer.at_end()) {
    size_t size = 0;
    const char32_t code = next_code_point(writer.rest(), size);
    lower.clear();
    append_lower(code, lower);
    writer.replace(lower[0]);
    for (size_t i = 1; i < lower.size(); ++i) writer.insert(lower[i]);
  }
  writer.finish();
}

/// The blocks that BertNormalizer takes for Chinese characters: no kana, no Hangul. (The table of
/// Hugging Face has 2B920 where BERT's own has 2B820.)
bool is_chinese_character(char32_t code) {
  return (code >= 0x4E00 && code <= 0x9FFF) || (code >= 0x3400 && code <= 0x4DBF) ||
         (code >= 0x20000 && code <= 0x2A6DF) || (code >= 0x2A700 && code <= 0x2B73F) ||
         (code >= 0x2B740 && code <= 0x2B81F) || (code >= 0x2B920 && code <= 0x2CEAF) ||
         (code >= 0xF900 && code <= 0xFAFF) || (code >= 0x2F800 && code <= 0x2FA1F);
}

bool is_blank_control(char32_t code) {
  return code == '\t' || code == '\n' || code == '\r';
}

void clean_bert_text(AlignedText& text) {
  filter_characters(text, [](char32_t code) {
    if (code >= 0x20 && code < 0x7F) return true;
    return code != 0 && code != 0xFFFD &&
           (is_blank_control(code) || sort_of(code) != CodeSort::Control);
  });
  map_characters(text, [](char32_t code) { return is_white_space(code) ? U' ' : code; });
}

void space_chinese_characters(AlignedText& text) {
  if (text.is_ascii()) return;
  Rewriter writer(text);
  while (!writer.at_end()) {
    size_t size = 0;
    const char32_t code = next_code_point(writer.rest(), size);
    if (is_chinese_character(code)) {
      writer.replace(' ');
      writer.insert(code);
      writer.insert(' ');
    } else {
      writer.keep(size);
    }
  }
  writer.finish();
}

Normaliser make_bert_normaliser(const Field& component) {
  const bool clean = component.mark_or("clean_text", true);
  const bool chinese = component.mark_or("handle_chinese_chars", true);
  const bool lower = component.mark_or("lowercase", true);
  const bool strip = component.mark_or("strip_accents", lower);
  return [=](AlignedText& text) {
    if (clean) clean_bert_text(text);
    if (chinese) space_chinese_characters(text);
    if (strip && !text.is_ascii()) {
      to_normal_form(text, /*compatible=*/false, /*compose=*/false);
      filter_characters(
          text, [](char32_t code) { return code < 0x80 || sort_of(code) != CodeSort::Mark; });
    }
    if (lower) lowercase_text(text);
  };
}

template <bool compatible, bool compose>
Normaliser make_normal_form(const Field&) {
  return [](AlignedText& text) { to_normal_form(text, compatible, compose); };
}

Normaliser make_lowercase(const Field&) {
  return lowercase_text;
}

Normaliser make_strip_accents(const Field&) {
  return [](AlignedText& text) {
    if (!text.is_ascii())
      filter_characters(text, [](char32_t code) { return code < 0x80 || !is_mark(code); });
  };
}

Normaliser make_strip_normaliser(const Field& component) {
  const bool left = component.mark_or("strip_left", true),
             right = component.mark_or("strip_right", true);
  return [=](AlignedText& text) {
    size_t begin = 0, end = 0;  // of what stays
    bool inside = !left;
    for (size_t at = 0; at < text.text.size();) {
      const size_t before = at;
      if (is_white_space(next_code_point(text.text, at))) continue;
      if (!inside) begin = before;
      inside = true;
      end = at;
    }
    if (!right && inside) end = text.text.size();
    text.text = text.text.substr(begin, end - begin);
    text.places.erase(text.places.begin() + int64_t(end), text.places.end());
    text.places.erase(text.places.begin(), text.places.begin() + int64_t(begin));
  };
}

Normaliser make_prepend(const Field& component) {
  return [added = component.at("prepend").text()](AlignedText& text) { prepend(text, added); };
}

Normaliser make_replace_normaliser(const Field& component) {
  return [pattern = read_pattern(component.at("pattern")),
          content = component.at("content").text()](AlignedText& text) {
    const std::vector<Match> matches = pattern(text.text);
    Rewriter writer(text);
    for (const Match& match : matches) {
      const std::string_view found =
          std::string_view(text.text).substr(match.begin, match.end - match.begin);
      if (match.is_match) {
        writer.skip(size_t(count_code_points(found)));
        writer.insert(content);
      } else {
        writer.keep(found.size());
      }
    }
    writer.finish();
  };
}

/// The control characters and blanks of SentencePiece's nmt rules.
Normaliser make_nmt(const Field&) {
  return [](AlignedText& text) {
    filter_characters(text, [](char32_t code) {
      return !((code >= 0x1 && code <= 0x8) || code == 0xB || (code >= 0xE && code <= 0x1F) ||
               code == 0x7F || code == 0x8F || code == 0x9F);
    });
    map_characters(text, [](char32_t code) {
      const bool blank = code == 0x9 || code == 0xA || code == 0xC || code == 0xD ||
                         code == 0x1680 || (code >= 0x200B && code <= 0x200F) || code == 0x2028 ||
                         code == 0x2029 || code == 0x2581 || code == 0xFEFF || code == 0xFFFD;
      return blank ? U' ' : code;
    });
  };
}

Normaliser make_byte_level_normaliser(const Field&) {
  return to_byte_characters;
}

Normaliser make_normaliser_sequence(const Field& component) {
  std::vector<Normaliser> steps;
  component.at("normalizers").each({}, [&](const Field& each) {
    steps.push_back(normaliser_table().make(each));
  });
  return [steps](AlignedText& text) {
    for (const Normaliser& each : steps) each(text);
  };
}

constexpr ComponentKind<Normaliser> kNormalisers[] = {
    {"BertNormalizer", make_bert_normaliser},
    {"Strip", make_strip_normaliser},
    {"StripAccents", make_strip_accents},
    {"NFC", make_normal_form<false, true>},
    {"NFD", make_normal_form<false, false>},
    {"NFKC", make_normal_form<true, true>},
    {"NFKD", make_normal_form<true, false>},
    {"Sequence", make_normaliser_sequence},
    {"Lowercase", make_lowercase},
    {"Nmt", make_nmt},
    {"Precompiled", precompiled_normaliser},
    {"Replace", make_replace_normaliser},
    {"Prepend", make_prepend},
    {"ByteLevel", make_byte_level_normaliser},
};

}  // namespace

const ComponentTable<Normaliser>& normaliser_table() {
  static const ComponentTable<Normaliser> table{"normalizer", "normalizers", kNormalisers};
  return table;
}

}  // namespace fovea::hugging_face
