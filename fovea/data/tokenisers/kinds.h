// What the files of this folder give to tokeniser.cc, which lists the kinds in its table, and the
// little Unicode that they share. Nobody else includes this header.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/tokeniser.h"

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

enum class Boundary { Character, Word };
/// The parts of `text` between neighbouring boundaries; together they are the whole of it.
std::vector<std::string_view> segments(std::string_view text, Boundary boundary);
std::string to_nfc(std::string_view text);
/// How many bytes at the front are white space, or, with `white` false, are none.
size_t run_length(std::string_view text, bool white);

}  // namespace fovea
