// What the files of this folder give to tokeniser.cc, which lists the kinds in its table, and the
// little Unicode that they share with hugging_face/. Nobody outside the folder includes this
// header.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/tokenisers/tokeniser.h"

namespace fovea {

/// U+2581 in front of a piece: a blank stood before it.
inline constexpr std::string_view kBlankMark = "\u2581";

/// BadData unless `text` is valid UTF-8 and short enough for 32-bit positions.
void check_text(std::string_view text, const std::string& where);

/// Tokens without their ids.
std::vector<Token> cut_characters(std::string_view text);
std::vector<Token> cut_words(std::string_view text);

/// Kinds unigram and bpe. The texts are valid UTF-8.
std::shared_ptr<const Tokeniser> learn_sentencepiece(const TokeniserOptions& options,
                                                     std::span<const std::string> texts);
std::shared_ptr<const Tokeniser> restore_sentencepiece(const std::string& kind,
                                                       Vocabulary vocabulary, std::string model,
                                                       const std::string& where);

/// Kind hugging_face (hugging_face/text_tokeniser.h).
std::shared_ptr<const Tokeniser> restore_hugging_face(const TokeniserState& state,
                                                      const std::string& where);

struct ScoredPiece {
  std::string text;
  double score = 0;  // the logarithm of its probability
};
/// At most `size` pieces of a unigram model (Kudo 2018), as SentencePiece learns them.
std::vector<ScoredPiece> learn_unigram_pieces(int64_t size, std::span<const std::string> texts);

enum class Boundary { Character, Word, Sentence };
/// The parts of `text` between neighbouring boundaries; together they are the whole of it.
std::vector<std::string_view> segments(std::string_view text, Boundary boundary);
std::string to_nfc(std::string_view text);
/// How many bytes at the front are white space, or, with `white` false, are none.
size_t run_length(std::string_view text, bool white);

/// What BERT's clean-up asks of a code point: its general category, with White_Space in between.
/// Control is Cc, Cf and Co, Punctuation any P, Mark is Mn alone. Tab and line ends are Control.
enum class CodeSort : uint8_t { Letter, White, Control, Punctuation, Mark };
CodeSort sort_of(char32_t code);
/// Normal form D of one code point, at the end of `into`.
void append_decomposed(char32_t code, std::u32string& into);
/// Normal form KD of one code point, at the end of `into`.
void append_compatibility_decomposed(char32_t code, std::u32string& into);
/// The one code point that the two compose to in normal form C, or 0.
char32_t composed(char32_t first, char32_t second);
uint8_t combining_class(char32_t code);
bool is_white_space(char32_t code);  // the property White_Space
bool is_mark(char32_t code);         // any M
bool is_numeric(char32_t code);      // any N
/// \w of regular expressions: letters, marks, digits, connectors, joiners.
bool is_word_character(char32_t code);
/// A number for each script; -1 where a code point has none.
int script_of(char32_t code);
/// Lower case without looking at the neighbours, at the end of `into`.
void append_lower(char32_t code, std::u32string& into);
bool has_icu();
/// Unsupported in a build without ICU.
void require_icu();

}  // namespace fovea
