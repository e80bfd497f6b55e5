// What all models share that give every word of a sentence a tag:
//   p(tag of word w) = softmax(s_w)
//   loss      mean over the real words of -log p(right tag)
//   answer    the likeliest tags among the sequences that decoding/tags.h allows
#pragma once

#include <vector>

#include "fovea/decoding/tags.h"
#include "fovea/models/model.h"

namespace fovea {

class Tagger : public Model {
 public:
  explicit Tagger(TagRules rules) : rules_(std::move(rules)) {}

  /// A batch holds "words.keep" bool [B, W] and, to learn from, "target" [B, W] with 0 at padding.
  Loss loss(const Batch& batch, const StepContext& context) override;
  /// Decoded outputs: the tokens are the words' tags.
  Predictions predict(const Batch& batch) const override;
  /// Log-probability of each word's tag: [B, W], 0 at padding.
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;

  /// Sum of -log p of the right tags over the real words of the batch.
  double negative_log_likelihood(const Batch& batch) const;

 protected:
  /// -> s [B, W, K]
  virtual at::Tensor logits_of(const Batch& batch, const Random* random, Tap* tap) const = 0;
  int64_t tags() const { return rules_.tags(); }

 private:
  TagRules rules_;
};

}  // namespace fovea
