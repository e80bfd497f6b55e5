// BERT with a tag for every word, Devlin et al. 2018: a word is cut into pieces, and what the
// encoder says of its first piece decides.
//   h    the encoder's states (in windows, where the sentence is too long: models/bert_windows.h)
//   s_w  V dropout(h of the first piece of word w) + c
#pragma once

#include <string>

#include "fovea/models/bert_model.h"
#include "fovea/models/tagger.h"

namespace fovea {

using BertTaggerOptions = BertModelOptions;

class BertTagger : public BertModel<Tagger> {
 public:
  /// `window`: longer sequences are read in windows of so many tokens.
  BertTagger(const BertTaggerOptions& options, int64_t vocabulary, int64_t window,
             const TagRules& rules);

  /// "words" says at which token each word begins.
  Schema schema() const override;

 protected:
  /// Maps: "attention", one a layer, from axis "tokens" to itself.
  at::Tensor logits_of(const Batch& batch, const Random* random, Tap* tap) const override;
  at::Tensor tag_bias() const override { return output_->bias; }
  std::string head_name() const override { return "output (softmax of each word)"; }
};

}  // namespace fovea
