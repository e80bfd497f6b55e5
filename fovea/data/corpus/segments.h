// Rows for pretraining BERT, from documents: as many sentences in a row as fit, each piece of a
// document in one row (Devlin et al. 2018).
//   [CLS] first [SEP] second [SEP]   the sentences cut in two somewhere; half of the seconds are
//                                    drawn from another document instead, and what they replace
//                                    begins the next row
//   [CLS] first [SEP]                without next_sentence
// Some rows are short on purpose, so that not all have the same length. Which, where a row is cut
// and what is drawn comes from counters: the same documents and seed give the same rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/options.h"
#include "fovea/data/dataset.h"
#include "fovea/data/packing.h"
#include "fovea/data/rows.h"
#include "fovea/tensor/random.h"

namespace fovea {

struct SegmentOptions {
  int64_t longest = 128;      // positions of a row, [CLS] and [SEP] included
  bool next_sentence = true;  // rows are pairs
  double short_rows = 0.1;    // share of rows that end early

  /// [CLS] and [SEP] of a row.
  int64_t special(const PieceTokeniser& tokeniser) const {
    return tokeniser.input_template(next_sentence).special();
  }
  void describe(OptionList& list);
};

/// Tokenised documents. A unit is a sentence, or part of one that is too long for half a row; it
/// never ends inside a word.
struct TokenisedDocuments {
  std::vector<int32_t> ids;
  std::vector<int64_t> units;      // where each begins in `ids`, then the end
  std::vector<int64_t> documents;  // where each begins in `units`, then the end

  int64_t size() const { return int64_t(documents.size()) - 1; }
};

/// Empty sentences and documents are left out. BadData for invalid UTF-8.
TokenisedDocuments tokenise(Rows<std::vector<std::string>> documents,
                            const PieceTokeniser& tokeniser, const SegmentOptions& options);

class SegmentDataset : public Dataset {
 public:
  /// Where there is but one document, second segments are drawn from it too.
  SegmentDataset(TokenisedDocuments documents, std::shared_ptr<const PieceTokeniser> tokeniser,
                 const SegmentOptions& options, const Random& random);

  int64_t size() const override { return int64_t(rows_.size()); }
  int64_t length(int64_t row) const override;
  /// As packed_text.h has it, over the text that the pieces spell.
  Example example(int64_t row) const override;
  /// Likewise, with "next" [B] int64 for pairs: 0 where the second segment follows, else 1.
  Batch batch(std::span<const int64_t> rows) const override;

  Json input(int64_t row) const override;
  /// The row as texts; the second is empty without next_sentence.
  std::array<std::string, 2> texts(int64_t row) const;
  bool follows(int64_t row) const { return rows_.at(size_t(row)).follows; }

 private:
  struct Range {
    int64_t begin = 0, end = 0;  // of ids
    int64_t size() const { return end - begin; }
  };
  struct Row {
    Range first, second;
    bool follows = true;
  };
  void cut_document(int64_t document, int64_t room, const Random& random);
  Range units(int64_t begin, int64_t end) const;
  Range drawn_elsewhere(int64_t document, int64_t room, const Random& random) const;
  Pieces pieces(const Range& range) const;
  PackedInput packed(int64_t row, const Pieces& first, const Pieces& second) const;

  TokenisedDocuments documents_;
  std::shared_ptr<const PieceTokeniser> tokeniser_;
  SegmentOptions options_;
  std::vector<Row> rows_;
};

}  // namespace fovea
