#include "fovea/models/bert_tagger.h"

#include "fovea/models/bert_windows.h"
#include "fovea/tensor/torch.h"

namespace fovea {

using at::Tensor;

BertTagger::BertTagger(const BertTaggerOptions& options, int64_t vocabulary, int64_t window,
                       const TagRules& rules)
    : BertModel(options, {vocabulary, window, rules.tags(), "sentences"}, rules) {}

Schema BertTagger::schema() const {
  return {{"tokens", at::kLong, {-1, -1}},
          {"tokens.keep", at::kBool, {-1, -1}},
          {"words", at::kLong, {-1, -1}},
          {"words.keep", at::kBool, {-1, -1}},
          {"target", at::kLong, {-1, -1}}};
}

Tensor BertTagger::logits_of(const Batch& batch, const Random* random, Tap* tap) const {
  const Tensor hidden =
      encode_windows(*encoder_, {batch.at("tokens"), Tensor(), batch.at("tokens.keep")}, window(),
                     random, tap);  // [B, T, D]
  const Tensor& words = batch.at("words");
  Tensor first = hidden.gather(
      1, words.unsqueeze(-1).expand({words.size(0), words.size(1), hidden.size(2)}));  // [B, W, D]
  first = dropout(first, encoder_->options().dropout, random, "words");
  return output_->forward(first);  // [B, W, K]
}

}  // namespace fovea
