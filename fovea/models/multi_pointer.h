// MPCN: multi-pointer co-attention (Tay et al. 2018). Reviews of the user and of the item point at
// each other; one review of each side is picked, hard, and read word by word; several pointers do
// so with weights of their own.
//   r_i      sum of the embeddings of review i's words
//   a_i      sig(W_g r_i + b_g) * tanh(W_u r_i + b_u)          gate, one for both sides
//   S_ij     F(a_i) . M F(b_j), F(x) = ReLU(W x + c)           review i of the user, j of the item
//   y        gumbel((max over j of S_ij) over i), the same over j with the max over i: one-hot,
//            with the gradient of softmax((S + g) / temperature) (straight-through)
//   s_ij     F_w(u_i) . M_w F_w(v_j)                           words of the two reviews picked
//   z        sum of the words, weighted by softmax(mean over the other side's words of s)
//   x        [z of all pointers, side by side, added up, or through one ReLU layer; sum of the a_i]
//            of the user, then of the item
//   t        w_0 + w . x + sum_{i<j} <v_i, v_j> x_i x_j        factorisation machine, Rendle 2010
// The factorisation machine of the paper has its linear part w . x over what was read and none over
// who the user and the item are; biases (rating_model.h) are added here, model.biases=no is the
// paper's. In training the pointers draw (g is Gumbel noise from the step's counters); answers take
// the largest score. model.hard=no reads a mixture of all reviews instead.
#pragma once

#include <torch/nn/modules/embedding.h>

#include <array>
#include <memory>

#include "fovea/attention/projection.h"
#include "fovea/models/rating_model.h"

namespace fovea {

struct MultiPointerOptions : ReadingOptions {
  std::string name = "mpcn";
  int64_t embedding = 50;
  int64_t pointers = 3;
  double temperature = 0.5;
  bool hard = true;
  std::string combination = "ffn";
  int64_t factors = 10;
  double dropout = 0.2;
  void describe(OptionList& list);
};

class MultiPointer : public RatingModel {
 public:
  /// `longest_review` is the most words that a review of a batch has.
  MultiPointer(MultiPointerOptions options, const RatingShape& shape, int64_t longest_review);
  const MultiPointerOptions& options() const { return options_; }

  void initialise(const Random& random) override;
  Schema schema() const override;
  std::vector<LayerSummary> summary() const override;

 protected:
  /// Maps with a head for each pointer: "user reviews" and "item reviews", which review it picked;
  /// "user words" and "item words", how it read that review.
  std::optional<OwnTerm> own_term(const Batch& batch, const Random* random,
                                  Tap* tap) const override;

 private:
  /// Layers F and the matrix M between them, of all pointers.
  struct CoAttention {
    at::Tensor weight;  // [P, E, E]
    at::Tensor bias;    // [P, 1, E]
    at::Tensor match;   // [P, E, E]
  };
  struct Side;  // what is known of one side on the way through
  using Sides = std::array<Side, 2>;

  CoAttention make_co_attention(const std::string& name);
  /// F(left) . M F(right) of inputs [B, P or 1, N, E]: [B, P, N of left, N of right].
  static at::Tensor affinity(const CoAttention& part, const at::Tensor& left,
                             const at::Tensor& right);

  Side read_side(const Batch& batch, const char* name, const Random* random, Tap* tap) const;
  void point(Sides& sides, const Random* random, Tap* tap) const;
  void read_words(Sides& sides, Tap* tap) const;
  at::Tensor features(const Sides& sides) const;           // [B, N]
  at::Tensor factorise(const at::Tensor& features) const;  // [B, N] -> [B]

  MultiPointerOptions options_;
  int64_t longest_review_;
  torch::nn::Embedding words_{nullptr};
  std::shared_ptr<Projection> gate_, content_;
  CoAttention reviews_, of_words_;
  std::shared_ptr<Projection> combine_;  // ffn
  std::shared_ptr<Projection> linear_;   // w and w_0
  at::Tensor factors_;                   // [N, F]: the v_i
};

}  // namespace fovea
