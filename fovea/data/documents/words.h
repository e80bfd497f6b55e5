// Texts with a class as a bag: each word, and each pair of neighbouring words (a bigram), is a unit
// of one vocabulary. Tensors of a document of W words:
//   units [W, 2] int64     the word at this place, and the bigram that begins with it
//   shares [W, 2] float32  1 / how often the unit stands in the document; 0: unknown, or none
// and in a batch [B, W, 2], 0 at padding. Axes: "document", and "words" with the document as
// parent.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/data/documents/encoder.h"
#include "fovea/data/documents/sentences.h"

namespace fovea {

struct BagDataOptions {
  bool lowercase = true;
  bool bigrams = true;
  int64_t minimum_count = 1;  // of a word
  int64_t minimum_bigram_count = 2;
  int64_t vocabulary_size = 500'000;
  int64_t maximum_words = 10'000;  // of a text
  void describe(OptionList& list);
};

/// The most frequent units of the texts, with blanks between the words of a bigram; with many
/// classes fewer, so that units times classes stay below 8 million. BadData when there is none.
Vocabulary learn_units(const Rows<LabelledDocument>& documents, int64_t classes,
                       const BagDataOptions& options);

/// How documents become numbers. The words of a second text are units of their own: the same word
/// says something else there.
struct BagEncoder {
  std::shared_ptr<const Vocabulary> vocabulary;
  BagDataOptions options;

  /// With known truth, map "words" [1, W]: those that decide.
  Example example(const LabelledDocument& document) const;
};

Batch collate_bags(std::span<const Example> examples);

/// Without these words of the axis "words", and without the bigrams that they stand in.
Example erase_bag_words(const Example& example, std::span<const int64_t> units);

class BagDataset : public LabelledDataset {
 public:
  /// Cuts all texts, side by side. `where` names them in an error.
  BagDataset(Rows<LabelledDocument> documents, BagEncoder encoder, const std::string& where);

  int64_t length(int64_t row) const override;  // in words
  Example example(int64_t row) const override { return encoder_.example(document(row)); }
  /// With "target" of targets().
  Batch batch(std::span<const int64_t> rows) const override;
  Json input(int64_t row) const override;

  int64_t cut_documents() const { return cut_documents_; }      // that lost words, and
  int64_t cut_words() const { return cut_words_; }              // how many
  int64_t empty_documents() const { return empty_documents_; }  // without a known word

 private:
  struct Row {
    std::vector<int32_t> units;   // [W, 2]
    std::vector<uint16_t> times;  // [W, 2]: 1 / shares, for units without one 0
  };
  BagEncoder encoder_;
  std::vector<Row> rows_;
  int64_t cut_documents_ = 0, cut_words_ = 0, empty_documents_ = 0;
};

}  // namespace fovea
