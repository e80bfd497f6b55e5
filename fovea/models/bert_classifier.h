// BERT with a class, several labels or a number on top, Devlin et al. 2018. Of each window of the
// text (one, where it fits into the positions; models/bert_windows.h):
//   h  = the encoder's states
//   z  = tanh(W h_1 + b) of [CLS], or the mean of h over the real tokens
//   s  = V dropout(z) + c
//   the mean of s over the windows is what models/classifier.h makes answers and a loss of
#pragma once

#include <string>
#include <vector>

#include "fovea/models/bert_model.h"
#include "fovea/models/classifier.h"

namespace fovea {

struct BertClassifierOptions : BertModelOptions {
  std::string pooling = "cls";
  std::string class_weights = "none";
  std::string loss = "squared";  // of a number
  void describe(OptionList& list);
};

/// What the data decides.
struct DocumentShape {
  int64_t vocabulary = 0;
  int64_t classes = 2;
  int64_t window = 512;               // longer sequences are read in windows of so many tokens
  std::vector<int64_t> class_counts;  // training rows of each class; empty: unknown, all alike
  AnswerKind kind = AnswerKind::Class;
  int64_t rows = 0;  // of training
};

class BertClassifier : public BertModel<Classifier> {
 public:
  BertClassifier(BertClassifierOptions options, DocumentShape shape);
  const BertClassifierOptions& options() const { return options_; }
  const DocumentShape& shape() const { return shape_; }

  void initialise(const Random& random) override;
  Schema schema() const override;

 protected:
  /// Maps: "attention", one a layer.
  at::Tensor logits_of(const Batch& batch, const Random* random, Tap* tap) const override;
  std::string head_name() const override { return output_name(options_.pooling); }
  bool uses_pooler() const override { return options_.pooling == "cls"; }

 private:
  BertClassifierOptions options_;
  DocumentShape shape_;
};

}  // namespace fovea
