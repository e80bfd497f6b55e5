// What all models share that give every word of a sentence a tag:
//   p(tag of word w) = softmax(s_w), or p(all tags) by a linear chain (nn/ops/linear_chain.h)
//   loss      -log p(right tags), divided by the real words
//   answer    the likeliest tags among the sequences that decoding/tags.h allows
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fovea/decoding/tags.h"
#include "fovea/models/model.h"
#include "fovea/nn/ops/linear_chain.h"

namespace fovea {

class Tagger : public Model {
 public:
  /// `chain`: with scores of neighbouring tags.
  explicit Tagger(TagRules rules, bool chain = false);

  /// A batch holds "words.keep" bool [B, W] and, to learn from, "target" [B, W] with 0 at padding.
  Loss loss(const Batch& batch, const StepContext& context) override;
  /// Decoded outputs: the tokens are the words' tags.
  Predictions predict(const Batch& batch) const override;
  /// Log-probability of each word's tag, in a chain given the tags before it: [B, W], 0 at padding.
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;

  /// The tags of predict() where the score of `tag` is lower by each of `shifts`: one prediction
  /// for each, without probabilities.
  std::vector<Predictions> predict_shifted(const Batch& batch, int64_t tag,
                                           std::span<const double> shifts) const;
  /// From here on the score of `tag` is lower by `shift`, for every word.
  void shift_tag(int64_t tag, double shift);

  /// Sum of -log p of the right tags over the real words of the batch.
  double negative_log_likelihood(const Batch& batch) const;

 protected:
  /// -> s [B, W, K]
  virtual at::Tensor logits_of(const Batch& batch, const Random* random, Tap* tap) const = 0;
  /// What the scores of every word begin with: a parameter [K].
  virtual at::Tensor tag_bias() const = 0;
  int64_t tags() const { return rules_.tags(); }
  std::shared_ptr<LinearChain> chain_;  // null: every word by itself

 private:
  /// logits [B, W, K], tags [B, W] -> [B, W], 0 where `keep` is false.
  at::Tensor log_probabilities(const at::Tensor& logits, const at::Tensor& tags,
                               const at::Tensor& keep) const;

  /// scores [B, W, K], on the CPU.
  Predictions decode(const at::Tensor& scores, const at::Tensor& keep) const;

  TagRules rules_;
};

}  // namespace fovea
