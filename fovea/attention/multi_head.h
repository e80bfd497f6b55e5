// Multi-head attention, Vaswani et al. 2017: head_h = attend(Q W^Q_h, K W^K_h, V W^V_h), output =
// concat(heads) W^O. The parameters have the names and layouts of torch.nn.MultiheadAttention
// (in_proj_weight [3D, D] = W^Q, W^K, W^V one under the other; in_proj_bias; out_proj.weight;
// out_proj.bias), so its state_dict fits. Any score and normaliser can stand inside.
//   grouped heads  several heads of queries share one of keys and values (Ainslie 2023); W^K and
//   W^V
//                  are shorter then
//   rotary         queries and keys are turned by their position, dimension i together with i + d/2
//                  by the angle position / 10000^(2i/d) (Su 2021); another base and slower turns
//                  for longer texts: RotaryOptions
//   alibi          a penalty for distance, slope 2^(-8h/H) for head h = 1 … H (Press 2022)
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <memory>
#include <optional>
#include <vector>

#include "fovea/attention/attend.h"
#include "fovea/attention/projection.h"

namespace fovea {

/// How fast queries and keys are turned.
struct RotaryOptions {
  double base = 10000;
  // Longer texts than the network was trained with (transformers' rope_scaling):
  //   linear  every turn slower by the factor
  //   llama3  slow turns, those of a wavelength over original_length / low, slower by the factor;
  //           fast ones, under original_length / high, as they were; a blend between (Llama 3.1)
  std::string scaling = "none";
  double factor = 1, low = 1, high = 4;
  int64_t original_length = 8192;
};

struct MultiHeadOptions {
  int64_t width = 64;     // D
  int64_t heads = 4;      // H, must divide the width unless head_size is given
  int64_t head_size = 0;  // d; 0: D / H
  int64_t key_heads = 0;  // heads of keys and values, must divide the heads; 0: as many
  double dropout = 0;     // of the weights, in training
  bool bias = true;
  bool output_bias = true;         // of out_proj, where `bias`
  std::string positions = "none";  // none, rotary or alibi
  RotaryOptions rotary;
  ScoreOptions score;  // query_size and key_size are set to d
  NormaliserOptions normaliser;
  void describe(OptionList& list);
};

struct MultiHeadInput {
  at::Tensor query;                      // [B, Q, D]
  Memory memory;                         // from MultiHeadAttention::remember()
  KeepMask mask;                         // of this call, on top of the memory's
  const Alignment* alignment = nullptr;  // null: global
  at::Tensor bias;               // [1 or B, 1 or H, Q, K], added to the scores; may be undefined
  int64_t first_position = 0;    // of query 0
  std::optional<Random> random;  // for dropout in training, and for hard and gumbel
  bool keep_weights = true;      // no: Attended::weights may stay undefined
  MapLabel map;
};

class MultiHeadAttention : public torch::nn::Module {
 public:
  /// Zeros, for weights that come from elsewhere.
  explicit MultiHeadAttention(const MultiHeadOptions& options);
  MultiHeadAttention(const MultiHeadOptions& options, const Random& random);
  void initialise(const Random& random);

  /// Projects keys and values [B, K, D] once; a decoder keeps the result. Key 0 stands at
  /// first_position. A mask that depends on the query may be given here or in the input of
  /// forward().
  Memory remember(const at::Tensor& keys, const at::Tensor& values, const KeepMask& mask,
                  int64_t first_position = 0) const;

  /// context [B, Q, D], weights [B, H, Q, K]. A query that sees nothing gets 0, not the bias of
  /// out_proj.
  Attended forward(const MultiHeadInput& input, Tap* tap = nullptr) const;

  /// A sequence that looks at itself, input.query; one product projects queries, keys and values.
  /// input.memory may hold what came before the sequence (a decoder's cache), else it is empty; the
  /// memory that the call looked at, the new keys included, comes back in `memory`.
  struct SelfAttended {
    Attended attended;
    Memory memory;
  };
  SelfAttended forward_self(const MultiHeadInput& input, Tap* tap = nullptr) const;

  const MultiHeadOptions& options() const { return options_; }
  const ScoreFunction& score() const { return *score_; }
  const at::Tensor& slopes() const { return slopes_; }  // [H], undefined without alibi

  /// Takes heads out for good: their rows of in_proj and their columns of out_proj go, what is left
  /// computes as if those columns were 0. Numbers from 0, as it was built. All may go: the output
  /// is out_proj's bias then, and no map is reported. InvalidArgument for a head that is not there,
  /// and for one of several that share a head of keys unless all of these go.
  void prune(const std::vector<int64_t>& heads);
  /// The numbers of the heads that are there, in the order of their maps.
  const std::vector<int64_t>& heads() const { return heads_; }
  int64_t built_heads() const { return options_.heads; }
  int64_t head_size() const { return options_.head_size; }

  // With nothing pruned H' = H; D' = key heads times d
  at::Tensor in_proj_weight;             // [H' d + 2 D', D]
  at::Tensor in_proj_bias;               // [H' d + 2 D'], undefined without bias
  std::shared_ptr<Projection> out_proj;  // weight [D, H' d]
  LowRankAdapters adapters;              // of in_proj

 private:
  struct Slice {
    int64_t first, rows, heads;  // of in_proj; rows = heads times d
  };
  Slice query_slice() const;
  Slice key_slice() const;
  Slice value_slice() const;
  /// Slices that lie side by side in in_proj, by one product. x [B, N, D] -> [B, h, N, d] each
  std::vector<at::Tensor> project(const at::Tensor& x, const std::vector<Slice>& slices,
                                  const std::optional<Random>& random = {}) const;
  at::Tensor turned(const at::Tensor& x, int64_t first_position) const;  // rotary, or x
  Attended look(const MultiHeadInput& input, const at::Tensor& query, const Memory& memory,
                Tap* tap) const;
  Attended without_heads(const MultiHeadInput& input, const Memory& memory) const;
  MultiHeadOptions options_;
  std::vector<int64_t> heads_, key_heads_;  // those that are there
  at::Tensor slopes_;                       // [H'], alibi
  at::Tensor rates_;                        // [d / 2], rotary
  std::shared_ptr<ScoreFunction> score_;
};

/// Of each pair of numbers, the turn from one position to the next: float64 [size / 2].
at::Tensor rotary_rates(int64_t size, const RotaryOptions& options);

/// x [B, H, N, d] turned by the positions first, first + 1, …; d must be even. rates [d / 2].
at::Tensor rotate_by_position(const at::Tensor& x, int64_t first, const at::Tensor& rates);

/// 2^(-8h/H) for h = 1 … H: [H].
at::Tensor alibi_slopes(int64_t heads);

}  // namespace fovea
