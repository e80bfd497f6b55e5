// Texts with a class as sentences of words, for models that read them so. Tensors of a document of
// S sentences and W words in all:
//   words [W] int64       their numbers in a vocabulary, sentence after sentence
//   sentences [S] int64   words of each sentence; none is 0
// and in a batch [B, …] with "<name>.keep" masks, 0 at padding. Axes: "document", "sentences" and
// "words", each with the one before it as its parent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/data/documents/encoder.h"
#include "fovea/data/tokenisers/vocabulary.h"
#include "fovea/tensor/parallel.h"

namespace fovea {

struct HierarchicalDataOptions {
  bool lowercase = true;
  int64_t minimum_count = 2;
  int64_t vocabulary_size = 50'000;  // 0: no limit
  std::string vectors;               // file of word_vectors.h, or empty
  int64_t maximum_sentences = 200;
  int64_t maximum_words = 100;  // of a sentence
  void describe(OptionList& list);
};

/// A text cut at sentence and word boundaries (ICU). Paragraph marks (<p>, <br>) end a sentence and
/// are no words. A sentence of more than maximum_words is read as several; sentences beyond
/// maximum_sentences are cut off.
struct CutDocument {
  std::vector<std::string> words;      // as they are written
  std::vector<Span> spans;             // where, in code points of the text
  std::vector<int64_t> offsets = {0};  // sentence i has the words offsets[i] … offsets[i + 1] - 1
  int64_t cut = 0;                     // words that were cut off
  int64_t split_sentences = 0;         // sentences that were read as several

  int64_t sentences() const { return int64_t(offsets.size()) - 1; }
};
/// BadData for invalid UTF-8; Unsupported without ICU.
CutDocument cut_document(const std::string& text, const HierarchicalDataOptions& options);

/// The words of the texts that are frequent enough. BadData when there is none.
Vocabulary learn_words(const Rows<std::string>& texts, const HierarchicalDataOptions& options);

/// How often each unit stands in the rows; count(row, counts) adds those of one row.
using UnitCounts = std::unordered_map<std::string, int64_t>;
template <class Row, class Count>
UnitCounts count_units(const Rows<Row>& rows, const Count& count) {
  UnitCounts all;
  rows.for_each_block([&](std::span<const Row> block) {
    constexpr size_t kTogether = 128;  // rows of one task
    std::vector<UnitCounts> counts((block.size() + kTogether - 1) / kTogether);
    run_parallel(int64_t(counts.size()), [&](int64_t task) {
      const size_t begin = size_t(task) * kTogether;
      for (const Row& row : block.subspan(begin, std::min(kTogether, block.size() - begin)))
        count(row, counts[size_t(task)]);
    });
    for (const UnitCounts& own : counts)
      for (const auto& [unit, times] : own) all[unit] += times;
  });
  return all;
}

/// How documents become numbers.
struct HierarchicalEncoder {
  std::shared_ptr<const Vocabulary> vocabulary;
  HierarchicalDataOptions options;

  int64_t number_of(const std::string& word) const;
  /// With known truth, map "sentences" [1, S] and map "words" [S, W]: those that hold what decides.
  Example example(const LabelledDocument& document) const;
};

Batch collate_documents(std::span<const Example> examples);

/// Without these words, or all words of these sentences: they become unknown. Unsupported for
/// another axis.
Example erase_words(const Example& example, const std::string& axis,
                    std::span<const int64_t> units);

class HierarchicalDataset : public LabelledDataset {
 public:
  /// Cuts all texts, side by side. `where` names them in an error.
  HierarchicalDataset(Rows<LabelledDocument> documents, HierarchicalEncoder encoder,
                      const std::string& where);

  int64_t length(int64_t row) const override;  // in words
  Example example(int64_t row) const override { return encoder_.example(document(row)); }
  /// With "target" int64 [B].
  Batch batch(std::span<const int64_t> rows) const override;

  int64_t cut_documents() const { return cut_documents_; }      // that lost words, and
  int64_t cut_words() const { return cut_words_; }              // how many
  int64_t split_sentences() const { return split_sentences_; }  // read as several
  int64_t empty_documents() const { return empty_documents_; }  // without a word
  double unknown_share() const { return unknown_share_; }       // of all words

 private:
  struct Row {
    std::vector<int32_t> words, sentences;
  };
  HierarchicalEncoder encoder_;
  std::vector<Row> rows_;
  int64_t cut_documents_ = 0, cut_words_ = 0, split_sentences_ = 0, empty_documents_ = 0;
  double unknown_share_ = 0;
};

}  // namespace fovea
