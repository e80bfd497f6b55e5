// A question and the choices it has, as BERT takes them in: one input for each choice,
//   [CLS] question [SEP] choice [SEP]              without a context
//   [CLS] context [SEP] question choice [SEP]      with one
// What all of them begin with is kept once, so that a word of the question is one unit of the axis
// "tokens" however many choices there are. Tensors of one row, and in a batch [B, …] with
// tokens.keep:
//   tokens [N], segments [N]   what the inputs share, then what each has of its own
//   choice [N]                 0: shared; c + 1: of choice c
// and of a batch alone:
//   frames [B, C, T]           the inputs, as places in `tokens`; -1 behind the shorter ones and in
//                              the place of choices that a row does not have
//   target [B]                 the right choice, from 0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fovea/data/choices/reader.h"
#include "fovea/data/dataset.h"
#include "fovea/data/packed_text.h"
#include "fovea/data/rows.h"

namespace fovea {

/// How rows become tokens.
struct ChoiceEncoder {
  std::shared_ptr<const PieceTokeniser> tokeniser;
  PackingOptions packing;

  /// Axis "tokens" over context, question and choices, each on a line of its own, and "choices"
  /// with their texts. With known truth, map "attention" [N, N]: the row of [CLS] says what
  /// decides. BadData for invalid UTF-8.
  Example example(const ChoiceRow& row) const;
  Batch collate(std::span<const Example> examples) const;
};

class ChoiceDataset : public Dataset {
 public:
  /// Cuts all texts, side by side. `where` names them in an error.
  ChoiceDataset(Rows<ChoiceRow> rows, ChoiceEncoder encoder, const std::string& where);

  int64_t size() const override { return int64_t(rows_.size()); }
  /// Of all inputs together.
  int64_t length(int64_t row) const override { return lengths_.at(size_t(row)); }
  Example example(int64_t row) const override { return encoder_.example(rows_.at(size_t(row))); }
  Batch batch(std::span<const int64_t> rows) const override;
  /// {"context", "question", "choices"}
  Json input(int64_t row) const override;
  bool has_truth() const override { return has_truth_; }

  const ChoiceRow& row(int64_t row) const { return rows_.at(size_t(row)); }
  int64_t cut() const { return cut_; }  // rows of which pieces were cut

 private:
  std::vector<ChoiceRow> rows_;
  ChoiceEncoder encoder_;
  std::vector<Example> encoded_;  // tensors alone
  std::vector<int64_t> lengths_;
  int64_t cut_ = 0;
  bool has_truth_ = false;
};

}  // namespace fovea
