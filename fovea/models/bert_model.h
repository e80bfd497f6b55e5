// What models share that put one layer on BERT, Devlin et al. 2018: the encoder, the layer, and how
// both are tuned. What the layer reads and how its numbers become answers is theirs.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fovea/models/fine_tuning.h"
#include "fovea/models/model.h"
#include "fovea/nn/transformer/bert_encoder.h"

namespace fovea {

/// The options that all have.
struct BertModelOptions {
  std::string name = "bert";
  BertOptions encoder;
  FineTuningOptions fine_tuning;
  void describe(OptionList& list);
};

/// What the data decides.
struct BertModelShape {
  int64_t vocabulary = 0;
  int64_t window = 0;  // most tokens that are read at once
  int64_t outputs = 1;
  const char* inputs = "windows";  // how errors call what has to fit into the positions
};

/// `Base` is Model, Classifier or Tagger; `base` is what its constructor takes.
template <class Base>
class BertModel : public Base {
 public:
  template <class... Arguments>
  BertModel(const BertModelOptions& options, const BertModelShape& shape, Arguments&&... base)
      : Base(std::forward<Arguments>(base)...),
        vocabulary_(shape.vocabulary),
        window_(shape.window) {
    build(options, shape);
  }
  int64_t window() const { return window_; }

  void initialise(const Random& random) override;
  std::vector<LayerSummary> summary() const override;
  ParameterRule rule_of(const std::string& name) const override;
  std::vector<HeadBlock> head_blocks() const override { return encoder_->head_blocks(); }

 protected:
  /// "output (softmax)", for summary().
  virtual std::string head_name() const = 0;
  virtual bool uses_pooler() const { return false; }

  std::shared_ptr<BertEncoder> encoder_;
  std::shared_ptr<Projection> output_;

 private:
  void build(const BertModelOptions& options, const BertModelShape& shape);

  int64_t vocabulary_, window_;
  FineTuningOptions fine_tuning_;
};

}  // namespace fovea
