// BERT with a class, several labels or a number on top, Devlin et al. 2018. Of each window of the
// text (one, where it fits into the positions; models/bert_windows.h):
//   h  = the encoder's states
//   z  = tanh(W h_1 + b) of [CLS], or the mean of h over the real tokens
//   s  = V dropout(z) + c
//   the mean of s over the windows is what models/classifier.h makes answers and a loss of
#pragma once

#include <memory>
#include <vector>

#include "fovea/models/classifier.h"
#include "fovea/models/fine_tuning.h"
#include "fovea/nn/transformer/bert_encoder.h"

namespace fovea {

struct BertClassifierOptions {
  std::string name = "bert";
  BertOptions encoder;
  std::string pooling = "cls";
  std::string class_weights = "none";
  std::string loss = "squared";  // of a number
  FineTuningOptions fine_tuning;
  void describe(OptionList& list);
};

/// What the data decides.
struct DocumentShape {
  int64_t vocabulary = 0;
  int64_t classes = 2;
  int64_t window = 512;               // longer sequences are read in parts of so many tokens
  std::vector<int64_t> class_counts;  // training rows of each class; empty: unknown, all alike
  AnswerKind kind = AnswerKind::Class;
  int64_t rows = 0;  // of training
};

class BertClassifier : public Classifier {
 public:
  BertClassifier(BertClassifierOptions options, DocumentShape shape);
  const BertClassifierOptions& options() const { return options_; }
  const DocumentShape& shape() const { return shape_; }

  void initialise(const Random& random) override;
  Schema schema() const override;
  std::vector<LayerSummary> summary() const override;
  ParameterRule rule_of(const std::string& name) const override;
  std::vector<HeadBlock> head_blocks() const override { return encoder_->head_blocks(); }

 protected:
  /// Maps: "attention", one a layer.
  at::Tensor logits_of(const Batch& batch, const Random* random, Tap* tap) const override;

 private:
  BertClassifierOptions options_;
  DocumentShape shape_;
  std::shared_ptr<BertEncoder> encoder_;
  std::shared_ptr<Projection> output_;
};

}  // namespace fovea
