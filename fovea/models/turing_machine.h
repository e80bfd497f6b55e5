// A neural Turing machine, Graves et al. 2014: a small network that reads and writes a memory of N
// slots of M numbers, where it looks decided by content and by place (nn/ops/addressing.h).
//   h_t   controller of [x_t, r_{t-1}]:  tanh(W . + b), or an LSTM
//   w_t   weights over the slots, for each head, from what a linear layer says of h_t; all heads
//         address M_{t-1}
//   M_t   M_{t-1}(i) * (1 - w_t(i) e_t) + w_t(i) a_t       e = sigmoid, a = tanh; for write heads
//   r_t   sum_i w_t(i) M_t(i)                              for read heads
//   y_t   V [h_t, r_t] + c
// Memory begins as 1e-6 everywhere, all weights on the first slot and what was read last as a
// learned vector: a constant beginning trains far more reliably than a random one. Fresh heads stay
// where they are, and sharp. A feed-forward controller must use the memory; an LSTM may learn to
// hold short sequences by itself and never get to it.
#pragma once

#include <memory>
#include <vector>

#include "fovea/attention/projection.h"
#include "fovea/base/options.h"
#include "fovea/models/copy_model.h"
#include "fovea/nn/recurrent/recurrent.h"

namespace fovea {

struct TuringMachineOptions {
  std::string name = "ntm";
  std::string controller = "feedforward";
  int64_t hidden = 100;
  int64_t slots = 128;
  int64_t width = 20;
  int64_t heads = 1;  // that read, and as many that write
  int64_t range = 1;  // slots that a head moves in one step, at most
  void describe(OptionList& list);
};

class TuringMachine : public CopyModel {
 public:
  TuringMachine(TuringMachineOptions options, CopyWidths widths);
  const TuringMachineOptions& options() const { return options_; }

  void initialise(const Random& random) override;
  std::vector<LayerSummary> summary() const override;

 protected:
  /// Maps: "write" and "read" [B, heads, S, slots]. The batch may hold "slots", float [B, slots]:
  /// what is read from a slot counts so much, 0: it is lost.
  at::Tensor logits_of(const Batch& batch, Tap* tap) const override;

 private:
  struct State {
    RecurrentState controller;  // lstm
    at::Tensor memory;          // [B, N, M]
    at::Tensor weights;         // [B, 2 heads, N]: of those that read, then of those that write
    at::Tensor read;            // [B, heads M]
  };
  State begin(int64_t batch) const;
  at::Tensor where_of(const at::Tensor& said) const;
  at::Tensor control(const at::Tensor& x, State& state) const;  // -> [B, H]
  void write(const at::Tensor& said, const at::Tensor& weights, State& state) const;
  at::Tensor step(const at::Tensor& x, const at::Tensor& keep_slots, State& state, Tap* tap) const;

  TuringMachineOptions options_;
  std::shared_ptr<Projection> feedforward_;
  std::shared_ptr<Recurrent> recurrent_;
  std::shared_ptr<Projection> interface_;  // what the heads are told
  std::shared_ptr<Projection> output_;
  at::Tensor first_read_;  // [heads M]
};

/// Where what is read at step t was written: sum_i r_t(i) w_s(i) for s <= t, the means of the
/// heads. A step may write nothing into a slot that it points at; weights alone do not tell.
/// writes, reads [B, H, S, N] -> [B, S, S]
at::Tensor steps_read(const at::Tensor& writes, const at::Tensor& reads);

}  // namespace fovea
