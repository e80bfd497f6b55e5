// BERT with a tag for every word, Devlin et al. 2018: a word is cut into pieces, and what the
// encoder says of its first piece decides.
//   h    the encoder's states (in windows, where the sentence is too long: models/bert_windows.h)
//   s_w  V dropout(h of the first piece of word w) + c
#pragma once

#include <memory>

#include "fovea/models/fine_tuning.h"
#include "fovea/models/tagger.h"
#include "fovea/nn/transformer/bert_encoder.h"

namespace fovea {

struct BertTaggerOptions {
  std::string name = "bert";
  BertOptions encoder;
  FineTuningOptions fine_tuning;
  void describe(OptionList& list);
};

class BertTagger : public Tagger {
 public:
  /// `window`: longer sequences are read in parts of so many tokens.
  BertTagger(BertTaggerOptions options, int64_t vocabulary, int64_t window, TagRules rules);
  int64_t window() const { return window_; }

  void initialise(const Random& random) override;
  /// "words" says at which token each word begins.
  Schema schema() const override;
  std::vector<LayerSummary> summary() const override;
  ParameterRule rule_of(const std::string& name) const override;
  std::vector<HeadBlock> head_blocks() const override { return encoder_->head_blocks(); }

 protected:
  /// Maps: "attention", one a layer, from axis "tokens" to itself.
  at::Tensor logits_of(const Batch& batch, const Random* random, Tap* tap) const override;
  at::Tensor tag_bias() const override { return output_->bias; }

 private:
  BertTaggerOptions options_;
  int64_t vocabulary_, window_;
  std::shared_ptr<BertEncoder> encoder_;
  std::shared_ptr<Projection> output_;
};

}  // namespace fovea
