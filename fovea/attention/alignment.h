// Alignments: where a query may look. S is the number of keys of the example, D the half width.
//   global   everywhere
//   causal   keys up to the query's own position
//   window   keys at most D from the query's own position (sliding window)
//   local-m  keys at most D from p_t = t; Luong 2015, monotone
//   local-p  keys at most D from p_t = S sig(v_p . tanh(W_p s_t)); Luong 2015, predictive. The
//            weights are then multiplied by exp(-(j - p_t)^2 / (2 (D/2)^2)) and NOT renormalised;
//            the gradient reaches p_t through that factor
//   median   keys p-D ... p+D-1, p the median of the previous weights; Chorowski 2015, windowing
// window is for a sequence that looks at itself, local-m for a target that looks at a source; they
// compute the same.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/attention/mask.h"
#include "fovea/base/options.h"
#include "fovea/tensor/random.h"

namespace fovea {

/// What others may want to know of an alignment, instead of its name.
struct AlignmentTraits {
  bool is_global = false;               // every query looks everywhere
  bool reads_previous_weights = false;  // a decoder hands it those of the step before
};

struct AlignmentOptions {
  std::string name = "global";
  int64_t half_width = 10;    // D
  int64_t query_size = 0;     // local-p
  int64_t hidden_size = 128;  // local-p: rows of W_p
  void describe(OptionList& list);
  const AlignmentTraits& traits() const;
};

struct AlignmentInput {
  at::Tensor query;             // [B, H, Q, Dq], read by local-p
  int64_t queries = 0;          // Q
  KeepMask mask;                // what may be looked at at all
  int64_t keys = 0;             // K
  int64_t first_position = 0;   // t of query 0; a decoder that goes step by step gives its step
  at::Tensor previous_weights;  // [B, H, Q, K], read by median; while undefined it looks everywhere
};

struct Aligned {
  KeepMask window;
  at::Tensor factor;  // local-p: [B, H, Q, K], multiplies the normalised weights; else undefined
  at::Tensor center;  // [B, H, Q], p_t; undefined where there is none
};

class Alignment : public torch::nn::Module {
 public:
  virtual Aligned align(const AlignmentInput& input) const = 0;
  /// Whether it is nothing but a mask of positions, whatever the query: everything, or a band.
  virtual bool is_band() const { return false; }
};

struct AlignmentEntry {
  std::string name;
  std::string formula;
  std::string paper;
  std::shared_ptr<Alignment> (*make)(const AlignmentOptions& options, const Random& random);
  AlignmentTraits traits = {};
};

std::span<const AlignmentEntry> alignment_table();
std::vector<std::string> alignment_names();

/// NotFound suggests the nearest name.
const AlignmentEntry& find_alignment(const std::string& name);
std::shared_ptr<Alignment> make_alignment(const AlignmentOptions& options, const Random& random);

}  // namespace fovea
