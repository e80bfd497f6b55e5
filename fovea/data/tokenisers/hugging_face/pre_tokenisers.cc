// Where a text is cut before the model sees it.
#include <algorithm>
#include <array>

#include "fovea/data/tokenisers/hugging_face/components.h"
#include "fovea/data/tokenisers/hugging_face/regex.h"
#include "fovea/data/tokenisers/kinds.h"

namespace fovea::hugging_face {

namespace {

/// The bytes that stand for themselves; the others follow from U+0100 on.
constexpr bool is_printable_byte(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr std::array<char32_t, 256> make_byte_characters() {
  std::array<char32_t, 256> characters{};
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte)
    characters[byte] = is_printable_byte(byte) ? byte : next++;
  return characters;
}

constexpr std::array<char32_t, 256> kByteCharacters = make_byte_characters();

}  // namespace

char32_t byte_character(unsigned char byte) {
  return kByteCharacters[byte];
}

int character_byte(char32_t code) {
  if (code < 0x100) return is_printable_byte(unsigned(code)) ? int(code) : -1;
  const auto found = std::find(kByteCharacters.begin(), kByteCharacters.end(), code);
  return found == kByteCharacters.end() ? -1 : int(found - kByteCharacters.begin());
}

void to_byte_characters(AlignedText& text) {
  const auto plain = [](char byte) { return byte > 0x20 && byte < 0x7F; };
  if (std::all_of(text.text.begin(), text.text.end(), plain)) return;
  AlignedText written;
  written.origin = text.origin;
  written.text.reserve(2 * text.text.size());
  written.places.reserve(2 * text.text.size());
  for (size_t at = 0; at < text.text.size(); ++at) {
    append_code_point(kByteCharacters[static_cast<unsigned char>(text.text[at])], written.text);
    while (written.places.size() < written.text.size()) written.places.push_back(text.places[at]);
  }
  std::swap(text, written);
}

namespace {

bool is_punctuation_sign(char32_t code) {
  if (code >= 0x80) return sort_of(code) == CodeSort::Punctuation;
  return (code >= '!' && code <= '/') || (code >= ':' && code <= '@') ||
         (code >= '[' && code <= '`') || (code >= '{' && code <= '~');
}

PreTokeniser make_bert_pre_tokeniser(const Field&) {
  return [blanks = character_pattern(is_white_space),
          signs = character_pattern(is_punctuation_sign)](PreTokenisedText& text) {
    text.split(blanks, SplitBehaviour::Removed);
    text.split(signs, SplitBehaviour::Isolated);
  };
}

/// Runs of word characters and runs of other signs: \w+|[^\w\s]+
std::vector<Match> find_words_and_signs(std::string_view text) {
  enum class Sort { Blank, Word, Sign };
  std::vector<Match> found;
  Sort last = Sort::Blank;
  for (size_t at = 0, next = 0; at < text.size(); at = next) {
    const char32_t code = next_code_point(text, next);
    const Sort sort = is_word_character(code) ? Sort::Word
                      : is_white_space(code)  ? Sort::Blank
                                              : Sort::Sign;
    if (found.empty() || sort != last) found.push_back({at, at, sort != Sort::Blank});
    found.back().end = next;
    last = sort;
  }
  return found;
}

PreTokeniser make_whitespace(const Field&) {
  return [](PreTokenisedText& text) {
    text.split(inverted(find_words_and_signs), SplitBehaviour::Removed);
  };
}

PreTokeniser make_whitespace_split(const Field&) {
  return [blanks = character_pattern(is_white_space)](PreTokenisedText& text) {
    text.split(blanks, SplitBehaviour::Removed);
  };
}

PreTokeniser make_byte_level_pre_tokeniser(const Field& component) {
  const bool prefix = component.mark_or("add_prefix_space", true);
  const bool split = component.mark_or("use_regex", true);
  static const Pattern gpt2_words = regex_pattern(
      R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", "ByteLevel");
  return [=](PreTokenisedText& text) {
    if (prefix)
      text.rewrite([](AlignedText& piece) {
        if (!piece.text.starts_with(' ')) prepend(piece, " ");
      });
    if (split) text.split(gpt2_words, SplitBehaviour::Isolated);
    text.rewrite(to_byte_characters);
  };
}

PreTokeniser make_metaspace(const Field& component) {
  const Field field = component.at("replacement");
  const char32_t code = read_character(field);
  const std::string mark = field.text();
  const auto scheme = component.find("prepend_scheme");
  const std::string prepended = !component.mark_or("add_prefix_space", true)
                                    ? "never"  // older files
                                : scheme ? scheme->text()
                                         : "always";
  if (scheme)
    scheme->expect(prepended == "always" || prepended == "first" || prepended == "never",
                   "\"always\", \"first\" or \"never\"");
  const bool split = component.mark_or("split", true);
  return [=, marks = character_pattern([code](char32_t each) { return each == code; })](
             PreTokenisedText& text) {
    text.rewrite([&](AlignedText& piece) {
      if (piece.text.find(' ') != std::string::npos)
        map_characters(piece, [&](char32_t each) { return each == ' ' ? code : each; });
      const bool wanted = prepended == "always" || (prepended == "first" && piece.origin == 0);
      if (wanted && !piece.text.starts_with(mark)) prepend(piece, mark);
    });
    if (split) text.split(marks, SplitBehaviour::MergedWithNext);
  };
}

PreTokeniser make_split(const Field& component) {
  Pattern pattern = read_pattern(component.at("pattern"));
  if (component.mark_or("invert", false)) pattern = inverted(pattern);
  const SplitBehaviour behaviour = component.at("behavior").one_of(kSplitBehaviours);
  return [=](PreTokenisedText& text) { text.split(pattern, behaviour); };
}

PreTokeniser make_punctuation(const Field& component) {
  const auto given = component.find("behavior");
  const SplitBehaviour behaviour =
      given ? given->one_of(kSplitBehaviours) : SplitBehaviour::Isolated;
  return [behaviour, signs = character_pattern(is_punctuation_sign)](PreTokenisedText& text) {
    text.split(signs, behaviour);
  };
}

PreTokeniser make_digits(const Field& component) {
  const auto behaviour = component.mark_or("individual_digits", false) ? SplitBehaviour::Isolated
                                                                       : SplitBehaviour::Contiguous;
  return [behaviour, digits = character_pattern(is_numeric)](PreTokenisedText& text) {
    text.split(digits, behaviour);
  };
}

PreTokeniser make_delimiter_split(const Field& component) {
  const char32_t delimiter = read_character(component.at("delimiter"));
  return [marks = character_pattern([delimiter](char32_t code) { return code == delimiter; })](
             PreTokenisedText& text) { text.split(marks, SplitBehaviour::Removed); };
}

/// As SentencePiece sees scripts: kana and Han are one, and a blank belongs to any.
constexpr int kAnyScript = -1;
int sentencepiece_script(char32_t code) {
  static const int han = script_of(U'漢'), hiragana = script_of(U'あ'), katakana = script_of(U'ア');
  constexpr char32_t kLongVowel = 0x30FC;
  if (code == kLongVowel) return han;
  if (code == ' ') return kAnyScript;
  const int script = script_of(code);
  return script == hiragana || script == katakana ? han : script;
}

std::vector<Match> find_scripts(std::string_view text) {
  std::vector<Match> found;
  std::optional<int> last;
  for (size_t at = 0, next = 0; at < text.size(); at = next) {
    const int script = sentencepiece_script(next_code_point(text, next));
    if (script != kAnyScript && last != script) found.push_back({at, at, false});
    if (!found.empty()) found.back().end = next;  // blanks in front of all scripts go
    if (script != kAnyScript) last = script;
  }
  return found;
}

PreTokeniser make_unicode_scripts(const Field&) {
  return [](PreTokenisedText& text) { text.split(find_scripts, SplitBehaviour::Isolated); };
}

PreTokeniser make_fixed_length(const Field& component) {
  const int64_t length = component.integer_or("length", 5, 1, INT32_MAX);
  return [length](PreTokenisedText& text) {
    text.split(
        [length](std::string_view piece) {
          std::vector<Match> found;
          int64_t count = 0;
          for (size_t at = 0; at < piece.size(); ++count) {
            if (count % length == 0) found.push_back({at, at, false});
            at += code_point_size(piece[at]);
            found.back().end = at;
          }
          return found;
        },
        SplitBehaviour::Isolated);
  };
}

PreTokeniser make_pre_tokeniser_sequence(const Field& component) {
  std::vector<PreTokeniser> steps;
  component.at("pretokenizers").each({}, [&](const Field& each) {
    steps.push_back(pre_tokeniser_table().make(each));
  });
  return [steps](PreTokenisedText& text) {
    for (const PreTokeniser& each : steps) each(text);
  };
}

constexpr ComponentKind<PreTokeniser> kPreTokenisers[] = {
    {"BertPreTokenizer", make_bert_pre_tokeniser},
    {"ByteLevel", make_byte_level_pre_tokeniser},
    {"CharDelimiterSplit", make_delimiter_split},
    {"Metaspace", make_metaspace},
    {"Whitespace", make_whitespace},
    {"WhitespaceSplit", make_whitespace_split},
    {"Sequence", make_pre_tokeniser_sequence},
    {"Split", make_split},
    {"Punctuation", make_punctuation},
    {"Digits", make_digits},
    {"UnicodeScripts", make_unicode_scripts},
    {"FixedLength", make_fixed_length},
};

}  // namespace

const ComponentTable<PreTokeniser>& pre_tokeniser_table() {
  static const ComponentTable<PreTokeniser> table{"pre_tokenizer", "pretokenizers", kPreTokenisers};
  return table;
}

}  // namespace fovea::hugging_face
