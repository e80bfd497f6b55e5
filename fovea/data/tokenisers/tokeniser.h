// Text to symbols and back. Every token remembers which bytes of the original text it came from, so
// that attention can be drawn over the text as it was written.
//   characters  grapheme clusters (ICU), each in NFC, any white space as one plain blank
//   words       word boundaries (ICU); a word that follows white space starts with U+2581
//   unigram     SentencePiece, trained here (Kudo 2018)
//   bpe         SentencePiece, trained here (Sennrich et al. 2016)
// and, with weights from elsewhere, any tokenizer.json (hugging_face/text_tokeniser.h). BERT's
// WordPiece is in wordpiece.h.
// Learning and encoding need the library named above; looking up and joining pieces need none, so a
// prepared file trains on a machine that has neither.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/data/tokenisers/vocabulary.h"

namespace fovea {

struct Token {
  int64_t id = 0;
  std::string text;           // the piece as the vocabulary would hold it, known or not
  size_t begin = 0, end = 0;  // bytes of the original text
};

struct TokeniserOptions {
  std::string kind = "characters";
  int64_t size = 0;           // most symbols, special ones included; unigram and bpe need it
  int64_t minimum_count = 1;  // characters and words: rarer ones become unknown
  /// tokens, vocabulary_size and minimum_count of a `text`: "caption".
  void describe(OptionList& list, const std::string& text);
};

/// Everything that a run or a prepared file stores of a tokeniser.
struct TokeniserState {
  Json description;   // kind, vocabulary
  std::string model;  // SentencePiece's own bytes, a tokenizer.json, or empty
};

class Tokeniser {
 public:
  virtual ~Tokeniser() = default;

  /// Learns from training texts. Unsupported when this build lacks the library; BadData when the
  /// texts cannot give as many pieces as asked for (the message says what to set).
  static std::shared_ptr<const Tokeniser> learn(const TokeniserOptions& options,
                                                std::span<const std::string> texts);
  static std::shared_ptr<const Tokeniser> restore(const TokeniserState& state,
                                                  const std::string& where);
  virtual TokeniserState state() const;

  /// BadData for invalid UTF-8, with the byte's position. Never fails on unknown symbols: they get
  /// the unknown symbol and keep their text.
  virtual std::vector<Token> encode(std::string_view text) const = 0;
  /// What a network reads of a text: encode(), with the tokens that it wants around it. These have
  /// no bytes of the text, and stands_around().
  virtual std::vector<Token> encode_input(std::string_view text) const { return encode(text); }
  virtual bool stands_around(int64_t) const { return false; }

  /// Pieces one after the other as text: the inverse of encode() up to white space.
  virtual std::string join(std::span<const std::string> pieces) const;
  /// The text of symbols, up to the end symbol or without one.
  virtual std::string decode(std::span<const int64_t> ids) const;
  /// Whether texts that are no pieces may stand among those that join() is given.
  virtual bool joins_any_text() const { return true; }

  const std::string& kind() const { return kind_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }

 protected:
  Tokeniser(std::string kind, Vocabulary vocabulary, std::string model = "")
      : kind_(std::move(kind)), vocabulary_(std::move(vocabulary)), model_(std::move(model)) {}
  std::string kind_;
  Vocabulary vocabulary_;
  std::string model_;  // SentencePiece's bytes
};

/// All kinds, for option lists.
std::vector<std::string> tokeniser_kinds();

}  // namespace fovea
