// BERT that marks the answer to a question in a text, Devlin et al. 2018. Of each window of the
// text (models/bert_windows.h):
//   h        the encoder's states of [CLS] question [SEP] text [SEP]
//   s, e     U h + c: how well an answer begins, and ends, at each token
//   loss     -(log p(begin) + log p(end)) / 2, p the softmax over the window's real tokens; a
//   window
//            without the answer begins and ends at its [CLS]
//   answer   the span i … j of tokens of the text, in one window and not too long, with the largest
//            log p(i) + log p(j), p the softmax over the text's tokens and the [CLS] of all
//            windows; that there is none has the smallest such sum of a [CLS]
#pragma once

#include <string>
#include <vector>

#include "fovea/models/bert_model.h"

namespace fovea {

struct BertReaderOptions : BertModelOptions {
  int64_t longest_answer = 30;  // tokens
  void describe(OptionList& list);
};

class BertReader : public BertModel<Model> {
 public:
  static constexpr size_t kBest = 5;  // answers of a prediction

  /// `window`: longer sequences are read in windows of so many tokens.
  BertReader(const BertReaderOptions& options, int64_t vocabulary, int64_t window);

  /// data/questions/encoder.h says what the tensors are.
  Schema schema() const override;

  /// units: windows.
  Loss loss(const Batch& batch, const StepContext& context) override;
  /// outputs: at most kBest spans, the likeliest first, each {first token, last token}; then, where
  /// there is a [CLS], that there is no answer: its place, twice.
  Predictions predict(const Batch& batch) const override;
  /// log p of the first output's begin and end: [B, 2]. Maps: "attention", one a layer.
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;

 protected:
  std::string head_name() const override { return "output (begin and end of the answer)"; }

 private:
  at::Tensor logits_of(const Batch& batch, const Random* random, Tap* tap) const;  // [B, N, 2]
  /// Of tokens that can be part of an answer, or say that there is none: [B, N, 2]
  at::Tensor log_probabilities(const Batch& batch, Tap* tap) const;
  std::vector<Decoded> best_answers(const float* scores, const int64_t* pieces,
                                    int64_t tokens) const;

  int64_t longest_answer_;
};

}  // namespace fovea
