// Show, attend and tell (Xu et al. 2015): a caption is written word by word, and each word looks at
// the picture before it is written.
//   a_i      annotations: what the image encoder makes of cell i (nn/vision/image_encoder.h), plus
//   what is
//            learned of the place of the cell (model.positions=no is the paper's)
//   h_0, c_0 tanh(W mean_i a_i + b), one layer each
//   alpha_t  softmax_i(score(h_{t-1}, a_i)); the paper's score is additive with a bias
//   soft     z_t = beta_t sum_i alpha_ti a_i, beta_t = sig(w . h_{t-1} + b) (model.gate)
//   hard     z_t = beta_t a_s, s ~ alpha_t
//   none     z_t = beta_t mean_i a_i: the control, which cannot look
//   h_t      LSTM([E y_{t-1} ; z_t], h_{t-1})
//   p(y_t)   softmax(L_o tanh(E y_{t-1} + L_h h_t + L_z z_t)); the paper's formula has no tanh, its
//            code has (model.output)
// The loss of a caption, of which a batch has the sum divided by its words:
//   soft     -log p(y) + penalty * sum_i (1 - sum_t alpha_ti)^2: the sum over the cells, as in the
//            paper's formula. (Its code has the mean over the cells and the sum over the batch.)
//   hard     -log p(y | s) - sum_t (reward_weight R_t log alpha_ts + entropy_weight H(alpha_t))
//            with the rewards R_t held fixed: its gradient is, with reward_weight = 1, that of
//            -E_s log p(y | s) in the mean over s (REINFORCE). The share semi_sampling of the loss
//            is that of the caption told softly. (The paper throws a coin for each caption: the
//            same in the mean.)
// What a draw is held against does not change that mean, only how far single draws are from it:
//   moving   R_t = log p(y | s) - b, b the moving mean of log p(y | s) over batches: the paper's.
//            A long caption is then always worse than expected, a short one better
//   soft     R_t = sum_{k >= t} log p(y_k | s) - log p(y_k | softly): the words that the draw can
//            change, against the same words of the same caption told softly
// -log p is smoothed (label_smoothing), rewards are not.
#pragma once

#include <torch/nn/modules/embedding.h>

#include <memory>
#include <mutex>

#include "fovea/attention/attend.h"
#include "fovea/attention/projection.h"
#include "fovea/models/sequence_model.h"
#include "fovea/nn/recurrent/recurrent.h"
#include "fovea/nn/vision/image_augment.h"
#include "fovea/nn/vision/image_encoder.h"

namespace fovea {

struct ShowAttendTellOptions {
  std::string name = "show_attend_tell";
  ImageEncoderOptions encoder;
  bool positions = true;
  int64_t embedding = 128;
  int64_t hidden = 256;
  std::string attention = "soft";
  bool gate = true;
  std::string output = "tanh";
  double dropout = 0.3;          // of embeddings and of what the output layer sees
  double word_dropout = 0.3;     // of whole words before (Bowman et al. 2016)
  double attention_dropout = 0;  // soft
  double label_smoothing = 0.1;  // what was never seen together stays possible
  double penalty = 0;
  std::string baseline = "soft";
  double baseline_decay = 0.9;
  double reward_weight = 0.1;
  double entropy_weight = 0.01;  // at 0 alpha narrows before it is known where to look
  double semi_sampling = 0.5;
  bool answers_softly = false;  // hard: from the expectation over the cells, not the likeliest one
  ScoreOptions score;
  NormaliserOptions normaliser;  // soft
  ImageAugmentOptions augment;
  ShowAttendTellOptions();
  void describe(OptionList& list);
  bool is_hard() const { return attention == "hard"; }
  bool attends() const { return attention != "none"; }
};

/// What the data decides.
struct CaptionShape {
  int64_t symbols = 0;     // V
  int64_t image_size = 0;  // S: pixels of a side
  int64_t longest = 50;    // words of an answer, unless decoding.maximum_length says otherwise
  int64_t padding = 0, begin = 2, end = 3;
};

class ShowAttendTell : public SequenceModel {
 public:
  ShowAttendTell(ShowAttendTellOptions options, SearchOptions search, CaptionShape shape);
  const ShowAttendTellOptions& options() const { return options_; }
  const CaptionShape& caption_shape() const { return caption_; }
  ImageEncoder& encoder() { return *encoder_; }
  int64_t grid() const { return grid_; }  // cells of a side

