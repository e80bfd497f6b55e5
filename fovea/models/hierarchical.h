// Hierarchical attention, Yang et al. 2016: words make sentences, sentences make the document.
//   h_it  BiGRU over the words of sentence i          h_i  BiGRU over the sentences s_i
//   s_i   sum_t a_it h_it                             v    sum_i a_i h_i
// W v + b is what models/classifier.h makes answers and a loss of.
// hierarchical_pooling.h has the weights a of both levels, and what may stand in their place. A
// document without words is zeros: its answer is what b says.
#pragma once

#include <torch/nn/modules/embedding.h>

#include <memory>
#include <vector>

#include "fovea/models/classifier.h"
#include "fovea/models/hierarchical_layout.h"
#include "fovea/models/hierarchical_pooling.h"
#include "fovea/nn/recurrent/recurrent.h"

namespace fovea {

struct HierarchicalOptions {
  std::string name = "han";
  int64_t embedding = 200;  // of a word
  int64_t hidden = 50;      // of each direction
  // Small ones say little beside the recurrence, and attention then learns to look at a neighbour
  // that has heard of the word.
  double embedding_deviation = 0.5;
  PoolingOptions pooling;
  double dropout = 0.3;
  std::string class_weights = "none";
  std::string loss = "squared";  // of a number
  void describe(OptionList& list);
};

/// What the data decides.
struct HierarchicalShape {
  int64_t words = 0;  // symbols; 0 is padding
  int64_t classes = 2;
  int64_t longest_sentence = 100, longest_document = 100;  // in words, and in sentences
  std::vector<int64_t> class_counts = {};  // training rows of each; empty: unknown, all alike
  AnswerKind kind = AnswerKind::Class;
  int64_t rows = 0;  // of training
};

class HierarchicalAttention : public Classifier {
 public:
  HierarchicalAttention(HierarchicalOptions options, HierarchicalShape shape);
  const HierarchicalOptions& options() const { return options_; }
  const HierarchicalShape& shape() const { return shape_; }

  void initialise(const Random& random) override;
  /// Vectors [words, embedding] for the words that `known`, bool [words], names.
  void take_vectors(const at::Tensor& vectors, const at::Tensor& known);

  /// "sentences" are the numbers of words of each sentence, 0 behind the last one.
  Schema schema() const override;
  std::vector<LayerSummary> summary() const override;
  ParameterRule rule_of(const std::string& name) const override;

 protected:
  /// Maps, unless another pooling is chosen: "words" [B, 1, S, W], from the sentences to their
  /// words, and "sentences" [B, 1, 1, S], from the document to its sentences. None for a batch
  /// without words.
  at::Tensor logits_of(const Batch& batch, const Random* random, Tap* tap) const override;

 private:
  struct Pass;  // what one pass through the network carries along
  at::Tensor word_states(const Pass& pass, const at::Tensor& table, size_t group) const;
  at::Tensor sentence_vectors(const Pass& pass) const;                               // [B, S, D]
  at::Tensor document_vectors(const Pass& pass, const at::Tensor& sentences) const;  // [B, D]

  HierarchicalOptions options_;
  HierarchicalShape shape_;
  torch::nn::Embedding words_{nullptr};
  std::shared_ptr<Recurrent> word_encoder_, sentence_encoder_;
  std::shared_ptr<SequencePooling> word_pooling_, sentence_pooling_;
  std::shared_ptr<Projection> output_;
};

}  // namespace fovea
