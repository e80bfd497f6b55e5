// Sentences whose words have tags, as the models of the task `tag` take them in. Tensors of one
// sentence of W words, and in a batch [B, …] with "<name>.keep" masks:
//   pieces   tokens [T], segments [T] as packed_text.h has them, words [W]: at which token each
//   word
//            begins; axes "tokens" and "words"
//   words    words [W], letters [W, L]: their numbers in two vocabularies; features [W, F]
//            (word_features.h); where there are word vectors of texts without tags, their rows
//            vectors [W]; axis "words"
// and target [W], where the tags are known. A word that stands in several windows (packing.h) is
// read where it is farthest from both ends.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fovea/data/dataset.h"
#include "fovea/data/packed_text.h"
#include "fovea/data/rows.h"
#include "fovea/data/tokenisers/vocabulary.h"

namespace fovea {

struct Sentence {
  std::vector<std::string> words;
  std::string text;                                        // that they stand in
  std::vector<Span> spans;                                 // where
  std::vector<int64_t> tags;                               // numbers; empty: unknown
  std::vector<std::pair<int64_t, int64_t>> decisive = {};  // a word, and one that decides its tag
  bool cut_here = false;  // the text was given, and the words were found in it
};

/// Words that are cut already; the text is the words with blanks between them. BadData for invalid
/// UTF-8.
Sentence sentence_of(std::vector<std::string> words);
/// A text, cut at Unicode's word boundaries. BadData for invalid UTF-8; Unsupported without ICU.
Sentence cut_sentence(const std::string& text);

/// How sentences become tensors.
class SentenceEncoder {
 public:
  virtual ~SentenceEncoder() = default;
  /// Tensors, the axis and, where the deciding words are known, truth of the map "attention".
  virtual Example example(const Sentence& sentence) const = 0;
  virtual Batch collate(std::span<const Example> examples) const = 0;
  /// The example without these units of its axis.
  virtual Example erase(const Example& example, std::span<const int64_t> units) const = 0;
  virtual const char* axis() const = 0;
};

class PieceEncoder : public SentenceEncoder {
 public:
  PieceEncoder(std::shared_ptr<const PieceTokeniser> tokeniser, PackingOptions packing)
      : tokeniser_(std::move(tokeniser)), packing_(std::move(packing)) {}
  Example example(const Sentence& sentence) const override;
  Batch collate(std::span<const Example> examples) const override;
  Example erase(const Example& example, std::span<const int64_t> units) const override;
  const char* axis() const override { return "tokens"; }

 private:
  std::shared_ptr<const PieceTokeniser> tokeniser_;
  PackingOptions packing_;
};

class WordEncoder : public SentenceEncoder {
 public:
  static constexpr int64_t kMostLetters = 30;  // of a word; the rest of it is not looked at

  WordEncoder(Vocabulary words, Vocabulary letters)
      : words_(std::move(words)), letters_(std::move(letters)) {}
  /// Words seen less often than `minimum_count` are unknown; every letter counts.
  static WordEncoder learn(const Rows<Sentence>& sentences, int64_t minimum_count);
  /// From here on each word also has its row among word vectors of these words (text_vectors.h).
  void add_vectors(Vocabulary words) { text_words_ = std::move(words); }
  Json to_json() const;
  static WordEncoder from_json(const Json& json, const std::string& where);

  Example example(const Sentence& sentence) const override;
  Batch collate(std::span<const Example> examples) const override;
  Example erase(const Example& example, std::span<const int64_t> units) const override;
  const char* axis() const override { return "words"; }

  const Vocabulary& words() const { return words_; }
  const Vocabulary& letters() const { return letters_; }
  /// How often training has each word, special symbols 0; empty in a run that did not keep it.
  const std::vector<int64_t>& counts() const { return counts_; }
  /// Words with vectors; null: there are none.
  const Vocabulary* text_words() const { return text_words_ ? &*text_words_ : nullptr; }

 private:
  Vocabulary words_, letters_;
  std::vector<int64_t> counts_;
  std::optional<Vocabulary> text_words_;
};

class SentenceDataset : public Dataset {
 public:
  /// Encodes all sentences, side by side. `where` names them in an error.
  SentenceDataset(Rows<Sentence> sentences, std::shared_ptr<const SentenceEncoder> encoder,
                  const std::string& where);

  int64_t size() const override { return static_cast<int64_t>(sentences_.size()); }
  int64_t length(int64_t row) const override;
  Example example(int64_t row) const override;
  Batch batch(std::span<const int64_t> rows) const override;

  /// As a text where that is cut into the same words again, else as {"words": […]}.
  Json input(int64_t row) const override;
  bool has_truth() const override { return has_truth_; }

 private:
  std::vector<Sentence> sentences_;
  std::shared_ptr<const SentenceEncoder> encoder_;
  std::vector<Example> encoded_;  // tensors alone
  bool has_truth_ = false;
};

}  // namespace fovea