  void initialise(const Random& random) override;
  /// "image" uint8 [B, 3, S, S], "target" and "target.keep" [B, T].
  Schema schema() const override;
  std::vector<LayerSummary> summary() const override;
  ParameterRule rule_of(const std::string& name) const override;
  Loss loss(const Batch& batch, const StepContext& context) override;
  Predictions predict(const Batch& batch) const override;
  /// Log-probability of each word [B, T]. Map "attention" [B, 1, T, cells], unless there is none.
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;

  std::pair<double, int64_t> negative_log_likelihood(const Batch& batch) const override;

  enum class Look { Softly, Likeliest, Drawn };
  struct Looking {
    Look how = Look::Softly;
    const Random* random = nullptr;  // Drawn
    at::Tensor chosen = {};          // Drawn: int64 [B, T], cells to repeat
  };
  /// What captions cost, word by word [B, T]; 0 behind their ends.
  struct Told {
    at::Tensor log_probability;       // log p(y_t | s)
    at::Tensor cost;                  // -log p(y_t | s), with label smoothing
    at::Tensor log_choices, entropy;  // Drawn: log alpha_ts and H(alpha_t)
  };
  Told tell(const Batch& batch, const Looking& looking) const;
  /// The loss of each caption [B] that was told with draws, for rewards R [B, T].
  at::Tensor hard_objective(const Told& told, const at::Tensor& rewards) const;
  /// R of the two baselines [B, T]: b, and the same captions told softly.
  static at::Tensor rewards_above(const Told& told, const at::Tensor& baseline);
  static at::Tensor rewards_above(const Told& told, const Told& softly);

 private:
  struct Pictures {   // made once per picture
    Memory memory;    // soft and hard
    at::Tensor mean;  // [B, D]
    RecurrentState start;
    Pictures select(const at::Tensor& rows) const;
  };
  struct Seen {
    at::Tensor context;              // [B, D]: z_t
    at::Tensor weights;              // [B, 1, 1, L]
    at::Tensor log_choice, entropy;  // [B], Drawn
  };
  struct Pass {                       // through all words of the captions
    at::Tensor readouts;              // [B, T, E]: what the output layer sees
    at::Tensor weights;               // [B, 1, T, L], or undefined
    at::Tensor log_choices, entropy;  // [B, T], Drawn
  };
  bool attends() const { return score_ != nullptr; }
  bool is_hard() const { return options_.is_hard(); }
  /// How answers look.
  Looking answering() const;
  /// `random`: of a training.
  Pictures look_at(const at::Tensor& images, const Random* random, Tap* tap) const;
  Seen look(const at::Tensor& hidden, const Pictures& pictures, Look how, Tap* tap,
            std::optional<Random> random = {}) const;
  Seen draw(const at::Tensor& hidden, const Pictures& pictures, const Looking& looking,
            int64_t step) const;
  /// One step of the LSTM: its state and the context that it saw.
  struct Step {
    RecurrentState state;
    at::Tensor context;  // [B, D], gated
  };
  Step write(const at::Tensor& word, const RecurrentState& state, const Seen& seen) const;
  at::Tensor read_out(const at::Tensor& words, const at::Tensor& hidden,
                      const at::Tensor& contexts) const;
  at::Tensor hide_words(const at::Tensor& words, const Random& random) const;  // [B, T, E]
  Pass pass_over(const Pictures& pictures, const at::Tensor& target, const Random* random,
                 const Looking& looking, Tap* tap = nullptr) const;
  Loss soft_loss(const Batch& batch, const Pass& pass) const;
  Loss hard_loss(const Batch& batch, const StepContext& context);
  Told told_of(const Batch& batch, const Pass& pass) const;
  /// b for captions of these log-probabilities [B]; from now on they count too.
  at::Tensor take_baseline(const at::Tensor& log_probability, int64_t step);

  ShowAttendTellOptions options_;
  CaptionShape caption_;
  int64_t grid_ = 0;
  std::shared_ptr<ImageEncoder> encoder_;
  at::Tensor positions_;  // [L, D], or undefined
  torch::nn::Embedding words_{nullptr};
  std::shared_ptr<Projection> first_hidden_, first_cell_;
  std::shared_ptr<Recurrent> recurrent_;
  std::shared_ptr<ScoreFunction> score_;
  std::shared_ptr<Projection> gate_;
  std::shared_ptr<Projection> from_hidden_, from_context_, output_;
  // The moving baseline, as buffers, so that a resumed training goes on with it.
  at::Tensor baseline_, baseline_batches_;              // b, and of how many batches
  at::Tensor newest_sum_, newest_count_, newest_step_;  // of the batch that is under way
  std::mutex baseline_mutex_;  // parts of a batch are trained on side by side
};

}  // namespace fovea
