// Listen, attend and spell: speech becomes text, symbol by symbol, and each symbol listens to the
// sound before it is written (Chorowski et al. 2015; Chan et al. 2016).
//   listen  h_1 … h_K, a BiGRU or BiLSTM over the frames, plain or a pyramid in which one h_j
//           stands for several frames (nn/audio/pyramid.h)
//   attend  alpha_t = normalise(score(s_{t-1}, h_j, alpha_{t-1})), c_t = sum_j alpha_tj h_j
//             content          model.score=additive
//             location-aware   model.score=location-aware: sees where it listened before
//             smoothing        model.normaliser=smoothing: sig(e) / sum sig(e)
//             sharpening       model.normaliser=temperature or top-k
//             windowing        model.alignment=median: only around the middle of alpha_{t-1}
//   spell   nn/decoder/decoder.h: s_t = cell([y_{t-1} ; c_t], s_{t-1}), s_0 = tanh(W [h's last
//           states]); readout and softmax over the symbols. model.decoder=chorowski has the paper's
//           order: c_t from s_{t-1}, y_t from s_{t-1} and c_t, then s_t = cell([y_t ; c_t],
//           s_{t-1})
//   loss    mean over the real symbols of -log p(y_t), with label smoothing. In training frames are
//           a little different at every step (nn/audio/sound_augment.h)
//   ctc     model.ctc_weight w: a softmax over each h_j spells the text too (decoding/ctc.h), with
//           the loss (1 - w) attention + w ctc / symbols; a search adds up both in the same way
//           (Kim, Hori and Watanabe 2017). What an output is said to be worth is the attention's
// configs/speech-*.json hold what docs/results.md reports.
#pragma once

#include <torch/nn/modules/embedding.h>

#include <memory>
#include <vector>

#include "fovea/attention/projection.h"
#include "fovea/models/sequence_model.h"
#include "fovea/nn/audio/pyramid.h"
#include "fovea/nn/audio/sound_augment.h"
#include "fovea/nn/decoder/decoder.h"

namespace fovea {

struct ListenAttendSpellOptions {
  std::string name = "listen_attend_spell";
  std::string cell = "gru";
  std::string reset = "after";
  int64_t encoder_hidden = 128;  // of each direction
  int64_t layers = 3;            // of the encoder
  int64_t stack = 1;
  int64_t pyramid = 2;
  int64_t embedding = 64;
  int64_t hidden = 256;  // of the decoder
  int64_t decoder_layers = 1;
  std::string decoder = "bahdanau";
  std::string readout = "maxout";
  int64_t readout_size = 128;  // of tanh and maxout
  double dropout = 0.2;        // between layers, of embeddings and of the readout
  double label_smoothing = 0;
  double ctc_weight = 0;  // 0: attention alone
  ScoreOptions score;
  NormaliserOptions normaliser;
  AlignmentOptions alignment;
  SoundAugmentOptions augment;

  ListenAttendSpellOptions();
  void describe(OptionList& list);
  int64_t unit_frames() const { return stack << pyramid; }  // of one h_j
};

/// What the data decides.
struct SpeechShape {
  int64_t width = 0;    // numbers of a frame
  int64_t symbols = 0;  // special ones included
  double densest = 1;   // most symbols that a training frame stands for: how long an output may be
  std::vector<double> pitches;  // hertz of each band; what else a frame holds are their slopes
  int64_t padding = 0, begin = 2, end = 3;
};

class ListenAttendSpell : public SequenceModel {
 public:
  ListenAttendSpell(ListenAttendSpellOptions options, SearchOptions search, SpeechShape shape);
  const ListenAttendSpellOptions& options() const { return options_; }

  void initialise(const Random& random) override;
  std::vector<LayerSummary> summary() const override;
  Loss loss(const Batch& batch, const StepContext& context) override;
  Predictions predict(const Batch& batch) const override;
  /// Log-probability of each output symbol: [B, U].
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;

  std::pair<double, int64_t> negative_log_likelihood(const Batch& batch) const override;

  /// Most symbols, the end included, that a sound of so many frames may become.
  int64_t longest_output(int64_t frames) const;

 private:
  struct Heard {
    DecoderSource source;
    at::Tensor encoded;  // h [B, K, D]
    at::Tensor keep;     // bool [B, K]
    DecoderState start;
  };
  Heard listen(const Batch& batch, const Random* random, Tap* tap) const;
  /// What the output layer sees of each symbol, all symbols known: [B, T, R].
  at::Tensor spell(const Heard& heard, const at::Tensor& target, const Random* random,
                   Tap* tap) const;
  at::Tensor embed(const at::Tensor& symbols) const;  // [B] or [B, T] -> [B, (T,) E]
  SearchProblem problem_of(const Batch& batch, const Heard& heard) const;
  at::Tensor ctc_loss_of(const Heard& heard, const Batch& batch) const;  // a number, of all rows
  /// Log-probabilities of the outputs by attention alone.
  void weigh_by_attention(const Batch& batch, const Heard& heard, Predictions& found) const;

  ListenAttendSpellOptions options_;
  SpeechShape speech_;
  std::shared_ptr<Pyramid> encoder_;
  std::vector<std::shared_ptr<Projection>> bridge_, cell_bridge_;  // one for each decoder layer
  torch::nn::Embedding embedding_{nullptr};
  std::shared_ptr<Decoder> decoder_;
  std::shared_ptr<Projection> output_, ctc_;
};

}  // namespace fovea
