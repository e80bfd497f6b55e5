// BERT that chooses one of several answers, as Devlin et al. 2018 do for SWAG. Of each choice:
//   h      the encoder's states of [CLS] question [SEP] choice [SEP]
//   z      tanh(W h_1 + b) of [CLS]
//   s      v · dropout(z) + c, one number
//   p      softmax of s over the choices of the question; loss -log p(right choice)
// For whoever looks in from outside the inputs of a question are one sequence, in which what they
// share stands once (data/choices/encoder.h): a map is [B, H, N, N], its rows of shared tokens are
// those of the chosen input, and its rows of a choice's tokens those of that choice's input.
#pragma once

#include <string>

#include "fovea/models/bert_model.h"

namespace fovea {

using BertChooserOptions = BertModelOptions;

class BertChooser : public BertModel<Model> {
 public:
  /// `longest`: most tokens of one input.
  BertChooser(const BertChooserOptions& options, int64_t vocabulary, int64_t longest);

  /// data/choices/encoder.h says what the tensors are.
  Schema schema() const override;

  Loss loss(const Batch& batch, const StepContext& context) override;
  /// outputs: all choices, the likeliest first, each {its number}.
  Predictions predict(const Batch& batch) const override;
  /// log p of the first output: [B, 1]. Maps: "attention", one a layer.
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;

 protected:
  /// `chosen` [B] is asked for where there is a tap. -> [B, C], very small where a row has no such
  /// choice.
  at::Tensor logits_of(const Batch& batch, const at::Tensor& chosen, const Random* random,
                       Tap* tap) const;
  std::string head_name() const override { return "output (a number for each choice, softmax)"; }
  bool uses_pooler() const override { return true; }
};

}  // namespace fovea
