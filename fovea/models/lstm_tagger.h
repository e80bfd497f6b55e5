// A tagger that needs no pretraining: words, their letters, their neighbours, the whole sentence.
//   e_w   [E word; max over the letters of a convolution over them]   letters as in Ma and Hovy
//   2016
//         and, where texts without tags were given, the word's vector, which training leaves as it
//         is
//   h     BiLSTM over e                                               Huang et al. 2015
//   a     norm(h + multi-head attention of h to itself)
//   s_w   V a_w + c, and with features the sum of what each of them says: F[f], f among the word,
//         its case, its beginnings and endings, and its neighbours (data/tags/word_features.h)
//   p     softmax(s_w) of each word, or with crf a linear chain over s (Lample et al. 2016)
// The letters tell what a word that was never seen may be: capitals, digits, endings. In training
// some words are taken for unknown, so that the unknown one has learned something: a share of all,
// and of words seen n times the share r / (r + n) (Kiperwasser and Goldberg 2016).
#pragma once

#include <torch/nn/modules/embedding.h>

#include <memory>
#include <vector>

#include "fovea/attention/multi_head.h"
#include "fovea/base/options.h"
#include "fovea/models/tagger.h"
#include "fovea/nn/ops/layer_norm.h"
#include "fovea/nn/recurrent/recurrent.h"

namespace fovea {

struct LstmTaggerOptions {
  std::string name = "lstm";
  int64_t embedding = 100;  // of a word
  std::string letters = "cnn";
  int64_t letter_embedding = 30;
  int64_t letter_filters = 50;
  int64_t letter_width = 3;
  int64_t hidden = 128;  // of each direction
  int64_t layers = 1;
  int64_t heads = 4;
  double dropout = 0.4;
  double word_dropout = 0.1;
  double rare_word_dropout = 0;  // r
  bool crf = false;
  bool features = false;
  double feature_dropout = 0.3;
  std::string pruned_heads;  // attention/pruned_heads.h
  void describe(OptionList& list);
};

/// What the data decides: symbols, 0 is padding in both.
struct LstmTaggerShape {
  int64_t words = 0, letters = 0;
  int64_t unknown_word = 1;
  int64_t features = 0;                   // hashed, 0 is none
  std::vector<int64_t> word_counts = {};  // in training; needed for rare_word_dropout
  int64_t vectors = 0, vector_size = 0;   // of texts without tags; 0: there are none
};

class LstmTagger : public Tagger {
 public:
  LstmTagger(LstmTaggerOptions options, LstmTaggerShape shape, TagRules rules);
  const LstmTaggerOptions& options() const { return options_; }
  /// Vectors of texts without tags: float [shape.vectors, shape.vector_size].
  void take_vectors(const at::Tensor& vectors);

  void initialise(const Random& random) override;
  /// "letters" are those of each word, cut or padded.
  Schema schema() const override;
  std::vector<LayerSummary> summary() const override;
  ParameterRule rule_of(const std::string& name) const override;
  std::vector<HeadBlock> head_blocks() const override;

 protected:
  /// Map: "attention", from axis "words" to itself.
  at::Tensor logits_of(const Batch& batch, const Random* random, Tap* tap) const override;
  at::Tensor tag_bias() const override { return output_->bias; }

 private:
  at::Tensor spell(const at::Tensor& letters) const;  // [B, W, L] -> [B, W, F]
  at::Tensor hide_words(const at::Tensor& words, const Random& random) const;  // [B, W] -> [B, W]
  at::Tensor embed(const Batch& batch, const Random* random) const;            // -> [B, W, E]
  at::Tensor feature_scores(const Batch& batch, const Random* random) const;   // -> [B, W, K]

  LstmTaggerOptions options_;
  LstmTaggerShape shape_;
  torch::nn::Embedding words_{nullptr}, letters_{nullptr};
  at::Tensor filters_;       // [F, letter_embedding, letter_width]
  at::Tensor filters_bias_;  // [F]
  std::shared_ptr<Recurrent> recurrent_;
  std::shared_ptr<MultiHeadAttention> attention_;
  std::shared_ptr<LayerNorm> norm_;
  std::shared_ptr<Projection> output_;
  at::Tensor features_;      // [shape.features, K], where they are used
  at::Tensor vectors_;       // [shape.vectors, shape.vector_size], where they are given
  at::Tensor hidden_share_;  // [words]: how often a word is taken for unknown; undefined: never
};

}  // namespace fovea
