// A question and a text, as BERT takes them in for an answer that is a span of the text:
//   [CLS] question [SEP] text [SEP]
// A text that is too long goes through in windows that overlap, each with the whole question
// (packing.h). Tensors of one row, and in a batch [B, …] with tokens.keep:
//   tokens [N], segments [N]   all windows one after the other, as packed_text.h has them
//   pieces [N]                 which piece of the text a token is, from 0; kNoAnswer at the first
//                              token of each window; kOutside elsewhere
//   spans [N, 2]               the code points of the text that it covers
//   starts [W], ends [W]       where in each window the answer begins and ends (its last token); 0
//                              where the window does not hold it, -1 behind the row's windows
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fovea/data/dataset.h"
#include "fovea/data/packed_text.h"
#include "fovea/data/questions/reader.h"
#include "fovea/data/rows.h"

namespace fovea {

constexpr int64_t kNoAnswer = -2, kOutside = -1;  // of "pieces"

/// How rows become tokens.
struct QuestionEncoder {
  std::shared_ptr<const PieceTokeniser> tokeniser;
  PackingOptions packing;
  int64_t longest_question = 64;  // pieces; the rest is cut

  /// Axis "tokens", over the question, a line end and the text. `cut` counts pieces of the
  /// question. BadData for invalid UTF-8.
  Example example(const QuestionRow& row) const;
  Batch collate(std::span<const Example> examples) const;
};

class QuestionDataset : public Dataset {
 public:
  /// Cuts all texts, side by side. `where` names them in an error.
  QuestionDataset(Rows<QuestionRow> rows, QuestionEncoder encoder, const std::string& where);

  int64_t size() const override { return int64_t(rows_.size()); }
  int64_t length(int64_t row) const override {
    return encoded_.at(size_t(row)).tensors.at("tokens").size(0);
  }
  Example example(int64_t row) const override { return encoder_.example(rows_.at(size_t(row))); }
  Batch batch(std::span<const int64_t> rows) const override;
  /// {"question", "text"}
  Json input(int64_t row) const override;
  /// All right answers; none for a question that has none.
  std::vector<std::string> references(int64_t row) const override;

  int64_t windowed() const { return windowed_; }  // rows of several windows
  int64_t without_answer() const { return impossible_; }
  int64_t lost() const { return lost_; }  // rows whose answer is whole in no window

 private:
  std::vector<QuestionRow> rows_;
  QuestionEncoder encoder_;
  std::vector<Example> encoded_;  // tensors alone
  int64_t windowed_ = 0, impossible_ = 0, lost_ = 0;
};

}  // namespace fovea
