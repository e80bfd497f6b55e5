// Texts with a class, several labels or a number, as BERT takes them in: one text or two, cut into
// pieces and packed (packing.h). A text in several windows is their inputs one after the other;
// only the last may be shorter than PackingOptions::longest, so that a model can tell them apart by
// counting.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/dataset.h"
#include "fovea/data/packed_text.h"
#include "fovea/data/rows.h"

namespace fovea {

struct LabelledDocument {
  std::string text, second;         // second: empty unless the texts are pairs
  int64_t label = -1;               // number of its class; -1: unknown
  std::vector<Span> decisive = {};  // of `text`: what is known to decide; empty: nothing is known
  std::vector<float> targets = {};  // of several labels 0 or 1 of each [C]; of a number [1],
                                    // standardised; empty: `label` is the class
};

/// How documents become tokens.
struct DocumentEncoder {
  std::shared_ptr<const PieceTokeniser> tokeniser;
  PackingOptions packing;
  bool pairs = false;

  struct Encoded {
    PackedInput input;  // all windows
    int64_t cut = 0;    // pieces that did not fit
  };
  /// BadData for invalid UTF-8, and for what PackingOptions refuses.
  Encoded encode(const LabelledDocument& document) const;
  /// Tensors and axis as packed_text.h has them. With known truth, map "attention" [T, T]: the row
  /// of each [CLS] marks the tokens of its window that decide.
  Example example(const LabelledDocument& document) const;
};

/// What the data sets of texts with a class, several labels or a number share, whatever a model
/// makes of the texts.
class LabelledDataset : public Dataset {
 public:
  int64_t size() const override { return static_cast<int64_t>(documents_.size()); }
  const LabelledDocument& document(int64_t row) const { return documents_.at(size_t(row)); }
  Json input(int64_t row) const override { return document(row).text; }
  bool has_truth() const override { return has_truth_; }

 protected:
  void add(LabelledDocument&& document);
  /// Class numbers int64 [R], or float32: 0 or 1 of each label [R, C], numbers [R].
  at::Tensor targets(std::span<const int64_t> rows) const;

 private:
  std::vector<LabelledDocument> documents_;
  bool has_truth_ = false;
};

class DocumentDataset : public LabelledDataset {
 public:
  /// Cuts all texts, side by side. `where` names them in an error.
  DocumentDataset(Rows<LabelledDocument> documents, DocumentEncoder encoder,
                  const std::string& where);

  int64_t length(int64_t row) const override { return int64_t(row_of(row).ids.size()); }
  Example example(int64_t row) const override { return encoder_.example(document(row)); }
  /// As packed_text.h has it, with "target" of targets().
  Batch batch(std::span<const int64_t> rows) const override;
  Json input(int64_t row) const override;

  int64_t cut_documents() const { return cut_documents_; }  // that lost pieces, and
  int64_t cut_pieces() const { return cut_pieces_; }        // how many
  int64_t windowed_documents() const { return windowed_documents_; }

 private:
  struct Row {  // an input without what only pictures need
    std::vector<int32_t> ids;
    std::vector<uint8_t> segments;
  };
  const Row& row_of(int64_t row) const { return rows_.at(size_t(row)); }

  DocumentEncoder encoder_;
  std::vector<Row> rows_;
  int64_t cut_documents_ = 0, cut_pieces_ = 0, windowed_documents_ = 0;
};

}  // namespace fovea
