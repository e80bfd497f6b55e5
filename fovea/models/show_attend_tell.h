// Show, attend and tell (Xu et al. 2015): a caption is written word by word, and each word looks at
// the picture before it is written.
//   a_i      annotations: what the image encoder makes of cell i (nn/image_encoder.h), plus what is
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
//   hard     -log p(y | s) - reward_weight (log p(y | s) - b) log p(s) - entropy_weight H(alpha),
//            with log p(y | s) - b held fixed: its gradient is, with reward_weight = 1, that of
//            -E_s log p(y | s) in the mean over s (REINFORCE). b is the moving mean of log p(y | s)
//            over batches. With probability semi_sampling a caption uses alpha itself, as soft
//            does, and has no term for s
// -log p is smoothed (label_smoothing), the reward log p(y | s) - b is not.
// Answers of a hard model look at the likeliest cell (model.answers=argmax) or at the expectation.
#pragma once

#include <torch/nn/modules/embedding.h>

#include <memory>
#include <mutex>

#include "fovea/attention/attend.h"
#include "fovea/attention/projection.h"
#include "fovea/models/sequence_model.h"
#include "fovea/nn/image_augment.h"
#include "fovea/nn/image_encoder.h"
#include "fovea/nn/recurrent.h"

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
  double label_smoothing = 0.1;  // what was never seen together stays possible
  double penalty = 0;
  double reward_weight = 0.1;
  double baseline_decay = 0.9;
  double entropy_weight = 0;
  double semi_sampling = 0.5;
  std::string answers = "argmax";
  ScoreOptions score;
  NormaliserOptions normaliser;  // soft
  ImageAugmentOptions augment;
  ShowAttendTellOptions();
  void describe(OptionList& list);
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

  /// How a caption's cells are looked at: soft, or hard with cells to repeat, drawn, or likeliest.
  struct Looking {
    bool draws = false;  // hard: cells are drawn from `random`, or are `chosen`
    const Random* random = nullptr;
    at::Tensor chosen;      // int64 [B, T]; undefined: drawn
    at::Tensor uses_alpha;  // bool [B]: captions of semi-sampling; undefined: none
  };
  /// What a caption costs, of each of the batch [B].
  struct Told {
    at::Tensor log_probability;  // log p(y | s)
    at::Tensor cost;             // -log p(y | s), with label smoothing
    at::Tensor log_choices;      // log p(s); 0 where alpha itself was used
    at::Tensor entropy;          // sum_t H(alpha_t)
  };
  /// Tells the batch's captions with hard attention.
  Told tell_hard(const Batch& batch, const Looking& looking) const;
  /// The loss of each caption [B] for a baseline b.
  at::Tensor hard_objective(const Told& told, const at::Tensor& baseline) const;

 private:
  struct Pictures {   // made once per picture
    Memory memory;    // soft and hard
    at::Tensor mean;  // [B, D]
    RecurrentState start;
    Pictures select(const at::Tensor& rows) const;
  };
  struct Look {
    at::Tensor context;     // [B, D]: z_t
    at::Tensor weights;     // [B, 1, 1, L]
    at::Tensor log_choice;  // [B]
    at::Tensor entropy;     // [B]
  };
  struct Pass {                       // through all words of the captions
    at::Tensor readouts;              // [B, T, E]: what the output layer sees
    at::Tensor weights;               // [B, 1, T, L], or undefined
    at::Tensor log_choices, entropy;  // [B, T], hard
  };
  bool attends() const { return score_ != nullptr; }
  bool is_hard() const { return options_.attention == "hard"; }
  /// `random`: of a training.
  Pictures look_at(const at::Tensor& images, const Random* random, Tap* tap) const;
  Look look(const at::Tensor& hidden, const Pictures& pictures, Tap* tap) const;
  Look draw(const at::Tensor& hidden, const Pictures& pictures, const Looking& looking,
            int64_t step) const;
  /// One step of the LSTM: its state and the context that it saw.
  struct Step {
    RecurrentState state;
    at::Tensor context;  // [B, D], gated
  };
  Step write(const at::Tensor& word, const RecurrentState& state, const Look& look) const;
  at::Tensor read_out(const at::Tensor& words, const at::Tensor& hidden,
                      const at::Tensor& contexts) const;
  at::Tensor hide_words(const at::Tensor& words, const Random& random) const;  // [B, T, E]
  Pass tell(const Pictures& pictures, const at::Tensor& target, const Random* random,
            const Looking& looking, Tap* tap) const;
  Loss soft_loss(const Batch& batch, const Pass& pass) const;
  Loss hard_loss(const Batch& batch, const StepContext& context);
  Told told_of(const Batch& batch, const Pass& pass) const;
  /// What was to be expected of each caption [B]; from now on these count too.
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
