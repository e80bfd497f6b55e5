// Sequence to sequence: an encoder reads the source, a decoder writes the target one unit at a
// time, looking back through attention (or not). Units are symbols or vectors of numbers.
//   encoder   rnn, gru or lstm, layers, both directions; h_j = [forward_j ; backward_j]
//   decoder   nn/decoder/decoder.h: Bahdanau 2015, Luong 2015, or without attention Cho 2014 (a
//             summary c = tanh(V h_S) fed to every step) and Sutskever 2014 (states handed over,
//             source reversed)
//   output    p(y_t) = softmax(W r_t + b), or y_t = W r_t + b for numbers; with a rank W = W_l W_r
//   loss      mean over the real target positions of -log p(y_t) (with label smoothing), or of the
//             squared error; plus coverage * mean_t sum_j min(a_tj, sum_{u<t} a_uj)   (See 2017)
// docs/results.md says what was reached with which options; configs/seq2seq-*.json hold the
// papers', docs/papers.md what still differs from them.
#pragma once

#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>

#include <memory>
#include <optional>

#include "fovea/base/options.h"
#include "fovea/models/sequence_model.h"
#include "fovea/nn/decoder/decoder.h"
#include "fovea/nn/ops/cross_entropy.h"

namespace fovea {

struct Seq2SeqOptions {
  std::string name = "seq2seq";
  std::string cell = "gru";
  std::string encoder_cell = "same";
  std::string reset = "after";
  int64_t hidden = 128;        // of the decoder, and of the encoder's output
  int64_t encoder_hidden = 0;  // of each direction; 0: hidden, halved for two directions
  int64_t layers = 1;
  int64_t embedding = 64;
  bool one_hot = false;  // instead of embeddings
  bool bidirectional = true;
  bool reverse_source = false;
  double dropout = 0;           // of embeddings, between layers, of the readout
  bool tie_embeddings = false;  // output matrix = target embedding
  std::string attention = "soft";
  std::string decoder = "luong";
  bool input_feeding = false;
  bool summary = true;           // attention=none: the summary is fed to every step
  bool summary_gated = false;    // the decoder's reset gate scales it in the candidate
  std::string bridge = "dense";  // from the encoder's last states to the decoder's first
  std::string readout = "tanh";
  std::string readout_from = "new";
  int64_t readout_size = 0;  // 0: hidden; with tied embeddings: embedding
  int64_t output_rank = 0;   // of the output matrix; 0: full
  std::string feedback = "teacher";
  double scheduled_k = 1000;  // scheduled: p(teacher) = k / (k + exp(step / k))
  double coverage = 0;
  double label_smoothing = 0;
  ScoreOptions score;
  NormaliserOptions normaliser;
  AlignmentOptions alignment;
  void describe(OptionList& list);
  const std::string& cell_of_encoder() const {
    return encoder_cell == "same" ? cell : encoder_cell;
  }
};

/// The teacher's share of what is fed back with model.feedback=scheduled, from k / (k + 1) down to
/// 0: the inverse sigmoid k / (k + exp(step / k)) of Bengio et al. 2015.
double scheduled_share(double k, int64_t step);

class Seq2Seq : public SequenceModel {
 public:
  Seq2Seq(Seq2SeqOptions options, SearchOptions search, SequenceShape shape);
  const Seq2SeqOptions& options() const { return options_; }
  const SequenceShape& shape() const { return shape_; }

  void initialise(const Random& random) override;
  std::vector<LayerSummary> summary() const override;
  Loss loss(const Batch& batch, const StepContext& context) override;
  bool supports_cuda_graph() const override;
  Predictions predict(const Batch& batch) const override;
  /// Log-probability of each output symbol, or each output number: [B, U].
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;

  std::pair<double, int64_t> negative_log_likelihood(const Batch& batch) const override;

 private:
  struct Encoded {
    DecoderSource source;
    DecoderState start;
  };
  struct Written {
    at::Tensor readouts;  // [B, T, R or rank]
    at::Tensor outputs;   // logits [B, T, V] or numbers [B, T, O], where they were fed back
    at::Tensor weights;   // [B, 1, T, K] or undefined
  };
  bool feeds_itself() const { return options_.feedback == "own"; }
  int64_t input_size() const;  // of what a step of the decoder is given of a symbol
  Encoded encode(const Batch& batch, const Random* random, Tap* tap) const;
  /// encoded [B, S, D], summary [B, H] or undefined
  RecurrentState first_state(const RecurrentState& read, const at::Tensor& encoded,
                             const at::Tensor& summary) const;
  at::Tensor embed_source(const Batch& batch, Tap* tap) const;  // [B, S, E]
  at::Tensor embed_target(const at::Tensor& units) const;       // [B] or [B, T] or [B, T, O]
  at::Tensor first_unit(int64_t batch) const;                   // begin, or zeros [B, O]
  at::Tensor factored(const at::Tensor& readout) const;         // [B, (T,) R or rank]
  at::Tensor output_of(const at::Tensor& readout) const;        // [B, (T,) V or O]
  at::Tensor outputs_of(const Written& written) const;          // [B, T, V or O]
  OutputLayer output_layer() const;
  at::Tensor feed_back(const at::Tensor& output) const;  // own output -> [B, E]
  Written write(const Encoded& encoded, const at::Tensor& target, const Random* random,
                double teacher_share, Tap* tap) const;
  Loss loss_of(const Batch& batch, const Written& written) const;
  Predictions predict_numbers(const Batch& batch, Tap* tap) const;
  void make_symbols();
  void make_decoder(int64_t encoded);
  void make_output();
  void make_bridge(int64_t encoded);

  Seq2SeqOptions options_;
  torch::nn::Embedding source_embedding_{nullptr}, target_embedding_{nullptr};
  torch::nn::Linear source_input_{nullptr}, target_input_{nullptr};  // numbers
  std::shared_ptr<Recurrent> encoder_;
  std::vector<torch::nn::Linear> bridge_, cell_bridge_;
  torch::nn::Linear summary_{nullptr}, output_factor_{nullptr}, output_{nullptr};
  at::Tensor tied_bias_;
  std::shared_ptr<Decoder> decoder_;
};

}  // namespace fovea
