// T5, Raffel et al. 2020: an encoder and a decoder on texts, trained to answer every question about
// a text with a text.
//   x        E[symbol], one table for both sides where they share a vocabulary, dropout
//   layers   pre-norm of nn/transformer/transformer_layer.h with root mean square norms and no
//            biases; scores q k without 1 / sqrt(d) but with relative positions
//            (nn/transformer/relative_positions.h), which all layers of a side share
//   output   p(y_t) = softmax(W x_t): W the target's table, and then x_t / sqrt(D), or W of its own
//   loss     mean over the real target positions of -log p(y_t), with label smoothing
// Version 1.1, Flan-T5 and mT5 (Xue 2021) have a gated feed-forward network with gelu, no tied
// output, and heads whose width is not D / H.
#pragma once

#include <memory>

#include "fovea/base/options.h"
#include "fovea/models/encoder_decoder.h"

namespace fovea {

struct T5Options : EncoderDecoderSizes {
  std::string name = "t5";
  int64_t heads = 4;
  int64_t head_size = 0;              // 0: D / H
  std::string activation = "relu";    // relu, gelu, gelu-tanh or silu
  bool gated = false;                 // the feed-forward network
  RelativeOptions relative;           // positions
  std::string scale_output = "tied";  // yes, no, or tied: as tie_embeddings
  double epsilon = 1e-6;
  double dropout =
      0.1;  // of embeddings, weights, what each sublayer adds, the feed-forward network, ends
  double label_smoothing = 0;
  void describe(OptionList& list);
  /// With every 0 filled in. InvalidArgument for heads that do not divide the width.
  T5Options whole() const;
  bool scales_output() const {
    return scale_output == "tied" ? tie_embeddings : scale_output == "yes";
  }
};

class T5 : public EncoderDecoder {
 public:
  T5(const T5Options& options, SearchOptions search, SequenceShape shape);
  const T5Options& options() const { return options_; }  // whole

  /// Normal with the deviations of the paper's code: 1 for tables, 1 / sqrt(inputs) for matrices,
  /// queries narrower by sqrt(d), in place of the scale of the scores.
  void initialise(const Random& random) override;
  std::vector<LayerSummary> summary() const override;

 private:
  at::Tensor embed_source(const at::Tensor& symbols, const Random* random) const override;
  at::Tensor embed_target(const at::Tensor& symbols, int64_t first,
                          const Random* random) const override;
  at::Tensor after_encoder(const at::Tensor& x, const Random* random) const override;
  at::Tensor after_decoder(const at::Tensor& x, const Random* random) const override;
  OutputLayer output_layer() const override;
  double label_smoothing() const override { return options_.label_smoothing; }
  bool draws() const override { return options_.dropout > 0; }

  T5Options options_;
};

}  // namespace fovea
