// Which line of memory is accessed next (Shi et al. 2019, 2021: the hierarchical model, Voyager).
// An address is a page and an offset in it, each with a vector; one line of a page has little to do
// with the same line of another, so an offset is a mixture of experts that the page chooses:
//   p      E_page[page]                                                   page vector, d numbers
//   o_e    E_offset[offset, e], e = 1 … experts                           d numbers each
//   w_e    softmax_e(p . o_e)        o' = sum_e w_e o_e                    page-aware offset
//   x_t    [E_pc[pc_t]; p_t; o'_t]
//   coarse h = LSTM(x_1 … x_t)     page    softmax(V h + b)
//   fine   g = LSTM'(x_1 … x_t)    offset  softmax(V' g + b')
//   loss   -log p(page) - log p(offset), the mean over what is predicted
// The paper reads windows and predicts what follows each (model.targets=last). With `every` each
// access of a window predicts the one behind it, which trains on every access of the trace in a
// small part of the time; answers come from the end of a window in both.
// Not in the paper: with model.history=attention a head sees, besides the last state, a mean of all
// states of the window by scaled dot products with it, so that it shows which accesses it rests on:
//   a_i    softmax_i((Q h_t) . h_i / sqrt(H)), i <= t      head sees [h_t; sum_i a_i h_i]
#pragma once

#include <memory>
#include <string>

#include "fovea/attention/projection.h"
#include "fovea/base/options.h"
#include "fovea/models/model.h"
#include "fovea/nn/recurrent/recurrent.h"

namespace fovea {

struct VoyagerOptions {
  std::string name = "voyager";
  int64_t page = 64;
  int64_t experts = 10;
  int64_t pc = 32;
  int64_t hidden = 128;
  int64_t layers = 1;
  std::string history = "last";
  std::string targets = "every";
  double dropout = 0.1;
  int64_t degree = 4;
  void describe(OptionList& list);
};

/// What the data decides: numbers, 0 is unknown in both.
struct VoyagerShape {
  int64_t pages = 0, pcs = 0;
};

class Voyager : public Model {
 public:
  Voyager(VoyagerOptions options, VoyagerShape shape);
  const VoyagerOptions& options() const { return options_; }

  void initialise(const Random& random) override;
  /// "experts" bool [B, experts] may be there too: who is not takes no part.
  Schema schema() const override;
  std::vector<LayerSummary> summary() const override;
  ParameterRule rule_of(const std::string& name) const override;
  Loss loss(const Batch& batch, const StepContext& context) override;
  /// Outputs: the likeliest pairs, two tokens each: page and offset. log p is that of both.
  Predictions predict(const Batch& batch) const override;
  /// Maps: "experts" from axis "accesses" to "experts", and with attention over the history
  /// "history" from axis "outputs" (page, offset) to "accesses". log p of page and offset: [B, 2]
  at::Tensor replay(const Batch& batch, const Predictions& predictions, Tap* tap) const override;

 private:
  /// The two halves of the network, or what they put out.
  struct Halves {
    at::Tensor page, offset;
  };
  at::Tensor embed(const Batch& batch, Tap* tap) const;                     // [B, S, D]
  Halves states(const Batch& batch, const Random* random, Tap* tap) const;  // [B, S, H] each
  at::Tensor history_weights(const at::Tensor& states, const Projection& query,
                             int64_t steps) const;  // [B, steps, S]
  /// Logits of the last `steps` accesses, [B, steps, pages] and [B, steps, 64].
  Halves logits(const Batch& batch, int64_t steps, const Random* random, Tap* tap) const;
  bool looks_back() const { return options_.history == "attention"; }

  VoyagerOptions options_;
  VoyagerShape shape_;
  at::Tensor pages_;    // [pages, d]
  at::Tensor offsets_;  // [65, experts, d], the last one unknown
  at::Tensor pcs_;      // [pcs, pc]
  std::shared_ptr<Recurrent> coarse_, fine_;
  std::shared_ptr<Projection> coarse_query_, fine_query_;  // null: only the last state is seen
  std::shared_ptr<Projection> page_output_, offset_output_;
};

}  // namespace fovea
