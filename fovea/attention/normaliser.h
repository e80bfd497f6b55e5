// Normalisers: rows of scores e [B, H, Q, K] to rows of weights a. Pure functions, in a table:
//   softmax      exp(e_j) / sum exp(e)
//   smoothing    sig(e_j) / sum sig(e) = softmax(log sig(e)); Chorowski 2015
//   temperature  softmax(e / temperature), sharpening with beta = 1 / temperature; Chorowski 2015
//   top-k        softmax over the k largest, 0 elsewhere, the other sharpening; Chorowski 2015
//   sparsemax    the point of the simplex nearest to e; Martins and Astudillo 2016
//   hard         one key drawn from softmax(e), with its log-probability for REINFORCE; Xu 2015
//   gumbel       one key, argmax((e + g) / temperature), with the gradient of the softmax of the
//                same (straight-through); Jang 2017
//   gate         sig(e_j), not normalised
// Masked keys get exactly 0; a row without keys is all 0 and sends no gradient.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/attention/mask.h"
#include "fovea/base/options.h"
#include "fovea/tensor/attention_map.h"
#include "fovea/tensor/random.h"

namespace fovea {

/// What others may want to know of a normaliser, instead of its name.
struct NormaliserTraits {
  bool is_differentiable = true;  // else the model must learn by log_probability
  bool draws = false;             // uses `random`
  bool is_fused = false;          // what the kernels of attention compute
};

struct NormaliserOptions {
  std::string name = "softmax";
  double temperature = 0.5;  // of temperature and gumbel; softmax has none
  int64_t top_k = 8;
  void describe(OptionList& list);
  const NormaliserTraits& traits() const;
};

struct NormaliseInput {
  at::Tensor scores;  // [B, H, Q, K]
  KeepMask mask;
  std::optional<Random>
      random;         // hard, gumbel: for the draw; without it the likeliest key is taken
  at::Tensor chosen;  // hard, gumbel: int64 [B, H, Q], choices to repeat; may be undefined
};

struct Normalised {
  at::Tensor weights;          // [B, H, Q, K]
  at::Tensor chosen;           // hard, gumbel: int64 [B, H, Q]; 0 in a row without keys
  at::Tensor log_probability;  // hard: [B, H, Q], differentiable; 0 in a row without keys
};

struct NormaliserEntry {
  std::string name;
  std::string formula;
  std::string paper;
  MapKind kind;  // of the weights when no row is fully masked
  Normalised (*apply)(const NormaliserOptions& options, const NormaliseInput& input);
  NormaliserTraits traits = {};
};

std::span<const NormaliserEntry> normaliser_table();
const NormaliserEntry& find_normaliser(const std::string& name);
std::vector<std::string> normaliser_names();

Normalised normalise(const NormaliserOptions& options, const NormaliseInput& input);

/// The softmax of the table on its own. scores [B, H, Q, K] -> [B, H, Q, K]
at::Tensor masked_softmax(const at::Tensor& scores, const KeepMask& mask);

}  // namespace fovea
