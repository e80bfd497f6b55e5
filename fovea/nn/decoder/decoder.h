// The recurrent decoder, with attention or without. x_t is the embedding of the previous output,
// s_t the top layer's state, h_j what the encoder made of source position j.
//   bahdanau  c_t = attend(s_{t-1}, h);  s_t = cell([x_t ; c_t], s_{t-1})            Bahdanau 2015
//   luong     s_t = cell([x_t (; r_{t-1})], s_{t-1});  c_t = attend(s_t, h)          Luong 2015
//             r_{t-1}, the last readout, with input feeding
//   chorowski s_t = cell([x_t ; c_{t-1}], s_{t-1});  c_t = attend(s_t, h)         Chorowski 2015
//             The first step has nothing behind it: s_1 is the start as it is. In the paper's
//             counting: look with s_{i-1}, write y_i from s_{i-1} and g_i, then s_i from y_i, g_i.
//   none      s_t = cell([x_t (; c)], s_{t-1}), c one summary of the whole source      Cho 2014
//             (without c: Sutskever 2014); with gated_summary r * (U s + C c) in a GRU's candidate
// Readout r_t, from which the model predicts; s is s_t, or s_{t-1} with readout_from = previous:
//   tanh      r_t = tanh(W_c [c_t ; s])                                              Luong 2015
//   maxout    u = U [s ; x_t ; c_t] + b, 2 l numbers;  r_t,k = max(u_2k-1, u_2k)   Bahdanau 2015
//   linear    r_t = [s ; x_t ; c_t]
//   state     r_t = s                                                             Sutskever 2014
//   chorowski's readouts see no x_t: it is in s_t already
// Where no step needs the result of the one before it (teacher forcing, luong or none, no input
// feeding, nothing that looks at previous weights) run() does all steps at once; bahdanau with one
// layer runs in a kernel (attention_decoder.h) where nobody wants the weights.
#pragma once

#include <functional>
#include <memory>

#include "fovea/attention/attend.h"
#include "fovea/attention/projection.h"
#include "fovea/nn/recurrent/recurrent.h"

namespace fovea {

struct DecoderOptions {
  RecurrentOptions recurrent;        // input_size: of the embedding; the rest is added here
  std::string attention = "soft";    // soft or none
  std::string order = "luong";       // luong, bahdanau or chorowski
  int64_t memory_size = 0;           // of one encoder output
  int64_t summary_size = 0;          // none: of the summary that every step sees; 0: no step does
  bool input_feeding = false;        // luong
  std::string readout = "tanh";      // tanh, maxout, linear or state
  std::string readout_from = "new";  // new or previous
  int64_t readout_size = 0;          // of tanh and maxout
  double dropout = 0;                // of the readout
  bool keep_weights = false;         // run() gives them even where a kernel could do without
  ScoreOptions score;
  NormaliserOptions normaliser;
  AlignmentOptions alignment;
  bool gated_summary = false;  // gru: the reset gate scales what the summary adds to the candidate
};

/// What the decoder looks at: made once per source.
struct DecoderSource {
  Memory memory;       // with attention
  at::Tensor summary;  // [B, C], without
  DecoderSource select(const at::Tensor& rows) const;
};

/// What one step hands to the next.
struct DecoderState {
  RecurrentState recurrent;
  at::Tensor readout;  // [B, R], for input feeding
  at::Tensor weights;  // [B, 1, 1, K], for scores and alignments that look at previous weights
  int64_t position = 0;
  at::Tensor context = {};  // [B, C], of the step before, for chorowski
  DecoderState select(const at::Tensor& rows) const;
};

/// Dropout of one pass: the same masks at every step.
struct DecoderMasks {
  std::vector<at::Tensor> layers;
  at::Tensor readout;            // [B, R] or undefined
  std::optional<Random> random;  // for a normaliser that draws
};

struct DecoderStep {
  at::Tensor readout;  // [B, R]
  at::Tensor weights;  // [B, 1, 1, K]; undefined without attention
  DecoderState state;
};

struct DecoderRun {
  at::Tensor readouts;  // [B, T, R]
  at::Tensor weights;   // [B, 1, T, K]; undefined without attention, and where nobody keeps them
};

/// How the parts of one step are computed.
struct StepFunctions {
  std::function<Attended(const at::Tensor& query)> look;           // query [B, H], context [B, C]
  std::function<RecurrentState(const at::Tensor& input)> advance;  // input [B, I]
  std::function<at::Tensor(const at::Tensor& state, const at::Tensor& context)> read_out;  // [B, R]
};

class Decoder : public torch::nn::Module {
 public:
  explicit Decoder(DecoderOptions options);
  void initialise(const Random& random);

  bool attends() const { return score_ != nullptr; }
  int64_t readout_size() const;
  /// Whether run() can do all steps at once.
  bool is_parallel() const;

  /// Keys and values prepared. encoded [B, K, D], summary [B, C] or undefined.
  DecoderSource look_at(const at::Tensor& encoded, const KeepMask& mask,
                        const at::Tensor& summary) const;
  DecoderState start(RecurrentState recurrent, const DecoderSource& source) const;
  DecoderMasks masks(int64_t batch, const Random* random) const;

  /// x [B, E] -> one step.
  DecoderStep step(const at::Tensor& x, const DecoderState& state, const DecoderSource& source,
                   const DecoderMasks& masks, Tap* tap = nullptr) const;

  /// x [B, T, E]: all inputs are known.
  DecoderRun run(const at::Tensor& x, const DecoderState& start, const DecoderSource& source,
                 const DecoderMasks& masks, Tap* tap = nullptr) const;

 private:
  AttendInput looking(const DecoderState& state, const DecoderSource& source,
                      const DecoderMasks& masks) const;
  friend class IncrementalDecoder;  // incremental_decoder.h: the same steps, for a search
  /// The step that the parts make. x [B, E], summary [B, C] or undefined.
  DecoderStep assemble(const at::Tensor& x, const DecoderState& state, const at::Tensor& summary,
                       const StepFunctions& parts) const;
  Attended look(const at::Tensor& query, const DecoderState& state, const DecoderSource& source,
                const DecoderMasks& masks, Tap* tap) const;
  at::Tensor read_out(const at::Tensor& state, const at::Tensor& x, const at::Tensor& context,
                      const at::Tensor& mask) const;
  DecoderRun run_at_once(const at::Tensor& x, const DecoderState& start,
                         const DecoderSource& source, const DecoderMasks& masks, Tap* tap) const;
  bool can_fuse_steps(const at::Tensor& x, const DecoderSource& source, const Tap* tap) const;
  DecoderRun run_fused(const at::Tensor& x, const DecoderState& start, const DecoderSource& source,
                       const DecoderMasks& masks) const;
  bool remembers_weights() const;
  bool feeds_context() const { return options_.order == "chorowski"; }
  /// What of x_t the readout sees.
  at::Tensor seen_input(const at::Tensor& x) const { return feeds_context() ? at::Tensor() : x; }

  DecoderOptions options_;
  int64_t context_size_ = 0;
  std::shared_ptr<Recurrent> recurrent_;
  std::shared_ptr<ScoreFunction> score_;  // null: no attention
  std::shared_ptr<Alignment> alignment_;
  std::shared_ptr<Projection> combine_;  // readout; null for linear and state
};

}  // namespace fovea
